//! Every mistake in a scenario is reported with its place, its line and a remedy, and no text makes the reader panic.

mod engine;
mod expectations;
mod mutations;
mod requests;
mod syntax;
mod traces;

use std::path::Path;

use overlapsim::scenario::{Diagnostic, Scenario, parse};

const RULES: [&str; 5] = ["committed-len", "token-len", "mask-lookahead", "completed-mask", "paired"];
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn read(text: &str) -> Result<Scenario, Diagnostic> {
    parse("dir/case.ron", text, Path::new(DATA), &RULES)
}

/// A scenario around some requests.
fn requests(list: &str) -> String {
    format!("// Why.\nScenario(\n    requests: [\n{list}\n    ],\n)\n")
}

/// A scenario with one request around other fields.
fn fields(fields: &str) -> String {
    format!("(\n    {fields}\n    requests: [(id: \"a\", prompt: Fresh(1), stop: Length(4))],\n)\n")
}

/// Checks the diagnostic of a wrong scenario. `§` in the text marks the place that the diagnostic must name, with this message and
/// remedy, also with other line breaks and behind a byte order mark.
#[track_caller]
fn wrong(text: &str, message: &str, remedy: &str) {
    let before = text.split('§').next().unwrap_or("");
    let (line, column) =
        (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or("").chars().count() + 1);
    let text = text.replace('§', "");
    for text in [text.clone(), format!("\u{feff}{}", text.replace('\n', "\r\n")), text.trim_end().to_string()] {
        let error = read(&text).expect_err("the scenario is wrong");
        let report = error.render(false);
        assert_eq!((error.line(), error.column()), (line, column), "\n{report}");
        assert!(error.message().contains(message), "want {message:?} in\n{report}");
        assert!(error.remedy().contains(remedy), "want {remedy:?} in\n{report}");
        assert!(report.contains(&format!("dir/case.ron:{line}:{column}")), "\n{report}");
        assert!(report.contains(&format!("  help: {}", error.remedy())), "\n{report}");
        let source = text.trim_start_matches('\u{feff}').lines().nth(line - 1).unwrap_or("").trim();
        assert!(source.len() > 150 || report.contains(source), "\n{report}");
        assert!(
            source.is_empty() || report.lines().any(|line| line.contains(": ") && line.contains('^')),
            "\n{report}"
        );
    }
}

#[test]
fn the_report_has_file_line_column_source_and_help() {
    let text = requests("        (id: \"a\", prompt: Fresh(1), stop: Length(0)),");
    let report = read(&text).expect_err("no outputs").render(false);
    let expected = concat!(
        "  x the request stops after no outputs\n",
        "   ,-[dir/case.ron:4:43]\n",
        " 4 |         (id: \"a\", prompt: Fresh(1), stop: Length(0)),\n",
        "   :                                           ^^^^^^^^^\n",
        "   `----\n",
        "  help: every request has at least one\n",
    );
    assert_eq!(report, expected);
    let color = read(&text).expect_err("no outputs").render(true);
    assert!(color.contains("\u{1b}[") && color.contains("dir/case.ron:4:43"), "{color}");
}
