//! scratch
use overlapsim::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap();
    let rules = args.next().unwrap();
    let jobs: usize = args.next().map_or(1, |j| j.parse().unwrap());
    let literal = args.next().is_some_and(|l| l == "literal");
    let scenario = scenario::load(file.as_ref(), &runner::rule_names()).unwrap();
    let open = scenario.vary.open();
    for rule in if rules == "all" { runner::rule_names() } else { vec![Box::leak(rules.into_boxed_str()) as &str] } {
        let start = std::time::Instant::now();
        let c = runner::check(
            &runner::Check {
                setup: &scenario.setup,
                rule: runner::rule(rule).unwrap(),
                open: &open,
                order: search::Order::Bfs,
                literal,
                jobs,
            },
            search::Limits { states_max: 3_000_000, stop: &mut |_| false },
        );
        let t = start.elapsed();
        println!(
            "{rule}: {:?} unique {} trans {} depth {} bound {:?} {:?} {:.0}/s",
            c.verdict,
            c.explored.unique,
            c.explored.transitions,
            c.explored.depth,
            c.explored.bound,
            t,
            c.explored.unique as f64 / t.as_secs_f64()
        );
        for f in &c.findings {
            println!(
                "   {:?} label {:?} holds {:?} steps {} {:?}",
                f.finding.kind, f.finding.label, f.finding.holds, f.path.steps, f.path.answers
            );
        }
    }
}
