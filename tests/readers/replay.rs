//! A setup that was read runs under every rule, within small bounds, twice with the same judgement.

use overlapsim::judge::Judgement;
use overlapsim::model::{RequestSpec, Setup, prompt_len};
use overlapsim::report::name;
use overlapsim::runner::{self, Keep};

/// The most turns of a run.
const TURNS_MAX: u32 = 120;
/// The most tokens of all prompts and outputs together, and the largest pool: a larger setup is read, not run.
const TOKENS_MAX: u64 = 20_000;
const POOL_MAX: u32 = 1 << 17;

/// Whether a setup is run.
pub fn is_small(setup: &Setup) -> bool {
    let requests = &setup.requests;
    let outputs = |request: &RequestSpec| u64::from(request.outputs().max(request.max_new));
    let tokens: u64 = (0..requests.len()).map(|i| prompt_len(requests, i) + outputs(&requests[i])).sum();
    let engine = &setup.engine;
    tokens <= TOKENS_MAX && engine.kv_tokens <= POOL_MAX && requests.len() <= 200
}

/// The judgements of a setup under every rule; none if it is too large.
pub fn judged(setup: &Setup, seed: u64) -> Vec<(&'static str, Judgement)> {
    if !is_small(setup) {
        return Vec::new();
    }
    let setup = Setup { turns_max: setup.turns_max.min(TURNS_MAX), ..setup.clone() };
    let judged = |name| {
        let rule = runner::rule(name).expect("a known rule");
        (name, runner::run(&setup, rule, seed, Keep::default(), None).judgement)
    };
    runner::rule_names().into_iter().map(judged).collect()
}

/// What was reached: verdicts, kinds of findings and goals, each under its rule.
pub fn signs(judged: &[(&'static str, Judgement)]) -> Vec<String> {
    let mut signs = Vec::new();
    for (rule, judgement) in judged {
        signs.push(format!("{rule}: {}", name::verdict(judgement.verdict)));
        signs.extend(judgement.findings.iter().map(|finding| format!("{rule}: {}", name::kind(finding.kind))));
        signs.extend(judgement.goals.names().0.into_iter().map(|goal| format!("{rule}: {goal}")));
    }
    signs
}
