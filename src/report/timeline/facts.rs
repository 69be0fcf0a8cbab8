//! The part of the timeline that each fact adds.

use crate::engine::Time;
use crate::record::{
    BatchFact, BatchId, BoundaryCheck, CacheFact, Decision, DecisionFact, DonationOutcome, Fact, ForwardFact,
    ForwardMode, GpuStream, KeptState, Owner, ProbeFact, ReqId, RequestFact, RunFact, ScriptFact, Sink, SlotFact,
    SlotId,
};
use crate::report::{name, style};
use crate::scene::{Lane, Span, Work};

use super::turn::{RowColumn, Side};
use super::{DecodeInFlight, Timeline};

impl Sink for Timeline<'_> {
    fn fact(&mut self, fact: Fact) {
        if self.output_closed {
            return;
        }
        match fact {
            Fact::Run(fact) => self.run_fact(fact),
            Fact::Request(fact) => self.request_fact(fact),
            Fact::Slot(fact) => self.slot_fact(fact),
            Fact::Cache(fact) => self.cache_fact(fact),
            Fact::Batch(fact) => self.batch_fact(fact),
            Fact::Forward(fact) => self.forward_fact(fact),
            Fact::Decision(fact) => self.decision_fact(fact),
            Fact::Probe(fact) => self.probe_fact(fact),
            Fact::Script(fact) => self.script_fact(fact),
            Fact::Page(_) => {}
        }
    }
}

impl Timeline<'_> {
    fn run_fact(&mut self, fact: RunFact) {
        match fact {
            RunFact::Turn { turn, at } => self.open_turn(turn, at),
            RunFact::Begin { phase, batch, at } => self.begin(phase, batch, at),
            RunFact::End { at } => self.finish_phase(at),
            RunFact::Wait { batch, at } => self.wait(batch, at),
            RunFact::Assert { req, kind } => {
                let id = req.map_or(String::new(), |req| format!(" of {}", name::request(self.names, req)));
                self.turn().tail.push(format!("assertion{id}: {}", name::assertion(kind)));
            }
            RunFact::Bound { stalled } => {
                let why = if stalled { "stalled, no event can ever happen" } else { "the run reached turns_max" };
                self.turn().tail.push(format!("ended: {why}"));
            }
            RunFact::Done { at } => self.turn().tail.push(format!("done at {at}")),
        }
    }

    fn request_fact(&mut self, fact: RequestFact) {
        match fact {
            RequestFact::Arrive { req, .. } => {
                let prompt_len = self.seen(req).prompt_len;
                self.note(format!("{} arrives, prompt of {prompt_len}", name::request(self.names, req)));
            }
            RequestFact::Retract { req, outputs } => self.below(req, format!("is retracted, keeps {outputs} outputs")),
            RequestFact::Abort { req, taken: true, .. } => self.below(req, "is aborted".to_owned()),
            RequestFact::MiddleChunk { req, .. } => {
                self.below(req, "no output: a middle chunk of its prompt".to_owned());
            }
            RequestFact::Prompt { req, prompt } => self.seen(req).prompt_len = prompt.len,
            RequestFact::Skip { batch, req, why } => {
                self.prepared.remove(&(batch, req));
                let why = name::skip_reason(why);
                self.row_of(batch, req).set(RowColumn::End, format!("skipped: {why}"));
            }
            RequestFact::Output { batch, req, outputs, at } => {
                self.until(at);
                self.row_of(batch, req).set(RowColumn::Output, format!("out {outputs}"));
            }
            RequestFact::Finish { req, kind, outputs } => {
                let end = format!("ends: {}", name::finish(kind));
                match self.result_row(req) {
                    Some(row) => {
                        // A verify may have appended more than it delivers.
                        row.set(RowColumn::Output, format!("out {outputs}"));
                        row.set(RowColumn::End, end);
                    }
                    None => self.below(req, end),
                }
            }
            RequestFact::Abort { taken: false, .. } | RequestFact::Admit { .. } => {}
        }
    }

    fn slot_fact(&mut self, fact: SlotFact) {
        match fact {
            SlotFact::Refused { req: Some(req), count } => self.below(req, format!("gets no slot ({count} asked for)")),
            SlotFact::Refused { req: None, count } => {
                self.note(format!("the waiting queue gets no slot ({count} asked for)"));
            }
            SlotFact::Alloc { slot, owner, .. } | SlotFact::Move { slot, to: owner, .. } => self.take(slot, owner),
            SlotFact::Free { slot, owner, .. } => self.free(slot, owner),
        }
    }

    fn cache_fact(&mut self, fact: CacheFact) {
        match fact {
            CacheFact::Hit { req, source, len } => {
                let turn = self.turn().number;
                let wrong = self.findings.of_state(turn, req, source);
                let id = name::request(self.names, req);
                self.note(format!("{id} hits the cache: length {len}, state from {source}{wrong}"));
            }
            CacheFact::Donate { req, label, key_len, slot, how } => self.donate(req, label, key_len, slot, how),
            CacheFact::NoDonate { req, why, .. } => {
                self.below(req, format!("donates nothing: {}", name::no_donation(why)));
            }
            CacheFact::Match { .. } | CacheFact::Lock { .. } | CacheFact::Unlock { .. } => {}
        }
    }

    fn batch_fact(&mut self, fact: BatchFact) {
        match fact {
            BatchFact::TrackRefused { req, k, in_place } => {
                let what = if in_place { "writes in place" } else { "writes nothing" };
                self.below(req, format!("gets no track slot at k {k}: {what}"));
            }
            BatchFact::Mix { batch, decode, rows } => {
                self.note(format!("{rows} rows of {decode} ride along in {batch}"));
            }
            BatchFact::MasksDropped { batch } => self.note(format!("the live {batch} drops its host masks")),
            BatchFact::PrepareExtend {
                batch,
                req,
                prefix_len,
                seq_len,
                kv_committed_len,
                active,
                track,
                next_track_idx,
            } => {
                self.seen(req).next_track_idx = next_track_idx;
                let row = self.turn().row(Side::Prepare(batch), name::mode(ForwardMode::Extend), req);
                row.due = track.is_some();
                row.set(RowColumn::Length, format!("tokens {prefix_len}..{seq_len}"));
                row.set(RowColumn::Committed, format!("C {kv_committed_len}"));
                row.set(RowColumn::Active, format!("active {active}"));
                row.set(RowColumn::Track, track.map_or(String::new(), |(slot, len)| format!("track {slot} at {len}")));
            }
            BatchFact::PrepareDecode { batch, req, k, kv_committed_len, active, track, next_track_idx, .. } => {
                self.seen(req).next_track_idx = next_track_idx;
                self.prepared.insert((batch, req), DecodeInFlight { k, track });
                let row = self.turn().row(Side::Prepare(batch), name::mode(ForwardMode::Decode), req);
                row.due = track.is_some();
                row.set(RowColumn::Length, format!("k {k}"));
                row.set(RowColumn::Committed, format!("C {kv_committed_len}"));
                row.set(RowColumn::Active, format!("active {active}"));
                row.set(RowColumn::Track, track.map_or(String::new(), |slot| format!("track {slot}")));
                row.set(RowColumn::Next, next_track_idx.map_or(String::new(), |next| format!("next {next}")));
            }
            BatchFact::HostMasks { .. } => {}
        }
    }

    fn forward_fact(&mut self, fact: ForwardFact) {
        match fact {
            ForwardFact::Launch { batch, mode, start, end, .. } => self.launch(batch, mode, start, end),
            ForwardFact::CopyState { req, from, to, stream } => {
                let stream = match stream {
                    GpuStream::Schedule => "schedule",
                    GpuStream::Forward => "forward",
                };
                self.below(req, format!("copies {from} to {to} on the {stream} stream"));
            }
            ForwardFact::Verify { batch, req, from, to, track, .. } => {
                let kept = track.map_or(String::new(), |(slot, len)| format!(", keeps length {len} in {slot}"));
                self.prepared.insert((batch, req), DecodeInFlight { k: to, track: track.map(|(slot, _)| slot) });
                self.below(req, format!("will accept {} tokens, {from} to {to}{kept}", to - from));
            }
            ForwardFact::Clear { .. }
            | ForwardFact::Extend { .. }
            | ForwardFact::Step { .. }
            | ForwardFact::Stream { .. }
            | ForwardFact::Sampled { .. } => {}
        }
    }

    fn decision_fact(&mut self, fact: DecisionFact) {
        match fact {
            DecisionFact::Row { batch, req, lookahead, kv_committed_len, check, decision } => {
                self.decode_row(batch, req, lookahead, kv_committed_len, check);
                if let Some(Decision { before, after }) = decision {
                    let row = self.row_of(batch, req);
                    row.fired = true;
                    row.set(RowColumn::Kept, format!("{}->{}", kept(before), kept(after)));
                }
            }
            DecisionFact::Flip { batch, req, next_track_idx } => {
                let before = self.seen(req).next_track_idx.replace(next_track_idx);
                let before = before.map_or(String::new(), |before| format!("{before}->"));
                self.row_of(batch, req).set(RowColumn::Next, format!("next {before}{next_track_idx}"));
            }
        }
    }

    fn probe_fact(&mut self, fact: ProbeFact) {
        match fact {
            ProbeFact::Latched { req } => self.below(req, "waits: the running batch is still marked full".to_owned()),
            ProbeFact::Read { .. } | ProbeFact::Fields { .. } | ProbeFact::Arrays { .. } => {}
        }
    }

    fn script_fact(&mut self, fact: ScriptFact) {
        match fact {
            ScriptFact::PinMissed { req } => self.below(req, "misses the turn that it is pinned to".to_owned()),
            ScriptFact::PinEnded { req } => {
                self.below(req, "arrives now: the request that it is pinned to has ended".to_owned());
            }
            ScriptFact::EventUnused { turn, req } => {
                self.below(req, format!("is not affected by the event of turn {turn}"));
            }
        }
    }
}

impl Timeline<'_> {
    fn launch(&mut self, batch: BatchId, mode: ForwardMode, start: Time, end: Time) {
        let (lane, work, turn) = (Lane::Forward, Work::Forward(mode), self.turn().number);
        let forward = Span { lane, work, batch: Some(batch), turn, start_ns: start.ns(), end_ns: end.ns() };
        self.forwards.push_back(forward);
        self.modes.insert(batch, mode);
        let side = Side::Prepare(batch);
        if let Some(group) = self.turn().groups.iter_mut().rfind(|group| group.side == side) {
            group.head = format!("{}, on the GPU {start} .. {end}", group.head);
        }
    }

    fn decode_row(&mut self, batch: BatchId, req: ReqId, lookahead: i64, kv_committed_len: u32, check: BoundaryCheck) {
        let prepared = self.prepared.remove(&(batch, req));
        let class = self.classes.get(&(batch, req)).copied();
        let last = self.seen(req).lookahead.replace(lookahead);
        let change = last.filter(|&last| last != lookahead).map_or(String::new(), |last| format!("{last}->"));
        let row = self.row_of(batch, req);
        row.set(RowColumn::Lookahead, format!("L {change}{lookahead}"));
        row.set(RowColumn::Committed, format!("C {kv_committed_len}"));
        row.set(RowColumn::Check, name::check(check).to_owned());
        row.set(RowColumn::Class, class.map_or(String::new(), style::class));
        if let Some(DecodeInFlight { k, track }) = prepared {
            row.due = track.is_some();
            row.set(RowColumn::Length, format!("k {k}"));
            row.set(RowColumn::Track, track.map_or(String::new(), |slot| format!("wrote {slot}")));
        }
    }

    fn take(&mut self, slot: SlotId, owner: Owner) {
        if let Owner::Track(req, index) = owner
            && let Some(row) = self.result_row(req)
        {
            row.notes.push(format!("takes {slot} as track slot {index}"));
        } else {
            let names = self.names;
            self.turn().take(slot, owner, names);
        }
    }

    fn free(&mut self, slot: SlotId, owner: Owner) {
        match owner {
            Owner::Active(req) | Owner::Track(req, _) => match self.result_row(req) {
                Some(row) => row.freed.push(slot),
                None => self.below(req, format!("frees {slot}")),
            },
            Owner::Tree => self.note(format!("the tree frees {slot}")),
            Owner::Spare | Owner::Request(_) => {}
        }
    }

    fn donate(&mut self, req: ReqId, label: u32, key_len: u32, slot: SlotId, how: DonationOutcome) {
        let turn = self.turn().number;
        let wrong = self.findings.of_state(turn, req, slot);
        let key = if key_len == label { String::new() } else { format!(" (key of {key_len})") };
        let existed = if how.existed { "; the node had a state already" } else { "" };
        self.below(req, format!("donates {slot} under label {label}{key}{existed}{wrong}"));
    }
}

fn kept(of: KeptState) -> String {
    match (of.label, of.slot) {
        (None, _) => "none".to_owned(),
        (Some(label), None) => format!("{label}@none"),
        (Some(label), Some(slot)) => format!("{label}@{slot}"),
    }
}
