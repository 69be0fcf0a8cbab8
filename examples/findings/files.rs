//! The smallest scenario for every kind of fault that the first family shows under a rule and a release that carried it:
//! as `check --out` writes it, with what every rule makes of it.

use std::collections::BTreeMap;
use std::path::Path;

use overlapsim::command::expectation;
use overlapsim::history;
use overlapsim::judge::FindingKind;
use overlapsim::model::Rule;
use overlapsim::report::name;
use overlapsim::runner::{self, Found, Keep, first_of};
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::Replay;
use overlapsim::shrink;

use crate::cases::{Case, STRATEGIES};
use crate::matrix::{STATES_MAX, base};

/// Most setups that are tried on the way to a small one.
const TRIES_MAX: usize = 20_000;

/// Grids in the order in which they are tried.
const GRIDS: [u32; 3] = [4, 3, 2];

/// The releases that carried a rule, with the words for it.
const CARRIED: [(&str, &str, &str); 6] = [
    ("committed-len", "V0_5_16", "release 0.5.16, which shipped it"),
    ("committed-len", "V0_5_17", "release 0.5.17, which shipped it"),
    ("token-len", "V0_5_17", "release 0.5.17 with that rule put in place of its own"),
    ("mask-lookahead", "V0_5_17", "release 0.5.17 with that rule put in place of its own"),
    ("completed-mask", "V0_5_18", "release 0.5.18, which shipped it"),
    ("completed-mask", "V0_5_23", "release 0.5.23, which shipped it"),
];

/// Writes the files to `folder`, and prints their names.
pub fn write(folder: &Path) {
    std::fs::create_dir_all(folder).expect("the folder can be made");
    for (rule, release, carried) in CARRIED {
        for (strategy, _) in STRATEGIES {
            for (kind, shortest) in shortest(rule, release, strategy) {
                let strategy = strategy.replace(", ", "-").replace([' ', '_'], "-");
                let version = release.trim_start_matches('V').replace('_', ".");
                let named = format!("{rule}-{version}-{strategy}-{}.ron", name::kind(kind));
                std::fs::write(folder.join(&named), text((rule, carried), kind, &shortest, &named))
                    .expect("a file can be written");
                println!("{named}");
            }
        }
    }
}

/// The shortest way to a kind of fault.
struct Shortest {
    case: Case,
    found: Found,
}

/// By kind: the case in which it is found in the fewest turns, on the first grid that shows it.
fn shortest(rule: &str, release: &'static str, strategy: &'static str) -> BTreeMap<FindingKind, Shortest> {
    let mut kinds = BTreeMap::new();
    for grid in GRIDS {
        let mut here: BTreeMap<FindingKind, Shortest> = BTreeMap::new();
        for prompt in 1..=2 * grid {
            let case = base(release, strategy, grid, prompt);
            for found in case.search(rule, STATES_MAX).findings {
                if here.get(&found.finding.kind).is_none_or(|known| found.path.steps < known.found.path.steps) {
                    here.insert(found.finding.kind, Shortest { case: case.clone(), found });
                }
            }
        }
        for (kind, shortest) in here {
            kinds.entry(kind).or_insert(shortest);
        }
    }
    kinds
}

/// The file: the history as a script, made small, with the expectation of every rule.
fn text((rule, carried): (&str, &str), kind: FindingKind, shortest: &Shortest, named: &str) -> String {
    let Shortest { case, found } = shortest;
    let rule = runner::rule(rule).expect("the rule exists");
    let (setup, vary) = case.setup();
    let open = vary.open();
    let script =
        history::concrete(&setup, rule, &mut Replay::new(&open, &found.path.answers, None), scenario::turns_max);
    let script = script.and_then(|script| scenario::as_read(&script)).expect("the history can be written as a script");
    let small = shrink::shrink(script, rule, kind, &scenario::as_read, TRIES_MAX);
    let judge = |rule: &dyn Rule| runner::run(&small, rule, 0, Keep::default(), None).judgement;
    let judgement = judge(rule);
    let reason = &first_of(&judgement, kind).expect("what was made small still shows it").reason;
    let Case { grid, prompt, .. } = case;
    let title = format!(
        "{}: {reason}. Found among all timings of one request of {prompt} tokens and two prefills, G = {grid}, under {} in \
         {carried}, and made small.",
        name::kind(kind),
        rule.name()
    );
    let every = runner::rule_names();
    let every = every.iter().map(|rule| runner::rule(rule).expect("the rule exists"));
    let expect = every.map(|rule| expectation(rule, &judge(rule), &small.names)).collect();
    let mut scenario = Scenario::of(small);
    scenario.expect = expect;
    scenario.rule = Some(rule.name().to_string());
    scenario.title = title;
    let text = scenario::write(&scenario);
    let (title, rest) = text.split_once('\n').expect("a scenario has lines");
    format!("{title}\n// overlapsim run scenarios/findings/{named} --timeline\n{rest}")
}
