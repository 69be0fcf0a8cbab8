//! The change of requests and slots by each fact.

use crate::record::{
    BatchFact, CacheFact, Decision, DecisionFact, Fact, ForwardFact, GpuStream, Phase, PossibleDonation, ProbeFact,
    RequestFact, RunFact, Sink, SlotFact,
};

use super::{InFlight, LiveView, RequestStatus, RequestView};

impl Sink for LiveView {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Run(fact) => self.run_fact(fact),
            Fact::Request(fact) => self.request_fact(fact),
            Fact::Slot(fact) => self.slot_fact(fact),
            Fact::Cache(fact) => self.cache_fact(fact),
            Fact::Batch(fact) => self.batch_fact(fact),
            Fact::Forward(fact) => self.forward_fact(fact),
            Fact::Decision(fact) => self.decision_fact(fact),
            Fact::Probe(fact) => self.probe_fact(fact),
            Fact::Page(_) | Fact::Script(_) => {}
        }
    }
}

impl LiveView {
    fn run_fact(&mut self, fact: RunFact) {
        match fact {
            RunFact::Turn { turn, at } => (self.turn, self.now, self.phase) = (turn, at, None),
            RunFact::Begin { phase, batch, at } => (self.phase, self.now) = (Some((phase, batch)), at),
            RunFact::End { at } => {
                if let Some((Phase::Result, Some(batch))) = self.phase {
                    self.in_flight.retain(|forward| forward.batch != batch);
                }
                (self.phase, self.now) = (None, at);
            }
            RunFact::Wait { at, .. } | RunFact::Done { at } => self.now = at,
            RunFact::Assert { .. } | RunFact::Bound { .. } => {}
        }
    }

    fn request_fact(&mut self, fact: RequestFact) {
        match fact {
            RequestFact::Prompt { req, prompt } => self.req(req).prompt_len = prompt.len,
            RequestFact::Arrive { req, .. } => self.req(req).status = RequestStatus::Waiting,
            RequestFact::Admit { req } => self.req(req).status = RequestStatus::Prefill,
            RequestFact::Output { req, outputs, at, .. } => {
                self.now = at;
                self.req(req).outputs = outputs;
            }
            RequestFact::Finish { req, kind, outputs } => {
                let it = self.req(req);
                (it.status, it.finish, it.outputs) = (RequestStatus::Finished, Some(kind), outputs);
            }
            RequestFact::Retract { req, .. } => {
                // The request starts again; it keeps its outputs.
                let it = self.req(req);
                let RequestView { prompt_len, outputs, active, track, retracted, .. } = *it;
                let retracted = retracted + 1;
                *it = RequestView {
                    status: RequestStatus::Waiting,
                    prompt_len,
                    outputs,
                    active,
                    track,
                    retracted,
                    ..RequestView::default()
                };
            }
            RequestFact::MiddleChunk { .. } | RequestFact::Skip { .. } | RequestFact::Abort { .. } => {}
        }
    }

    fn slot_fact(&mut self, fact: SlotFact) {
        match fact {
            SlotFact::Alloc { slot, owner, .. } => self.give(slot, Some(owner)),
            SlotFact::Move { slot, to, .. } => self.give(slot, Some(to)),
            SlotFact::Free { slot, .. } => self.give(slot, None),
            SlotFact::Refused { .. } => {}
        }
    }

    fn cache_fact(&mut self, fact: CacheFact) {
        match fact {
            CacheFact::Match { req, state_len, .. } => self.req(req).hit = state_len,
            CacheFact::Donate { req, key_len, slot, how, .. } => {
                if !how.existed {
                    self.entry(slot).cached = Some(key_len);
                }
                self.forget(req);
            }
            CacheFact::NoDonate { req, .. } => self.forget(req),
            CacheFact::Hit { .. } | CacheFact::Lock { .. } | CacheFact::Unlock { .. } => {}
        }
    }

    fn batch_fact(&mut self, fact: BatchFact) {
        match fact {
            BatchFact::PrepareExtend { req, seq_len, kv_committed_len, track, next_track_idx, .. } => {
                let it = self.req(req);
                (it.k, it.fields.kv_committed_len, it.fields.next_track_idx) =
                    (seq_len, kv_committed_len, next_track_idx);
                if let Some((_, label)) = track {
                    it.fields.last_track_seqlen = Some(label);
                }
            }
            BatchFact::PrepareDecode { req, k, kv_committed_len, next_track_idx, .. } => {
                let it = self.req(req);
                (it.status, it.k) = (RequestStatus::Decode, k);
                (it.fields.kv_committed_len, it.fields.next_track_idx) = (kv_committed_len, next_track_idx);
            }
            BatchFact::HostMasks { .. }
            | BatchFact::MasksDropped { .. }
            | BatchFact::Mix { .. }
            | BatchFact::TrackRefused { .. } => {}
        }
    }

    fn forward_fact(&mut self, fact: ForwardFact) {
        match fact {
            ForwardFact::Launch { batch, start, end, .. } => {
                self.in_flight.push(InFlight { batch, start, end });
                self.launch = Some((batch, end));
            }
            ForwardFact::Clear { slot, .. } | ForwardFact::CopyState { to: slot, stream: GpuStream::Forward, .. } => {
                self.write(slot);
            }
            ForwardFact::Extend { slot, track, .. } | ForwardFact::Verify { slot, track, .. } => {
                self.write(slot);
                if let Some((slot, _)) = track {
                    self.write(slot);
                }
            }
            ForwardFact::Step { slot, track, .. } => {
                self.write(slot);
                if let Some(slot) = track {
                    self.write(slot);
                }
            }
            ForwardFact::CopyState { stream: GpuStream::Schedule, .. }
            | ForwardFact::Stream { .. }
            | ForwardFact::Sampled { .. } => {}
        }
    }

    fn decision_fact(&mut self, fact: DecisionFact) {
        match fact {
            DecisionFact::Row { req, lookahead, kv_committed_len, decision, .. } => {
                let it = self.req(req);
                (it.lookahead, it.fields.kv_committed_len) = (Some(lookahead), kv_committed_len);
                if let Some(Decision { after, .. }) = decision {
                    (it.fields.last_track_seqlen, it.fields.kept) = (after.label, after.slot);
                    // Until the next `ProbeFact::Fields`.
                    it.fields.offer = after.label.zip(after.slot).map(|(label, slot)| PossibleDonation {
                        label,
                        key_len: label,
                        slot,
                    });
                }
            }
            DecisionFact::Flip { req, next_track_idx, .. } => {
                self.req(req).fields.next_track_idx = Some(next_track_idx);
            }
        }
    }

    fn probe_fact(&mut self, fact: ProbeFact) {
        match fact {
            ProbeFact::Fields { req, fields } => self.req(req).fields = fields,
            ProbeFact::Arrays { .. } | ProbeFact::Read { .. } | ProbeFact::Latched { .. } => {}
        }
    }
}
