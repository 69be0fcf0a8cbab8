//! The judge as a sink: the table of facts and the parts of the judge that receive them.
//!
//! Owns this table. Beyond it, a slot that the tree frees is an eviction, and a kept length must lie in its extend.

use crate::record::{
    BatchFact, BatchId, CacheFact, DecisionFact, Fact, ForwardFact, Owner, PageFact, ReqId, RequestFact, ResultRow,
    RowFacts, RunFact, ScriptFact, Sink, SlotFact, SlotId, StepRow,
};

use super::decision::DecisionRow;
use super::storage::OfferedState;
use super::{Goal, Judge};

impl Sink for Judge {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Run(fact) => self.run_fact(fact),
            Fact::Request(fact) => self.request_fact(fact),
            Fact::Slot(fact) => self.slot_fact(fact),
            Fact::Page(fact) => self.page_fact(fact),
            Fact::Cache(fact) => self.cache_fact(fact),
            Fact::Batch(fact) => self.batch_fact(fact),
            Fact::Forward(fact) => self.forward_fact(fact),
            Fact::Decision(fact) => self.decision_fact(fact),
            Fact::Script(fact) => self.script_fact(fact),
            Fact::Probe(_) => {}
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
            RowFacts::PagesAlloc(rows) => {
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
                    self.decisions.row(DecisionRow { batch, req, lookahead, check, decision: None }, now);
                }
            }
        }
    }
}

impl Judge {
    fn run_fact(&mut self, fact: RunFact) {
        match fact {
            RunFact::Turn { turn, .. } => {
                self.turns += 1;
                self.findings.turn = turn;
            }
            RunFact::Begin { phase, .. } => self.findings.phase = phase,
            RunFact::Wait { batch, .. } => {
                self.storage.contents.wait(batch);
                self.coverage.wait(batch);
            }
            RunFact::Assert { req, kind } => self.assertion(req, kind),
            RunFact::Bound { stalled } => self.bounded(stalled),
            RunFact::Done { .. } => self.done(),
            RunFact::End { .. } => {}
        }
    }

    fn request_fact(&mut self, fact: RequestFact) {
        match fact {
            RequestFact::Abort { req, stage, taken } => self.aborted(req, stage, taken),
            RequestFact::MiddleChunk { .. } => self.goals.insert(Goal::PrefillInChunks),
            RequestFact::Arrive { req, .. } => {
                self.storage.arrive(req);
                self.outcomes.arrive(req);
            }
            RequestFact::Admit { req } => self.decisions.admit(req, self.outcomes.admit(req)),
            RequestFact::Prompt { req, prompt } => {
                self.storage.prompt(req, prompt);
                self.decisions.prompt(req, prompt.len);
            }
            RequestFact::Skip { batch, req, .. } => self.decisions.skip(batch, req),
            RequestFact::Output { req, outputs, .. } => self.outcomes.output(req, outputs),
            RequestFact::Finish { req, kind, outputs } => {
                self.outcomes.end(req, kind, outputs);
                self.decisions.finish(req, outputs);
                self.finished(req, kind);
            }
            RequestFact::Retract { req, .. } => self.retract(req),
        }
    }

    fn slot_fact(&mut self, fact: SlotFact) {
        match fact {
            SlotFact::Alloc { slot, owner, .. } => self.storage.slot_alloc(slot, owner, &mut self.findings),
            SlotFact::Move { slot, from, to } => self.storage.slot_move(slot, from, to, &mut self.findings),
            SlotFact::Free { slot, owner, .. } => self.slot_free(slot, owner),
            SlotFact::Refused { .. } => {}
        }
    }

    fn page_fact(&mut self, fact: PageFact) {
        match fact {
            PageFact::Alloc { pages, owner } => self.storage.pages.alloc(pages, owner, &mut self.findings),
            PageFact::Move { pages, from, to } => {
                self.storage.pages.transfer(pages, from, Some(to), &mut self.findings);
            }
            PageFact::Free { pages, owner } => self.storage.pages.transfer(pages, owner, None, &mut self.findings),
        }
    }

    fn cache_fact(&mut self, fact: CacheFact) {
        match fact {
            CacheFact::Match { req, state_len, .. } => self.outcomes.matched(req, state_len),
            CacheFact::Hit { req, source, len } => {
                let (by_decode, wrong) = self.storage.hit(req, source, len, &mut self.findings);
                self.started(by_decode, wrong);
            }
            CacheFact::Lock { req, node } => self.storage.owners.lock(req, node, &mut self.findings),
            CacheFact::Unlock { req, node } => self.storage.owners.unlock(req, node, &mut self.findings),
            CacheFact::Donate { req, label, key_len, slot, how } => {
                self.donate(req, OfferedState { label, key_len, slot, how });
            }
            CacheFact::NoDonate { req, why, .. } => self.no_donate(req, why),
        }
    }

    fn batch_fact(&mut self, fact: BatchFact) {
        match fact {
            BatchFact::Mix { rows, .. } => self.mix(rows),
            BatchFact::PrepareDecode { batch, req, k, .. } => self.decisions.prepare(batch, req, k),
            BatchFact::HostMasks { bytes, .. } => {
                self.decisions.mask_reuse.bytes = self.decisions.mask_reuse.bytes.saturating_add(bytes);
            }
            BatchFact::TrackRefused { req, k, in_place } => {
                self.decisions.refuse(req, k, in_place);
                self.goals.insert(Goal::SecondSlotRefused);
            }
            BatchFact::PrepareExtend { .. } | BatchFact::MasksDropped { .. } => {}
        }
    }

    fn forward_fact(&mut self, fact: ForwardFact) {
        match fact {
            ForwardFact::Launch { batch, mode, rows, .. } => {
                self.storage.contents.launch(batch);
                self.queued(mode, rows);
            }
            ForwardFact::Clear { req, slot } => self.storage.clear(req, slot, &mut self.findings),
            ForwardFact::CopyState { req, from, to, stream } => {
                self.storage.copy_state(req, from, to, stream, &mut self.findings);
            }
            ForwardFact::Extend { batch, req, slot, from, to, track } => {
                self.extend(batch, req, slot, (from, to), track);
            }
            ForwardFact::Step { batch, req, slot, k, track } => {
                self.steps(batch, &[StepRow { req, k, slot, track, sampled: None }]);
            }
            ForwardFact::Verify { batch, req, slot, from, to, track, .. } => {
                self.extend(batch, req, slot, (from, to), track);
                self.decisions.launch_verify(batch, req, to, track);
                if track.is_some() {
                    self.goals.insert(Goal::VerifyCrosses);
                    self.coverage.boundary(req);
                }
            }
            ForwardFact::Stream { stream, parent } => self.storage.stream(stream, parent),
            ForwardFact::Sampled { req, len, stream } => self.storage.sampled(req, len, stream),
        }
    }

    fn decision_fact(&mut self, fact: DecisionFact) {
        match fact {
            DecisionFact::Row { batch, req, lookahead, check, decision, .. } => {
                self.decisions.row(
                    DecisionRow { batch, req, lookahead, check, decision },
                    (self.findings.turn, self.findings.phase),
                );
            }
            DecisionFact::Flip { .. } => {}
        }
    }

    fn script_fact(&mut self, fact: ScriptFact) {
        match fact {
            ScriptFact::PinMissed { req } => self.pins_missed.push(req),
            ScriptFact::PinEnded { req } => self.pins_ended.push(req),
            ScriptFact::EventUnused { turn, req } => self.events_unused.push((turn, req)),
        }
    }
}

impl Judge {
    /// A slot was freed. If the tree owned it, its state was evicted.
    fn slot_free(&mut self, slot: SlotId, owner: Owner) {
        self.storage.owners.transfer(slot, owner, None, &mut self.findings);
        if owner == Owner::Tree {
            self.evicted();
        }
    }

    /// A forward advances a slot over the tokens `from..to`. `track` is a track slot that receives the state of a
    /// length within `from..=to`, and that length.
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

    /// The effects of decode steps of one batch.
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
