//! `merge`: adds up the reports of the shards of a random search.

use std::path::{Path, PathBuf};

use crate::escape;
use crate::judge::{FindingKind, Goals, Verdict};
use crate::reading::{self, REPORT_BYTES_MAX};
use crate::report::{DISAGREEMENT, FuzzReport, FuzzRule, name, plain};

use super::format::Format;
use super::fuzz::rendered;
use super::line::shell_word;
use super::output::{Exit, Failure, print};
use super::shard_report::checked;
use super::values::FailOnVerdict;

/// Add up the reports of the shards of a `fuzz` run
#[derive(Clone, Debug, clap::Args)]
pub struct MergeArgs {
    /// Reports, or directories of them
    #[arg(required = true, value_name = "DIR")]
    pub paths: Vec<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Which verdicts make the exit code 1
    #[command(flatten)]
    pub fail_on: FailOnVerdict,
}

/// Adds up the reports of shards and prints the report of the whole search.
///
/// # Errors
/// A report that cannot be read, shards of different searches, or shards that are missing or there twice.
pub fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let (text, exit) = merge_styled(args)?;
    print(&text)?;
    Ok(exit)
}

/// Adds up the reports of shards. Returns the text that `merge` prints, without styles, and the exit.
///
/// # Errors
/// As [`merge`].
pub fn merge_to_text(args: &MergeArgs) -> Result<(String, Exit), Failure> {
    let (text, exit) = merge_styled(args)?;
    Ok((plain(&text).into_owned(), exit))
}

fn merge_styled(args: &MergeArgs) -> Result<(String, Exit), Failure> {
    let mut files = Vec::new();
    for path in &args.paths {
        if path.is_dir() {
            reports_in(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    files.dedup();
    let mut reports: Vec<(PathBuf, FuzzReport)> =
        files.into_iter().map(|path| read(&path).map(|report| (path, report))).collect::<Result<_, _>>()?;
    reports.sort_by_key(|(_, report)| report.shard);
    let Some((first_path, first)) = reports.first() else {
        let help = "help: name reports that `fuzz --out` wrote, fuzz-0-of-4.json and so on, or directories of them\n";
        return Err(Failure(format!("error: no report found\n{help}")));
    };
    let of = first.shard[1];
    for (place, (path, report)) in reports.iter().enumerate() {
        let wrong = |why: &str, help: &str| Failure(format!("error: {}: {why}\nhelp: {help}\n", escape::path(path)));
        if let Some(why) = report.differs_from(first) {
            let help = format!("{} is of another search: add up the shards of one search", shell_word(first_path));
            return Err(wrong(why, &help));
        }
        if report.shard[0] < place as u64 {
            return Err(wrong("this shard is given twice", "name every shard once"));
        }
        if report.shard[0] > place as u64 {
            return Err(missing(place as u64, of));
        }
    }
    if (reports.len() as u64) < of {
        return Err(missing(reports.len() as u64, of));
    }
    let mut reports = reports.into_iter().map(|(_, report)| report);
    let mut sum = reports.next().expect("there is a first one");
    reports.for_each(|report| sum.absorb(&report));
    sum.shard = [0, 1];
    let kind = |text: &str| name::kind_from_name(text).map_or(usize::MAX, |kind| kind as usize);
    let goal = |text: &str| Goals::ALL.iter().position(|goal| goal.name() == text).unwrap_or(usize::MAX);
    sum.rules.iter_mut().for_each(|rule| rule.sort(kind, goal));
    let disagree = sum.rules.iter().any(|rule| rule.verdict == DISAGREEMENT);
    let exit = if disagree { Exit::Found } else { args.fail_on.verdict.exit(sum.rules.iter().flat_map(verdicts)) };
    Ok((rendered(&sum, args.format), exit))
}

/// The verdicts of the runs under a rule, and the verdict of each of their findings alone.
fn verdicts(rule: &FuzzRule) -> Vec<Verdict> {
    let runs = rule.verdicts.all().into_iter().filter(|(_, runs)| *runs > 0).map(|(verdict, _)| verdict);
    let findings = rule.findings.iter().filter_map(|finding| name::kind_from_name(&finding.kind));
    runs.chain(findings.map(FindingKind::verdict)).collect()
}

fn missing(shard: u64, of: u64) -> Failure {
    let help = format!("name its report too, fuzz-{shard}-of-{of}.json, or run it again with --shard {shard}/{of}");
    Failure(format!("error: shard {shard} of {of} is missing\nhelp: {help}\n"))
}

fn reports_in(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| {
        Failure(format!("error: cannot read {}: {error}\nhelp: name the reports one by one\n", escape::path(directory)))
    };
    for entry in std::fs::read_dir(directory).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        if name.starts_with("fuzz-") && name.ends_with(".json") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<FuzzReport, Failure> {
    let help = "help: give a report that `fuzz --out` wrote";
    let cannot = |why: &str, help: &str| Failure(format!("error: cannot read {}: {why}\n{help}\n", escape::path(path)));
    let bytes = reading::bytes(path, REPORT_BYTES_MAX).map_err(|trouble| {
        let help = trouble.remedy.map_or(help.to_owned(), |remedy| format!("help: {remedy}"));
        cannot(&trouble.why, &help)
    })?;
    let text = String::from_utf8(bytes).map_err(|_| cannot("it is not UTF-8 text", help))?;
    let report: FuzzReport = serde_json::from_str(&text).map_err(|error| {
        let place = format!("{}:{}:{}", escape::path(path), error.line(), error.column());
        let error = escape::line(&error.to_string()).into_owned();
        Failure(format!("error: {place}: not a report of a search: {error}\n{help}\n"))
    })?;
    if let Some(why) = report.contradiction() {
        let shown = escape::path(path);
        return Err(Failure(format!("error: {shown}: the report contradicts itself: {why}\n{help}\n")));
    }
    checked(report).map_err(|why| {
        let help = format!("{help}, of version {} of overlapsim", env!("CARGO_PKG_VERSION"));
        Failure(format!("error: {}: not a report of a search: {why}\n{help}\n", escape::path(path)))
    })
}
