//! `jitter`: one request under every lookahead pattern, under every rule.

use std::path::{Path, PathBuf};

use crate::escape;
use crate::history::{ALL_MAX, Pattern, decode_steps, stand_ins, usual_first_step, with_pattern};
use crate::judge::{FindingKind, Verdict};
use crate::metrics::JitterOutcome;
use crate::model::{Rule, Setup};
use crate::record::ReqId;
use crate::report::{JitterPattern, JitterReport, JitterRule, JitterRun, jitter_json, jitter_text, name};
use crate::runner::{self, JitterSpec};
use crate::scenario::Scenario;

use super::expectation::expectation;
use super::format::Format;
use super::input::{OutsidePaths, load, rules};
use super::line::{outside_word, quoted, replay_line, shell_word};
use super::memory::{Kept, RunLength, fits};
use super::output::{Exit, Failure, is_same_file, print};
use super::progress::{RunsProgress, cores};
use super::replay_spec::ReplaySpec;
use super::values::FailOnVerdict;
use super::write_scenario::write_scenario;

/// The default length of the patterns.
const USUAL: u32 = 4;

/// Run one request under one lookahead pattern after another, and show which pattern breaks which rule
#[derive(Clone, Debug, clap::Args)]
pub struct JitterArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// One pattern, a digit for each decode result: 1 if the next step was prepared before it was processed, 0 if a
    /// prefill took that turn
    #[arg(long, value_name = "1101..", conflicts_with = "all")]
    pub pattern: Option<String>,
    /// Every pattern of N results, up to 12 [default: 4, or fewer if the request has fewer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=12))]
    pub all: Option<u32>,
    /// The request by its id [default: the first]
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub request: Option<String>,
    /// The decode step of the first digit, named by the length that the step reaches [default: two steps before the
    /// first boundary, or as near to that as the pattern fits]
    #[arg(long, value_name = "K")]
    pub from: Option<u32>,
    /// The rules, by name with commas between; `all` for every rule, `release` for the rule that the scenario's release
    /// shipped with [default: all]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// Write the scenario of the one pattern, with the outcome of each rule as its expectation
    #[arg(short, long, value_name = "OUT.ron")]
    pub output: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Which verdicts make the exit code 1
    #[command(flatten)]
    pub fail_on: FailOnVerdict,
}

/// Runs one request under lookahead patterns and prints the outcomes.
///
/// # Errors
/// As [`jitter_to_text`].
pub fn jitter(args: &JitterArgs) -> Result<Exit, Failure> {
    let (text, exit) = jitter_to_text(args)?;
    print(&text)?;
    Ok(exit)
}

/// Runs one request under lookahead patterns. Returns the text that `jitter` prints, and the exit of the worst run.
///
/// # Errors
/// A scenario that cannot be read or has no steps to jitter, a pattern that is none or does not fit, a request or a
/// rule that does not exist, or a file that cannot be written.
pub fn jitter_to_text(args: &JitterArgs) -> Result<(String, Exit), Failure> {
    let scenario = load(&args.file, args.outside)?;
    let rules = rules(&scenario, Some(args.rule.as_deref().unwrap_or("all")))?;
    let setup = &scenario.setup;
    let req = request(setup, args.request.as_deref())?;
    let (from, patterns) = patterns(setup, req, args)?;
    let asked = ResolvedArgs { args, scenario: &scenario, req, from, rules: &rules };
    let length = RunLength::of(setup, false);
    let runs = ((patterns.len() + 1) * rules.len()) as u64;
    let bytes = length.bytes(Kept::PATTERN).saturating_mul(runs).saturating_add(length.bytes(Kept::TIMELINE));
    fits(bytes, "the outcomes", "give fewer patterns with --all or --pattern, or shorten the scenario")?;
    let written = args.output.as_deref().map(|path| asked.write(path, &patterns)).transpose()?;
    let report = asked.report(&patterns, written);
    let exit = args.fail_on.verdict.exit(report.patterns.iter().flat_map(|of| &of.runs).flat_map(verdicts));
    let text = match args.format {
        Format::Text => jitter_text(&report),
        Format::Json => jitter_json(&report),
    };
    Ok((text, exit))
}

/// The verdict of a run, and the verdict of each of its findings alone.
fn verdicts(run: &JitterRun) -> Vec<Verdict> {
    let findings = run.findings.iter().filter_map(|finding| name::kind_from_name(finding.kind));
    let findings = findings.filter(|kind| *kind != FindingKind::Inherited).map(FindingKind::verdict);
    std::iter::once(run.verdict).chain(findings).collect()
}

/// The request that `--request` names; the first if not given.
fn request(setup: &Setup, id: Option<&str>) -> Result<ReqId, Failure> {
    let at = match id {
        None => 0,
        Some(id) => setup.names.iter().position(|name| name == id).ok_or_else(|| {
            let known: Vec<&str> = setup.names.iter().take(10).map(String::as_str).collect();
            let more = if setup.names.len() > 10 { ", .." } else { "" };
            mistake(
                &format!("there is no request `{}`", escape::line(id)),
                &format!("the requests are {}{more}", known.join(", ")),
            )
        })?,
    };
    Ok(ReqId(at as u32))
}

/// The first step and the patterns of the command line.
fn patterns(setup: &Setup, req: ReqId, args: &JitterArgs) -> Result<(u32, Vec<Pattern>), Failure> {
    let name = setup.name(req);
    if setup.engine.spec.is_some() {
        return Err(mistake(
            "with speculative decoding a step has no length of its own: a verify accepts one token or several",
            "remove `spec` from the scenario, or search its timings with `check`",
        ));
    }
    let steps = decode_steps(setup, req);
    if steps.is_empty() {
        let help = "give a request of two outputs or more with --request";
        return Err(mistake(&format!("{name} has no decode step: its only output is that of its prefill"), help));
    }
    let (first, last) = (*steps.start(), *steps.end());
    let count = last - first + 1;
    let patterns = match (&args.pattern, args.all) {
        (Some(text), _) => {
            let pattern = Pattern::parse(text).map_err(|why| {
                mistake(
                    &format!("the pattern `{}` {why}", escape::line(text)),
                    "write a 0 or a 1 for each result, as in 1101",
                )
            })?;
            vec![pattern]
        }
        (None, Some(len)) if len > ALL_MAX => {
            return Err(mistake(
                &format!("--all {len} is too many"),
                &format!("give at most {ALL_MAX}: 4096 patterns"),
            ));
        }
        (None, Some(len)) => Pattern::all(len),
        (None, None) => {
            let room = args.from.map_or(count, |from| (last + 1).saturating_sub(from)).max(1);
            Pattern::all(USUAL.min(room))
        }
    };
    let len = patterns[0].len();
    let from = args.from.unwrap_or_else(|| usual_first_step(setup, req, len));
    let range = if count == 1 { format!("step {first}") } else { format!("steps {first} to {last}") };
    if !steps.contains(&from) {
        let help = format!("give a length from {first} to {last} with --from");
        return Err(mistake(&format!("{name} has no decode result of step {from}, only of {range}"), &help));
    }
    let room = last - from + 1;
    if len > room {
        let help = match args.from {
            Some(_) if len <= count => format!("give --from {} or less, or at most {room} places", last + 1 - len),
            Some(_) | None => format!("give at most {count} places"),
        };
        let what = format!("a pattern of {len} from step {from} reaches past the last decode result of {name}");
        return Err(mistake(&format!("{what}: it has the results of {range}"), &help));
    }
    Ok((from, patterns))
}

fn mistake(what: &str, help: &str) -> Failure {
    Failure(format!("error: {what}\nhelp: {help}\n"))
}

/// The default file name of a pattern. File systems refuse very long names.
fn file_of(pattern: &Pattern) -> PathBuf {
    PathBuf::from(if pattern.len() <= 64 { format!("jitter-{pattern}.ron") } else { "jitter.ron".to_string() })
}

/// The arguments with request, first step and rules looked up.
struct ResolvedArgs<'a> {
    args: &'a JitterArgs,
    scenario: &'a Scenario,
    req: ReqId,
    from: u32,
    rules: &'a [&'static dyn Rule],
}

impl ResolvedArgs<'_> {
    fn report(&self, patterns: &[Pattern], written: Option<String>) -> JitterReport {
        let ResolvedArgs { args, scenario, req, from, rules } = *self;
        let setup = &scenario.setup;
        let len = patterns[0].len();
        let steps = from..=from + len - 1;
        let grid = setup.engine.grid_len();
        let progress = RunsProgress::new((patterns.len() * rules.len()) as u64);
        let jitter = JitterSpec { setup, seed: scenario.seed, req, from, rules };
        let runs = runner::jitter(&jitter, patterns, cores(), &|runs| progress.runs(runs), &JitterRun::of);
        let one = |(pattern, mut runs): (&Pattern, Vec<JitterRun>)| {
            let file = args.output.clone().unwrap_or_else(|| file_of(pattern));
            for run in &mut runs {
                run.replay = replay_line(&file, run.rule, ReplaySpec::default());
            }
            JitterPattern { pattern: pattern.to_string(), write: self.line(pattern, &file), runs }
        };
        let patterns: Vec<JitterPattern> = patterns.iter().zip(runs).map(one).collect();
        let counts = |(at, rule): (usize, &&'static dyn Rule)| {
            JitterRule::of(rule.name(), patterns.iter().map(|of| &of.runs[at]))
        };
        let stands = |rule: &&'static dyn Rule| runner::watched(setup, *rule, scenario.seed, req, (from, len));
        let as_it_stands: Vec<JitterOutcome> = rules.iter().map(stands).collect();
        let own = as_it_stands.first().map(JitterOutcome::came_out);
        JitterReport {
            scenario: args.file.to_string_lossy().into_owned(),
            request: setup.name(req).to_string(),
            prompt: decode_steps(setup, req).start() - 1,
            grid,
            first_step: from,
            last_step: *steps.end(),
            boundaries: steps.clone().filter(|k| k.is_multiple_of(grid)).collect(),
            seed: scenario.seed,
            as_it_stands: own.filter(|own| as_it_stands.iter().all(|run| run.came_out() == *own)),
            stand_ins: stand_ins(setup, req, steps).into_iter().map(|of| setup.name(of).to_string()).collect(),
            rules: rules.iter().enumerate().map(counts).collect(),
            patterns,
            warnings: self.warnings(),
            written,
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let engine = &self.scenario.setup.engine;
        if !engine.overlap {
            warnings.push("overlap is off: a result is processed before the next step is prepared, so L is always 0");
        }
        if !engine.track_policy().has_track_slots() {
            warnings.push("the strategy keeps no track slots: no rule is asked");
        }
        if engine.mixed_chunk {
            warnings.push("mixed_chunk is on: decode steps run in prefill batches, and no rule runs on those");
        }
        warnings.into_iter().map(str::to_owned).collect()
    }

    /// The command that writes a pattern as a scenario.
    fn line(&self, pattern: &Pattern, file: &Path) -> String {
        let request = quoted(self.scenario.setup.name(self.req).as_ref());
        let (scenario, file) = (shell_word(&self.scenario.path), shell_word(file));
        format!(
            "overlapsim jitter {scenario} --request={request} --from {} --pattern {pattern} -o {file}{}",
            self.from,
            outside_word(self.scenario.outside)
        )
    }

    /// Writes the one pattern as a scenario, with the outcome of every rule as its expectations.
    fn write(&self, path: &Path, patterns: &[Pattern]) -> Result<String, Failure> {
        let ResolvedArgs { args, scenario, req, from, rules } = *self;
        let [pattern] = patterns else {
            let what = format!("{} patterns are not one scenario", patterns.len());
            return Err(mistake(&what, "name one with --pattern, as in --pattern 1101, or leave out -o"));
        };
        if is_same_file(&args.file, path) {
            let what = format!("{} would be written over itself", escape::path(path));
            return Err(mistake(&what, "give another path to -o"));
        }
        let setup = with_pattern(&scenario.setup, req, from, pattern);
        let req = runner::same_request(&scenario.setup, req, &setup);
        let run = |rule: &&'static dyn Rule| {
            runner::watched(&setup, *rule, scenario.seed, req, (from, pattern.len())).judgement
        };
        let expect = rules.iter().map(|rule| expectation(*rule, &run(rule), &setup.names)).collect();
        let last = from + pattern.len() - 1;
        let steps =
            if last == from { format!("result of step {from}") } else { format!("results of steps {from} to {last}") };
        let (name, file) = (setup.name(req), escape::path(&args.file));
        let out = rules
            .first()
            .map(|rule| runner::watched(&setup, *rule, scenario.seed, req, (from, pattern.len())).came_out());
        let asked = pattern.to_string();
        let what = match out {
            Some(out) if out != asked => format!("{asked} asked for, {out} come about,"),
            Some(_) | None => asked,
        };
        let title = format!("Lookahead {what} at the {steps} of {name}, made of {file} by jitter.");
        let made = Scenario { title, rule: scenario.rule.clone(), seed: scenario.seed, expect, ..Scenario::of(setup) };
        write_scenario(path, &made)?;
        Ok(path.to_string_lossy().into_owned())
    }
}
