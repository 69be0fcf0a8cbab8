//! The goals that a fixed suite of searches reaches: a change that keeps the searches out of a situation shows here.

use std::collections::BTreeSet;

use overlapsim::engine::ChoicePoint;
use overlapsim::judge::{Goal, Goals};
use overlapsim::runner::{self, CheckSpec, FuzzSpec, SetupSource};
use overlapsim::scenario;
use overlapsim::search::{Order, SearchLimits, Style};
use overlapsim::workload::Preset;

use super::tools::{INTERLEAVED, LAZY};

/// Seeds of every preset.
const SEEDS: u64 = 100;
const JITTER: Style = Style::Weighted(&[(ChoicePoint::Arrival, 150), (ChoicePoint::AllocFailure, 100)]);
/// Goals that the suite does not reach.
const NEVER: &[Goal] = &[Goal::Bound, Goal::Stall];

fn suite() -> Goals {
    let names = runner::rule_names();
    let rules: Vec<_> = names.iter().map(|name| runner::rule(name).expect("a rule")).collect();
    let mut reached = Goals::NONE;
    for preset in Preset::ALL {
        let fuzz = FuzzSpec {
            source: SetupSource::Preset(preset),
            rules: &rules,
            style: JITTER,
            seeds: (0, SEEDS, 1),
            second_judge: false,
        };
        for tally in runner::fuzz(&fuzz, 2, &|_| ()) {
            reached = reached.union(tally.goals);
        }
    }
    for text in [INTERLEAVED, LAZY] {
        let scenario = scenario::parse("x.ron", text, ".".as_ref(), &[]).expect("a valid scenario");
        let open = scenario.vary.open();
        for &rule in &rules {
            let check =
                CheckSpec { setup: &scenario.setup, rule, open: &open, order: Order::Bfs, unreduced: false, jobs: 1 };
            let checked = runner::check(&check, SearchLimits { states_max: 100_000, stop: &|_| false });
            reached = reached.union(Goals::from_bits(checked.explored.goals));
        }
    }
    reached
}

#[test]
fn the_suite_reaches_what_it_used_to() {
    let reached = suite();
    let names = |goals: &mut dyn Iterator<Item = Goal>| goals.map(Goal::name).collect::<BTreeSet<_>>();
    let lost = names(&mut Goal::ALL.iter().copied().filter(|goal| !reached.contains(*goal) && !NEVER.contains(goal)));
    assert!(lost.is_empty(), "no longer reached: {lost:?}");
    let new = names(&mut NEVER.iter().copied().filter(|goal| reached.contains(*goal)));
    assert!(new.is_empty(), "reached now, so take them off the list: {new:?}");
}
