//! `check --out` over versions of scenarios, each under another release and with the usual choices open. Each written file is
//! read back, run alone, and must show its finding.

use std::path::Path;

use overlapsim::command::{CheckArgs, FailOnVerdict, Format, OrderWord, OutsidePaths, check_to_text};
use overlapsim::model::{Release, Setup, Vary};
use overlapsim::report::name;
use overlapsim::runner::{self, Keep, counts};
use overlapsim::scenario::{self, Scenario};

/// The releases, as a file spells them.
pub fn releases() -> [String; Release::COUNT] {
    Release::ALL.map(|release| format!("{release:?}"))
}

/// What is open in a version.
const OPEN: Vary = Vary {
    arrivals: true,
    stops: true,
    aborts: false,
    retract: false,
    alloc_failure: true,
    accept: false,
    order: false,
};

/// A scenario under another release. `None` if the scenario names no release, or is not valid under the other one.
pub fn version(file: &Path, release: &str) -> Option<Setup> {
    let text = std::fs::read_to_string(file).expect("the scenario can be read");
    let own = releases().into_iter().find(|own| text.contains(&format!("release: {own}")))?;
    let text = text.replace(&format!("release: {own}"), &format!("release: {release}"));
    let base = file.parent().expect("the file lies in a directory");
    scenario::parse("version", &text, base, &runner::rule_names()).ok().map(|read| read.setup)
}

/// Numbers of one search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Kinds of findings, summed over the rules.
    pub findings: usize,
    /// Files written for these findings.
    pub files: usize,
}

/// Checks a version under every rule with `--out`, and runs each written file alone.
///
/// # Errors
/// The files that do not show their finding, with the reason.
pub fn written(folder: &Path, stem: &str, setup: Setup, states_max: u64) -> Result<Count, String> {
    let file = folder.join(format!("{stem}.ron"));
    let version = Scenario { vary: OPEN, ..Scenario::of(setup.clone()) };
    std::fs::write(&file, scenario::write(&version)).expect("the version can be written");
    let args = CheckArgs {
        outside: OutsidePaths::default(),
        file,
        rule: Some("all".to_string()),
        strategy: OrderWord::Bfs,
        states_max,
        time_max_ns: None,
        no_reduction: false,
        out: Some(folder.join("found")),
        jobs: Some(1),
        format: Format::Json,
        fail_on: FailOnVerdict::default(),
    };
    let (text, _) = check_to_text(&args).unwrap_or_else(|failure| panic!("{}", failure.0));
    let reports: serde_json::Value = serde_json::from_str(&text).expect("the output is JSON");
    let (mut count, mut wrong) = (Count::default(), Vec::new());
    for report in reports.as_array().expect("one report for each rule") {
        let rule = report["rule"].as_str().expect("a rule");
        for finding in report["findings"].as_array().expect("a list") {
            count.findings += 1;
            let Some(path) = finding["scenario"].as_str() else { continue };
            count.files += 1;
            let kind = finding["kind"].as_str().expect("a kind");
            if let Err(why) = shows_its_finding(Path::new(path), rule, kind, &setup) {
                wrong.push(format!("{path}: {why}"));
            }
        }
    }
    if wrong.is_empty() { Ok(count) } else { Err(wrong.join("\n")) }
}

/// Whether a file has this rule, release, strategy and overlap, and shows a finding of this kind.
fn shows_its_finding(path: &Path, rule: &str, kind: &str, of: &Setup) -> Result<(), String> {
    let read = scenario::load(path, &runner::rule_names()).map_err(|wrong| wrong.render(false))?;
    let about =
        |setup: &Setup| -> (Release, _, bool) { (setup.engine.release, setup.engine.strategy, setup.engine.overlap) };
    if about(&read.setup) != about(of) {
        return Err(format!("it is of {:?}, and was found in {:?}", about(&read.setup), about(of)));
    }
    if read.rule.as_deref() != Some(rule) {
        return Err(format!("it runs under {:?}, and was found under {rule}", read.rule));
    }
    if !read.vary.is_nothing() {
        return Err("it leaves something open".to_string());
    }
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let comments: String = text.lines().filter(|line| line.starts_with("//")).collect();
    let version = of.engine.release.version();
    if !comments.contains(&format!("release {version}")) {
        return Err(format!("no comment names release {version}"));
    }
    let rule = runner::rule(rule).expect("the rule exists");
    let judgement = runner::run(&read.setup, rule, read.seed, Keep::default(), None).judgement;
    let shows = judgement.findings.iter().any(|finding| counts(finding) && name::kind(finding.kind) == kind);
    if shows { Ok(()) } else { Err(format!("run alone it is {}, without {kind}", name::verdict(judgement.verdict))) }
}
