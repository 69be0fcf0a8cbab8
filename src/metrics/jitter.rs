//! The lookahead of the decode results of one request: the sink that measures it, and the outcome of a run under a
//! pattern.

use std::ops::RangeInclusive;

use crate::judge::{FindingKind, Judgement};
use crate::record::{
    BatchFact, BatchId, CacheFact, DecisionFact, Fact, NoDonation, Phase, ReqId, RequestFact, RunFact, Sink, SlotId,
};

/// The state that a request offered at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOffer {
    /// The label.
    pub label: u32,
    /// The length of the key.
    pub key_len: u32,
    /// The slot.
    pub slot: SlotId,
}

/// The outcome of a run under a pattern: the judgement, the lookahead that the results had, and the offer at the end.
#[derive(Clone, Debug)]
pub struct JitterOutcome {
    /// The judgement, with its boundaries.
    pub judgement: Judgement,
    /// The lookahead of the result of each step of the pattern; `None` where no result was processed, or several with
    /// different lookaheads.
    pub came_out: Vec<Option<i64>>,
    /// The state that the request offered at its end, or the reason why it offered none; `None` if the request did not
    /// end.
    pub end: Option<Result<LastOffer, NoDonation>>,
}

impl JitterOutcome {
    /// The lookahead of each step in the notation of patterns; `-` without a result, `?` if neither 0 nor 1.
    pub fn came_out(&self) -> String {
        let letter = |lookahead: &Option<i64>| match lookahead {
            None => '-',
            Some(0) => '0',
            Some(1) => '1',
            Some(_) => '?',
        };
        self.came_out.iter().map(letter).collect()
    }

    /// Whether the lookahead equals `pattern`. Where an assertion or a bound ended the run before the request ended,
    /// only the steps before that count.
    pub fn came_about(&self, pattern: &str) -> bool {
        let ended_early = self.judgement.bound.is_some()
            || self.judgement.findings.iter().any(|of| of.kind == FindingKind::Assertion);
        let came_out = self.came_out();
        let reached = if ended_early && self.end.is_none() { came_out.trim_end_matches('-') } else { &came_out };
        !reached.is_empty() && pattern.starts_with(reached)
    }
}

/// The outcome of one pattern under one rule, with what was asked for.
#[derive(Clone, Copy, Debug)]
pub struct PatternRun<'a> {
    /// The lookahead asked for, `0` or `1` for each step.
    pub pattern: &'a str,
    /// The rule.
    pub rule: &'static str,
    /// The request, by its index in the setup that was run.
    pub req: ReqId,
    /// The ids of the requests of that setup.
    pub names: &'a [String],
    /// The outcome.
    pub outcome: &'a JitterOutcome,
}

/// A sink that measures the lookahead of every decode result of a request, and keeps the offer of the request at its
/// end.
pub struct LookaheadMeter {
    req: ReqId,
    /// The decode batches that were prepared for it, with the length that each reaches.
    prepared: Vec<(BatchId, u32)>,
    /// The batch whose result is being processed.
    processed: Option<BatchId>,
    /// The lookahead of processed results by length.
    rows: Vec<(u32, i64)>,
    finished: bool,
    end: Option<Result<LastOffer, NoDonation>>,
}

impl LookaheadMeter {
    /// A meter of one request.
    pub fn new(req: ReqId) -> LookaheadMeter {
        LookaheadMeter { req, prepared: Vec::new(), processed: None, rows: Vec::new(), finished: false, end: None }
    }

    /// The lookahead of each of these decode steps, and the end of the request, beside the judgement of the run.
    pub fn outcome(self, judgement: Judgement, steps: RangeInclusive<u32>) -> JitterOutcome {
        JitterOutcome { judgement, came_out: steps.map(|k| self.lookahead(k)).collect(), end: self.end }
    }

    /// The lookahead of the result of step `k`; `None` if no result was processed, or several with different
    /// lookaheads.
    fn lookahead(&self, k: u32) -> Option<i64> {
        let mut rows = self.rows.iter().filter(|row| row.0 == k).map(|row| row.1);
        let first = rows.next()?;
        rows.all(|next| next == first).then_some(first)
    }
}

impl Sink for LookaheadMeter {
    fn fact(&mut self, fact: Fact) {
        if let Fact::Batch(BatchFact::PrepareDecode { batch, req, k, .. }) = fact {
            if req == self.req {
                self.prepared.push((batch, k));
            }
        } else if let Fact::Batch(BatchFact::Mix { batch, decode, .. }) = fact {
            for prepared in self.prepared.iter_mut().filter(|prepared| prepared.0 == decode) {
                prepared.0 = batch;
            }
        } else if let Fact::Run(RunFact::Begin { phase: Phase::Result, batch, .. }) = fact {
            self.processed = batch;
        } else if let Fact::Run(RunFact::Assert { req: Some(req), .. }) = fact {
            // The rule has not decided this row: its lookahead is the number of steps prepared since.
            if req == self.req
                && let Some(at) = self.prepared.iter().rposition(|prepared| Some(prepared.0) == self.processed)
            {
                self.rows.push((self.prepared[at].1, (self.prepared.len() - at - 1) as i64));
            }
        } else if let Fact::Decision(DecisionFact::Row { batch, req, lookahead, .. }) = fact {
            if req == self.req
                && let Some(&(_, k)) = self.prepared.iter().rev().find(|prepared| prepared.0 == batch)
            {
                self.rows.push((k, lookahead));
            }
        } else if let Fact::Request(RequestFact::Finish { req, .. }) = fact {
            self.finished |= req == self.req;
        } else if let Fact::Cache(CacheFact::Donate { req, label, key_len, slot, how }) = fact {
            if req == self.req && how.finished {
                self.end = Some(Ok(LastOffer { label, key_len, slot }));
            }
        } else if let Fact::Cache(CacheFact::NoDonate { req, why, .. }) = fact
            && req == self.req
            && self.finished
        {
            self.end = Some(Err(why));
        }
    }
}
