//! `conform`: compare recordings of the real scheduler with the model, on several threads.

use std::path::{Path, PathBuf};
use std::thread;

use crate::conform::{self, Archive, ConformSummary, Differing, Options, Plan, RecordingError};
use crate::escape;
use crate::model::Release;
use crate::report::{conform_json, conform_text, plain};
use crate::runner;

use super::fail_on::FailOn;
use super::format::Format;
use super::line::{quoted, shell_word};
use super::mistake::no_rule;
use super::output::{Exit, Failure, print};
use super::values;

/// What the model takes over from a recording, as it is spelled on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PlanWord {
    /// Arrivals, the composition of batches and the slots given out.
    Recorded,
    /// Configuration and requests alone.
    Own,
}

impl From<PlanWord> for Plan {
    fn from(word: PlanWord) -> Plan {
        match word {
            PlanWord::Recorded => Plan::Recorded,
            PlanWord::Own => Plan::Own,
        }
    }
}

/// The most differing recordings for which the settings of other releases are tried.
const EXPLAINED_MAX: usize = 10;

/// The settings of other releases with which a recording would agree, each by itself.
fn explained(source: &RecordingSource, index: usize, options: &Options<'_>) -> Vec<String> {
    let Ok(mut archive) = Archive::open(&source.path) else { return Vec::new() };
    let Some((_, Ok(recording))) = archive.next(|at| at == index) else { return Vec::new() };
    let found = conform::explain(&recording, "", options).unwrap_or_default();
    found.iter().map(|difference| format!("{} as in {:?}", difference.field, difference.value_of)).collect()
}

/// Compare recordings of the real scheduler with the model, event for event
#[derive(Clone, Debug, clap::Args)]
pub struct ConformArgs {
    /// Recordings: .jsonl or .jsonl.gz files, FILE#N for one of several in a file, or directories
    #[arg(required = true, value_name = "RECORDING")]
    pub paths: Vec<PathBuf>,
    /// The rule, by name or `release`, in place of the recorded one
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// The release to compare with, in place of the recorded one, as in 0.5.23
    #[arg(long, value_name = "VERSION")]
    pub release: Option<String>,
    /// What the model takes over from a recording: arrivals, batches and slots, or configuration and requests alone
    #[arg(long, value_enum, default_value_t = PlanWord::Recorded)]
    pub plan: PlanWord,
    /// Threads; the output is the same for any number [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = values::jobs())]
    pub jobs: Option<usize>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Exit code 1 also if a recording by itself shows this verdict or a worse one, even if it agrees with the model;
    /// `never`: 0 even if a recording differs [default: 1 only if a recording differs]
    #[arg(long, value_name = "VERDICT", value_enum)]
    pub fail_on: Option<FailOn>,
}

/// A file of recordings, and the number of the one to compare; all if not given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordingSource {
    pub path: PathBuf,
    pub only: Option<usize>,
}

/// Compares recordings with the model and prints the summary.
///
/// # Errors
/// No recording at all, or a rule or release that does not exist. A file that cannot be read is reported, and the
/// command then ends with exit code 2 after comparing the others.
pub fn conform(args: &ConformArgs) -> Result<Exit, Failure> {
    let (text, summary) = conform_styled(args)?;
    print(&text)?;
    if !summary.errors.is_empty() {
        return Err(Failure(troubles_text(&summary)));
    }
    let differs = args.fail_on.unwrap_or_default().exit_of_difference(!summary.differing.is_empty());
    let recorded = args.fail_on.map_or(Exit::Good, |fail_on| fail_on.exit(summary.recorded.shown()));
    Ok(differs.max(recorded))
}

/// Compares recordings with the model. Returns the text that `conform` prints, without styles, and the summary.
///
/// # Errors
/// As [`conform()`], except for files that cannot be read: those are in the summary.
pub fn conform_to_text(args: &ConformArgs) -> Result<(String, ConformSummary), Failure> {
    let (text, summary) = conform_styled(args)?;
    Ok((plain(&text).into_owned(), summary))
}

fn conform_styled(args: &ConformArgs) -> Result<(String, ConformSummary), Failure> {
    let sources = sources(&args.paths)?;
    let release = args.release.as_deref().map(release).transpose()?;
    known_rule(args.rule.as_deref())?;
    let options = Options {
        plan: args.plan.into(),
        rule: args.rule.as_deref(),
        release,
        rules: &runner::rule_or_release,
        adjust: None,
    };
    let jobs = args.jobs.unwrap_or_else(super::progress::cores).max(1);
    let mut summary = compare(&sources, &options, jobs, &|source, index| replay_line(args, source, index));
    for ((at, index), differing) in summary.differing.iter_mut().take(EXPLAINED_MAX) {
        differing.tried = true;
        differing.agrees_with = explained(&sources[*at], *index, &options);
    }
    let text = match args.format {
        Format::Text => conform_text(&summary),
        Format::Json => conform_json(&summary),
    };
    Ok((text, summary))
}

/// Compares every recording of the sources on `jobs` threads, dealt out in turn. The summary is the same for any number
/// of threads.
pub(super) fn compare(
    sources: &[RecordingSource],
    options: &Options<'_>,
    jobs: usize,
    replay: &(dyn Fn(&RecordingSource, usize) -> String + Sync),
) -> ConformSummary {
    let mut sum = ConformSummary::default();
    quiet_workers();
    thread::scope(|scope| {
        let work = |job| {
            let worker = thread::Builder::new().name(WORKER.to_string());
            worker.spawn_scoped(scope, move || one_job(sources, options, (job, jobs), replay)).expect("a thread starts")
        };
        let workers: Vec<_> = (0..jobs).map(work).collect();
        for worker in workers {
            match worker.join() {
                Ok(part) => sum.merge(part),
                Err(panic) => panic!("a fault of overlapsim itself, please report it: {}", words(&*panic)),
            }
        }
    });
    sum.order();
    sum
}

/// The name of the threads that compare.
const WORKER: &str = "conform";

/// Keeps panics of worker threads off standard error: the comparison catches the panics that a differing recording
/// causes. Any other panic ends the command with its message.
fn quiet_workers() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().name() != Some(WORKER) {
            usual(panic);
        }
    }));
}

/// The message of a panic.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_string()
}

fn one_job(
    sources: &[RecordingSource],
    options: &Options<'_>,
    (job, jobs): (usize, usize),
    replay: &dyn Fn(&RecordingSource, usize) -> String,
) -> ConformSummary {
    let mut sum = ConformSummary::default();
    for (at, source) in sources.iter().enumerate() {
        let mine = |index: usize| (at + index) % jobs == job && source.only.is_none_or(|only| only == index);
        let mut seen = false;
        let opened = conform::check_file(&source.path, options, &mine, |index, result| {
            seen = true;
            let key = (at, index);
            match result {
                Ok(compared) => {
                    let differing = compared.divergence.clone().map(|divergence| Differing {
                        recording: compared.recording.clone(),
                        replay: replay(source, index),
                        divergence,
                        agrees_otherwise: compared.agrees_otherwise,
                        agrees_with: Vec::new(),
                        tried: false,
                    });
                    sum.add(key, compared, differing);
                }
                Err(trouble) => sum.add_error(key, format!("{}#{index}", source.path.to_string_lossy()), trouble),
            }
        });
        if let Err(trouble) = opened {
            // Every thread gets this error; only one reports it.
            if at % jobs == job {
                sum.add_error((at, 0), source.path.to_string_lossy().into_owned(), trouble);
            }
            continue;
        }
        if let Some(only) = source.only
            && !seen
            && (at + only) % jobs == job
        {
            let trouble = RecordingError {
                line: 0,
                message: format!("the file has no recording #{only}"),
                remedy: "the recordings of a file are numbered from #0",
            };
            sum.add_error((at, only), source.path.to_string_lossy().into_owned(), trouble);
        }
    }
    sum
}

fn replay_line(args: &ConformArgs, source: &RecordingSource, index: usize) -> String {
    let mut path = source.path.clone().into_os_string();
    path.push(format!("#{index}"));
    let path = PathBuf::from(path);
    let rule = args.rule.as_ref().map_or(String::new(), |rule| format!(" --rule {}", quoted(rule.as_ref())));
    let release =
        args.release.as_ref().map_or(String::new(), |release| format!(" --release {}", quoted(release.as_ref())));
    let plan = match args.plan {
        PlanWord::Recorded => "recorded",
        PlanWord::Own => "own",
    };
    format!("overlapsim conform {}{rule}{release} --plan {plan}", shell_word(&path))
}

fn troubles_text(summary: &ConformSummary) -> String {
    let mut text = String::new();
    for (file, trouble) in summary.errors.values() {
        let file = escape::line(file);
        let line = if trouble.line > 0 { format!("{file}:{}", trouble.line) } else { file.into_owned() };
        text.push_str(&format!("error: {line}: {}\nhelp: {}\n", trouble.message, trouble.remedy));
    }
    text
}

/// The error for a rule that does not exist.
pub(super) fn known_rule(rule: Option<&str>) -> Result<(), Failure> {
    match rule {
        Some("all") => {
            let help = "help: name one rule, or `release`, or leave out --rule for the recorded one\n";
            Err(Failure(format!("error: a recording is replayed under one rule, not `all`\n{help}")))
        }
        Some(rule) if runner::rule_or_release(rule, Release::V0_5_23).is_none() => Err(no_rule(rule, &["release"])),
        Some(_) | None => Ok(()),
    }
}

/// The release of a version.
pub(super) fn release(text: &str) -> Result<Release, Failure> {
    match conform::release_of(text) {
        Some((release, true)) => Ok(release),
        Some((_, false)) | None => Err(Failure(format!(
            "error: release {} is not modelled\nhelp: the releases are {}\n",
            escape::line(&format!("{text:?}")),
            Release::listed()
        ))),
    }
}

/// The recordings that the paths name, in order.
pub(super) fn sources(paths: &[PathBuf]) -> Result<Vec<RecordingSource>, Failure> {
    let mut sources = Vec::new();
    for path in paths {
        if path.is_dir() {
            collect(path, &mut sources)?;
        } else {
            sources.push(source(path));
        }
    }
    if sources.is_empty() {
        return Err(Failure(
            "error: no recording found\nhelp: name .jsonl or .jsonl.gz files, or directories that hold some\n".into(),
        ));
    }
    Ok(sources)
}

/// The recording that a path names: `FILE#N` is one recording of a file, unless a file has exactly this name.
pub(super) fn source(path: &Path) -> RecordingSource {
    let all = RecordingSource { path: path.to_path_buf(), only: None };
    if path.exists() {
        return all;
    }
    let Some((file, number)) = path.to_str().and_then(|text| text.rsplit_once('#')) else { return all };
    match number.parse() {
        Ok(only) => RecordingSource { path: file.into(), only: Some(only) },
        Err(_) => all,
    }
}

fn collect(directory: &Path, sources: &mut Vec<RecordingSource>) -> Result<(), Failure> {
    let wrong = |error| {
        Failure(format!(
            "error: cannot read {}: {error}\nhelp: name the recordings one by one\n",
            escape::path(directory)
        ))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(wrong)? {
        paths.push(entry.map_err(wrong)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let links = path.is_symlink();
        if path.is_dir() && !links && !name.starts_with('.') {
            collect(&path, sources)?;
        } else if (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")) && path.is_file() {
            sources.push(RecordingSource { path, only: None });
        }
    }
    Ok(())
}
