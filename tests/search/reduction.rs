//! What is left out of a state, and who may change places, changes no verdict: the search that tells states apart no more
//! than matters finds what the search finds that tells them apart letter by letter, and what random runs find.

use std::collections::{BTreeMap, BTreeSet};

use overlapsim::judge::{FindingKind, Judge, JudgeOptions, Verdict};
use overlapsim::model::{Machine, Rule, Setup, Strategy, Vary};
use overlapsim::runner::{self, CheckSpec, Checked, counts};
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::{Bound, Order, RandomChooser, SearchLimits, Style};

use super::small::{Dice, small};
use crate::common::planted::{RIGHT, RIGHT_LAZY, WRONG, WRONG_LAZY};

/// Setups that are drawn.
const SEEDS: u64 = 460;
/// Most unique states of a search without reduction.
const STATES_MAX: u64 = 400;
/// Random runs of each.
const RUNS: u64 = 12;

fn search(setup: &Setup, rule: &dyn Rule, vary: Vary, unreduced: bool, order: Order, jobs: usize) -> Checked {
    let check = CheckSpec { setup, rule, open: &vary.open(), order, unreduced, jobs };
    let states_max = if unreduced { STATES_MAX } else { 20 * STATES_MAX };
    runner::check(&check, SearchLimits { states_max, stop: &|_| false })
}

/// What must not depend on how states are distinguished: verdict, whether all was seen, and the kinds, each with the least
/// number of turns to it.
type Summary = (Verdict, bool, BTreeMap<FindingKind, u32>);

fn summary(checked: &Checked) -> Summary {
    let kinds = checked.findings.iter().map(|found| (found.finding.kind, found.path.steps)).collect();
    (checked.verdict, checked.is_complete(), kinds)
}

/// The same where no order of search promises the shortest way.
fn any_way((verdict, complete, kinds): &Summary) -> (Verdict, bool, BTreeSet<FindingKind>) {
    (*verdict, *complete, kinds.keys().copied().collect())
}

/// The rules that a setup is searched under: one of the real ones, one of the planted ones that can run it.
pub fn rules(dice: &mut Dice, setup: &Setup) -> Vec<&'static dyn Rule> {
    let real = runner::rule_names();
    let mut rules = vec![runner::rule(dice.of(&real)).expect("a rule")];
    match setup.engine.strategy {
        Strategy::ExtraBuffer if setup.engine.overlap && setup.engine.spec.is_none() => {
            rules.push(WRONG.get(dice.below(WRONG.len() as u32 + 1) as usize).map_or(&RIGHT, |(rule, _)| rule));
        }
        Strategy::ExtraBufferLazy if setup.engine.spec.is_none() => {
            let wrong = WRONG_LAZY.get(dice.below(WRONG_LAZY.len() as u32 + 1) as usize);
            rules.push(wrong.map_or(&RIGHT_LAZY, |(rule, _)| rule));
        }
        Strategy::NoBuffer | Strategy::ExtraBuffer | Strategy::ExtraBufferLazy => {}
    }
    rules
}

/// The kinds that random runs show.
fn drawn(setup: &Setup, rule: &dyn Rule, vary: Vary) -> BTreeSet<FindingKind> {
    let open = vary.open();
    let mut kinds = BTreeSet::new();
    for seed in 0..RUNS {
        let style = if seed % 2 == 0 { Style::Uniform } else { Style::Pct { changes: 2, span: 24 } };
        let mut judge =
            Judge::new(JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: false, keep_reasons: true });
        let mut draw = RandomChooser::new(&open, style, seed);
        Machine::new(setup, rule, &mut draw, &mut judge).run();
        let judgement = judge.finish(&setup.names);
        kinds.extend(judgement.findings.iter().filter(|finding| counts(finding)).map(|finding| finding.kind));
    }
    kinds
}

/// Searches a setup in every way. Says what came of it, nothing if it is too large; where it is not the same, panics.
fn compare(seed: u64, setup: &Setup, vary: Vary, rule: &dyn Rule) -> Option<Summary> {
    let unreduced = search(setup, rule, vary, true, Order::Bfs, 1);
    if unreduced.explored.bound == Some(Bound::States) {
        return None;
    }
    let want = summary(&unreduced);
    let wrong = |what: &str, got: &dyn std::fmt::Debug| {
        let text = scenario::write(&Scenario::of(setup.clone()));
        panic!("seed {seed} under {}, {vary:?}, {what}: letter by letter {want:?}, got {got:?}\n{text}", rule.name())
    };
    for jobs in [1, 2] {
        let wide = search(setup, rule, vary, false, Order::Bfs, jobs);
        if summary(&wide) != want {
            wrong("bfs", &summary(&wide));
        }
        let deep = search(setup, rule, vary, false, Order::Dfs, jobs);
        if any_way(&summary(&deep)) != any_way(&want) {
            wrong("dfs", &summary(&deep));
        }
        // States that are taken for one lead to states that are taken for one, in all these setups: in others the words of a later state may
        // tell more than matters.
        if wide.is_complete() && wide.explored.unique != deep.explored.unique {
            wrong("states that differ", &(wide.explored.unique, deep.explored.unique));
        }
    }
    let more: Vec<FindingKind> =
        drawn(setup, rule, vary).into_iter().filter(|kind| !want.2.contains_key(kind)).collect();
    if unreduced.is_complete() && !more.is_empty() {
        wrong("random runs", &more);
    }
    Some(want)
}

fn compare_all(seeds: impl Iterator<Item = u64>) {
    let (mut large, mut done) = (0, 0);
    let mut kinds: BTreeSet<FindingKind> = BTreeSet::new();
    for seed in seeds {
        let Some((setup, vary)) = small(seed) else { continue };
        for rule in rules(&mut Dice(seed), &setup) {
            match compare(seed, &setup, vary, rule) {
                Some((.., found)) => {
                    done += 1;
                    kinds.extend(found.into_keys());
                }
                None => large += 1,
            }
        }
    }
    assert!(done >= 200 && large < done / 2, "{done} searched, {large} too large");
    let some = [
        FindingKind::Mislabelled,
        FindingKind::Unwritten,
        FindingKind::Aliased,
        FindingKind::Torn,
        FindingKind::Lost,
        FindingKind::Assertion,
    ];
    assert!(some.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
}

#[test]
fn what_is_left_out_changes_no_verdict() {
    compare_all((0..SEEDS).step_by(2));
}

#[test]
fn what_is_left_out_changes_no_verdict_of_others() {
    compare_all((1..SEEDS).step_by(2));
}

/// Timings whose order hangs on what came at one moment, and runs that jump over turns: a state that leaves that out, or a
/// bound that counts otherwise than a run does, acquits them.
const MOMENTS: [(&str, &str); 3] = [
    (
        "paired",
        r#"(
            engine: (
                release: V0_5_23, strategy: ExtraBuffer, track_interval: 32, mamba_chunk: 1, chunked_prefill_size: 4,
                snapshot: Copy,
            ),
            requests: [
                (id: "y", arrive: Turn(2), prompt: Fresh(3), stop: Length(1)),
                (id: "a", arrive: Turn(0), prompt: Fresh(1), stop: Length(1)),
                (id: "e", arrive: Turn(0), prompt: Fresh(1), stop: Length(1)),
                (id: "x", arrive: After("a"), prompt: Fresh(4), stop: Length(1)),
            ],
            vary: (aborts: true),
        )"#,
    ),
    (
        "paired",
        r#"(
            engine: (release: V0_5_23, track_interval: 32, mamba_chunk: 1, chunked_prefill_size: 4, snapshot: Copy),
            requests: [
                (id: "y", arrive: Before("c", 5), prompt: Fresh(3), stop: Length(1)),
                (id: "c", arrive: Turn(0), prompt: Fresh(1), stop: Length(5)),
                (id: "a", arrive: Before("c", 2), prompt: Fresh(1), stop: Length(1)),
                (id: "x", arrive: After("a"), prompt: Fresh(4), stop: Length(1)),
            ],
            vary: (arrivals: true),
        )"#,
    ),
    (
        "committed-len",
        r#"(
            engine: (track_interval: 4, mamba_chunk: 4),
            requests: [
                (id: "a", prompt: Fresh(1), stop: Length(2)),
                (id: "b", arrive: Turn(1000), prompt: Fresh(3), stop: Length(4)),
            ],
            turns_max: 40,
            vary: (stops: true),
        )"#,
    ),
];

#[test]
fn what_comes_at_one_moment_and_turns_that_are_jumped_over_are_told_apart() {
    for (rule, text) in MOMENTS {
        let scenario = scenario::parse("x.ron", text, ".".as_ref(), &[]).expect("a valid scenario");
        let rule = runner::rule(rule).expect("a rule");
        let find = |unreduced, order| {
            let check =
                CheckSpec { setup: &scenario.setup, rule, open: &scenario.vary.open(), order, unreduced, jobs: 1 };
            summary(&runner::check(&check, SearchLimits { states_max: 100_000, stop: &|_| false }))
        };
        let letter_by_letter = find(true, Order::Bfs);
        assert!(letter_by_letter.0 > Verdict::Clean && letter_by_letter.1, "{letter_by_letter:?}");
        assert_eq!(find(false, Order::Bfs), letter_by_letter);
        assert_eq!(any_way(&find(false, Order::Dfs)), any_way(&letter_by_letter));
    }
}
