//! Scenario files. What is accepted is written and read again: the same scenario, with the same judgements. What is refused has a
//! place in the file and a remedy.

use std::path::{Path, PathBuf};

use overlapsim::escape;
use overlapsim::model::Prompt;
use overlapsim::runner;
use overlapsim::scenario::{self, Diagnostic, Scenario};
use tempfile::TempDir;

use super::replay::{judged, signs};
use super::soak::{Outcome, Reader, soak};

/// Words of the format: fields, variants, marks.
pub const WORDS: &str = "( ) [ ] { } , : // /* */ #![enable(implicit_some)] r#\" b\" Scenario engine costs requests trace events vary \
    expect expect_every rule seed turns_max release V0_5_16 V0_5_17 V0_5_18 V0_5_23 strategy NoBuffer ExtraBuffer ExtraBufferLazy \
    track_interval mamba_chunk page_size kv_tokens overlap chunked_prefill_size mixed spec draft accept Fixed Seeded Uniform state \
    Ssm dim vocab result_queue Alias tombstone_lock Skip id arrive Turn At After Before prompt Tokens Fresh Extend Prefix stop Token \
    Length max_new accepts turn do Abort Retract FailAlloc arrivals stops aborts retraction alloc_failure verdict Clean Lossy \
    Inconclusive Corrupt Broken findings kind request label holds slot outputs prefix_hit admitted ended evictions leaks kinds true \
    false None Some( \"a\" \"b\" \"release\" \"all\" \"12.5ms\" mask-lookahead completed-mask AzureCsv MooncakeJsonl format path \
    limit time_scale";

/// Files of the repository that mutations begin with, beside the corpus.
pub fn files() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut paths: Vec<PathBuf> = ["", "check"].iter().flat_map(|folder| ron_in(&root.join(folder))).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a scenario")).collect()
}

fn ron_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "ron")).collect()
}

/// A diagnostic names a place of its file, says what is wrong and what to do, and shows no control character.
pub fn assert_explained(diagnostic: &Diagnostic) {
    let report = diagnostic.render(false);
    assert!(!diagnostic.message().is_empty() && !diagnostic.remedy().is_empty(), "{report}");
    assert!(
        report.contains("help: ") && !report.contains(|c: char| c.is_control() && c != '\n' && c != '\t'),
        "{report:?}"
    );
    let bytes = std::fs::read(diagnostic.file()).unwrap_or_default();
    if diagnostic.line() == 0 {
        return;
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let line =
        text.split('\n').nth(diagnostic.line() - 1).unwrap_or_else(|| panic!("there is no such line:\n{report}"));
    assert!((1..=line.chars().count() + 1).contains(&diagnostic.column()), "there is no such column:\n{report}");
    let place = format!("{}:{}:{}", diagnostic.file(), diagnostic.line(), diagnostic.column());
    assert!(report.contains(&place), "{report}");
}

/// Writes an accepted scenario, reads it again, and runs both. Returns what was seen.
pub fn round_trip(scenario: &Scenario, base: &Path) -> Outcome {
    let rules = runner::rule_names();
    let written = scenario::write(scenario);
    let again = scenario::parse("case.ron", &written, base, &rules)
        .unwrap_or_else(|error| panic!("what is written cannot be read:\n{written}\n{}", error.render(false)));
    let again = Scenario { name: scenario.name.clone(), path: scenario.path.clone(), ..again };
    // A comment is written with its characters escaped.
    let scenario = &Scenario { title: escape::line(&scenario.title).into_owned(), ..scenario.clone() };
    // The requests of a trace are written with their tokens.
    if !scenario.setup.requests.iter().any(|request| matches!(request.prompt, Prompt::Blocks { .. })) {
        assert!(
            again == *scenario,
            "the scenario differs from what is written of it:\n{written}\n{scenario:#?}\n{again:#?}"
        );
    }
    assert_eq!(scenario::write(&again), written, "what is written differs the second time");
    let json: serde_json::Value =
        serde_json::from_str(&scenario::json(scenario, runner::DEFAULT_RULE)).expect("JSON can be read");
    let listed = json["requests"].as_array().map_or(0, Vec::len);
    assert_eq!(listed, scenario.setup.requests.len(), "JSON lists all requests");
    let first = judged(&scenario.setup, scenario.seed);
    assert!(
        first == judged(&again.setup, again.seed),
        "the judgements differ from those of what is written:\n{written}"
    );
    Outcome { accepted: true, signs: signs(&first) }
}

struct ScenarioFile {
    folder: TempDir,
}

impl ScenarioFile {
    fn new() -> ScenarioFile {
        let folder = tempfile::tempdir().expect("a directory");
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        for (from, to) in [("azure-llm-2023-code.500.csv", "t.csv"), ("mooncake-synthetic.500.jsonl", "t.jsonl")] {
            let text = std::fs::read_to_string(data.join(from)).expect("a trace");
            let head: String = text.split_inclusive('\n').take(12).collect();
            std::fs::write(folder.path().join(to), head).expect("a trace");
        }
        ScenarioFile { folder }
    }
}

impl Reader for ScenarioFile {
    const NAME: &'static str = "scenario";
    const INPUTS: u64 = 1500;

    fn words(&self) -> Vec<String> {
        WORDS.split_whitespace().map(str::to_string).collect()
    }

    fn samples(&self) -> Vec<Vec<u8>> {
        files()
    }

    fn read(&mut self, input: &[u8]) -> Outcome {
        let path = self.folder.path().join("case.ron");
        std::fs::write(&path, input).expect("the file can be written");
        let rules = runner::rule_names();
        let first = scenario::load(&path, &rules);
        assert_eq!(first, scenario::load(&path, &rules), "the second reading differs");
        match first {
            Ok(scenario) => round_trip(&scenario, self.folder.path()),
            Err(error) => {
                assert_explained(&error);
                Outcome::refused(error.message())
            }
        }
    }
}

#[test]
fn scenario_files() {
    soak(ScenarioFile::new());
}
