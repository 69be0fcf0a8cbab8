//! `fuzz`: random timings of a scenario, or of generated ones.

use std::path::PathBuf;

use crate::engine::ChoicePoint;
use crate::escape;
use crate::judge::{FindingKind, Verdict};
use crate::model::Rule;
use crate::reading::{self, REPORT_BYTES_MAX};
use crate::report::{
    FuzzBound, FuzzDisagreement, FuzzFinding, FuzzReport, FuzzRule, SecondJudgement, Verdicts, fuzz_text, name,
};
use crate::runner::{self, FuzzSpec, FuzzTally, Keep, SetupSource, Times, drawn, first_of};
use crate::scenario::{self, Outside, Scenario};
use crate::search::{RandomChooser, Style};

use super::finding::{Finder, OutDir};
use super::format::Format;
use super::input::{OutsidePaths, listed, load, rules};
use super::line::choices_word;
use super::mistake::no_rule;
use super::output::{Exit, Failure, Printed};
use super::progress::{RunsProgress, TimeLimit, cores};
use super::second_judge::{agreements, judge_words, numbers_words, use_words};
use super::shard::{Shard, shard};
use super::shard_report::{self, SearchSource};
use super::values::{self, FailOnVerdict, Generated, SEEDS_END};

/// How answers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StyleWord {
    /// Every answer as likely as any other.
    Uniform,
    /// As measured on a server: a waiting request is seen in about 15 % of the turns, so L = 0 is about as rare; ends,
    /// aborts and refusals are rare.
    Jitter,
    /// As the script answers, except for changes at a few questions spread over the run (probabilistic concurrency
    /// testing).
    Pct,
}

/// Likelihoods in thousandths of a yes.
const JITTER: &[(ChoicePoint, u32)] = &[
    (ChoicePoint::Arrival, 150),
    (ChoicePoint::Stop, 60),
    (ChoicePoint::Abort, 5),
    (ChoicePoint::Retract, 30),
    (ChoicePoint::AllocFailure, 100),
];

impl StyleWord {
    fn style(self) -> Style {
        match self {
            StyleWord::Uniform => Style::Uniform,
            StyleWord::Jitter => Style::Weighted(JITTER),
            StyleWord::Pct => Style::Pct { changes: 3, span: 64 },
        }
    }

    /// The strategy with a name.
    pub(super) fn from_name(name: &str) -> Option<StyleWord> {
        [StyleWord::Uniform, StyleWord::Jitter, StyleWord::Pct].into_iter().find(|style| style.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            StyleWord::Uniform => "uniform",
            StyleWord::Jitter => "jitter",
            StyleWord::Pct => "pct",
        }
    }
}

/// Run random timings of a scenario, or of generated scenarios
#[derive(Clone, Debug, clap::Args)]
pub struct FuzzArgs {
    /// The scenario file; the questions that its `vary` opens get random answers
    #[arg(required_unless_present = "preset")]
    pub file: Option<PathBuf>,
    /// Generate the scenarios at random
    #[arg(long = "generate", value_name = "PRESET", value_parser = values::generated(), conflicts_with = "file")]
    pub preset: Option<Generated>,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The seeds, one run each: from A to B, without B; `A..` with --max-time
    #[arg(long, value_name = "A..B", value_parser = values::seeds)]
    pub seeds: (u64, u64),
    /// The rules, by name with commas between, or `all` for every rule [default: the scenario's own, or mask-lookahead;
    /// all with --generate]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// Threads; the output is the same for any number [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = values::jobs())]
    pub jobs: Option<usize>,
    /// Only every N-th seed, beginning with number I, counted from 0; JOB_COMPLETION_INDEX/N and SLURM_ARRAY_TASK_ID/N
    /// take I from the cluster
    #[arg(long, value_name = "I/N", value_parser = shard, default_value = "0/1", hide_default_value = true)]
    pub shard: Shard,
    /// End the search after this time, such as 28800s or 500ms, behind a whole range of seeds, which the report names; not
    /// with --shard: shards of one search have one end
    #[arg(long = "max-time", value_name = "TIME", value_parser = values::time, conflicts_with = "shard")]
    pub time_max_ns: Option<u64>,
    /// Judge every run a second time, by the numbers in its state slots; a disagreement of the judges is a fault of
    /// overlapsim, and exit code 1
    #[arg(long, alias = "witness")]
    pub second_judge: bool,
    /// How answers are drawn
    #[arg(long, value_enum, default_value_t = StyleWord::Jitter)]
    pub strategy: StyleWord,
    /// Write the report, and a small scenario for every finding, to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Which verdicts make the exit code 1
    #[command(flatten)]
    pub fail_on: FailOnVerdict,
}

/// Runs random timings and prints the findings.
///
/// # Errors
/// A scenario that cannot be read, a rule that does not exist, or a directory that cannot be written.
pub fn fuzz(args: &FuzzArgs) -> Result<Exit, Failure> {
    fuzz_styled(args)?.print()
}

/// Runs random timings. Returns the text that `fuzz` prints, without styles, and the exit.
///
/// # Errors
/// As [`fuzz`].
pub fn fuzz_to_text(args: &FuzzArgs) -> Result<(String, Exit), Failure> {
    fuzz_styled(args)?.into_text()
}

fn fuzz_styled(args: &FuzzArgs) -> Result<Printed, Failure> {
    let scenario = args.file.as_deref().map(|file| load(file, args.outside)).transpose()?;
    let (rules, source) = match (&scenario, args.preset) {
        (Some(scenario), _) => {
            (rules(scenario, args.rule.as_deref())?, SetupSource::Setup(&scenario.setup, scenario.vary))
        }
        (None, Some(Generated::Of(preset))) => (rules_of_no_file(args.rule.as_deref())?, SetupSource::Preset(preset)),
        (None, Some(Generated::All)) => (rules_of_no_file(args.rule.as_deref())?, SetupSource::EveryPreset),
        (None, None) => {
            let help = "help: give a scenario file with `vary`, or --generate PRESET\n";
            return Err(Failure(format!("error: there is nothing to run\n{help}")));
        }
    };
    if args.seeds.1 == SEEDS_END && args.time_max_ns.is_none() {
        let help = "help: give an end, as in 0..1000, or --max-time\n";
        return Err(Failure(format!("error: seeds without an end would run for ever\n{help}")));
    }
    let out = args.out.as_deref().map(OutDir::new).transpose()?;
    let asked = FuzzSpec {
        source,
        rules: &rules,
        style: args.strategy.style(),
        seeds: (args.seeds.0.saturating_add(args.shard.nth), args.seeds.1, args.shard.of),
        second_judge: args.second_judge,
    };
    let mut reporter = FuzzReporter { args, scenario: scenario.as_ref(), asked, end: args.seeds.1, out: out.as_ref() };
    reporter.is_alone()?;
    let seeds = args.seeds.1.saturating_sub(args.seeds.0).div_ceil(args.shard.of);
    let progress = RunsProgress::new(seeds.saturating_mul(rules.len() as u64));
    let limit = TimeLimit::new(args.time_max_ns);
    let stop: &dyn Fn() -> bool = &|| limit.is_over();
    let jobs = args.jobs.unwrap_or_else(cores);
    let (tallies, end) = runner::fuzz_until(&asked, jobs, &|runs| progress.runs(runs), args.time_max_ns.map(|_| stop));
    reporter.end = end;
    drop(progress);
    let verdicts = |tally: &FuzzTally| {
        let findings = tally.kinds.keys().map(|kind| kind.verdict());
        tally.verdicts.keys().copied().chain(findings).collect::<Vec<_>>()
    };
    let disagree = tallies.iter().any(|tally| tally.disagreements.is_some());
    let exit = if disagree { Exit::Found } else { args.fail_on.verdict.exit(tallies.iter().flat_map(verdicts)) };
    let mut unwritten = Vec::new();
    let report = reporter.report(&tallies, &mut unwritten);
    if let Some(out) = &out {
        let written = reporter.is_alone().and_then(|()| out.write_and_keep(&reporter.file(), &report.json()));
        unwritten.extend(written.err());
    }
    Ok(Printed { text: rendered(&report, args.format), exit, unwritten })
}

pub(super) fn rendered(report: &FuzzReport, format: Format) -> String {
    match format {
        Format::Text => fuzz_text(report),
        Format::Json => report.json(),
    }
}

fn rules_of_no_file(asked: Option<&str>) -> Result<Vec<&'static dyn Rule>, Failure> {
    listed(asked.unwrap_or("all"), |name| match name {
        "release" => {
            let help = "help: name a rule or `all`, or give a scenario file in place of --generate\n";
            Err(Failure(format!(
                "error: generated setups are of many releases, so `release` does not name one rule\n{help}"
            )))
        }
        name => runner::rule(name).ok_or_else(|| no_rule(name, &["all"])),
    })
}

/// The input of the report of a random search.
struct FuzzReporter<'a> {
    args: &'a FuzzArgs,
    scenario: Option<&'a Scenario>,
    asked: FuzzSpec<'a>,
    /// The end of the seeds that were run.
    end: u64,
    out: Option<&'a OutDir>,
}

impl FuzzReporter<'_> {
    /// The file name of the report.
    fn file(&self) -> String {
        let Shard { nth, of } = self.args.shard;
        format!("fuzz-{nth}-of-{of}.json")
    }

    /// The error where the directory holds the same shard of another search: `merge` could not add up the shards. A
    /// report of a whole search may replace another one, which is kept under another name.
    fn is_alone(&self) -> Result<(), Failure> {
        let shard = self.out.filter(|_| self.args.shard.of > 1);
        let Some(path) = shard.map(|out| out.path(&self.file())) else { return Ok(()) };
        // If the file cannot be written either, writing it gives the error.
        let Ok(there) = reading::bytes(&path, REPORT_BYTES_MAX) else { return Ok(()) };
        let nothing = vec![FuzzTally::default(); self.asked.rules.len()];
        let why = match serde_json::from_slice::<FuzzReport>(&there) {
            Ok(there) => there.differs_from(&self.report(&nothing, &mut Vec::new())),
            Err(_) => Some("it is not a report of a search"),
        };
        why.map_or(Ok(()), |why| {
            let help = "give another directory, or remove the file if it is no longer needed";
            let shown = escape::path(&path);
            Err(Failure(format!("error: {shown} exists and is of another search: {why}\nhelp: {help}\n")))
        })
    }

    /// The report. `unwritten` gets an error for each file that cannot be written.
    fn report(&self, tallies: &[FuzzTally], unwritten: &mut Vec<Failure>) -> FuzzReport {
        let (source, digest) = match (self.scenario, self.args.preset) {
            (Some(scenario), _) => {
                // Path, title and expectations of the scenario do not change its runs.
                let bare =
                    Scenario { title: String::new(), expect: Vec::new(), expect_every: Vec::new(), ..scenario.clone() };
                (scenario.path.to_string_lossy().into_owned(), scenario::write(&bare))
            }
            (None, preset) => {
                let name = preset.map_or("nothing", Generated::name);
                (format!("generated {name}"), name.to_string())
            }
        };
        let rules = self.asked.rules.iter().zip(tallies);
        FuzzReport {
            source,
            digest: shard_report::digest(&digest),
            version: env!("CARGO_PKG_VERSION").to_string(),
            strategy: self.args.strategy.name().to_string(),
            allow_outside: self.scenario.is_some_and(|scenario| scenario.outside == Outside::Allowed),
            seeds: [self.args.seeds.0, self.end],
            seeds_end: Some(self.args.seeds.1).filter(|asked| *asked != self.end && *asked != SEEDS_END),
            shard: [self.args.shard.nth, self.args.shard.of],
            rules: rules.map(|(rule, tally)| self.rule(*rule, tally, unwritten)).collect(),
        }
    }

    fn rule(&self, rule: &'static dyn Rule, tally: &FuzzTally, unwritten: &mut Vec<Failure>) -> FuzzRule {
        let runs = |verdict| tally.verdicts.get(&verdict).copied().unwrap_or(0);
        let (reached, missed) = tally.goals.names();
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_string).collect();
        let findings = tally.kinds.iter().map(|(&kind, times)| self.finding(rule, kind, *times, unwritten));
        let mut rule = FuzzRule {
            rule: rule.name().to_string(),
            verdict: String::new(),
            runs: tally.runs,
            verdicts: Verdicts {
                clean: runs(Verdict::Clean),
                lossy: runs(Verdict::Lossy),
                inconclusive: runs(Verdict::Inconclusive),
                corrupt: runs(Verdict::Corrupt),
                broken: runs(Verdict::Broken),
            },
            lookahead: tally.lookahead,
            due: tally.checkpoints[0],
            lost: tally.checkpoints[1],
            findings: findings.collect(),
            bound: tally.bounds.map(|times| self.bound(rule, times)),
            second_judge: self.args.second_judge.then(|| self.second_judge(rule, tally)),
            goals: owned(reached),
            goals_missed: owned(missed),
        };
        rule.verdict = rule.worst().to_string();
        rule
    }

    /// Runs the first seed whose run a bound ended again.
    fn bound(&self, rule: &'static dyn Rule, Times { runs, seed }: Times) -> FuzzBound {
        let (setup, open) = drawn(self.asked.source, seed);
        let mut draw = RandomChooser::new(&open, self.asked.style, seed);
        let outcome = runner::run_with(&setup, rule, &mut draw, Keep::default(), None);
        let reason = outcome.bound.expect("a run is a function of its seed");
        FuzzBound { reason, runs, seed, choices: choices_word(draw.answers()) }
    }

    fn source(&self) -> SearchSource<'_> {
        match (self.scenario, self.args.preset) {
            (Some(scenario), _) => SearchSource::File(&scenario.path, scenario.outside),
            (None, Some(generated)) => SearchSource::Generated(generated),
            (None, None) => unreachable!("a search has a source"),
        }
    }

    /// How the judges agree. Runs the first seed on which they disagree again.
    fn second_judge(&self, rule: &'static dyn Rule, tally: &FuzzTally) -> SecondJudgement {
        let disagreement = tally.disagreements.map(|Times { runs, seed }| {
            let (setup, open) = drawn(self.asked.source, seed);
            let mut draw = RandomChooser::new(&open, self.asked.style, seed);
            let (_, comparison) = runner::judged_twice(&setup, rule, &mut draw);
            let first = comparison.disagreements.first().expect("a run is a function of its seed");
            FuzzDisagreement {
                what: use_words(first, &setup),
                judge: judge_words(first).to_string(),
                numbers: numbers_words(first).to_string(),
                choices: choices_word(draw.answers()),
                runs,
                seed,
                replay: self.source().replay_twice((rule.name(), self.args.strategy), seed),
            }
        });
        SecondJudgement { agreements: agreements(&tally.agreements), disagreement }
    }

    /// Runs the first seed that found this kind again.
    fn finding(
        &self,
        rule: &'static dyn Rule,
        kind: FindingKind,
        times: Times,
        unwritten: &mut Vec<Failure>,
    ) -> FuzzFinding {
        let Times { runs, seed } = times;
        let (setup, open) = drawn(self.asked.source, seed);
        let mut draw = RandomChooser::new(&open, self.asked.style, seed);
        let judgement = runner::run_with(&setup, rule, &mut draw, Keep::default(), None).judgement;
        let finding = first_of(&judgement, kind).expect("a run is a function of its seed");
        let preset = self.args.preset.map_or("", |generated| generated.preset(seed).name());
        let style = self.args.strategy.name();
        let written = match self.out {
            Some(out) => {
                let stem = self.scenario.map_or(preset, |scenario| &scenario.name);
                let generated = if self.scenario.is_some() { "" } else { "generated " };
                let of = format!("{generated}{stem}, seed {seed}, {style},");
                let finder = Finder { setup: &setup, rule, kind, by: "fuzz", of: &of, stem, stop: &|| false };
                finder.write(out, Some(seed), || RandomChooser::new(&open, self.asked.style, seed)).unwrap_or_else(
                    |failure| {
                        unwritten.push(failure);
                        None
                    },
                )
            }
            None => None,
        };
        let run = (seed, draw.answers());
        let replay = self.source().replay((rule.name(), self.args.strategy), run, written.is_some());
        FuzzFinding {
            kind: name::kind(kind).to_string(),
            label: finding.label,
            holds: finding.holds,
            choices: choices_word(draw.answers()),
            request: finding.req.map(|req| setup.name(req).to_string()),
            reason: finding.reason.clone(),
            runs,
            seed,
            replay,
            scenario: written,
        }
    }
}
