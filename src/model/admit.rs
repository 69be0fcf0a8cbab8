//! Admission: which waiting requests the next prefill batch takes (`_get_new_batch_prefill_raw`, `PrefillAdder`).

use crate::engine::{ChoicePoint, Chooser};
use crate::record::{CacheFact, GpuStream, Owner, ReqId, RequestFact, RowFacts, Sink, SlotFact, SlotId};

use super::batch::Rows;
use super::budget::{Budget, Limits, Verdict};
use super::machine::{Machine, Step};
use super::radix::Match;
use super::request::Stage;
use super::setup::{CopyOnWrite, Exhaustion, Stop};

/// `WAITING_PREFIX_REFRESH_INTERVAL` and `WAITING_QUEUE_PREFIX_MATCH_MAX` of 0.5.23.
const WAITING_REFRESH_INTERVAL: u32 = 32;
const WAITING_REFRESH_MAX: usize = 128;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Chooses the requests of a prefill batch, in queue order; empty if there is none to run. Where nothing is short, and neither chunks
    /// nor riding rows take of the budget, whoever is first in the queue is taken: `Reductions` counts on it.
    pub(super) fn admit(&mut self) -> Step<Rows<ReqId>> {
        if self.setup.engine.filter_before_prefill && self.world.running.reqs.is_empty() {
            self.world.running.is_full = false;
        }
        let chunked = self.world.chunked;
        let nobody = self.world.waiting.is_empty() && chunked.is_none();
        let full = self.world.running.is_full && chunked.is_none();
        let mut looks = !nobody && !full;
        if looks && self.rows_left(&[]) == 0 && chunked.is_none() {
            self.world.running.is_full = true;
            looks = false;
        }
        if self.latch && full && !nobody {
            self.report_latch(&self.budget(), &[]);
        }
        if nobody || !self.ask_whether(ChoicePoint::Admission, self.world.turn, looks) {
            return Ok(Rows::new());
        }
        self.refresh_waiting();
        let mut budget = self.budget();
        let mut admitted = Rows::new();
        if let Some(req) = chunked {
            self.go_on(req, &mut budget, &mut admitted);
        }
        let in_chunks = admitted.len();
        if self.latch && chunked.is_some() {
            self.report_latch(&budget, &admitted);
        }
        self.set_slots_aside();
        let mut goes_on = true;
        let mut looked = Rows::new();
        for place in 0..self.world.waiting.len() {
            let own = goes_on && self.looks_on(&budget, &admitted);
            let Some(req) = self.next_candidate(place, own, &mut looked) else { break };
            if !self.slots_fit(&admitted) || !self.match_prefix(req)? {
                break;
            }
            let verdict = self.try_admit(req, &mut budget, &mut admitted);
            goes_on = verdict == Verdict::Continue;
            if goes_on {
                continue;
            }
            if verdict == Verdict::NoToken {
                let newest = self.setup.engine.filter_before_prefill;
                self.world.running.is_full = !newest || !admitted.is_empty() || !self.world.running.reqs.is_empty();
            }
            if admitted.last() != Some(&req) {
                self.give_hit_back(req);
            }
            if !self.chooser.is_open(ChoicePoint::Candidate) {
                break;
            }
        }
        self.give_slots_back();
        self.leave_queue(&admitted[in_chunks..]);
        if let Some(req) = self.world.chunked.filter(|_| !admitted.is_empty()) {
            self.req(req).middle_chunks += 1;
        }
        Ok(admitted)
    }

    /// Takes the admitted out of the queue: nearly always its first ones, and it may be long.
    fn leave_queue(&mut self, admitted: &[ReqId]) {
        let waiting = &mut self.world.waiting;
        let first = waiting.iter().zip(admitted).take_while(|(waits, req)| waits == req).count();
        waiting.drain(..first);
        if first < admitted.len() {
            waiting.retain(|req| !admitted[first..].contains(req));
        }
    }

    /// The request to look at after the first `place` ones: the next in the queue, if `own` says so. `looked` are those
    /// looked at already, where somebody at the door has another order.
    fn next_candidate(&mut self, place: usize, own: bool, looked: &mut Rows<ReqId>) -> Option<ReqId> {
        if !self.chooser.is_open(ChoicePoint::Candidate) {
            return own.then(|| self.world.waiting[place]);
        }
        let left: Rows<ReqId> = self.world.waiting.iter().copied().filter(|req| !looked.contains(req)).collect();
        let chosen =
            left.iter().copied().find(|&req| self.ask_whether(ChoicePoint::Candidate, req.0, own && req == left[0]))?;
        looked.push(chosen);
        Some(chosen)
    }

    /// Whether there may be room for one more request beside the `admitted`.
    fn looks_on(&mut self, budget: &Budget, admitted: &[ReqId]) -> bool {
        if self.setup.engine.filter_before_prefill && budget.state(self.room()) == Verdict::Other {
            return false;
        }
        if admitted.len() as u32 >= self.rows_left(admitted) {
            self.world.running.is_full = true;
        }
        !self.world.running.is_full
    }

    /// Takes the next chunk of the request in chunks into the batch (`add_chunked_req`).
    fn go_on(&mut self, req: ReqId, budget: &mut Budget, admitted: &mut Rows<ReqId>) {
        let room = self.room();
        let max_new = self.setup.requests[req.index()].max_new;
        let it = &self.world.reqs[req.index()];
        let left = it.known_len() - it.prefix_len;
        let len = self.ask(ChoicePoint::Chunk, req.0, left + 1, budget.next_chunk(left, room));
        if len == 0 {
            return;
        }
        let it = self.req(req);
        it.extend_end = it.prefix_len + len;
        budget.take(len, if len < left { 0 } else { max_new });
        admitted.push(req);
        if len == left {
            self.world.chunked = None;
        }
    }

    /// Makes the prefixes of the waiting requests recent, the head of the queue last (`_touch_waiting_prefixes`).
    fn refresh_waiting(&mut self) {
        // Where nobody waits, as when only a chunk goes on, the call does not count.
        if !self.setup.engine.waiting_prefix_refresh || self.world.waiting.is_empty() {
            return;
        }
        let due = self.world.refreshes.is_multiple_of(WAITING_REFRESH_INTERVAL);
        self.world.refreshes = (self.world.refreshes + 1) % WAITING_REFRESH_INTERVAL;
        if due {
            for i in (0..self.world.waiting.len().min(WAITING_REFRESH_MAX)).rev() {
                let it = &self.world.reqs[self.world.waiting[i].index()];
                let key = self.world.streams.prefix(it.stream, it.known_len());
                self.world.tree.match_prefix(&self.world.streams, key);
            }
        }
    }

    /// How many more requests may run beside the running ones (`get_num_allocatable_reqs`). From 0.5.23 on a row that
    /// one of the `admitted` holds counts as left.
    pub(super) fn rows_left(&self, admitted: &[ReqId]) -> u32 {
        let max = self.setup.engine.max_running;
        let counts = |req: &&ReqId| self.setup.engine.filter_before_prefill && self.world.reqs[req.index()].holds_row;
        let held = admitted.iter().filter(counts).count() as u32;
        let running = self.world.running.reqs.len() as u32;
        max.saturating_sub(running).min(max.saturating_sub(self.world.rows_held) + held)
    }

    /// Free and evictable KV, in tokens.
    pub(super) fn room(&self) -> u32 {
        self.world.pages.available() + self.world.tree.kv_evictable()
    }

    fn budget(&self) -> Budget {
        let engine = &self.setup.engine;
        // Where any request may end by a stop token, none is sure to reach its length.
        let lengths_are_sure = engine.fixed_length_reserves_all && !self.chooser.is_open(ChoicePoint::Stop);
        let running = self.world.running.reqs.iter().map(|req| {
            let spec = &self.setup.requests[req.index()];
            let fixed = lengths_are_sure && spec.stop == Stop::Length;
            let ratio = if fixed { 1.0 } else { self.world.ratio.current };
            (i64::from(spec.max_new) - i64::from(self.world.reqs[req.index()].outputs), ratio)
        });
        let limits = Limits {
            page_size: engine.page_size,
            max_prefill_tokens: engine.max_prefill_tokens,
            chunk: engine.chunked_prefill_size,
            mixed_rows: if engine.mixed_chunk { self.world.running.reqs.len() as u32 } else { 0 },
        };
        Budget::new(limits, running)
    }

    /// Takes a slot for each waiting request in one call, as `alloc_group_begin` does.
    fn set_slots_aside(&mut self) {
        let count = self.world.waiting.len() as u32;
        let mut spare = Rows::new();
        if count == 0 || !self.give_slots(count, &mut spare) {
            self.emit(SlotFact::Refused { req: None, count });
            return;
        }
        self.world.slots.set_aside(&spare);
        self.sink.rows(RowFacts::SlotsAlloc(&spare, Owner::Spare));
    }

    fn give_slots_back(&mut self) {
        let rest = self.world.slots.give_back();
        self.sink.rows(RowFacts::SlotsFree(&rest, Owner::Spare));
    }

    /// Whether the pool, after eviction, has the slots of one more request. Asked only where a lack is no assertion.
    fn slots_fit(&self, admitted: &[ReqId]) -> bool {
        self.setup.engine.exhaustion == Exhaustion::Assert || self.slots_left(admitted)
    }

    /// Whether the pool, after eviction, has more than the slots of one more request beside the `admitted`.
    pub(super) fn slots_left(&self, admitted: &[ReqId]) -> bool {
        let engine = &self.setup.engine;
        let taken = |req: &&ReqId| self.world.reqs[req.index()].active.is_some();
        let wanted = engine.slots_at_admission() * (admitted.len() as u32 + 1);
        let held = admitted.iter().filter(taken).count() as u32;
        self.world.slots.available_with_spare() + self.world.tree.state_evictable() + held > wanted
    }

    /// Matches the prefix of a waiting request and, on a hit, takes an active slot for the copy. Says no if there is
    /// none and the request has to wait.
    fn match_prefix(&mut self, req: ReqId) -> Step<bool> {
        let it = &self.world.reqs[req.index()];
        let key = self.world.streams.prefix(it.stream, it.known_len() - 1);
        let found = self.world.tree.match_prefix(&self.world.streams, key);
        let it = self.req(req);
        it.prefix_len = found.state_len;
        it.cache_protected_len = found.state_len;
        it.branching = found.branching;
        it.last_node = found.node;
        if let Some(source) = found.state {
            if it.active.is_none() {
                let Some(slot) = self.slot_for_hit(req)? else { return Ok(false) };
                self.req(req).active = Some(slot);
            }
            let it = self.req(req);
            it.needs_clear = false;
            it.cow_source = Some(source);
            if self.setup.engine.copy_on_write == CopyOnWrite::Immediate {
                self.copy_hit(req, GpuStream::Schedule);
            }
        }
        let Match { state_len, kv_len, branching, state: source, .. } = found;
        self.emit(CacheFact::Match { req, state_len, kv_len, branching, source });
        Ok(true)
    }

    fn slot_for_hit(&mut self, req: ReqId) -> Step<Option<SlotId>> {
        let owner = Owner::Active(req);
        if let Some(slot) = self.world.slots.take_spare() {
            self.emit(SlotFact::Move { slot, from: Owner::Spare, to: owner });
            return Ok(Some(slot));
        }
        if let Some(slot) = self.alloc_slot(owner) {
            return Ok(Some(slot));
        }
        let node = self.world.reqs[req.index()].last_node;
        let lock = self.world.tree.lock(node);
        self.evict(0, 1);
        let slot = self.alloc_slot(owner);
        self.world.tree.unlock(lock);
        self.or_exhausted(req, slot)
    }

    /// Admits one request if the budget allows (`add_one_req`), and says whether to go on.
    fn try_admit(&mut self, req: ReqId, budget: &mut Budget, admitted: &mut Rows<ReqId>) -> Verdict {
        let it = &self.world.reqs[req.index()];
        let max_new = self.setup.requests[req.index()].max_new;
        let extend_len = it.known_len() - it.prefix_len;
        let outputs_left = max_new.saturating_sub(it.outputs);
        let (node, prefix_len) = (it.last_node, it.prefix_len);
        if !budget.fits(extend_len, outputs_left, self.room())
            && self.ask(ChoicePoint::Admit, req.0, extend_len + 1, 0) == 0
        {
            return Verdict::NoToken;
        }
        // Locked while it is looked at: what it will hold is not evictable for it.
        let lock = self.world.tree.lock(node);
        let fits = budget.fits(extend_len, outputs_left, self.room());
        let part = budget.chunk(prefix_len, extend_len).filter(|_| budget.input_fits(extend_len));
        let own = part.filter(|_| fits).unwrap_or(0);
        let len = self.ask(ChoicePoint::Admit, req.0, extend_len + 1, own);
        if len > 0 {
            let mut held = self.world.tree.lock(node);
            if self.setup.engine.admission_forgets_skip {
                held.forget_skip();
            }
            self.emit(CacheFact::Lock { req, node: node.0 });
            self.emit(RequestFact::Admit { req });
            budget.take(len, if len < extend_len { 0 } else { max_new });
            admitted.push(req);
            if len < extend_len {
                self.world.chunked = Some(req);
            }
            let it = self.req(req);
            it.lock = Some(held);
            it.extend_end = it.prefix_len + len;
            it.stage = Stage::Running;
        }
        self.world.tree.unlock(lock);
        match (fits, part) {
            (false, _) => Verdict::NoToken,
            (true, None) => Verdict::Other,
            (true, Some(_)) => budget.state(self.room()),
        }
    }

    /// A hit that was not admitted gives its slot back.
    fn give_hit_back(&mut self, req: ReqId) {
        let it = self.req(req);
        it.cow_source = None;
        it.needs_clear = false;
        if let Some(slot) = it.active.take() {
            self.free_slot(slot, Owner::Active(req), true);
        }
    }
}
