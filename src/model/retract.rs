//! Retraction: when KV is short, the requests that lose least give up their slots and wait again.

use std::cmp::Reverse;

use crate::engine::Chooser;
use crate::record::{AssertKind, Fact, Nothing, ReqId, Sink};

use super::budget::RETRACT_DECODE_STEPS;
use super::machine::{Dead, Machine, Step};

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Retracts running requests until a decode step of the rest fits (`retract_decode`): fewest outputs first, then
    /// longest prompt, then last in the batch. At least one goes and at least one stays.
    pub(super) fn retract(&mut self, rows: &[ReqId]) -> Step {
        let mut keep: Vec<ReqId> = rows.to_vec();
        let reqs = &self.world.reqs;
        keep.sort_by_key(|req| {
            let it = &reqs[req.index()];
            Reverse((it.outputs, Reverse(it.prompt_len)))
        });
        let mut retracted = Vec::new();
        loop {
            if keep.len() == 1 || (!retracted.is_empty() && self.room_for_decode(&keep)) {
                break;
            }
            let Some(req) = keep.pop() else { break };
            self.retract_one(req, keep.len() as u32);
            retracted.push(req);
        }
        if !self.room_for_decode(&keep) {
            // Validation gives every request room of its own, so this is the modelled system out of pages.
            return Err(Dead { req: keep.first().copied(), kind: AssertKind::OutOfPages });
        }
        let keeps = |req: ReqId| !retracted.contains(&req);
        if self.world.running.filter(keeps) {
            self.sink.fact(Fact::MasksDropped { batch: self.world.running.id });
        }
        self.reestimate();
        self.world.waiting.extend(&retracted);
        Ok(())
    }

    fn retract_one(&mut self, req: ReqId, left: u32) {
        let it = &self.world.reqs[req.index()];
        let (outputs, protected) = (it.outputs, it.cache_protected_len);
        self.sink.fact(Fact::Retract { req, outputs });
        self.sink.fact(Fact::NoDonate { req, why: Nothing::Retracted });
        self.drop_pages(req, protected);
        self.release_rest(req, None);
        self.make_kv_room(left * RETRACT_DECODE_STEPS);
        self.req(req).reset_for_retract();
    }

    fn reestimate(&mut self) {
        let rows = &self.world.running.reqs;
        let outputs = rows.iter().map(|req| u64::from(self.world.reqs[req.index()].outputs)).sum();
        let max_new = rows.iter().map(|req| u64::from(self.setup.requests[req.index()].max_new)).sum();
        self.world.ratio.after_retract(outputs, rows.len() as u64, max_new);
    }
}
