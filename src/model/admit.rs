//! Admission: which waiting requests the next prefill batch takes (`_get_new_batch_prefill_raw`, `PrefillAdder`).

use crate::engine::Chooser;
use crate::record::{AssertKind, Fact, Owner, ReqId, Sink};

use super::budget::{Budget, Verdict};
use super::machine::{Dead, Machine, Step};
use super::radix::Match;
use super::request::Stage;
use super::setup::Stop;

/// `WAITING_PREFIX_REFRESH_INTERVAL` and `WAITING_QUEUE_PREFIX_MATCH_MAX` of 0.5.23.
const WAITING_REFRESH_INTERVAL: u32 = 32;
const WAITING_REFRESH_MAX: usize = 128;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Chooses the requests of a prefill batch, in queue order; empty if there is none to run.
    pub(super) fn admit(&mut self) -> Step<Vec<ReqId>> {
        if self.setup.engine.filter_before_prefill && self.world.running.reqs.is_empty() {
            self.world.running.is_full = false;
        }
        if self.world.running.is_full || self.world.waiting.is_empty() {
            return Ok(Vec::new());
        }
        if self.rows_left() == 0 {
            self.world.running.is_full = true;
            return Ok(Vec::new());
        }
        self.refresh_waiting();
        let mut budget = self.budget();
        self.set_slots_aside();
        let mut admitted = Vec::new();
        for i in 0..self.world.waiting.len() {
            let req = self.world.waiting[i];
            if self.setup.engine.filter_before_prefill && budget.state(self.room()) == Verdict::Other {
                break;
            }
            if admitted.len() as u32 >= self.rows_left() {
                self.world.running.is_full = true;
            }
            if self.world.running.is_full {
                break;
            }
            self.match_prefix(req)?;
            let verdict = self.try_admit(req, &mut budget, &mut admitted);
            if verdict == Verdict::Continue {
                continue;
            }
            if verdict == Verdict::NoToken {
                let newest = self.setup.engine.filter_before_prefill;
                self.world.running.is_full = !newest || !admitted.is_empty() || !self.world.running.reqs.is_empty();
            }
            if admitted.last() != Some(&req) {
                self.give_hit_back(req);
            }
            break;
        }
        self.give_slots_back();
        self.world.waiting.retain(|req| !admitted.contains(req));
        Ok(admitted)
    }

    /// Makes the prefixes of the waiting requests recent, the head of the queue last (`_touch_waiting_prefixes`).
    fn refresh_waiting(&mut self) {
        if !self.setup.engine.waiting_prefix_refresh {
            return;
        }
        let due = self.world.refreshes.is_multiple_of(WAITING_REFRESH_INTERVAL);
        self.world.refreshes = (self.world.refreshes + 1) % WAITING_REFRESH_INTERVAL;
        if due {
            for i in (0..self.world.waiting.len().min(WAITING_REFRESH_MAX)).rev() {
                let it = &self.world.reqs[self.world.waiting[i].index()];
                self.world.tree.match_prefix(&it.tokens[..it.known_len() as usize]);
            }
        }
    }

    /// How many more requests may run (`get_num_allocatable_reqs`).
    fn rows_left(&self) -> u32 {
        let max = self.setup.engine.max_running;
        let running = self.world.running.reqs.len() as u32;
        max.saturating_sub(running).min(max.saturating_sub(self.world.rows_held))
    }

    /// Free and evictable KV, in tokens.
    fn room(&self) -> u32 {
        self.world.pages.available() + self.world.tree.kv_evictable()
    }

    fn budget(&self) -> Budget {
        let engine = &self.setup.engine;
        let running = self.world.running.reqs.iter().map(|req| {
            let spec = &self.setup.requests[req.index()];
            let fixed = engine.fixed_length_reserves_all && spec.stop == Stop::Length;
            let ratio = if fixed { 1.0 } else { self.world.ratio.current };
            (spec.max_new.saturating_sub(self.world.reqs[req.index()].outputs), ratio)
        });
        Budget::new(engine.page_size, engine.max_prefill_tokens, running)
    }

    /// Takes a slot for each waiting request in one call, as `alloc_group_begin` does.
    fn set_slots_aside(&mut self) {
        let count = self.world.waiting.len() as u32;
        match self.world.slots.set_aside(count) {
            Some(spare) => {
                for (i, &slot) in spare.iter().enumerate() {
                    let last = i + 1 == spare.len();
                    self.sink.fact(Fact::SlotAlloc { slot, owner: Owner::Spare, last });
                }
            }
            None => self.sink.fact(Fact::SlotRefused { req: None, count }),
        }
    }

    fn give_slots_back(&mut self) {
        let rest = self.world.slots.give_back();
        for (i, &slot) in rest.iter().enumerate() {
            self.sink.fact(Fact::SlotFree { slot, owner: Owner::Spare, last: i + 1 == rest.len() });
        }
    }

    /// Matches the prefix of a waiting request and, on a hit, takes an active slot for the copy.
    fn match_prefix(&mut self, req: ReqId) -> Step {
        let it = &self.world.reqs[req.index()];
        let key_len = it.known_len() as usize - 1;
        let found = self.world.tree.match_prefix(&it.tokens[..key_len]);
        let it = self.req(req);
        it.prefix_len = found.state_len;
        it.cache_protected_len = found.state_len;
        it.branching = found.branching;
        it.last_node = found.node;
        if let Some(source) = found.state {
            if it.active.is_none() {
                let slot = self.slot_for_hit(req)?;
                self.req(req).active = Some(slot);
            }
            let it = self.req(req);
            it.cow_source = Some(source);
            it.needs_clear = false;
        }
        let Match { state_len, kv_len, branching, .. } = found;
        self.sink.fact(Fact::Match { req, state_len, kv_len, branching });
        Ok(())
    }

    fn slot_for_hit(&mut self, req: ReqId) -> Step<crate::record::SlotId> {
        let owner = Owner::Active(req);
        if let Some(slot) = self.world.slots.take_spare() {
            self.sink.fact(Fact::SlotMove { slot, from: Owner::Spare, to: owner });
            return Ok(slot);
        }
        if let Some(slot) = self.alloc_slot(owner) {
            return Ok(slot);
        }
        let node = self.world.reqs[req.index()].last_node;
        let lock = self.world.tree.lock(node);
        self.evict(0, 1);
        let slot = self.alloc_slot(owner);
        self.world.tree.unlock(lock);
        slot.ok_or(Dead { req: Some(req), kind: AssertKind::OutOfSlots })
    }

    /// Admits one request if the budget allows (`add_one_req`), and says whether to go on.
    fn try_admit(&mut self, req: ReqId, budget: &mut Budget, admitted: &mut Vec<ReqId>) -> Verdict {
        let it = &self.world.reqs[req.index()];
        let max_new = self.setup.requests[req.index()].max_new;
        let extend_len = it.known_len() - it.prefix_len;
        let outputs_left = max_new.saturating_sub(it.outputs);
        let node = it.last_node;
        if !budget.fits(extend_len, outputs_left, self.room()) {
            return Verdict::NoToken;
        }
        // Locked while it is looked at: what it will hold is not evictable for it.
        let lock = self.world.tree.lock(node);
        let fits = budget.fits(extend_len, outputs_left, self.room());
        let input_fits = budget.input_fits(extend_len);
        if fits && input_fits {
            let mut held = self.world.tree.lock(node);
            if self.setup.engine.admission_forgets_skip {
                held.forget_skip();
            }
            self.sink.fact(Fact::Lock { req, node: node.0 });
            self.sink.fact(Fact::Admit { req });
            budget.take(extend_len, max_new);
            admitted.push(req);
            let it = self.req(req);
            it.lock = Some(held);
            it.extend_end = it.known_len();
            it.stage = Stage::Running;
        }
        self.world.tree.unlock(lock);
        match (fits, input_fits) {
            (false, _) => Verdict::NoToken,
            (true, false) => Verdict::Other,
            (true, true) => budget.state(self.room()),
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
