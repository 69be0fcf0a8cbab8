//! What is left out of a state, and who may change places, changes no verdict: the search that tells states apart no more
//! than matters finds what the search finds that tells them apart letter by letter, and what random runs find.

use std::collections::{BTreeMap, BTreeSet};

use overlapsim::judge::{FindingKind, Judge, JudgeOptions, Verdict};
use overlapsim::model::{Machine, Rule, Setup, Strategy, Vary};
use overlapsim::runner::{self, CheckSpec, Checked, counts};
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::{Bound, Order, RandomChooser, SearchLimits, Style, in_order};

use super::features::{Case, Counts, FEATURES, Met};
use super::literal::literal;
use super::small::{Dice, PAIRS, small};
use crate::common::planted::{RIGHT, RIGHT_LAZY, WRONG, WRONG_LAZY};

/// Most unique states of a search without reduction.
const STATES_MAX: u64 = 400;
/// Turns of a run in the literal search; the second number is tried where the first one gives too many states.
const TURNS_MAX: [u32; 2] = [16, 9];
/// Parts into which the seeds are shared out.
const JOBS: usize = 8;
/// Least number of compared cases that have a feature, and least number in which it came to something.
const COMPARED_MIN: u32 = 10;
const HAPPENED_MIN: u32 = 5;
/// Features that few draws have or come to. Setups of the first two are in `tests/data/search`.
const RARE: [&str; 3] =
    ["idle turns without time, two arrivals at a time", "twins but for accepts", "little KV, retraction"];
/// Random runs of each.
const RUNS: u64 = 12;

fn search(case: &Case, states_max: u64, unreduced: bool, order: Order, jobs: usize) -> Checked {
    let Case { setup, rule, vary } = *case;
    let check = CheckSpec { setup, rule, open: &vary.open(), order, unreduced, jobs };
    let states_max = if unreduced { states_max } else { 20 * states_max };
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

/// What came of a case that was searched in every way: its kinds, and what happened in the literal search, if that ended.
pub struct Compared {
    pub kinds: BTreeSet<FindingKind>,
    pub literal: Option<u64>,
}

/// Searches a case in every way. Says what came of it, nothing if it is too large; where it is not the same, panics.
pub fn compare(name: &str, case: &Case, states_max: u64) -> Option<Compared> {
    let Case { setup, rule, vary } = *case;
    let unreduced = search(case, states_max, true, Order::Bfs, 1);
    if unreduced.explored.bound == Some(Bound::States) {
        return None;
    }
    let want = summary(&unreduced);
    let wrong = |what: &str, got: &dyn std::fmt::Debug| {
        let text = scenario::write(&Scenario::of(setup.clone()));
        panic!("{name} under {}, {vary:?}, {what}: letter by letter {want:?}, got {got:?}\n{text}", rule.name())
    };
    for jobs in [1, 2] {
        let wide = search(case, states_max, false, Order::Bfs, jobs);
        if summary(&wide) != want {
            wrong("bfs", &summary(&wide));
        }
        let deep = search(case, states_max, false, Order::Dfs, jobs);
        if any_way(&summary(&deep)) != any_way(&want) {
            wrong("dfs", &summary(&deep));
        }
    }
    let more: Vec<FindingKind> =
        drawn(setup, rule, vary).into_iter().filter(|kind| !want.2.contains_key(kind)).collect();
    if unreduced.is_complete() && !more.is_empty() {
        wrong("random runs", &more);
    }
    let literal = TURNS_MAX.into_iter().find_map(|turns_max| {
        let short = Setup { turns_max: turns_max.min(setup.turns_max), ..setup.clone() };
        let short = Case { setup: &short, rule, vary };
        let all = literal(&short, states_max)?;
        let few = summary(&search(&short, states_max, false, Order::Bfs, 1)).2;
        if few != all.kinds {
            wrong(&format!("within {turns_max} turns {:?}", all.kinds), &few);
        }
        Some(all.happened)
    });
    Some(Compared { kinds: want.2.into_keys().collect(), literal })
}

/// What came of many cases.
#[derive(Default)]
struct Tally {
    setups: u32,
    cases: u32,
    compared: u32,
    literal: u32,
    kinds: BTreeSet<FindingKind>,
    counts: Counts,
}

fn compare_all(seeds: impl Iterator<Item = u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let Some((setup, vary)) = small(seed) else { continue };
        tally.setups += 1;
        for rule in rules(&mut Dice(seed), &setup) {
            let case = Case { setup: &setup, rule, vary };
            let compared = compare(&format!("seed {seed}"), &case, STATES_MAX);
            tally.cases += 1;
            tally.counts.count(&case, compared.as_ref().map(|compared| compared.literal.unwrap_or_default()));
            if let Some(Compared { kinds, literal }) = compared {
                tally.compared += 1;
                tally.literal += u32::from(literal.is_some());
                tally.kinds.extend(kinds);
            }
        }
    }
    tally
}

/// `SMALL_SETUPS=5000 cargo test --release --test search reduction:: -- --nocapture` tries more setups and prints the
/// table.
#[test]
fn what_is_left_out_changes_no_verdict() {
    let by_hand = std::env::var("SMALL_SETUPS").ok();
    let seeds = by_hand.as_ref().map_or(PAIRS, |seeds| seeds.parse().expect("SMALL_SETUPS is a number"));
    let mut all = Tally::default();
    for Tally { setups, cases, compared, literal, kinds, counts } in
        in_order(2, 0..JOBS, |job| compare_all((job as u64..seeds).step_by(JOBS)))
    {
        (all.setups, all.cases) = (all.setups + setups, all.cases + cases);
        (all.compared, all.literal) = (all.compared + compared, all.literal + literal);
        all.kinds.extend(kinds);
        all.counts.add(&counts);
    }
    let Tally { setups, cases, compared, literal, kinds, counts } = all;
    let table = counts.table();
    println!("{seeds} seeds, {setups} setups, {cases} cases, {compared} compared, {literal} by the literal search");
    println!("{:50} {:>6} {:>6} happened\n{table}", "feature", "drawn", "compared");
    assert!(compared >= 300, "{compared} of {cases} compared");
    let some = [
        FindingKind::Mislabelled,
        FindingKind::Unwritten,
        FindingKind::Aliased,
        FindingKind::Torn,
        FindingKind::Lost,
        FindingKind::Assertion,
    ];
    assert!(some.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    for (name, ..) in FEATURES {
        let Met { compared, happened, .. } = counts.0.get(name).copied().unwrap_or_default();
        let least = if RARE.contains(name) { (1, 1) } else { (COMPARED_MIN, HAPPENED_MIN) };
        assert!(compared >= least.0 && happened >= least.1, "{name}: too few cases\n{table}");
    }
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
