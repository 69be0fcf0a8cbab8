//! Runs a setup under every rule with the lookahead of one request set to one pattern after another.

use crate::engine::Seeded;
use crate::history::{Pattern, with_pattern};
use crate::judge::{Judge, JudgeOptions};
use crate::model::{Rule, Setup};
use crate::record::{
    BatchFact, BatchId, CacheFact, DecisionFact, Fact, NoDonation, Phase, ReqId, RequestFact, RunFact, Sink, Tee,
};
use crate::report::{JitterRun, Jittered, LastOffer};
use crate::search::in_order;

use super::replay;

/// What `jitter` is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Jitter<'a> {
    /// The setup.
    pub setup: &'a Setup,
    /// The seed of drawn durations.
    pub seed: u64,
    /// The request.
    pub req: ReqId,
    /// The step whose result the first place of a pattern is about.
    pub from: u32,
    /// The rules, each run under every pattern.
    pub rules: &'a [&'static dyn Rule],
}

/// What every pattern comes to under every rule, in the order of both: a list for each pattern. The same for any number of
/// threads; `done` is told of every so many runs.
///
/// # Panics
/// If a pattern reaches beyond the decode steps of the request.
pub fn jitter(
    jitter: &Jitter<'_>,
    patterns: &[Pattern],
    jobs: usize,
    done: &(dyn Fn(u64) + Sync),
) -> Vec<Vec<JitterRun>> {
    let work = |at: usize| {
        let pattern: &Pattern = &patterns[at];
        let setup = with_pattern(jitter.setup, jitter.req, jitter.from, pattern);
        let req = same_request(jitter.setup, jitter.req, &setup);
        let (word, steps) = (pattern.to_string(), (jitter.from, pattern.len()));
        let one = |rule: &&'static dyn Rule| {
            watched(&setup, *rule, jitter.seed, req, steps).run(&word, rule.name(), req, &setup.names)
        };
        let of_rules = jitter.rules.iter().map(one).collect();
        done(jitter.rules.len() as u64);
        of_rules
    };
    in_order(jobs, 0..patterns.len(), work)
}

/// The request in a setup that some requests have left: what was before it may be gone.
///
/// # Panics
/// If it has left itself.
pub fn same_request(before: &Setup, req: ReqId, after: &Setup) -> ReqId {
    let place = after.names.iter().position(|name| name == before.name(req));
    ReqId(place.expect("the request stays") as u32)
}

/// Runs a setup by script, and looks at the lookahead of so many steps of a request from one on.
pub fn watched(setup: &Setup, rule: &dyn Rule, seed: u64, req: ReqId, (from, len): (u32, u32)) -> Jittered {
    let judge =
        Judge::new(JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: true, keep_reasons: true });
    let watch = Watch { req, prepared: Vec::new(), processed: None, rows: Vec::new(), finished: false, end: None };
    let mut sink = Tee(judge, watch);
    replay(setup, rule, &mut Seeded::new(seed), &mut sink);
    let Tee(judge, watch) = sink;
    let mut judgement = judge.finish(&setup.names);
    // The rest is nobody's business here, and there may be thousands of runs.
    judgement.boundaries.retain(|boundary| boundary.req == req);
    judgement.requests = Vec::new();
    Jittered { judgement, came_out: (from..from + len).map(|k| watch.lookahead(k)).collect(), end: watch.end }
}

/// Notes the lookahead of every processed decode result of a request, and what became of its state at its end.
struct Watch {
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

impl Watch {
    /// The lookahead of the result of step `k`; nothing if none was processed, or several that differ.
    fn lookahead(&self, k: u32) -> Option<i64> {
        let mut rows = self.rows.iter().filter(|row| row.0 == k).map(|row| row.1);
        let first = rows.next()?;
        rows.all(|next| next == first).then_some(first)
    }
}

impl Sink for Watch {
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
            // The rule has said nothing of this row: what was prepared since tells as much.
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
