//! Runs a setup under every rule with the lookahead of one request set to one pattern after another.

use crate::engine::Seeded;
use crate::history::{Pattern, with_pattern};
use crate::judge::{Judge, JudgeOptions};
use crate::metrics::{JitterOutcome, LookaheadMeter, PatternRun};
use crate::model::{Rule, Setup};
use crate::record::{ReqId, Tee};
use crate::search::in_order;

use super::replay;

/// What `jitter` is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct JitterSpec<'a> {
    /// The setup.
    pub setup: &'a Setup,
    /// The seed of drawn durations.
    pub seed: u64,
    /// The request.
    pub req: ReqId,
    /// The decode step of the first digit of a pattern.
    pub from: u32,
    /// The rules, each run under every pattern.
    pub rules: &'a [&'static dyn Rule],
}

/// Runs every pattern under every rule. Returns what `form` makes of each run, in the order of both: a list for each
/// pattern. The result is the same for any number of threads. `done` gets the number of runs that have ended since its
/// last call.
///
/// # Panics
/// If a pattern reaches beyond the decode steps of the request.
pub fn jitter<T: Send>(
    jitter: &JitterSpec<'_>,
    patterns: &[Pattern],
    jobs: usize,
    done: &(dyn Fn(u64) + Sync),
    form: &(dyn Fn(&PatternRun<'_>) -> T + Sync),
) -> Vec<Vec<T>> {
    let work = |at: usize| {
        let pattern: &Pattern = &patterns[at];
        let setup = with_pattern(jitter.setup, jitter.req, jitter.from, pattern);
        let req = same_request(jitter.setup, jitter.req, &setup);
        let (word, steps) = (pattern.to_string(), (jitter.from, pattern.len()));
        let one = |rule: &&'static dyn Rule| {
            let outcome = &watched(&setup, *rule, jitter.seed, req, steps);
            form(&PatternRun { pattern: &word, rule: rule.name(), req, names: &setup.names, outcome })
        };
        let of_rules = jitter.rules.iter().map(one).collect();
        done(jitter.rules.len() as u64);
        of_rules
    };
    in_order(jobs, 0..patterns.len(), work)
}

/// The index of a request in a setup from which other requests were removed.
///
/// # Panics
/// If the request itself was removed.
pub fn same_request(before: &Setup, req: ReqId, after: &Setup) -> ReqId {
    let place = after.names.iter().position(|name| name == before.name(req));
    ReqId(place.expect("the request stays") as u32)
}

/// Runs a setup by script and measures the lookahead of `len` decode steps of a request, from step `from` on.
pub fn watched(setup: &Setup, rule: &dyn Rule, seed: u64, req: ReqId, (from, len): (u32, u32)) -> JitterOutcome {
    let judge =
        Judge::new(JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: true, keep_reasons: true });
    let mut sink = Tee(judge, LookaheadMeter::new(req));
    replay(setup, rule, &mut Seeded::new(seed), &mut sink);
    let Tee(judge, meter) = sink;
    let mut judgement = judge.finish(&setup.names);
    // Only what is printed is kept: there may be thousands of runs.
    judgement.boundaries.retain(|boundary| boundary.req == req);
    judgement.requests = Vec::new();
    meter.outcome(judgement, from..=from + len - 1)
}
