//! Recordings of the real scheduler, plain and compressed: compared under both plans, and imported. What is imported is a scenario
//! with the verdict of the replay.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use overlapsim::conform::{self, Archive, Compared, Options, Plan, Recording, RecordingError};
use overlapsim::report::name;
use overlapsim::runner::{self, Keep};
use overlapsim::scenario::{self, Scenario, turns_max};
use tempfile::TempDir;

use super::soak::{Outcome, Reader, shape, soak};

/// The largest recording of the repository that mutations begin with, in bytes.
const SAMPLE_MAX: usize = 24_000;

/// Small recordings of the repository, so that each has a kind of event that no smaller one has.
pub fn samples() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let mut recordings: Vec<String> = Vec::new();
    for file in ["partial", "whole/cases", "whole/crossings", "whole/releases", "whole/scenarios"] {
        let packed = std::fs::read(root.join(format!("{file}.jsonl.gz"))).expect("a recording");
        let mut text = String::new();
        MultiGzDecoder::new(&packed[..]).read_to_string(&mut text).expect("text");
        split(&text, &mut recordings);
    }
    recordings.retain(|recording| recording.len() <= SAMPLE_MAX);
    recordings.sort_by_key(String::len);
    let mut known = BTreeSet::new();
    recordings.retain(|recording| {
        let kinds =
            recording.lines().filter_map(|line| Some(line.split_once("\"ev\"")?.1.split('"').nth(1)?.to_string()));
        kinds.map(|kind| known.insert(kind)).fold(false, |any, new| any | new)
    });
    recordings.into_iter().map(String::into_bytes).collect()
}

/// Splits a file before every heading, or before every `meta` without one.
fn split(text: &str, recordings: &mut Vec<String>) {
    let mut headed = false;
    for line in text.split_inclusive('\n') {
        let heading = line.starts_with("{\"scenario\"");
        let meta = line.contains("\"meta\"");
        if heading || (meta && !headed) || recordings.is_empty() {
            recordings.push(String::new());
        }
        headed = heading;
        recordings.last_mut().expect("one was pushed").push_str(line);
    }
}

/// The results of one file.
type Results = Vec<(usize, Result<Compared, RecordingError>)>;

fn options(plan: Plan) -> Options<'static> {
    Options { plan, rule: None, release: None, rules: &runner::rule_or_release, adjust: None }
}

/// The recordings of one file.
type Recorded = Vec<(usize, Result<Recording, RecordingError>)>;

fn recordings(path: &Path) -> Result<Recorded, RecordingError> {
    let mut archive = Archive::open(path)?;
    Ok(std::iter::from_fn(|| archive.next(|_| true)).collect())
}

fn compared(path: &Path, plan: Plan) -> Result<Results, RecordingError> {
    let check = |recording: Recording| conform::check(&recording, "case", &options(plan));
    Ok(recordings(path)?.into_iter().map(|(index, recording)| (index, recording.and_then(check))).collect())
}

/// Imports a recording. If the replay repeats it, the scenario of it has the same verdict when it is read and run.
fn imported(recording: &Recording) -> Result<String, RecordingError> {
    let imported = conform::import(recording, &options(Plan::Own))?;
    let mut setup = imported.setup;
    setup.turns_max = setup.turns_max.max(turns_max(&setup.requests, &setup.events));
    let text = scenario::write(&Scenario::of(setup));
    let Ok(again) = scenario::parse("case.ron", &text, "".as_ref(), &runner::rule_names()) else {
        return Ok("imported, but is no scenario".to_string());
    };
    let verdict = imported.judgement.verdict;
    if imported.leaves.is_none() {
        let judgement = runner::run(&again.setup, imported.rule, 0, Keep::default(), None).judgement;
        assert_eq!(
            name::verdict(judgement.verdict),
            name::verdict(verdict),
            "the verdict of the imported scenario:\n{text}"
        );
    }
    Ok(format!("imported: {}, {}", name::verdict(verdict), imported.leaves.is_some()))
}

/// The signs of a result. An error has a line of the file.
fn sign(what: &str, result: Result<String, &RecordingError>, lines: u64) -> String {
    match result {
        Ok(sign) => format!("{what}: {sign}"),
        Err(RecordingError { line, message, remedy }) => {
            assert!(
                *line <= lines && !message.is_empty() && !remedy.is_empty(),
                "{line} of {lines}: {message}; {remedy}"
            );
            shape(&format!("{what}: {message}"))
        }
    }
}

fn compared_sign(compared: &Compared) -> String {
    let verdict = compared.recorded.verdict.map_or("none", name::verdict);
    let differs =
        compared.divergence.as_ref().map(|at| format!("{}.{}", at.event, conform::without_indices(&at.field)));
    format!("{verdict}, {}, {}", differs.unwrap_or_default(), compared.agrees_otherwise)
}

struct Recordings {
    folder: TempDir,
}

impl Recordings {
    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).expect("the file can be written");
        path
    }
}

impl Reader for Recordings {
    const NAME: &'static str = "recording";
    const INPUTS: u64 = 700;

    fn words(&self) -> Vec<String> {
        let words = "{ } [ ] , : null true false \"\" \"i\" \"ev\" \"meta\" \"arrive\" \"abort\" \"verify\" \"match\" \"prepare_extend\" \
            \"prepare_decode\" \"result\" \"mix\" \"assert\" \"retract\" \"slot_alloc\" \"donate\" \"no_insert\" \"launch\" \"end\" \
            \"scenario\" \"continues\" \"partial\" \"version\" \"policy\" \"config\" \"rid\" \"rids\" \"prompt\" \"slots\" \
            \"extend_len\" \"accept\" \"reqs\" \"output_ids\" \"finished\" \"stop_token\" \"max_new_tokens\" \"max_iter\" \"script\" \
            \"0.5.16\" \"0.5.23\" \"native\" \"tokens\"";
        words.split_whitespace().map(str::to_string).collect()
    }

    fn samples(&self) -> Vec<Vec<u8>> {
        samples()
    }

    fn read(&mut self, input: &[u8]) -> Outcome {
        let path = self.write("case.jsonl", input);
        let is_packed = input.starts_with(b"\x1f\x8b");
        let lines = if is_packed { u64::MAX } else { input.iter().filter(|byte| **byte == b'\n').count() as u64 + 1 };
        let first = compared(&path, Plan::Recorded);
        if input.len().is_multiple_of(8) {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(input).expect("it is packed");
            let packed = self.write("case.jsonl.gz", &packer.finish().expect("it is packed"));
            if !is_packed {
                assert_eq!(first, compared(&packed, Plan::Recorded), "the compressed recording is read otherwise");
            }
        }
        let results = match first {
            Ok(results) => results,
            Err(error) => return Outcome { accepted: false, signs: vec![sign("file", Err(&error), lines)] },
        };
        assert_eq!(Ok(&results), compared(&path, Plan::Recorded).as_ref(), "the second comparison differs");
        let own = compared(&path, Plan::Own).expect("the file was read before");
        let mut signs = Vec::new();
        for (plan, results) in [("recorded", &results), ("own", &own)] {
            signs.extend(results.iter().map(|(_, one)| sign(plan, one.as_ref().map(compared_sign), lines)));
        }
        for (_, recording) in recordings(&path).expect("the file was read before") {
            let imported = recording.and_then(|recording| imported(&recording));
            signs.push(sign(
                "import",
                match &imported {
                    Ok(seen) => Ok(seen.clone()),
                    Err(error) => Err(error),
                },
                lines,
            ));
        }
        let accepted = results.iter().any(|(_, result)| result.is_ok());
        Outcome { accepted, signs }
    }
}

#[test]
fn recordings_plain_and_compressed() {
    soak(Recordings { folder: tempfile::tempdir().expect("a directory") });
}
