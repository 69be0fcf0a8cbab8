//! The judge as a sink: which part of it is told of which fact.
//!
//! Owns that table. Does not interpret facts.

use crate::record::{BatchId, Fact, Owner, ReqId, ResultRow, RowFacts, Sink, SlotId, StepRow};

use super::decision::Row;
use super::storage::Offer;
use super::{Goal, Judge};

impl Sink for Judge {
    fn fact(&mut self, fact: Fact) {
        let Judge { storage, decisions, outcomes, findings, .. } = self;
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
            Fact::Arrive { req, .. } => {
                storage.arrive(req);
                outcomes.arrive(req);
            }
            Fact::Match { req, state_len, .. } => outcomes.matched(req, state_len),
            Fact::Hit { req, source, len } => {
                let (by_decode, wrong) = storage.hit(req, source, len, findings);
                self.started(by_decode, wrong);
            }
            Fact::Admit { req } => decisions.admit(req, outcomes.admit(req)),
            Fact::SlotAlloc { slot, owner, .. } => storage.slot_alloc(slot, owner, findings),
            Fact::SlotMove { slot, from, to } => storage.slot_move(slot, from, to, findings),
            Fact::SlotFree { slot, owner, .. } => self.slot_free(slot, owner),
            Fact::PageAlloc { pages, owner } => storage.pages.alloc(pages, owner, findings),
            Fact::PageMove { pages, from, to } => storage.pages.pass(pages, from, Some(to), findings),
            Fact::PageFree { pages, owner } => storage.pages.pass(pages, owner, None, findings),
            Fact::Lock { req, node } => storage.owners.lock(req, node, findings),
            Fact::Unlock { req, node } => storage.owners.unlock(req, node, findings),
            Fact::PrepareDecode { batch, req, k, .. } => decisions.prepare(batch, req, k),
            Fact::HostMasks { bytes, .. } => {
                decisions.mask_reuse.bytes = decisions.mask_reuse.bytes.saturating_add(bytes)
            }
            Fact::Launch { batch, mode, rows, .. } => {
                storage.contents.launch(batch);
                self.queued(mode, rows);
            }
            Fact::Clear { req, slot } => storage.clear(req, slot, findings),
            Fact::CopyState { req, from, to, stream } => storage.copy_state(req, from, to, stream, findings),
            Fact::Extend { batch, req, slot, from, to, track } => {
                self.extend(batch, req, slot, (from, to), track);
            }
            Fact::Step { batch, req, slot, k, track } => {
                self.steps(batch, &[StepRow { req, k, slot, track, sampled: None }]);
            }
            Fact::Verify { batch, req, slot, from, to, track, .. } => {
                self.extend(batch, req, slot, (from, to), track);
                self.decisions.launch_verify(batch, req, to, track);
                if track.is_some() {
                    self.goals.insert(Goal::VerifyCrosses);
                    self.coverage.boundary(req);
                }
            }
            Fact::Stream { stream, parent } => storage.stream(stream, parent),
            Fact::Prompt { req, prompt } => {
                storage.prompt(req, prompt);
                decisions.prompt(req, prompt.len);
            }
            Fact::Sampled { req, len, stream } => storage.sampled(req, len, stream),
            Fact::Wait { batch, .. } => {
                storage.contents.wait(batch);
                self.coverage.wait(batch);
            }
            Fact::Skip { batch, req, .. } => decisions.skip(batch, req),
            Fact::Output { req, outputs, .. } => outcomes.output(req, outputs),
            Fact::Finish { req, kind, outputs } => {
                outcomes.end(req, kind, outputs);
                decisions.finish(req, outputs);
                self.finished(req, kind);
            }
            Fact::Row { batch, req, lookahead, check, decision, .. } => {
                decisions.row(Row { batch, req, lookahead, check, decision }, (findings.turn, findings.phase));
            }
            Fact::Donate { req, label, key_len, slot, how } => {
                self.donate(req, Offer { label, key_len, slot, how });
            }
            Fact::NoDonate { req, why, .. } => self.no_donate(req, why),
            Fact::TrackRefused { req, k, in_place } => {
                decisions.refuse(req, k, in_place);
                self.goals.insert(Goal::SecondSlotRefused);
            }
            Fact::Retract { req, .. } => self.retract(req),
            Fact::Assert { req, kind } => self.assertion(req, kind),
            Fact::PinMissed { req } => self.pins_missed.push(req),
            Fact::PinEnded { req } => self.pins_ended.push(req),
            Fact::EventUnused { turn, req } => self.events_unused.push((turn, req)),
            Fact::Bound { stalled } => self.bounded(stalled),
            Fact::Done { .. } => self.done(),
        }
    }

    fn rows(&mut self, rows: RowFacts<'_>) {
        match rows {
            RowFacts::SlotsAlloc(slots, owner) => {
                for &slot in slots {
                    self.storage.slot_alloc(slot, owner, &mut self.findings);
                }
            }
            RowFacts::SlotsFree(slots, owner) => {
                for &slot in slots {
                    self.slot_free(slot, owner);
                }
            }
            RowFacts::Paged(rows) => {
                for &(req, pages) in rows {
                    self.storage.pages.alloc(pages, Owner::Request(req), &mut self.findings);
                }
            }
            RowFacts::Prepared(batch, rows) => {
                for row in rows {
                    self.decisions.prepare(batch, row.req, row.k);
                }
            }
            RowFacts::Stepped(batch, rows) => {
                self.steps(batch, rows);
            }
            RowFacts::Results(batch, rows) => {
                let now = (self.findings.turn, self.findings.phase);
                for &ResultRow { req, outputs, lookahead, check, .. } in rows {
                    self.outcomes.output(req, outputs);
                    self.decisions.row(Row { batch, req, lookahead, check, decision: None }, now);
                }
            }
        }
    }
}

impl Judge {
    /// A slot was freed.
    fn slot_free(&mut self, slot: SlotId, owner: Owner) {
        self.storage.owners.pass(slot, owner, None, &mut self.findings);
        if owner == Owner::Tree {
            self.evicted();
        }
    }

    /// A forward advances a slot over tokens `from..to`, and keeps the state of a length on the way in a track slot.
    fn extend(
        &mut self,
        batch: BatchId,
        req: ReqId,
        slot: SlotId,
        (from, to): (u32, u32),
        track: Option<(SlotId, u32)>,
    ) {
        self.storage.extend(req, slot, (from, to), track, &mut self.findings);
        if let Some(track) = track.filter(|track| (from..=to).contains(&track.1)) {
            self.decisions.kept(batch, req, track, self.findings.turn);
        }
    }

    /// Decode steps are launched.
    fn steps(&mut self, batch: BatchId, rows: &[StepRow]) {
        let Judge { storage, decisions, coverage, findings, .. } = self;
        for &row in rows {
            storage.step(row, findings);
            decisions.launch(batch, row.req, row.k, row.track, findings.turn);
            if row.track.is_some() {
                coverage.boundary(row.req);
            }
        }
    }
}
