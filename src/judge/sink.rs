//! The judge as a sink: hands every fact to those whose business it is.
//!
//! Owns the table of facts. Refuses to interpret them.

use crate::record::{Bulk, Fact, Owner, Prefix, Sink, StreamId};

use super::Goal;
use super::audit::Offer;
use super::court::Judge;

/// Streams beyond this index are not followed; the run is then at best inconclusive.
const STREAMS_MAX: usize = 1 << 24;

impl Sink for Judge {
    // Where the machine emits a fact its kind is known, so that inlined only one arm remains.
    #[inline(always)]
    fn fact(&mut self, fact: Fact) {
        let findings = &mut self.findings;
        match fact {
            Fact::Turn { turn, .. } => {
                self.turns += 1;
                findings.turn = turn;
            }
            Fact::Begin { phase, .. } => findings.phase = phase,
            Fact::End { .. } | Fact::SlotRefused { .. } | Fact::PrepareExtend { .. } => {}
            Fact::MasksDropped { .. }
            | Fact::Flip { .. }
            | Fact::Read { .. }
            | Fact::Fields { .. }
            | Fact::Latched { .. }
            | Fact::Arrays { .. } => {}
            Fact::Abort { req, place, taken } => self.aborted(req, place, taken),
            Fact::Mix { rows, .. } => self.mix(rows),
            Fact::MiddleChunk { .. } => self.goals.insert(Goal::PrefillInChunks),
            Fact::Arrive { req, .. } => self.requests.arrive(req),
            Fact::Match { req, state_len, .. } => self.requests.matched(req, state_len),
            Fact::Hit { req, source, len } => self.hit(req, source, len),
            Fact::Admit { req } => self.requests.admit(req),
            Fact::SlotAlloc { slot, owner, .. } => {
                self.account.slot_alloc(slot, owner, findings);
                self.store.begin(slot);
            }
            Fact::SlotMove { slot, from, to } => self.slot_move(slot, from, to),
            Fact::SlotFree { slot, owner, .. } => {
                self.account.slot_pass(slot, owner, None, findings);
                if owner == Owner::Tree {
                    self.evicted();
                }
            }
            Fact::PageAlloc { first, count, owner } => self.account.page_alloc(first, count, owner, findings),
            Fact::PageMove { first, count, from, to } => {
                self.account.page_pass(first, count, from, Some(to), findings);
            }
            Fact::PageFree { first, count, owner } => self.account.page_pass(first, count, owner, None, findings),
            Fact::Lock { req, node } => self.account.lock(req, node, findings),
            Fact::Unlock { req, node } => self.account.unlock(req, node, findings),
            Fact::PrepareDecode { batch, req, k, .. } => {
                if let Some(live) = self.requests.get_or_new(req) {
                    live.window.prepare(batch, k);
                }
            }
            Fact::HostMasks { bytes, .. } => {
                self.rows.mask_reuse.bytes = self.rows.mask_reuse.bytes.saturating_add(bytes);
            }
            Fact::Launch { batch, mode, rows, .. } => {
                self.store.launch(batch);
                self.queued(mode, rows);
            }
            Fact::Clear { req, slot } => self.clear(req, slot),
            Fact::CopyState { req, from, to, stream } => self.copy_state(req, from, to, stream),
            Fact::Extend { batch, req, slot, from, to, track } => self.extend(batch, req, slot, (from, to), track),
            Fact::Step { batch, req, slot, k, track } => self.step(batch, req, slot, k, track),
            Fact::Verify { batch, req, slot, from, to, track, .. } => {
                self.extend(batch, req, slot, (from, to), track);
                if let Some(live) = self.requests.get_or_new(req) {
                    live.window.launch_run(batch, to, track);
                }
                if track.is_some() {
                    self.goals.insert(Goal::VerifyCrosses);
                    self.coverage.boundary(req);
                }
            }
            Fact::Stream { stream, parent } => self.stream(stream, parent),
            Fact::Prompt { req, prompt } => {
                if let Some(live) = self.requests.get_or_new(req) {
                    live.truth.prompt(prompt);
                    live.dues.prompt(prompt.len);
                }
            }
            Fact::Sampled { req, len, stream } => {
                if let Some(live) = self.requests.get(req) {
                    live.truth.sampled(len, stream, &self.lineage);
                }
            }
            Fact::Wait { batch, .. } => {
                self.store.wait(batch);
                self.coverage.wait(batch);
            }
            Fact::Skip { batch, req, .. } => {
                if let Some(live) = self.requests.get(req) {
                    live.window.process(batch);
                }
            }
            Fact::Output { req, outputs, .. } => self.requests.output(req, outputs),
            Fact::Finish { req, kind, outputs } => {
                self.finished(req, kind);
                self.requests.end(req, kind, outputs);
                if let Some(live) = self.requests.get(req) {
                    live.dues.finish(outputs);
                }
            }
            Fact::Row { batch, req, lookahead, check, .. } => {
                let now = (findings.turn, findings.phase);
                self.rows.row((batch, req), lookahead, check, now, &mut self.requests, &mut self.counts);
            }
            Fact::Decision { batch, req, after, .. } => {
                let now = (findings.turn, findings.phase);
                self.rows.decision((batch, req), after, now, &mut self.requests, &mut self.counts);
            }
            Fact::Donate { req, label, key_len, slot, how } => {
                self.donate(req, Offer { label, key_len, slot, how });
            }
            Fact::NoDonate { req, why, .. } => self.no_donate(req, why),
            Fact::TrackRefused { req, k, in_place } => {
                self.goals.insert(Goal::SecondSlotRefused);
                // What the row told last recorded can be what is written over.
                self.rows.close(&mut self.requests, &mut self.counts);
                if let Some(live) = self.requests.get_or_new(req) {
                    live.dues.refuse(k, in_place);
                }
            }
            Fact::Retract { req, .. } => {
                self.retracting(req);
                self.retract(req);
            }
            Fact::Assert { req, kind } => self.assertion(req, kind),
            Fact::PinMissed { req } => self.pins_missed.push(req),
            Fact::PinEnded { req } => self.pins_ended.push(req),
            Fact::EventUnused { turn, req } => self.events_unused.push((turn, req)),
            Fact::Bound { stalled } => self.bounded(stalled),
            Fact::Done { .. } => self.done(),
        }
    }

    fn bulk(&mut self, bulk: &Bulk<'_>) {
        self.told(bulk);
    }
}

impl Judge {
    /// A stream goes on from a prefix, unless there are more of them than are followed.
    fn stream(&mut self, stream: StreamId, parent: Prefix) {
        if stream.index() < STREAMS_MAX && parent.stream.index() < STREAMS_MAX {
            self.lineage.set(stream, parent);
        } else {
            self.overflow = true;
        }
    }
}
