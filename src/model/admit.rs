//! Admission: the waiting requests that the next prefill batch takes (`_get_new_batch_prefill_raw`, `PrefillAdder`).

use crate::engine::{ChoicePoint, Chooser};
use crate::record::{CacheFact, GpuStream, Owner, ReqId, RequestFact, RowFacts, Sink, SlotFact, SlotId};

use super::batch::Rows;
use super::budget::{AddReqResult, Budget, PrefillLimits};
use super::machine::{Attempt, Machine};
use super::radix::Match;
use super::request::ReqStage;
use super::setup::{CopyOnWrite, Exhaustion, Stop};

/// `WAITING_PREFIX_REFRESH_INTERVAL` and `WAITING_QUEUE_PREFIX_MATCH_MAX` of 0.5.23.
const WAITING_PREFIX_REFRESH_INTERVAL: u32 = 32;
const WAITING_QUEUE_PREFIX_MATCH_MAX: usize = 128;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Chooses the requests of a prefill batch, in queue order. If nothing is short, and neither chunks nor the decode
    /// rows of a mixed batch use the budget, the first request of the queue is admitted: `Reductions` relies on this.
    pub(super) fn admit(&mut self) -> Attempt<Rows<ReqId>> {
        if self.setup.engine.filter_before_prefill && self.world.running.reqs.is_empty() {
            self.world.running.is_full = false;
        }
        let chunked = self.world.chunked;
        let no_candidates = self.world.waiting.is_empty() && chunked.is_none();
        let full = self.world.running.is_full && chunked.is_none();
        let mut tries = !no_candidates && !full;
        if tries && self.allocatable_reqs(&[]) == 0 && chunked.is_none() {
            self.world.running.is_full = true;
            tries = false;
        }
        if self.latch && full && !no_candidates {
            self.report_latch(&self.budget(), &[]);
        }
        if no_candidates || !self.ask_whether(ChoicePoint::Admission, self.world.turn, tries) {
            return Ok(Rows::new());
        }
        self.refresh_waiting();
        let mut budget = self.budget();
        let mut admitted = Rows::new();
        if let Some(req) = chunked {
            self.add_chunked_req(req, &mut budget, &mut admitted);
        }
        let in_chunks = admitted.len();
        if self.latch && chunked.is_some() {
            self.report_latch(&budget, &admitted);
        }
        self.set_slots_aside();
        let mut continues = true;
        let mut tried = Rows::new();
        for place in 0..self.world.waiting.len() {
            let own = continues && self.may_admit_more(&budget, &admitted);
            let Some(req) = self.next_candidate(place, own, &mut tried) else { break };
            if !self.slots_fit(&admitted) || !self.match_prefix(req)? {
                break;
            }
            let added = self.add_one_req(req, &mut budget, &mut admitted);
            continues = added == AddReqResult::Continue;
            if continues {
                continue;
            }
            if added == AddReqResult::NoToken {
                let only_beside_others = self.setup.engine.filter_before_prefill;
                self.world.running.is_full =
                    !only_beside_others || !admitted.is_empty() || !self.world.running.reqs.is_empty();
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

    /// Removes the admitted requests from the queue. They are nearly always its first requests, and the queue may be
    /// long.
    fn leave_queue(&mut self, admitted: &[ReqId]) {
        let waiting = &mut self.world.waiting;
        let first = waiting.iter().zip(admitted).take_while(|(waits, req)| waits == req).count();
        waiting.drain(..first);
        if first < admitted.len() {
            waiting.retain(|req| !admitted[first..].contains(req));
        }
    }

    /// The request to try after `place` others: the next of the queue if `own` holds, unless the chooser answers
    /// another request. `tried` has the requests tried so far, and is used only if that choice point is open.
    fn next_candidate(&mut self, place: usize, own: bool, tried: &mut Rows<ReqId>) -> Option<ReqId> {
        if !self.chooser.is_open(ChoicePoint::Candidate) {
            return own.then(|| self.world.waiting[place]);
        }
        let left: Rows<ReqId> = self.world.waiting.iter().copied().filter(|req| !tried.contains(req)).collect();
        let chosen =
            left.iter().copied().find(|&req| self.ask_whether(ChoicePoint::Candidate, req.0, own && req == left[0]))?;
        tried.push(chosen);
        Some(chosen)
    }

    /// Whether there may be room for one more request beside the `admitted` ones.
    fn may_admit_more(&mut self, budget: &Budget, admitted: &[ReqId]) -> bool {
        if self.setup.engine.filter_before_prefill && budget.state(self.room()) == AddReqResult::Other {
            return false;
        }
        if admitted.len() as u32 >= self.allocatable_reqs(admitted) {
            self.world.running.is_full = true;
        }
        !self.world.running.is_full
    }

    /// Adds the next chunk of the request in chunks to the batch (`add_chunked_req`).
    fn add_chunked_req(&mut self, req: ReqId, budget: &mut Budget, admitted: &mut Rows<ReqId>) {
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
        // An admission without waiting requests, such as the next chunk alone, is not counted.
        if !self.setup.engine.waiting_prefix_refresh || self.world.waiting.is_empty() {
            return;
        }
        let due = self.world.refreshes.is_multiple_of(WAITING_PREFIX_REFRESH_INTERVAL);
        self.world.refreshes = (self.world.refreshes + 1) % WAITING_PREFIX_REFRESH_INTERVAL;
        if due {
            for i in (0..self.world.waiting.len().min(WAITING_QUEUE_PREFIX_MATCH_MAX)).rev() {
                let it = &self.world.reqs[self.world.waiting[i].index()];
                let key = self.world.streams.prefix(it.stream, it.known_len());
                self.world.tree.match_prefix(&self.world.streams, key);
            }
        }
    }

    /// Number of requests that may run beside the running ones (`get_num_allocatable_reqs`). From 0.5.23 on it counts
    /// the rows that the `admitted` requests hold already.
    pub(super) fn allocatable_reqs(&self, admitted: &[ReqId]) -> u32 {
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

    /// The budget of a prefill batch, after the reservations of the running requests.
    fn budget(&self) -> Budget {
        let engine = &self.setup.engine;
        // If the choices may end any request by a stop token, no request is sure to reach its length.
        let lengths_are_sure = engine.fixed_length_reserves_all && !self.chooser.is_open(ChoicePoint::Stop);
        let running = self.world.running.reqs.iter().map(|req| {
            let spec = &self.setup.requests[req.index()];
            let fixed = lengths_are_sure && spec.stop == Stop::Length;
            let ratio = if fixed { 1.0 } else { self.world.ratio.current };
            (i64::from(spec.max_new) - i64::from(self.world.reqs[req.index()].outputs), ratio)
        });
        let limits = PrefillLimits {
            page_size: engine.page_size,
            max_prefill_tokens: engine.max_prefill_tokens,
            chunk: engine.chunked_prefill_size,
            mixed_rows: if engine.mixed_chunk { self.world.running.reqs.len() as u32 } else { 0 },
        };
        Budget::new(limits, running)
    }

    /// Takes a slot for each waiting request in one allocation (`alloc_group_begin`).
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

    /// Gives back the slots set aside that no hit has taken.
    fn give_slots_back(&mut self) {
        let rest = self.world.slots.give_back();
        self.sink.rows(RowFacts::SlotsFree(&rest, Owner::Spare));
    }

    /// Whether the pool, after eviction, has the slots of one more request. Where a lack of slots is an assertion,
    /// admission does not check.
    fn slots_fit(&self, admitted: &[ReqId]) -> bool {
        self.setup.engine.exhaustion == Exhaustion::Assert || self.slots_left(admitted)
    }

    /// Whether the pool, after eviction, has more slots than the `admitted` requests and one more take.
    pub(super) fn slots_left(&self, admitted: &[ReqId]) -> bool {
        let taken = |req: &&ReqId| self.world.reqs[req.index()].active.is_some();
        let wanted = self.world.policy.slots_at_admission() * (admitted.len() as u32 + 1);
        let held = admitted.iter().filter(taken).count() as u32;
        self.world.slots.available_with_spare() + self.world.tree.state_evictable() + held > wanted
    }

    /// Matches the prefix of a waiting request and, on a hit, takes an active slot for the copy. Returns false if no
    /// slot is free and the request has to wait.
    fn match_prefix(&mut self, req: ReqId) -> Attempt<bool> {
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

    /// A slot for the state of a hit: a slot set aside, a free slot, or a slot that an eviction frees.
    fn slot_for_hit(&mut self, req: ReqId) -> Attempt<Option<SlotId>> {
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

    /// Admits a request if the budget allows it (`add_one_req`). Returns whether admission continues.
    fn add_one_req(&mut self, req: ReqId, budget: &mut Budget, admitted: &mut Rows<ReqId>) -> AddReqResult {
        let it = &self.world.reqs[req.index()];
        let max_new = self.setup.requests[req.index()].max_new;
        let extend_len = it.known_len() - it.prefix_len;
        let outputs_left = max_new.saturating_sub(it.outputs);
        let (node, prefix_len) = (it.last_node, it.prefix_len);
        if !budget.fits(extend_len, outputs_left, self.room())
            && self.ask(ChoicePoint::Admit, req.0, extend_len + 1, 0) == 0
        {
            return AddReqResult::NoToken;
        }
        // The prefix is locked during the check: the request cannot evict its own prefix.
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
            it.stage = ReqStage::Running;
        }
        self.world.tree.unlock(lock);
        match (fits, part) {
            (false, _) => AddReqResult::NoToken,
            (true, None) => AddReqResult::Other,
            (true, Some(_)) => budget.state(self.room()),
        }
    }

    /// Gives back the slot of a hit whose request was not admitted.
    fn give_hit_back(&mut self, req: ReqId) {
        let it = self.req(req);
        it.cow_source = None;
        it.needs_clear = false;
        if let Some(slot) = it.active.take() {
            self.free_slot(slot, Owner::Active(req), true);
        }
    }
}
