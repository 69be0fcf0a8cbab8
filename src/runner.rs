//! Assembles a run: setup, rule, machine, judge, meter, recorder. The only place that names a concrete rule.

mod bound;
mod check;
mod cost;
mod fuzz;
mod jitter;
#[cfg(test)]
mod latch_test;
mod second_judge;
mod session;

use std::ops::RangeInclusive;

use crate::engine::{Chooser, Seeded};
use crate::judge::{Judge, JudgeOptions, Judgement};
use crate::metrics::{Meter, RunCounts, Skew, Timing};
use crate::model::{Ended, Machine, Release, Rule, Setup, World};
use crate::record::{Fact, Record, ReqId, RequestFact, RowFacts, Sink, Tee};
use crate::rule::{CommittedLen, CompletedMask, MaskLookahead, Paired, TokenLen};
use crate::scene::{JudgedView, Scene, SceneBuilder};

use bound::{NOT_FOLLOWED, bound_words};
pub use check::{CheckSpec, Checked, Found, check, counts, first_of};
pub use cost::{CpuAhead, SteadyCost};
pub use fuzz::{FuzzSpec, FuzzTally, SetupSource, Times, drawn, fuzz, fuzz_until, preset_of};
pub use jitter::{JitterSpec, jitter, same_request, watched};
pub use second_judge::{Agreement, BothJudges, Comparison, Disagreement, judged_twice};
pub use session::{Position, Question, Session, StopPoint, Unit, differs};

/// Every rule, in the order of their history.
const RULES: &[&dyn Rule] = &[&CommittedLen, &TokenLen, &MaskLookahead, &CompletedMask, &Paired];

/// The default rule: the main subject of the program.
pub const DEFAULT_RULE: &str = "mask-lookahead";

/// The names of all rules, in the order of their history.
pub fn rule_names() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.name()).collect()
}

/// The rule of this name.
pub fn rule(name: &str) -> Option<&'static dyn Rule> {
    RULES.iter().copied().find(|rule| rule.name() == name)
}

/// The rule that a release shipped with.
pub fn release_rule(release: Release) -> &'static dyn Rule {
    rule(release.rule()).expect("the rule of a release is one of the rules")
}

/// The rule of this name, or the one that `release` shipped with if the name is `release`.
pub fn rule_or_release(name: &str, release: Release) -> Option<&'static dyn Rule> {
    if name == "release" { Some(release_rule(release)) } else { rule(name) }
}

/// What a run keeps beside the judgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// Every fact.
    pub record: bool,
    /// Counts of reads of shared fields.
    pub skew: bool,
    /// Every decision and due boundary, for `diff` and `timeline`.
    pub boundaries: bool,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// The judgement.
    pub judgement: Judgement,
    /// Latencies and throughput in virtual time.
    pub timing: Timing,
    /// Admissions and evictions.
    pub counts: RunCounts,
    /// Every fact, if kept.
    pub record: Option<Record>,
    /// Reads of shared fields, if kept.
    pub skew: Option<Skew>,
    /// Which bound ended the run, in words, if one did.
    pub bound: Option<String>,
}

/// Runs `setup` under `rule` with scripted choices and durations drawn by `seed`. `watch` gets the number of new
/// outputs as they come.
pub fn run(setup: &Setup, rule: &dyn Rule, seed: u64, keep: Keep, watch: Option<&mut dyn FnMut(u64)>) -> RunOutcome {
    judged(setup, keep, watch, |sink| {
        Machine::new(setup, rule, &mut Seeded::new(seed), sink).with_skew(keep.skew).with_latch(true).run()
    })
}

/// Runs `setup` under `rule` with the given chooser.
pub fn run_with(
    setup: &Setup,
    rule: &dyn Rule,
    mut chooser: &mut dyn Chooser,
    keep: Keep,
    watch: Option<&mut dyn FnMut(u64)>,
) -> RunOutcome {
    // Dynamic dispatch: a machine compiled for each chooser and sink would be faster, but takes long to compile.
    judged(setup, keep, watch, |sink| {
        let mut sink: &mut dyn Sink = sink;
        Machine::new(setup, rule, &mut chooser, &mut sink).with_skew(keep.skew).with_latch(true).run()
    })
}

/// Runs `setup` under `rule` with the given chooser until `go_on`, called with the number of turns, returns false.
/// Returns the judgement, and whether the run had ended by itself.
pub fn run_while(
    setup: &Setup,
    rule: &dyn Rule,
    mut chooser: &mut dyn Chooser,
    go_on: &mut dyn FnMut(u32) -> bool,
) -> (Judgement, bool) {
    let mut whole = true;
    let outcome = judged(setup, Keep::default(), None, |sink| {
        let mut sink: &mut dyn Sink = sink;
        let mut machine = Machine::new(setup, rule, &mut chooser, &mut sink);
        let ended = machine.run_while(go_on);
        whole = ended.is_some();
        (ended.unwrap_or(Ended::TurnsMax), *machine.into_world())
    });
    (outcome.judgement, whole)
}

/// All sinks of a run.
type Sinks<'w> =
    Tee<Tee<Judge, Tee<Meter, RunCounts>>, Tee<Option<Record>, Tee<Option<Skew>, Option<OutputWatch<'w>>>>>;

/// Makes the sinks, runs `run` with them, and collects the outcome.
fn judged<'w>(
    setup: &Setup,
    keep: Keep,
    watch: Option<&'w mut dyn FnMut(u64)>,
    run: impl FnOnce(&mut Sinks<'w>) -> (Ended, World),
) -> RunOutcome {
    let judge = Judge::new(JudgeOptions {
        page_size: setup.engine.page_size,
        keep_boundaries: keep.boundaries,
        keep_reasons: true,
    });
    let skew = keep.skew.then(Skew::default);
    let mut sink = Tee(
        Tee(judge, Tee(Meter::new(), RunCounts::default())),
        Tee(keep.record.then(Record::default), Tee(skew, watch.map(OutputWatch::new))),
    );
    let (ended, world) = run(&mut sink);
    if ended != Ended::Asserted
        && let Err(broken) = world.tree().check()
    {
        panic!("the radix tree broke an invariant of its own: {broken}");
    }
    let Tee(Tee(judge, Tee(meter, counts)), Tee(record, Tee(skew, _))) = sink;
    let judgement = judge.finish(&setup.names);
    let bound = bound_words(setup, &world, ended).or(judgement.overflow.then(|| NOT_FOLLOWED.to_string()));
    RunOutcome { judgement, timing: meter.timing(), counts, record, skew, bound }
}

/// Runs `setup` again with the same choices and gives the facts to `sink`, without a judge. So the facts of a judged
/// run need not be kept.
pub fn replay(setup: &Setup, rule: &dyn Rule, mut chooser: &mut dyn Chooser, mut sink: &mut dyn Sink) {
    Machine::new(setup, rule, &mut chooser, &mut sink).run();
}

/// Runs `setup` again with the same choices and builds the scene of these turns; of all if not given. `judgement` is
/// the judgement of the run, with its boundaries.
pub fn scene(
    setup: &Setup,
    rule: &dyn Rule,
    mut chooser: &mut dyn Chooser,
    turns: Option<RangeInclusive<u32>>,
    judgement: &Judgement,
) -> Scene {
    let judge =
        Judge::new(JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: false, keep_reasons: true });
    let mut builder = SceneBuilder::new(JudgedView::new(judge), turns);
    let mut sink: &mut dyn Sink = &mut builder;
    Machine::new(setup, rule, &mut chooser, &mut sink).with_skew(true).with_probe(true).run();
    builder.finish(judgement)
}

/// A sink that reports new outputs, for the progress bar.
struct OutputWatch<'a> {
    more: &'a mut dyn FnMut(u64),
    /// By request: the number of outputs reported.
    reported: Vec<u32>,
}

impl<'a> OutputWatch<'a> {
    fn new(more: &'a mut dyn FnMut(u64)) -> OutputWatch<'a> {
        OutputWatch { more, reported: Vec::new() }
    }

    /// The number of outputs of a request that have not been reported: a verify adds several.
    fn new_of(&mut self, req: ReqId, outputs: u32) -> u64 {
        if req.index() >= self.reported.len() {
            self.reported.resize(req.index() + 1, 0);
        }
        let before = std::mem::replace(&mut self.reported[req.index()], outputs);
        u64::from(outputs.saturating_sub(before))
    }
}

impl Sink for OutputWatch<'_> {
    fn fact(&mut self, fact: Fact) {
        if let Fact::Request(RequestFact::Output { req, outputs, .. }) = fact {
            let new = self.new_of(req, outputs);
            (self.more)(new);
        }
    }

    fn rows(&mut self, rows: RowFacts<'_>) {
        match rows {
            RowFacts::Results(_, rows) => {
                let new = rows.iter().map(|row| self.new_of(row.req, row.outputs)).sum();
                (self.more)(new);
            }
            RowFacts::SlotsAlloc(..)
            | RowFacts::SlotsFree(..)
            | RowFacts::PagesAlloc(_)
            | RowFacts::Prepared(..)
            | RowFacts::Stepped(..) => {}
        }
    }
}
