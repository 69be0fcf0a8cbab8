//! `import`: a recording becomes a scenario that replays it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::conform::{self, Archive, Imported, Options, Plan, Recording, RecordingError};
use crate::escape;
use crate::report::{name, style};
use crate::runner;
use crate::scenario::{self, Scenario};

use super::conform::{known_rule, release, source};
use super::expectation::expectation;
use super::file::write_named_file;
use super::line::shell_word;
use super::output::{Exit, Failure, is_same_file, print};

/// Make a scenario that replays a recording
#[derive(Clone, Debug, clap::Args)]
pub struct ImportArgs {
    /// The recording: a .jsonl or .jsonl.gz file, or FILE#N for one of several in a file
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// The scenario file to write
    #[arg(short, long, value_name = "FILE.ron")]
    pub output: PathBuf,
    /// The rule, by name or `release`, in place of the recorded one
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// The release to replay with, in place of the recorded one, as in 0.5.23
    #[arg(long, value_name = "VERSION")]
    pub release: Option<String>,
}

/// Makes a scenario of a recording, replays it, and says whether the replay repeats the recording.
///
/// # Errors
/// A recording that cannot be read or replayed, or a file that cannot be written; nothing is written then.
pub fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let release = args.release.as_deref().map(release).transpose()?;
    known_rule(args.rule.as_deref())?;
    let options =
        Options { plan: Plan::Own, rule: args.rule.as_deref(), release, rules: &runner::rule_or_release, adjust: None };
    let shown = escape::path(&args.recording);
    let wrong = |trouble: RecordingError| {
        let line = if trouble.line > 0 { format!(":{}", trouble.line) } else { String::new() };
        Failure(format!("error: {shown}{line}: {}\nhelp: {}\n", trouble.message, trouble.remedy))
    };
    let read = source(&args.recording).path;
    if is_same_file(&read, &args.output) {
        return Err(Failure(format!("error: {shown} would be written over itself\nhelp: give another path to -o\n")));
    }
    let recording = find(&args.recording)?.map_err(wrong)?;
    let imported = conform::import(&recording, &options).map_err(wrong)?;
    let scenario = to_scenario(&args.recording, &imported);
    let text = scenario::write(&scenario);
    // A written scenario must be readable, and the scenario format is stricter than a recording.
    scenario::parse(&args.output.to_string_lossy(), &text, Path::new(""), &runner::rule_names()).map_err(
        |diagnostic| {
            Failure(format!(
                "error: the recording cannot be written as a scenario\n{}",
                style::from_sgr(&diagnostic.render(true))
            ))
        },
    )?;
    write_named_file(&args.output, &text)?;
    print(&said(args, &imported))?;
    Ok(if imported.leaves.is_some() { Exit::Found } else { Exit::Good })
}

/// The one recording that a path names.
fn find(path: &Path) -> Result<Result<Recording, RecordingError>, Failure> {
    let source = source(path);
    let mut archive = match Archive::open(&source.path) {
        Ok(archive) => archive,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let wanted = source.only.unwrap_or(0);
    let Some((_, recording)) = archive.next(|index| index == wanted) else {
        return Err(Failure(format!(
            "error: there is no recording #{wanted} in {}\nhelp: the recordings of a file are numbered from #0\n",
            escape::path(&source.path)
        )));
    };
    if source.only.is_none() && archive.next(|_| true).is_some() {
        return Err(Failure(format!(
            "error: {0} holds several recordings\nhelp: name one of them, as in {0}#17\n",
            escape::path(&source.path)
        )));
    }
    Ok(recording)
}

fn to_scenario(path: &Path, imported: &Imported) -> Scenario {
    let mut setup = imported.setup.clone();
    setup.turns_max = setup.turns_max.max(scenario::turns_max(&setup.requests, &setup.events));
    let file = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let expect = expectation(imported.rule, &imported.judgement, &setup.names);
    Scenario {
        name: file.clone(),
        path: path.to_path_buf(),
        title: title(&file, imported),
        rule: Some(imported.rule.name().to_string()),
        // A replay that differs from the recording is not its expectation.
        expect: if imported.leaves.is_some() { Vec::new() } else { vec![expect] },
        ..Scenario::of(setup)
    }
}

/// The first line of the file: the recording, its verdict, and where the replay differs from it.
fn title(file: &str, imported: &Imported) -> String {
    let verdict = name::verdict(imported.judgement.verdict);
    let mut title = format!("Recording {file} of version {}: {verdict}.", imported.version);
    if let Some(leaves) = &imported.leaves {
        let _ = write!(title, " The replay differs from it at line {}: this is not what was recorded.", leaves.line);
    }
    for note in &imported.notes {
        let _ = write!(title, " Note: {note}.");
    }
    title
}

fn said(args: &ImportArgs, imported: &Imported) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}: {} requests, rule {}, {}; the replay repeats {} events of the recording",
        escape::path(&args.output),
        imported.setup.requests.len(),
        imported.rule.name(),
        style::verdict(imported.judgement.verdict),
        imported.events
    );
    if let Some(leaves) = &imported.leaves {
        let _ = writeln!(
            out,
            "the replay differs from the recording at line {}: {}.{} is {} in the recording and {} in the replay",
            leaves.line,
            escape::line(&leaves.event),
            escape::line(&leaves.field),
            escape::json(&leaves.recorded.to_string()),
            escape::json(&leaves.modelled.to_string())
        );
    }
    for note in &imported.notes {
        let _ = writeln!(out, "note: {}", escape::line(note));
    }
    let _ = writeln!(out, "replay: overlapsim run {} --timeline", shell_word(&args.output));
    out
}
