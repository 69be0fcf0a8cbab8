//! Which fact stands for what in a scene.

use crate::record::{Fact, Field, Mode, Owner, Phase, Sink};
use crate::scene::{Donation, Fit, Lane, Work};

use super::SceneBuilder;

impl Sink for SceneBuilder {
    fn fact(&mut self, fact: Fact) {
        if let Fact::Turn { turn, at } = fact {
            self.begin_turn(turn, at.ns());
        }
        // What is freed again at once is looked at before that.
        let offered = if let Fact::Donate { slot, .. } = fact { self.view.slot(slot).fit } else { Fit::None };
        self.view.fact(fact);
        let cpu = self.cpu;
        match fact {
            Fact::Begin { phase, batch, at } => {
                self.cpu = self.span(Lane::Cpu, Work::Phase(phase), batch, at.ns(), at.ns());
            }
            Fact::End { at } => {
                self.close_cpu(at.ns());
                let arrows = self.reads.close();
                if self.painting {
                    self.scene.arrows.extend(arrows);
                }
            }
            Fact::Wait { batch, at } => self.wait(batch, at.ns()),
            Fact::Arrive { req, at, .. } => {
                let turn = self.view.live_view.turn;
                let life = self.life(req);
                (life.arrived_ns, life.seen) = (Some(at.ns()), Some(turn));
            }
            Fact::SlotAlloc { slot, owner, .. }
            | Fact::SlotMove { slot, to: owner, .. }
            | Fact::SlotFree { slot, owner, .. } => {
                self.touched.push(slot);
                if let Owner::Track(req, _) = owner {
                    self.reads.write(req, Field::TrackSlots, cpu);
                }
            }
            Fact::PrepareExtend { batch, req, prefix_len, seq_len, kv_committed_len, .. } => {
                self.prepare(batch, req, (Mode::Extend, prefix_len, seq_len, kv_committed_len));
                self.touch_kept(req);
            }
            Fact::PrepareDecode { batch, req, k, kv_committed_len, .. } => {
                self.prepare(batch, req, (Mode::Decode, k.saturating_sub(1), k, kv_committed_len));
                self.reads.write(req, Field::DecodeBatchIdx, cpu);
                self.touch_kept(req);
            }
            Fact::Mix { batch, decode, .. } => self.mix(batch, decode),
            Fact::Launch { batch, mode, rows, start, end, copied } => {
                self.forward = self.span(Lane::Forward, Work::Forward(mode), Some(batch), start.ns(), end.ns());
                self.span(Lane::Copy, Work::ResultCopy, Some(batch), end.ns(), copied.ns());
                if let Some(turn) = self.scene.turns.last_mut().filter(|_| self.painting) {
                    turn.rows += rows;
                }
            }
            Fact::Clear { slot, .. } | Fact::CopyState { to: slot, .. } => self.touched.push(slot),
            Fact::Extend { batch, req, slot, track, .. } => {
                self.touched.extend([Some(slot), track.map(|track| track.0)].into_iter().flatten());
                self.effect(batch, req, track);
            }
            Fact::Step { batch, req, slot, k, track } => {
                self.touched.extend([Some(slot), track].into_iter().flatten());
                self.effect(batch, req, track.map(|slot| (slot, k)));
            }
            Fact::Verify { batch, req, slot, from, to, track, .. } => {
                self.touched.extend([Some(slot), track.map(|track| track.0)].into_iter().flatten());
                self.effect(batch, req, track);
                if let Some(step) = self.step(batch, req) {
                    (step.mode, step.from, step.k) = (Mode::Verify, from, to);
                }
            }
            Fact::MiddleChunk { batch, req } => {
                self.result(batch, req);
            }
            Fact::Skip { batch, req, why } => {
                if let Some(step) = self.result(batch, req) {
                    step.skipped = Some(why);
                }
            }
            Fact::Output { batch, req, outputs, .. } => {
                if let Some(step) = self.result(batch, req) {
                    step.outputs = Some(outputs);
                }
                self.reads.write(req, Field::OutputIds, cpu);
            }
            Fact::Finish { req, outputs, .. } => {
                let now_ns = self.view.live_view.now.ns();
                // A verify may have appended more than it delivers.
                if let Some((Phase::Result, Some(batch))) = self.view.live_view.phase
                    && let Some(step) = self.step(batch, req)
                {
                    step.outputs = Some(outputs);
                }
                self.life(req).finished_ns = Some(now_ns);
                self.reads.write(req, Field::OutputIds, cpu);
            }
            Fact::Row { batch, req, lookahead, kv_committed_len, check, decision } => {
                if let Some(step) = self.result(batch, req) {
                    (step.lookahead, step.check) = (Some(lookahead), check);
                    step.committed_at_result = Some(kv_committed_len);
                    step.fired = decision.map(|decision| (decision.after.label, decision.after.slot));
                }
                if decision.is_some() {
                    self.touch_kept(req);
                }
            }
            Fact::Fields { req, fields } => {
                self.reads.fields(req, fields, cpu);
                self.touch_kept(req);
            }
            Fact::Read { req, field, newer, changed, .. } => {
                if let Some(to) = cpu {
                    self.reads.read(req, field, to, newer, changed);
                }
            }
            Fact::Flip { req, .. } => self.touch_kept(req),
            Fact::Donate { req, label, key_len, slot, how } => {
                if let Some(span) = cpu {
                    let (finished, existed) = (how.finished, how.existed);
                    let cached = self.view.judge.holds_donation(slot).filter(|_| !existed);
                    let right = cached.unwrap_or(offered != Fit::Exposed);
                    self.donate(Donation { req, label, key_len, slot, span, finished, existed, right });
                }
                self.reads.clear_label(req, cpu);
                self.touched.push(slot);
                self.touch_kept(req);
            }
            Fact::NoDonate { req, .. } => self.touch_kept(req),
            Fact::Turn { .. }
            | Fact::Match { .. }
            | Fact::Hit { .. }
            | Fact::Admit { .. }
            | Fact::SlotRefused { .. }
            | Fact::PageAlloc { .. }
            | Fact::PageMove { .. }
            | Fact::PageFree { .. }
            | Fact::Lock { .. }
            | Fact::Unlock { .. }
            | Fact::HostMasks { .. }
            | Fact::MasksDropped { .. }
            | Fact::Stream { .. }
            | Fact::Prompt { .. }
            | Fact::Sampled { .. }
            | Fact::Arrays { .. }
            | Fact::TrackRefused { .. }
            | Fact::Retract { .. }
            | Fact::Assert { .. }
            | Fact::Latched { .. }
            | Fact::PinMissed { .. }
            | Fact::PinEnded { .. }
            | Fact::Abort { .. }
            | Fact::EventUnused { .. }
            | Fact::Bound { .. }
            | Fact::Done { .. } => {}
        }
        self.found.resize(self.view.judge.found(), cpu);
        self.look();
    }
}
