//! What each fact changes about requests and slots.

use crate::record::{Decision, Fact, Offered, Phase, Sink, Stream};

use super::{Flight, LiveView, ReqNow, Stage};

impl Sink for LiveView {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Turn { turn, at } => (self.turn, self.now, self.phase) = (turn, at, None),
            Fact::Begin { phase, batch, at } => (self.phase, self.now) = (Some((phase, batch)), at),
            Fact::End { at } => {
                if let Some((Phase::Result, Some(batch))) = self.phase {
                    self.flights.retain(|flight| flight.batch != batch);
                }
                (self.phase, self.now) = (None, at);
            }
            Fact::Wait { at, .. } | Fact::Done { at } => self.now = at,
            Fact::Prompt { req, prompt } => self.req(req).prompt_len = prompt.len,
            Fact::Arrive { req, .. } => self.req(req).stage = Stage::Waiting,
            Fact::Match { req, state_len, .. } => self.req(req).hit = state_len,
            Fact::Admit { req } => self.req(req).stage = Stage::Prefill,
            Fact::SlotAlloc { slot, owner, .. } => self.give(slot, Some(owner)),
            Fact::SlotMove { slot, to, .. } => self.give(slot, Some(to)),
            Fact::SlotFree { slot, .. } => self.give(slot, None),
            Fact::PrepareExtend { req, seq_len, kv_committed_len, track, next_track_idx, .. } => {
                let it = self.req(req);
                (it.k, it.fields.kv_committed_len, it.fields.next_track_idx) =
                    (seq_len, kv_committed_len, next_track_idx);
                if let Some((_, label)) = track {
                    it.fields.last_track_seqlen = Some(label);
                }
            }
            Fact::PrepareDecode { req, k, kv_committed_len, next_track_idx, .. } => {
                let it = self.req(req);
                (it.stage, it.k) = (Stage::Decode, k);
                (it.fields.kv_committed_len, it.fields.next_track_idx) = (kv_committed_len, next_track_idx);
            }
            Fact::Launch { batch, start, end, .. } => {
                self.flights.push(Flight { batch, start, end });
                self.launch = Some((batch, end));
            }
            Fact::Clear { slot, .. } | Fact::CopyState { to: slot, stream: Stream::Forward, .. } => self.write(slot),
            Fact::Extend { slot, track, .. } | Fact::Verify { slot, track, .. } => {
                self.write(slot);
                if let Some((slot, _)) = track {
                    self.write(slot);
                }
            }
            Fact::Step { slot, track, .. } => {
                self.write(slot);
                if let Some(slot) = track {
                    self.write(slot);
                }
            }
            Fact::Output { req, outputs, at, .. } => {
                self.now = at;
                self.req(req).outputs = outputs;
            }
            Fact::Finish { req, kind, outputs } => {
                let it = self.req(req);
                (it.stage, it.finish, it.outputs) = (Stage::Finished, Some(kind), outputs);
            }
            Fact::Row { req, lookahead, kv_committed_len, decision, .. } => {
                let it = self.req(req);
                (it.lookahead, it.fields.kv_committed_len) = (Some(lookahead), kv_committed_len);
                if let Some(Decision { after, .. }) = decision {
                    (it.fields.last_track_seqlen, it.fields.kept) = (after.label, after.slot);
                    // Until its fields are told.
                    it.fields.offer =
                        after.label.zip(after.slot).map(|(label, slot)| Offered { label, key_len: label, slot });
                }
            }
            Fact::Fields { req, fields } => self.req(req).fields = fields,
            Fact::Flip { req, next_track_idx, .. } => self.req(req).fields.next_track_idx = Some(next_track_idx),
            Fact::Donate { req, key_len, slot, how, .. } => {
                if !how.existed {
                    self.held(slot).cached = Some(key_len);
                }
                self.forget(req);
            }
            Fact::NoDonate { req, .. } => self.forget(req),
            Fact::Retract { req, .. } => {
                // It begins anew, with the outputs that it has.
                let it = self.req(req);
                let ReqNow { prompt_len, outputs, active, track, retracted, .. } = *it;
                let retracted = retracted + 1;
                *it = ReqNow {
                    stage: Stage::Waiting,
                    prompt_len,
                    outputs,
                    active,
                    track,
                    retracted,
                    ..ReqNow::default()
                };
            }
            Fact::SlotRefused { .. }
            | Fact::Hit { .. }
            | Fact::CopyState { stream: Stream::Schedule, .. }
            | Fact::PageAlloc { .. }
            | Fact::PageMove { .. }
            | Fact::PageFree { .. }
            | Fact::Lock { .. }
            | Fact::Unlock { .. }
            | Fact::HostMasks { .. }
            | Fact::MasksDropped { .. }
            | Fact::Mix { .. }
            | Fact::Stream { .. }
            | Fact::Sampled { .. }
            | Fact::MiddleChunk { .. }
            | Fact::Skip { .. }
            | Fact::Arrays { .. }
            | Fact::Read { .. }
            | Fact::TrackRefused { .. }
            | Fact::Assert { .. }
            | Fact::Latched { .. }
            | Fact::PinMissed { .. }
            | Fact::PinEnded { .. }
            | Fact::Abort { .. }
            | Fact::EventUnused { .. }
            | Fact::Bound { .. } => {}
        }
    }
}
