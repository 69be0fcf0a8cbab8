//! Random search: many runs of a setup, or of generated ones, under several rules, each a function of its seed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::engine::{ChoicePoint, OpenPoints};
use crate::judge::{FindingKind, Goals, Judge, JudgeOptions, Judgement, Verdict};
use crate::model::{Machine, Rule, Setup, Vary};
use crate::search::{Draw, Style, in_order};
use crate::workload::{Preset, generate};

use super::check::kinds;

/// Seeds that one thread takes at once.
const BATCH: u64 = 64;

/// Batches whose tallies wait to be added.
const BATCHES_MAX: usize = 1 << 12;
/// Keeps the draws of a setup apart from those of its timing.
const SETUP: u64 = 0x7365_7475_7073_2E2E;

/// Where setups come from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// One setup, with these questions open.
    Setup(&'a Setup, Vary),
    /// A setup for each seed. Its own script ends, aborts and disturbs requests: what is open is what scripts say badly.
    Preset(Preset),
}

/// What is open in generated setups.
const GENERATED: Vary = Vary { stops: false, aborts: false, retract: false, ..Vary::ALL };

/// What `fuzz` is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Fuzz<'a> {
    /// Where setups come from.
    pub source: Source<'a>,
    /// The rules, each run on every seed.
    pub rules: &'a [&'static dyn Rule],
    /// How answers are drawn.
    pub style: Style,
    /// The first seed, the end of the seeds, and from one to the next.
    pub seeds: (u64, u64, u64),
}

/// How many runs found a kind of finding, and the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Runs that found one.
    pub runs: u64,
    /// The least seed of them.
    pub seed: u64,
}

/// The sum over the runs of one rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs.
    pub runs: u64,
    /// By verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Decode rows with L = 0 and L = 1.
    pub lookahead: [u64; 2],
    /// Checkpoints due, and of these lost.
    pub checkpoints: [u64; 2],
    /// By kind of finding, those that are faults of their own.
    pub kinds: BTreeMap<FindingKind, Times>,
    /// Runs that a bound ended.
    pub bounds: Option<Times>,
    /// Goals reached.
    pub goals: Goals,
}

impl Tally {
    /// Adds what came of one run.
    fn add(&mut self, seed: u64, judgement: &Judgement) {
        self.runs += 1;
        *self.verdicts.entry(judgement.verdict).or_default() += 1;
        for (lookahead, count) in self.lookahead.iter_mut().enumerate() {
            *count += judgement.lookahead.get(&(lookahead as i64)).copied().unwrap_or(0);
        }
        self.checkpoints[0] += judgement.checkpoints.due;
        self.checkpoints[1] += judgement.checkpoints.lost;
        self.goals = self.goals.union(judgement.goals);
        for kind in kinds(&judgement.findings) {
            self.found(kind, Times { runs: 1, seed });
        }
        if judgement.bound.is_some() || judgement.overflow {
            self.bounded(Times { runs: 1, seed });
        }
    }

    fn bounded(&mut self, times: Times) {
        let known = self.bounds.get_or_insert(Times { runs: 0, ..times });
        known.runs += times.runs;
        known.seed = known.seed.min(times.seed);
    }

    fn found(&mut self, kind: FindingKind, times: Times) {
        let known = self.kinds.entry(kind).or_insert(Times { runs: 0, ..times });
        known.runs += times.runs;
        known.seed = known.seed.min(times.seed);
    }

    /// Adds other runs. In whatever order sums are added, the result is the same.
    pub fn absorb(&mut self, other: &Tally) {
        self.runs += other.runs;
        for (&verdict, count) in &other.verdicts {
            *self.verdicts.entry(verdict).or_default() += count;
        }
        for at in 0..2 {
            self.lookahead[at] += other.lookahead[at];
            self.checkpoints[at] += other.checkpoints[at];
        }
        for (&kind, &times) in &other.kinds {
            self.found(kind, times);
        }
        other.bounds.into_iter().for_each(|times| self.bounded(times));
        self.goals = self.goals.union(other.goals);
    }

    /// The worst verdict of any run.
    pub fn worst(&self) -> Verdict {
        self.verdicts.keys().max().copied().unwrap_or(Verdict::Clean)
    }
}

/// Runs every seed under every rule on `jobs` threads; a tally for each rule, the same for any number of threads. `done` is
/// told of every so many runs.
pub fn fuzz(fuzz: &Fuzz<'_>, jobs: usize, done: &(dyn Fn(u64) + Sync)) -> Vec<Tally> {
    let (first, end, step) = fuzz.seeds;
    let count = end.saturating_sub(first).div_ceil(step);
    let batches = count.div_ceil(BATCH);
    let work = |batch: u64| {
        let mut tallies = vec![Tally::default(); fuzz.rules.len()];
        let nths = batch * BATCH..((batch + 1) * BATCH).min(count);
        for seed in nths.map(|nth| first + nth * step) {
            let (setup, open) = drawn(fuzz.source, seed);
            for (tally, rule) in tallies.iter_mut().zip(fuzz.rules) {
                tally.add(seed, &judged(&setup, *rule, &mut Draw::new(&open, fuzz.style, seed)));
            }
        }
        tallies
    };
    let told = |batch: u64| done((count - batch * BATCH).min(BATCH) * fuzz.rules.len() as u64);
    let mut sums = vec![Tally::default(); fuzz.rules.len()];
    // So many at a time that what waits to be added stays small.
    for from in (0..batches).step_by(BATCHES_MAX) {
        let here = (batches - from).min(BATCHES_MAX as u64) as usize;
        let work_and_report = |at: usize| {
            let tallies = work(from + at as u64);
            told(from + at as u64);
            tallies
        };
        for tallies in in_order(jobs, 0..here, work_and_report) {
            for (sum, tally) in sums.iter_mut().zip(&tallies) {
                sum.absorb(tally);
            }
        }
    }
    sums
}

/// The setup of a seed and what is open in it.
pub fn drawn(source: Source<'_>, seed: u64) -> (Cow<'_, Setup>, OpenPoints) {
    match source {
        Source::Setup(setup, vary) => (Cow::Borrowed(setup), vary.open()),
        Source::Preset(preset) => {
            let open = OpenPoints(vec![ChoicePoint::Generate]);
            let setup = generate(preset, &mut Draw::new(&open, Style::Uniform, seed ^ SETUP));
            (Cow::Owned(setup), GENERATED.open())
        }
    }
}

/// One run, judged and nothing else.
fn judged(setup: &Setup, rule: &dyn Rule, chooser: &mut Draw<'_>) -> Judgement {
    let page_size = setup.engine.page_size;
    let mut judge = Judge::new(JudgeOptions { page_size, keep_boundaries: false, keep_reasons: false });
    let _ = Machine::new(setup, rule, chooser, &mut judge).run_on();
    judge.finish(&setup.names)
}
