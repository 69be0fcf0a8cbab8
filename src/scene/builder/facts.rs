//! The part of a scene that each fact adds.

use crate::record::{
    BatchFact, CacheFact, DecisionFact, Fact, ForwardFact, ForwardMode, Owner, Phase, ProbeFact, RequestFact, RunFact,
    SharedField, Sink, SlotFact,
};
use crate::scene::{DonationMark, Fit, Lane, Work};

use super::SceneBuilder;

impl Sink for SceneBuilder {
    fn fact(&mut self, fact: Fact) {
        if let Fact::Run(RunFact::Turn { turn, at }) = fact {
            self.begin_turn(turn, at.ns());
        }
        // The donation may free the slot again: its fit is taken before.
        let offered =
            if let Fact::Cache(CacheFact::Donate { slot, .. }) = fact { self.view.slot(slot).fit } else { Fit::None };
        self.view.fact(fact);
        let cpu = self.cpu;
        match fact {
            Fact::Run(fact) => self.run_fact(fact),
            Fact::Request(fact) => self.request_fact(fact),
            Fact::Slot(fact) => self.slot_fact(fact),
            Fact::Cache(fact) => self.cache_fact(fact, offered),
            Fact::Batch(fact) => self.batch_fact(fact),
            Fact::Forward(fact) => self.forward_fact(fact),
            Fact::Decision(fact) => self.decision_fact(fact),
            Fact::Probe(fact) => self.probe_fact(fact),
            Fact::Page(_) | Fact::Script(_) => {}
        }
        self.found.resize(self.view.judge.finding_count(), cpu);
        self.update_segments();
    }
}

impl SceneBuilder {
    fn run_fact(&mut self, fact: RunFact) {
        match fact {
            RunFact::Begin { phase, batch, at } => {
                self.cpu = self.span(Lane::Cpu, Work::Phase(phase), batch, at.ns(), at.ns());
            }
            RunFact::End { at } => {
                self.close_cpu(at.ns());
                let arrows = self.reads.close();
                if self.included {
                    self.scene.arrows.extend(arrows);
                }
            }
            RunFact::Wait { batch, at } => self.wait(batch, at.ns()),
            RunFact::Turn { .. } | RunFact::Assert { .. } | RunFact::Bound { .. } | RunFact::Done { .. } => {}
        }
    }

    fn request_fact(&mut self, fact: RequestFact) {
        let cpu = self.cpu;
        match fact {
            RequestFact::Arrive { req, at, .. } => {
                let turn = self.view.live_view.turn;
                let life = self.life(req);
                (life.arrived_ns, life.seen) = (Some(at.ns()), Some(turn));
            }
            RequestFact::MiddleChunk { batch, req } => {
                self.result(batch, req);
            }
            RequestFact::Skip { batch, req, why } => {
                if let Some(step) = self.result(batch, req) {
                    step.skipped = Some(why);
                }
            }
            RequestFact::Output { batch, req, outputs, .. } => {
                if let Some(step) = self.result(batch, req) {
                    step.outputs = Some(outputs);
                }
                self.reads.write(req, SharedField::OutputIds, cpu);
            }
            RequestFact::Finish { req, outputs, .. } => {
                let now_ns = self.view.live_view.now.ns();
                // A verify may have appended more than it delivers.
                if let Some((Phase::Result, Some(batch))) = self.view.live_view.phase
                    && let Some(step) = self.step(batch, req)
                {
                    step.outputs = Some(outputs);
                }
                self.life(req).finished_ns = Some(now_ns);
                self.reads.write(req, SharedField::OutputIds, cpu);
            }
            RequestFact::Admit { .. }
            | RequestFact::Prompt { .. }
            | RequestFact::Retract { .. }
            | RequestFact::Abort { .. } => {}
        }
    }

    fn slot_fact(&mut self, fact: SlotFact) {
        let cpu = self.cpu;
        match fact {
            SlotFact::Alloc { slot, owner, .. }
            | SlotFact::Move { slot, to: owner, .. }
            | SlotFact::Free { slot, owner, .. } => {
                self.touched.push(slot);
                if let Owner::Track(req, _) = owner {
                    self.reads.write(req, SharedField::TrackSlots, cpu);
                }
            }
            SlotFact::Refused { .. } => {}
        }
    }

    fn cache_fact(&mut self, fact: CacheFact, offered: Fit) {
        let cpu = self.cpu;
        match fact {
            CacheFact::Donate { req, label, key_len, slot, how } => {
                if let Some(span) = cpu {
                    let (finished, existed) = (how.finished, how.existed);
                    let cached = self.view.judge.holds_donation(slot).filter(|_| !existed);
                    let right = cached.unwrap_or(offered != Fit::Exposed);
                    self.donate(DonationMark { req, label, key_len, slot, span, finished, existed, right });
                }
                self.reads.clear_label(req, cpu);
                self.touched.push(slot);
                self.touch_kept(req);
            }
            CacheFact::NoDonate { req, .. } => self.touch_kept(req),
            CacheFact::Match { .. } | CacheFact::Hit { .. } | CacheFact::Lock { .. } | CacheFact::Unlock { .. } => {}
        }
    }

    fn batch_fact(&mut self, fact: BatchFact) {
        let cpu = self.cpu;
        match fact {
            BatchFact::PrepareExtend { batch, req, prefix_len, seq_len, kv_committed_len, .. } => {
                self.prepare(batch, req, (ForwardMode::Extend, prefix_len, seq_len, kv_committed_len));
                self.touch_kept(req);
            }
            BatchFact::PrepareDecode { batch, req, k, kv_committed_len, .. } => {
                self.prepare(batch, req, (ForwardMode::Decode, k.saturating_sub(1), k, kv_committed_len));
                self.reads.write(req, SharedField::DecodeBatchIdx, cpu);
                self.touch_kept(req);
            }
            BatchFact::Mix { batch, decode, .. } => self.mix(batch, decode),
            BatchFact::HostMasks { .. } | BatchFact::MasksDropped { .. } | BatchFact::TrackRefused { .. } => {}
        }
    }

    fn forward_fact(&mut self, fact: ForwardFact) {
        match fact {
            ForwardFact::Launch { batch, mode, rows, start, end, copied } => {
                self.forward = self.span(Lane::Forward, Work::Forward(mode), Some(batch), start.ns(), end.ns());
                self.span(Lane::Copy, Work::ResultCopy, Some(batch), end.ns(), copied.ns());
                if let Some(turn) = self.scene.turns.last_mut().filter(|_| self.included) {
                    turn.rows += rows;
                }
            }
            ForwardFact::Clear { slot, .. } | ForwardFact::CopyState { to: slot, .. } => self.touched.push(slot),
            ForwardFact::Extend { batch, req, slot, track, .. } => {
                self.touched.extend([Some(slot), track.map(|track| track.0)].into_iter().flatten());
                self.effect(batch, req, track);
            }
            ForwardFact::Step { batch, req, slot, k, track } => {
                self.touched.extend([Some(slot), track].into_iter().flatten());
                self.effect(batch, req, track.map(|slot| (slot, k)));
            }
            ForwardFact::Verify { batch, req, slot, from, to, track, .. } => {
                self.touched.extend([Some(slot), track.map(|track| track.0)].into_iter().flatten());
                self.effect(batch, req, track);
                if let Some(step) = self.step(batch, req) {
                    (step.mode, step.from, step.k) = (ForwardMode::Verify, from, to);
                }
            }
            ForwardFact::Stream { .. } | ForwardFact::Sampled { .. } => {}
        }
    }

    fn decision_fact(&mut self, fact: DecisionFact) {
        match fact {
            DecisionFact::Row { batch, req, lookahead, kv_committed_len, check, decision } => {
                if let Some(step) = self.result(batch, req) {
                    (step.lookahead, step.check) = (Some(lookahead), check);
                    step.committed_at_result = Some(kv_committed_len);
                    step.fired = decision.map(|decision| (decision.after.label, decision.after.slot));
                }
                if decision.is_some() {
                    self.touch_kept(req);
                }
            }
            DecisionFact::Flip { req, .. } => self.touch_kept(req),
        }
    }

    fn probe_fact(&mut self, fact: ProbeFact) {
        let cpu = self.cpu;
        match fact {
            ProbeFact::Fields { req, fields } => {
                self.reads.fields(req, fields, cpu);
                self.touch_kept(req);
            }
            ProbeFact::Read { req, field, newer, changed, .. } => {
                if let Some(to) = cpu {
                    self.reads.read(req, field, to, newer, changed);
                }
            }
            ProbeFact::Arrays { .. } | ProbeFact::Latched { .. } => {}
        }
    }
}
