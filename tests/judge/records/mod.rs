//! The judge on records written by hand: no simulator runs.
//!
//! One request `A` (prompt 1, grid 4) has the active slot 1 and the track slots 2 and 3, unless a test says otherwise.

mod accounting;
mod contents;
mod copies;
mod counts;
mod decisions;
mod histories;
mod incomplete;
mod nonsense;
mod outcomes;
mod retractions;
mod wrong_starts;

use crate::common::tape::{AT, Facts, TokenNames};
use overlapsim::judge::{Class, Finding, FindingKind, Judge, JudgeOptions, Judgement};
use overlapsim::record::*;

const A: ReqId = ReqId(0);
const B: ReqId = ReqId(1);

/// A record under construction: each call adds one step of the machine.
struct Tape {
    record: Record,
    names: TokenNames,
    page_size: u32,
    turn: u32,
    len: [u32; 2],
    /// Output tokens of a request when it finishes.
    outputs: u32,
}

impl Facts for Tape {
    fn fact(&mut self, fact: Fact) -> &mut Tape {
        self.record.fact(fact);
        self
    }
}

impl Tape {
    /// A record in which `A` has been prefilled with one token, and nothing else happened.
    fn new() -> Tape {
        let mut tape = Tape::empty();
        tape.arrive(A, 1, [1, 2, 3]).prefill(1, A, 1, 0, 1, None).wait(1);
        tape
    }

    fn empty() -> Tape {
        Tape {
            record: Record::default(),
            names: TokenNames::default(),
            page_size: 1,
            turn: 0,
            len: [0; 2],
            outputs: 20,
        }
    }

    fn turn(&mut self) -> &mut Tape {
        self.turn += 1;
        self.fact(Fact::Run(RunFact::Turn { turn: self.turn - 1, at: AT })).fact(Fact::Run(RunFact::Begin {
            phase: Phase::Result,
            batch: None,
            at: AT,
        }))
    }

    fn arrive(&mut self, req: ReqId, prompt: u32, slots: [u32; 3]) -> &mut Tape {
        let tokens: Vec<Token> = (0..prompt).map(|token| 1000 + token).collect();
        self.prompt(req, &tokens);
        self.fact(Fact::Request(RequestFact::Arrive { req, at: AT, max_new: 20 }));
        self.fact(Fact::Request(RequestFact::Admit { req }));
        self.give(slots[0], Owner::Active(req)).give(slots[1], Owner::Track(req, 0));
        self.give(slots[2], Owner::Track(req, 1))
    }

    fn prompt(&mut self, req: ReqId, tokens: &[Token]) {
        let facts = self.names.prompt(req, tokens);
        facts.into_iter().for_each(|fact| self.record.fact(fact));
    }

    fn cache(&mut self, slot: u32, from: Owner) -> &mut Tape {
        self.fact(Fact::Slot(SlotFact::Move { slot: SlotId(slot), from, to: Owner::Tree }))
    }

    /// The token after `len` tokens, the same for all requests: they share prefixes.
    fn sample(&mut self, req: ReqId, len: u32) -> &mut Tape {
        self.len[req.index()] = len + 1;
        let facts = self.names.sampled(req, len, len);
        facts.into_iter().for_each(|fact| self.record.fact(fact));
        self
    }

    fn prefill(
        &mut self,
        batch: u32,
        req: ReqId,
        slot: u32,
        from: u32,
        to: u32,
        track: Option<(u32, u32)>,
    ) -> &mut Tape {
        let track = track.map(|(slot, len)| (SlotId(slot), len));
        self.launch(batch);
        if from == 0 {
            self.fact(Fact::Forward(ForwardFact::Clear { req, slot: SlotId(slot) }));
        }
        self.fact(Fact::Forward(ForwardFact::Extend {
            batch: BatchId(batch),
            req,
            slot: SlotId(slot),
            from,
            to,
            track,
        }))
        .sample(req, to)
    }

    /// A prefill forward without the facts around it.
    fn extend(
        &mut self,
        batch: u32,
        req: ReqId,
        slot: u32,
        (from, to): (u32, u32),
        track: Option<(u32, u32)>,
    ) -> &mut Tape {
        let track = track.map(|(slot, len)| (SlotId(slot), len));
        let (batch, slot) = (BatchId(batch), SlotId(slot));
        self.fact(Fact::Forward(ForwardFact::Extend { batch, req, slot, from, to, track }))
    }

    fn clear(&mut self, req: ReqId, slot: u32) -> &mut Tape {
        self.fact(Fact::Forward(ForwardFact::Clear { req, slot: SlotId(slot) }))
    }

    fn copy(&mut self, req: ReqId, from: u32, to: u32, stream: GpuStream) -> &mut Tape {
        self.fact(Fact::Forward(ForwardFact::CopyState { req, from: SlotId(from), to: SlotId(to), stream }))
    }

    fn hit(&mut self, req: ReqId, source: u32, len: u32) -> &mut Tape {
        self.fact(Fact::Cache(CacheFact::Hit { req, source: SlotId(source), len }))
    }

    /// The prefix that admission finds in the cache, and the admission.
    fn admit(&mut self, req: ReqId, state_len: u32) -> &mut Tape {
        self.fact(Fact::Cache(CacheFact::Match { req, state_len, kv_len: state_len, branching: None, source: None }))
            .fact(Fact::Request(RequestFact::Admit { req }))
    }

    fn retract(&mut self, req: ReqId) -> &mut Tape {
        self.fact(Fact::Request(RequestFact::Retract { req, outputs: 4 }))
    }

    fn no_donation(&mut self, req: ReqId, why: NoDonation) -> &mut Tape {
        self.fact(Fact::Cache(CacheFact::NoDonate { req, why, slot: None }))
    }

    fn refused(&mut self, k: u32, in_place: bool) -> &mut Tape {
        self.fact(Fact::Batch(BatchFact::TrackRefused { req: A, k, in_place }))
    }

    /// Decode step `k` in a batch of its own, prepared and launched.
    fn decode(&mut self, batch: u32, req: ReqId, active: u32, k: u32, track: Option<u32>) -> &mut Tape {
        let (batch_id, active, track) = (BatchId(batch), SlotId(active), track.map(SlotId));
        self.fact(Fact::Batch(BatchFact::PrepareDecode {
            batch: batch_id,
            req,
            k,
            decode_batch_idx: 0,
            kv_committed_len: k,
            active,
            track,
            next_track_idx: None,
        }));
        self.launch(batch);
        self.fact(Fact::Forward(ForwardFact::Step { batch: batch_id, req, slot: active, k, track })).sample(req, k)
    }

    /// The result of a batch, processed in a turn of its own.
    fn row(&mut self, batch: u32, req: ReqId, fired: Option<(u32, u32)>) -> &mut Tape {
        self.decided(batch, req, fired.map(|(label, slot)| (label, Some(slot))))
    }

    /// As `row`, with a decision that may keep no slot.
    fn decided(&mut self, batch: u32, req: ReqId, fired: Option<(u32, Option<u32>)>) -> &mut Tape {
        let batch_id = BatchId(batch);
        self.turn().wait(batch);
        let decision = fired.map(|(label, slot)| Decision {
            before: KeptState { label: None, slot: None },
            after: KeptState { label: Some(label), slot: slot.map(SlotId) },
        });
        self.fact(Fact::Decision(DecisionFact::Row {
            batch: batch_id,
            req,
            lookahead: 1,
            kv_committed_len: 0,
            check: BoundaryCheck::Mask,
            decision,
        }))
    }

    /// Steps `from..to` of `A`, each with its result at once; no checkpoint is due.
    fn plain(&mut self, from: u32, to: u32) -> &mut Tape {
        for k in from..to {
            self.decode(k, A, 1, k, None).row(k, A, None);
        }
        self
    }

    fn offer(&mut self, req: ReqId, label: u32, slot: u32, finished: bool) -> &mut Tape {
        let how = DonationOutcome { finished, existed: false };
        if finished {
            self.fact(Fact::Request(RequestFact::Finish { req, kind: FinishKind::Token, outputs: self.outputs }));
        }
        self.fact(Fact::Cache(CacheFact::Donate {
            req,
            label,
            key_len: label / self.page_size * self.page_size,
            slot: SlotId(slot),
            how,
        }))
    }

    /// `A` finishes: it donates `slot` under `label` and frees its other slots.
    fn end(&mut self, label: u32, slot: u32) -> &mut Tape {
        let owner = |slot| if slot == 1 { Owner::Active(A) } else { Owner::Track(A, slot as u8 - 2) };
        self.offer(A, label, slot, true).cache(slot, owner(slot));
        for other in (1..=3).filter(|&other| other != slot) {
            self.free(other, owner(other));
        }
        self
    }

    fn nothing(&mut self, why: NoDonation) -> &mut Tape {
        self.fact(Fact::Request(RequestFact::Finish { req: A, kind: FinishKind::Token, outputs: self.outputs }));
        self.fact(Fact::Cache(CacheFact::NoDonate { req: A, why, slot: None }));
        self.free(1, Owner::Active(A)).free(2, Owner::Track(A, 0)).free(3, Owner::Track(A, 1))
    }

    fn done(&mut self) -> Judgement {
        self.fact(Fact::Run(RunFact::Done { at: AT }));
        self.judge()
    }

    fn judge(&self) -> Judgement {
        self.judging().finish(&[])
    }

    /// The judge after the record.
    fn judging(&self) -> Judge {
        let mut judge =
            Judge::new(JudgeOptions { page_size: self.page_size, keep_boundaries: true, keep_reasons: true });
        self.record.replay(&mut judge);
        judge
    }
}

fn kinds(judgement: &Judgement) -> Vec<FindingKind> {
    judgement.findings.iter().map(|finding| finding.kind).collect()
}

fn classes(judgement: &Judgement) -> Vec<(u32, Class)> {
    judgement.boundaries.iter().map(|boundary| (boundary.k, boundary.class)).collect()
}

fn brief(finding: &Finding) -> (FindingKind, Option<u32>, Option<u32>, Option<u32>) {
    (finding.kind, finding.label, finding.holds, finding.slot.map(|slot| slot.0))
}

/// `A` up to D4. D4 is in flight and writes slot 2; the result of D3 is processed next.
fn before_the_boundary() -> Tape {
    let mut tape = Tape::new();
    tape.plain(2, 3).decode(3, A, 1, 3, None).decode(4, A, 1, 4, Some(2));
    tape
}
