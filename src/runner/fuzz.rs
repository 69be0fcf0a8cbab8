//! Random search: many runs of one setup or of generated setups, under several rules. Each run is a function of its
//! seed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::engine::{ChoicePoint, OpenPoints};
use crate::judge::{FindingKind, Goals, Judge, JudgeOptions, Judgement, Verdict};
use crate::model::{Machine, Rule, Setup, Vary};
use crate::search::{RandomChooser, Style, in_order};
use crate::workload::{Preset, generate};

use super::check::kinds;
use super::second_judge::{Agreement, Comparison, judged_twice};

/// Seeds that one thread takes at once.
const BATCH: u64 = 64;

/// The most batches whose tallies are kept before they are added up.
const BATCHES_MAX: u64 = 1 << 12;
/// Separates the random numbers of a setup from those of its timing.
const SETUP: u64 = 0x7365_7475_7073_2E2E;

/// Where setups come from.
#[derive(Clone, Copy, Debug)]
pub enum SetupSource<'a> {
    /// One setup, with these questions open.
    Setup(&'a Setup, Vary),
    /// A setup for each seed. Its script ends, aborts and retracts requests; the open questions are those that scripts
    /// cannot express well.
    Preset(Preset),
    /// As `Preset`, with the presets in turn: the preset of a seed is [`preset_of`].
    EveryPreset,
}

/// The preset from which a seed draws its setup if seeds take the presets in turn.
pub fn preset_of(seed: u64) -> Preset {
    Preset::ALL[(seed % Preset::ALL.len() as u64) as usize]
}

/// The open questions of generated setups.
const GENERATED: Vary = Vary { stops: false, aborts: false, retract: false, ..Vary::ALL };

/// What `fuzz` is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct FuzzSpec<'a> {
    /// Where setups come from.
    pub source: SetupSource<'a>,
    /// The rules, each run on every seed.
    pub rules: &'a [&'static dyn Rule],
    /// How answers are drawn.
    pub style: Style,
    /// The first seed, the end of the seeds, and the step from one seed to the next.
    pub seeds: (u64, u64, u64),
    /// Whether the second judge judges every run too.
    pub second_judge: bool,
}

/// The number of runs with a kind of finding, and the first of these runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The number of runs.
    pub runs: u64,
    /// The least seed of these runs.
    pub seed: u64,
}

impl Times {
    fn add_to(self, known: &mut Option<Times>) {
        let known = known.get_or_insert(Times { runs: 0, ..self });
        known.runs += self.runs;
        known.seed = known.seed.min(self.seed);
    }
}

/// The sum over the runs of one rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuzzTally {
    /// Runs.
    pub runs: u64,
    /// By verdict.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Decode rows with L = 0 and L = 1.
    pub lookahead: [u64; 2],
    /// Checkpoints due, and of these lost.
    pub checkpoints: [u64; 2],
    /// By kind of finding, inherited findings excluded.
    pub kinds: BTreeMap<FindingKind, Times>,
    /// Runs that a bound ended.
    pub bounds: Option<Times>,
    /// Goals reached.
    pub goals: Goals,
    /// The uses of states on which both judges agree, by how; empty without the second judge.
    pub agreements: BTreeMap<Agreement, u64>,
    /// Runs on which the judges disagree.
    pub disagreements: Option<Times>,
}

impl FuzzTally {
    /// Adds the judgement of one run.
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
            Times { runs: 1, seed }.add_to(&mut self.bounds);
        }
    }

    /// Adds how both judges agree on one run.
    fn add_comparison(&mut self, seed: u64, comparison: &Comparison) {
        for (&agreement, count) in &comparison.agreements {
            *self.agreements.entry(agreement).or_default() += count;
        }
        if !comparison.disagreements.is_empty() {
            Times { runs: 1, seed }.add_to(&mut self.disagreements);
        }
    }

    fn found(&mut self, kind: FindingKind, times: Times) {
        let known = self.kinds.entry(kind).or_insert(Times { runs: 0, ..times });
        known.runs += times.runs;
        known.seed = known.seed.min(times.seed);
    }

    /// Adds other runs. The result does not depend on the order.
    pub fn absorb(&mut self, other: &FuzzTally) {
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
        for (&agreement, count) in &other.agreements {
            *self.agreements.entry(agreement).or_default() += count;
        }
        other.bounds.into_iter().for_each(|times| times.add_to(&mut self.bounds));
        other.disagreements.into_iter().for_each(|times| times.add_to(&mut self.disagreements));
        self.goals = self.goals.union(other.goals);
    }
}

/// Runs every seed under every rule on `jobs` threads. Returns a tally for each rule, the same for any number of
/// threads. `done` gets the number of runs that have ended since its last call.
pub fn fuzz(fuzz: &FuzzSpec<'_>, jobs: usize, done: &(dyn Fn(u64) + Sync)) -> Vec<FuzzTally> {
    fuzz_until(fuzz, jobs, done, None).0
}

/// As [`fuzz`], but ends before the first seeds at which `stop` returns true. Returns the end of the seeds that were
/// run: every seed before it, and none from it on. `stop` is called every few hundred seeds.
pub fn fuzz_until(
    fuzz: &FuzzSpec<'_>,
    jobs: usize,
    done: &(dyn Fn(u64) + Sync),
    stop: Option<&dyn Fn() -> bool>,
) -> (Vec<FuzzTally>, u64) {
    let (first, end, step) = fuzz.seeds;
    let count = end.saturating_sub(first).div_ceil(step);
    let batches = count.div_ceil(BATCH);
    let work = |batch: u64| {
        let mut tallies = vec![FuzzTally::default(); fuzz.rules.len()];
        let nths = batch * BATCH..((batch + 1) * BATCH).min(count);
        for seed in nths.map(|nth| first + nth * step) {
            let (setup, open) = drawn(fuzz.source, seed);
            for (tally, rule) in tallies.iter_mut().zip(fuzz.rules) {
                let mut chooser = RandomChooser::new(&open, fuzz.style, seed);
                if fuzz.second_judge {
                    let (judgement, comparison) = judged_twice(&setup, *rule, &mut chooser);
                    tally.add(seed, &judgement);
                    tally.add_comparison(seed, &comparison);
                } else {
                    tally.add(seed, &judged(&setup, *rule, &mut chooser));
                }
            }
        }
        tallies
    };
    let report_progress = |batch: u64| done((count - batch * BATCH).min(BATCH) * fuzz.rules.len() as u64);
    let mut sums = vec![FuzzTally::default(); fuzz.rules.len()];
    // In groups, so that few tallies are kept at a time, and so that `stop` is asked often.
    let group = if stop.is_some() { 4 * jobs as u64 } else { BATCHES_MAX };
    let mut from = 0;
    while from < batches && !(from > 0 && stop.is_some_and(|stop| stop())) {
        let here = (batches - from).min(group) as usize;
        let work_and_report = |at: usize| {
            let tallies = work(from + at as u64);
            report_progress(from + at as u64);
            tallies
        };
        for tallies in in_order(jobs, 0..here, work_and_report) {
            for (sum, tally) in sums.iter_mut().zip(&tallies) {
                sum.absorb(tally);
            }
        }
        from += here as u64;
    }
    (sums, if from < batches { first + from * BATCH * step } else { end })
}

/// The setup of a seed and what is open in it.
pub fn drawn(source: SetupSource<'_>, seed: u64) -> (Cow<'_, Setup>, OpenPoints) {
    match source {
        SetupSource::Setup(setup, vary) => (Cow::Borrowed(setup), vary.open()),
        SetupSource::EveryPreset => drawn(SetupSource::Preset(preset_of(seed)), seed),
        SetupSource::Preset(preset) => {
            let open = OpenPoints(vec![ChoicePoint::Generate]);
            let setup = generate(preset, &mut RandomChooser::new(&open, Style::Uniform, seed ^ SETUP));
            (Cow::Owned(setup), GENERATED.open())
        }
    }
}

/// One run, judged and nothing else.
fn judged(setup: &Setup, rule: &dyn Rule, chooser: &mut RandomChooser<'_>) -> Judgement {
    let page_size = setup.engine.page_size;
    let mut judge = Judge::new(JudgeOptions { page_size, keep_boundaries: false, keep_reasons: false });
    let _ = Machine::new(setup, rule, chooser, &mut judge).run_on();
    judge.finish(&setup.names)
}
