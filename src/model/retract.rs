//! Retraction: when KV is short, running requests give up what they hold and wait again (`retract_decode`).

use std::cmp::Reverse;

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::record::{AssertKind, BatchFact, NoDonation, ReqId, RequestFact, Sink};

use super::budget::RETRACT_DECODE_STEPS;
use super::machine::{Attempt, FailedAssert, Machine};
use super::setup::Event;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// The request that script or chooser retracts in this turn, whether KV is short or not.
    pub(super) fn forced_retraction(&mut self, rows: &[ReqId]) -> Option<ReqId> {
        let turn = self.world.turn;
        let open = self.chooser.is_open(ChoicePoint::Retract);
        let scripted_now = |event: &Event| matches!(event, Event::Retract { turn: at, .. } if *at == turn);
        if !open && !self.setup.events.iter().any(scripted_now) {
            return None;
        }
        let order = self.keep_order(rows);
        let mut scripted = 0;
        for (i, event) in self.setup.events.iter().enumerate() {
            // At most one event takes effect in a turn, and the only running request stays.
            if let Event::Retract { turn: at, req } = *event
                && at == turn
                && scripted == 0
                && rows.len() > 1
                && let Some(place) = order.iter().rev().position(|&row| row == req)
            {
                self.world.events_used[i] = true;
                scripted = place as u32 + 1;
            }
        }
        if scripted == 0 && !open {
            return None;
        }
        let subject = self.world.forwards;
        // The only row is never retracted.
        let options = if rows.len() > 1 { rows.len() as u32 + 1 } else { 1 };
        let chosen = self.chooser.choose(Choice { point: ChoicePoint::Retract, subject, options, default: scripted });
        chosen.checked_sub(1).map(|place| order[order.len() - 1 - place as usize])
    }

    /// Running requests from most to least worth keeping: most outputs, then shortest prompt, then order in the batch.
    fn keep_order(&self, rows: &[ReqId]) -> Vec<ReqId> {
        let mut keep = rows.to_vec();
        keep.sort_by_key(|req| {
            let it = &self.world.reqs[req.index()];
            Reverse((it.outputs, Reverse(it.prompt_len)))
        });
        keep
    }

    /// Retracts running requests, least worth keeping first, until a decode step of the rest fits. At least one request
    /// is retracted, and at least one stays. `forced` is retracted first if it is given.
    pub(super) fn retract(&mut self, rows: &[ReqId], forced: Option<ReqId>) -> Attempt {
        let mut keep = self.keep_order(rows);
        if let Some(req) = forced {
            keep.retain(|&row| row != req);
            keep.push(req);
        }
        let mut retracted = Vec::new();
        while keep.len() > 1 {
            let more = retracted.is_empty() || !self.room_for_decode(&keep);
            let Some(at) = self.next_retracted(&keep, more) else { break };
            let req = keep.remove(at);
            self.retract_one(req, keep.len() as u32);
            retracted.push(req);
        }
        if !self.room_for_decode(&keep) {
            // One request remains, and the tree has nothing more to evict: the modelled system is out of pages.
            return Err(FailedAssert { req: keep.first().copied(), kind: AssertKind::OutOfPages });
        }
        if self.world.running.keep_in_order(&keep) {
            self.emit(BatchFact::MasksDropped { batch: self.world.running.id });
        }
        self.reestimate();
        self.world.waiting.extend(&retracted);
        Ok(())
    }

    /// Frees what a request holds, and makes room for the next decode steps of the `left` rows that stay.
    fn retract_one(&mut self, req: ReqId, left: u32) {
        let outputs = self.world.reqs[req.index()].outputs;
        self.emit(RequestFact::Retract { req, outputs });
        self.donate_nothing(req, NoDonation::Retracted, None);
        self.release_rest(req, None);
        self.make_kv_room(left * RETRACT_DECODE_STEPS);
        self.req(req).reset_for_retract();
    }

    /// Estimates the new-token ratio from the rows that stay.
    fn reestimate(&mut self) {
        let rows = &self.world.running.reqs;
        let outputs = rows.iter().map(|req| u64::from(self.world.reqs[req.index()].outputs)).sum();
        let max_new = rows.iter().map(|req| u64::from(self.setup.requests[req.index()].max_new)).sum();
        self.world.ratio.after_retract(outputs, rows.len() as u64, max_new);
    }
}
