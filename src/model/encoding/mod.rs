//! The canonical encoding of the state between two turns: everything that can matter later, under names that do not
//! depend on the path to the state.
//!
//! What is left out:
//! * the clock and the turn, where nothing waits for a time or a turn;
//! * counters that are only compared with each other;
//! * what belongs to requests that are over, and tree and pools once every request is over;
//! * order and size of the pools, where [`Reductions::ample`] holds;
//! * freed slots, where [`Reductions::fresh_slots_last`] holds;
//! * arrays of a batch that its launch has used up.

mod batch;
mod request;

use crate::record::{ContentNames, Encoding, ReqId, or_none};

use super::clock::MachineClock;
use super::reductions::Reductions;
use super::request::ReqStage;
use super::setup::Setup;
use super::world::{LastBatch, World};

/// The end of a list.
const END: u32 = u32::MAX - 2;

impl World {
    /// Writes the waiting, running and in-flight requests. Gives every live request its label.
    pub fn encode_queues(&self, setup: &Setup, reductions: Reductions, out: &mut Encoding) {
        // The pattern names every field, so that a new field does not compile until it is written or left out here.
        let World {
            // Fixed by the setup.
            grid: _,
            policy: _,
            sequences: _,
            clock,
            turn,
            reqs: _, // Labelled by `label_live`, written by `encode_rest`.
            waiting,
            arrivals,
            pinned,
            running: _, // Written by `encode_running`.
            last,
            queue,
            decoded,
            chunked,
            chunk_abort,
            idle,
            // Written by `encode_rest`.
            slots: _,
            pages: _,
            tree: _,
            ratio: _,
            refreshes: _,
            deferred_frees: _,
            // The number of live requests with `holds_row`; no other request holds a row.
            rows_held: _,
            // Counters of names: of batches, of batch objects, and of forwards as subjects of questions.
            batches: _,
            objects: _,
            forwards: _,
            grants: _,
            // The number of requests that are not over: live requests are written, unseen ones counted.
            unfinished: _,
            // Read only for a warning at the end.
            events_used: _,
            // A hint to look for finished rows in the running batch. Such rows are written.
            unfiltered: _,
            // Read only for the words about a bound.
            turns_run: _,
            turns_idle: _,
            // Written with the requests that have the tokens, and by `encode_rest`.
            streams: _,
            // Streams are emitted within their turn.
            streams_emitted: _,
            attached: _,
        } = self;
        assert!(pinned.is_empty(), "pins are checked within their turn");
        let MachineClock { cpu, gpu_free } = clock;
        let clock_matters = self.clock_matters(reductions);
        out.put([or_none(self.turn_matters(setup).then_some(*turn)), u32::from(*idle)]);
        if clock_matters {
            out.long(cpu.ns());
            out.long(gpu_free.ns());
            queue.iter().for_each(|pending| out.long(pending.copied.ns()));
        }
        arrivals.encode(*cpu, clock_matters, out);
        out.word(END);
        waiting.iter().for_each(|&req| out.put_req(req));
        out.word(END);
        self.encode_chunk(*chunked, out);
        self.encode_chunk(*chunk_abort, out);
        self.encode_running(setup, out);
        match last {
            LastBatch::None => out.word(0),
            LastBatch::Running => out.word(1),
            LastBatch::Extend(last) => self.encode_last(last, *decoded, out),
        }
        queue.iter().for_each(|pending| self.encode_pending(pending, out));
        out.word(END);
        self.label_live(out);
    }

    /// Writes a request in chunks, if there is one and it is not over.
    fn encode_chunk(&self, chunk: Option<ReqId>, out: &mut Encoding) {
        match chunk.filter(|req| !self.over(*req)) {
            Some(req) => out.put_req(req),
            None => out.word(END),
        }
    }

    /// Labels every live request.
    fn label_live(&self, out: &mut Encoding) {
        for (index, it) in self.reqs.iter().enumerate() {
            match it.stage {
                ReqStage::Unseen | ReqStage::Finished => {}
                ReqStage::Waiting | ReqStage::Running => out.put_req(ReqId(index as u32)),
            }
        }
    }

    /// Writes the fields of every live request, and, unless every request is over, the tree and the pools.
    pub fn encode_rest(&self, setup: &Setup, reductions: Reductions, names: &impl ContentNames, out: &mut Encoding) {
        for at in 0..out.reqs().len() {
            let req = out.reqs()[at];
            self.encode_req(setup, req, names, out);
        }
        out.word(END);
        // The numbers of streams made during the run depend on the path, so their meaning is written.
        for (parent, first) in self.streams.made_since_setup() {
            out.put([parent.stream.0, parent.len, first]);
        }
        out.word(END);
        let goes_on = self.unfinished > 0;
        assert!(goes_on || out.reqs().is_empty(), "a live request is unfinished");
        out.flag(goes_on);
        // Once every request is over, no prefix is matched, no slot is given out and nothing is evicted.
        if goes_on {
            self.encode_over(setup, names, out);
            self.tree.encode(reductions.ample, names, |req| self.reqs[req.index()].lock.as_ref(), out);
            self.encode_pools(reductions, names, out);
        }
        for &(slot, owner) in &self.deferred_frees {
            out.put_slot(Some(slot));
            out.put_req_if_live(super::store::holder(owner));
            let in_flight = |req: ReqId| self.queue.iter().any(|pending| pending.batch.reqs.contains(&req));
            out.flag(super::store::holder(owner).is_some_and(in_flight));
        }
        out.word(END);
    }

    /// Writes the sizes of the pools, and the freed slots in the order of the free list.
    fn encode_pools(&self, reductions: Reductions, names: &impl ContentNames, out: &mut Encoding) {
        if !reductions.ample {
            out.long(self.ratio.encode());
            out.word(self.refreshes);
            out.word(self.pages.available());
            out.word(self.slots.available());
        }
        let (fresh, freed) = self.slots.free_list();
        if reductions.fresh_slots_last {
            assert!(fresh > 0, "the never-used slots outlast the run");
        } else {
            freed.enumerate().for_each(|(place, slot)| names.put_free_slot(slot, fresh + place as u32, out));
        }
        out.word(END);
    }

    /// The whole state as text, without reductions except for the clock and the turn where nothing waits for them.
    pub fn unreduced(&self, setup: &Setup, reductions: Reductions) -> String {
        let mut world = self.clone();
        if !self.clock_matters(reductions) {
            world.clock = Default::default();
        }
        if !self.turn_matters(setup) {
            world.turn = 0;
        }
        (world.turns_run, world.turns_idle) = (0, 0);
        format!("{world:?}")
    }

    /// Whether a request still arrives at a time, or the order of events may depend on times alone.
    fn clock_matters(&self, reductions: Reductions) -> bool {
        reductions.clock_matters || self.arrivals.next().1.is_some()
    }

    /// Whether a request or a scripted event still comes in a numbered turn.
    pub(super) fn turn_matters(&self, setup: &Setup) -> bool {
        self.arrivals.next().0.is_some() || setup.events.iter().any(|event| event.at().0 >= self.turn)
    }

    /// Whether a request has finished or was dropped.
    fn over(&self, req: ReqId) -> bool {
        self.reqs[req.index()].stage == ReqStage::Finished
    }
}
