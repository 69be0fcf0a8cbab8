//! The literal search: every field of machine and judge tells two states apart, names, clock and counts too. It shares
//! nothing with the encoding of a state, nor with what decides whether clock and turn are encoded.
//!
//! It ends only where every run ends, so the turns of a run are bounded.

use std::collections::{BTreeMap, BTreeSet};

use overlapsim::engine::Chooser;
use overlapsim::judge::{FindingKind, Judge, JudgeOptions};
use overlapsim::model::{Machine, Rule, Setup, World};
use overlapsim::record::{Fact, Sink, Tee, fingerprint};
use overlapsim::runner::counts;
use overlapsim::search::{Bound, Order, SearchLimits, StepOutcome, System, explore};

use super::features::{Case, Happening};

/// What a literal search found: by kind the least number of turns, and what happened.
pub struct Literal {
    pub kinds: BTreeMap<FindingKind, u32>,
    pub happened: u64,
}

/// All runs of a setup within its bound on turns; nothing if they have too many states.
pub fn literal(case: &Case, states_max: u64) -> Option<Literal> {
    let Case { setup, rule, vary } = *case;
    let runs = Runs { setup, rule };
    let limits = SearchLimits { states_max, stop: &|_| false };
    let explored = explore(&runs, &vary.open(), Order::Bfs, 1, limits);
    let kinds = explored.found.into_iter().map(|(kind, (path, _))| (kind, path.steps)).collect();
    (explored.bound != Some(Bound::States)).then_some(Literal { kinds, happened: explored.goals })
}

struct Runs<'a> {
    setup: &'a Setup,
    rule: &'a dyn Rule,
}

#[derive(Clone)]
struct SearchState {
    world: Box<World>,
    judge: Judge,
    turns: u32,
}

/// Which happenings a turn had, one bit each.
#[derive(Default)]
struct Happened(u64);

impl Sink for Happened {
    fn fact(&mut self, fact: Fact) {
        if let Some(happening) = Happening::of(&fact) {
            self.0 |= 1 << happening as u32;
        }
    }
}

impl System for Runs<'_> {
    type State = SearchState;
    type Kind = FindingKind;
    type Scratch = ();

    fn start(&self) -> SearchState {
        let page_size = self.setup.engine.page_size;
        let judge = Judge::new(JudgeOptions { page_size, keep_boundaries: false, keep_reasons: false });
        SearchState { world: Box::new(World::new(self.setup)), judge, turns: 0 }
    }

    fn step(&self, from: SearchState, chooser: &mut impl Chooser) -> (SearchState, StepOutcome<FindingKind>) {
        let SearchState { world, judge, turns } = from;
        let mut sink = Tee(judge, Happened::default());
        let mut machine = Machine::resume(self.setup, self.rule, chooser, &mut sink, world);
        let ended = machine.turn();
        let world = machine.into_world();
        let (Tee(mut judge, Happened(happened)), turns) = (sink, turns + 1);
        let over = ended.is_some() || turns >= self.setup.turns_max;
        let findings = judge.take_findings(ended.is_some()).0;
        let kinds: BTreeSet<FindingKind> =
            findings.iter().filter(|finding| counts(finding)).map(|finding| finding.kind).collect();
        let cut = (ended.is_none() && over).then_some(0);
        let outcome = StepOutcome { over, cut, found: kinds.into_iter().collect(), goals: happened };
        (SearchState { world, judge, turns }, outcome)
    }

    fn scratch(&self) {}

    fn fingerprint(&self, SearchState { world, judge, turns }: &SearchState, (): &mut ()) -> u128 {
        fingerprint(format!("{turns}{world:?}{judge:?}").as_bytes())
    }
}
