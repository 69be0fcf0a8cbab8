//! From RON text to the raw scenario, and from errors of the deserializer to diagnostics with place and remedy.

use ron::Error;
use ron::error::SpannedError;
use ron::extensions::Extensions;
use serde_path_to_error::{Path, Segment};

use super::Diagnostic;
use super::locate::PathStep;
use super::raw::RawScenario;
use super::scan::Scanner;
use super::source::SourceText;
use super::words::{instead_of, quote, unknown_field};
use crate::model::{Costs, Engine};

/// Reads the file. Options are written without `Some`.
pub(super) fn read(source: &SourceText<'_>) -> Result<RawScenario, Diagnostic> {
    let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    let mut deserializer =
        ron::Deserializer::from_str_with_options(source.text, &options).map_err(|error| explain(source, error, &[]))?;
    if source.is_blank() {
        return Err(source.at(&[], "the file holds no scenario", format!("write {}", example("requests"))));
    }
    match serde_path_to_error::deserialize(&mut deserializer) {
        Ok(file) => {
            deserializer.end().map_err(|error| explain(source, deserializer.span_error(error), &[]))?;
            Ok(file)
        }
        Err(error) => {
            let path = error.path().clone();
            Err(explain(source, deserializer.span_error(error.into_inner()), &steps(&path)))
        }
    }
}

/// The path of the deserializer as steps. The name of a variant is not a step; its only argument is.
fn steps(path: &Path) -> Vec<PathStep<'_>> {
    let segments: Vec<&Segment> = path.iter().collect();
    let mut steps = Vec::with_capacity(segments.len());
    for (at, segment) in segments.iter().enumerate() {
        match segment {
            Segment::Seq { index } => steps.push(PathStep::Item(*index)),
            Segment::Map { key } => steps.push(PathStep::Field(key)),
            // `Tokens` is the only variant whose argument is a list. The next segment is an index into that list.
            Segment::Enum { variant } if at + 1 == segments.len() || variant == "Tokens" => {
                steps.push(PathStep::Item(0));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    steps
}

fn explain(source: &SourceText<'_>, error: SpannedError, path: &[PathStep<'_>]) -> Diagnostic {
    match error.code {
        Error::NoSuchStructField { expected, found, .. } => {
            let path = without_last(path, &found);
            let message = format!("there is no field `{}` here", found.escape_debug());
            source.at_key(path, (&found, 0), message, unknown_field(&found, expected))
        }
        Error::DuplicateStructField { field, .. } => {
            let path = without_last(path, field);
            source.at_key(path, (field, 1), format!("the field `{field}` is given twice"), "keep one of the two")
        }
        Error::MissingStructField { field, .. } => {
            source.at(path, format!("the field `{field}` is missing here"), format!("add {}", example(field)))
        }
        Error::NoSuchEnumVariant { expected, found, .. } => source.at(
            path,
            format!("{} is not a word for {}", quote(&found), name_of(path)),
            instead_of(&found, expected, "the words here are"),
        ),
        Error::ExpectedDifferentStructName { expected, found } => {
            let message = format!("{} is written where only {expected:?} can be", quote(&found));
            source.at(path, message, "leave out the name before the bracket")
        }
        Error::UnclosedBlockComment => {
            let (message, remedy) = syntax(&error.code);
            let start = Scanner::new(source.text).unclosed_comment().unwrap_or(0);
            source.range(start..start + 2, message, remedy)
        }
        Error::ExpectedStringEnd => {
            let (message, remedy) = syntax(&error.code);
            let at = source.offset(error.span.start);
            source.range(at..at + 1, message, remedy)
        }
        code if is_syntax(&code) || (is_name(&code) && source.opens_bracket(path)) => {
            if let Some(word) = source.word_across(error.span.end) {
                let message = format!("{} is not a value that fits here", quote(&source.text[word.clone()]));
                return source.range(
                    word,
                    message,
                    "write a whole number without a point or a unit, or one of the words",
                );
            }
            let ends = source.text.trim_end().len();
            let (message, remedy) =
                if source.offset(error.span.end) < ends { syntax(&code) } else { syntax(&Error::Eof) };
            let at = source.offset(error.span.end).min(ends);
            if code == Error::ExpectedComma && source.text[at..].starts_with([')', ']', '}']) {
                let message = "this bracket does not close the one that was opened last";
                let remedy = "close `(` with `)` and `[` with `]`, the inner one first";
                return source.range(at..at + 1, message, remedy);
            }
            source.range(at..at + 1, message, remedy)
        }
        Error::ExpectedStructLike | Error::ExpectedNamedStructLike(_) if source.opens_brace(path) => {
            let message = format!("{} is written in `{{..}}`", name_of(path));
            source.at(path, message, "write `(name: value, ..)`: round brackets, and names without quotes")
        }
        code => source.at(path, format!("{} cannot be read: {}", name_of(path), wrong_type(&code)), remedy_for(path)),
    }
}

/// Whether the text is not RON, as opposed to RON with a wrong content.
fn is_syntax(code: &Error) -> bool {
    matches!(
        code,
        Error::Eof
            | Error::ExpectedArrayEnd
            | Error::ExpectedAttribute
            | Error::ExpectedAttributeEnd
            | Error::ExpectedComma
            | Error::ExpectedOptionEnd
            | Error::ExpectedMapColon
            | Error::ExpectedMapEnd
            | Error::ExpectedStructLikeEnd
            | Error::ExpectedStringEnd
            | Error::InvalidEscape(_)
            | Error::NoSuchExtension(_)
            | Error::UnclosedBlockComment
            | Error::UnclosedLineComment
            | Error::UnexpectedChar(_)
            | Error::TrailingCharacters
            | Error::ExceededRecursionLimit
    )
}

/// Whether the deserializer expected a name: that of a field, if the text is broken, or that of a variant, if the value
/// has another type.
fn is_name(code: &Error) -> bool {
    matches!(code, Error::ExpectedIdentifier | Error::InvalidIdentifier(_) | Error::SuggestRawIdentifier(_))
}

/// The path of the struct that has a field. The path of the error may or may not end with the field.
fn without_last<'p, 'a>(path: &'p [PathStep<'a>], field: &str) -> &'p [PathStep<'a>] {
    match path {
        [before @ .., PathStep::Field(last)] if *last == field => before,
        _ => path,
    }
}

fn syntax(code: &Error) -> (String, &'static str) {
    let (message, remedy) = match code {
        Error::Eof => ("the text ends in the middle of a value", "close the brackets and quotes that are open"),
        Error::ExpectedComma => ("a comma or a closing bracket is missing before this", "write `,` between values"),
        Error::ExpectedMapColon => ("a colon is missing before this", "write a field as `name: value`"),
        Error::ExpectedArrayEnd | Error::ExpectedStructLikeEnd | Error::ExpectedMapEnd | Error::ExpectedOptionEnd => (
            "a closing bracket is missing before this",
            "close the bracket, or take out the value that is one too many",
        ),
        Error::ExpectedStringEnd => ("a quote is not closed", "close it with `\"`"),
        Error::UnclosedBlockComment | Error::UnclosedLineComment => ("a comment is not closed", "close it with `*/`"),
        Error::ExpectedIdentifier | Error::InvalidIdentifier(_) | Error::SuggestRawIdentifier(_) => {
            ("a name is missing here", "write a field as `name: value`")
        }
        Error::InvalidEscape(_) => {
            ("this escape in a string is not known", "write `\\\\` for a backslash, `\\\"` for a quote")
        }
        Error::TrailingCharacters => {
            ("something follows the end of the scenario", "a file holds one `Scenario(..)`: take the rest out")
        }
        Error::ExceededRecursionLimit => ("brackets are nested too deep", "no value of a scenario is nested so deep"),
        Error::ExpectedAttribute | Error::ExpectedAttributeEnd | Error::NoSuchExtension(_) => {
            ("this attribute is not known", "leave `#![..]` out: a scenario needs none")
        }
        _ => return (format!("this is not RON: {code}"), "docs/scenario-format.md shows the form of a file"),
    };
    (message.to_string(), remedy)
}

fn wrong_type(code: &Error) -> String {
    match code {
        Error::ExpectedInteger => "it is not a whole number".into(),
        Error::IntegerOutOfBounds => "the number is too large, or below 0".into(),
        Error::ExpectedFloat => "it is not a number".into(),
        Error::ExpectedBoolean => "it is neither `true` nor `false`".into(),
        Error::ExpectedString => "it is not a text in quotes".into(),
        Error::ExpectedArray => "it is not a list in `[..]`".into(),
        Error::ExpectedIdentifier | Error::InvalidIdentifier(_) | Error::SuggestRawIdentifier(_) => {
            "it does not begin with one of the words for it".into()
        }
        Error::ExpectedStructLike | Error::ExpectedNamedStructLike(_) => "its values in `(..)` are missing".into(),
        Error::ExpectedDifferentLength { expected, found } => {
            // Such as "tuple variant Prompt::Extend with 2 elements".
            let mut words =
                expected.split_whitespace().filter(|word| word.contains("::") || word.parse::<u32>().is_ok());
            match (words.next().and_then(|name| name.rsplit("::").next()), words.next()) {
                (Some(name), Some(values)) => format!("`{name}` takes {values} values, {found} given"),
                _ => format!("{expected} needed, {found} given"),
            }
        }
        other => other.to_string().chars().take(160).collect(),
    }
}

/// The last named field on a path.
fn field_of<'a>(path: &[PathStep<'a>]) -> Option<&'a str> {
    path.iter().rev().find_map(|step| match step {
        PathStep::Field(name) => Some(*name),
        PathStep::Item(_) => None,
    })
}

fn name_of(path: &[PathStep<'_>]) -> String {
    field_of(path).map_or_else(|| "the scenario".into(), |name| format!("`{}`", name.escape_debug()))
}

fn remedy_for(path: &[PathStep<'_>]) -> String {
    match field_of(path) {
        None => "a scenario is `Scenario(engine: (..), requests: [..])`".into(),
        Some("requests") if path.first() == Some(&PathStep::Field("expect")) => {
            "write `requests: [(id: \"a\", outputs: 4)]`".into()
        }
        Some(field) => format!("write {}", example(field)),
    }
}

/// How a field is written.
fn example(field: &str) -> String {
    let form = match Engine::FIELDS.iter().find(|known| known.name == field) {
        Some(field) => alternatives(field.samples),
        None if Costs::NAMES.contains(&field) => "Fixed(50_000) or Uniform(40_000, 60_000)".to_string(),
        None => form_of(field).to_string(),
    };
    format!("`{field}: {form}`")
}

/// `A, B or C`.
fn alternatives(samples: &[&str]) -> String {
    match samples {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => samples.concat(),
    }
}

/// The form of a field that is neither of the engine nor a cost.
fn form_of(field: &str) -> &'static str {
    match field {
        "id" | "request" => "\"a\"",
        "rule" => "\"mask-lookahead\"",
        "arrive" => "Turn(0), At(\"12.5ms\"), After(\"a\") or Before(\"a\", 5)",
        "prompt" => "Tokens([1, 2]), Fresh(4), Extend(\"a\", 4) or Prefix(\"a\", 8, 4)",
        "stop" => "Token(4) or Length(4)",
        "do" => "Abort(\"a\"), Retract(\"a\") or FailAlloc(\"a\")",
        "requests" => "[(id: \"a\", prompt: Fresh(1), stop: Length(4))]",
        "trace" => "(format: AzureCsv, path: \"trace.csv\", limit: 500)",
        "format" => "AzureCsv or MooncakeJsonl",
        "path" => "\"trace.csv\"",
        "events" => "[(turn: 7, do: FailAlloc(\"a\"))]",
        "vary" => "(arrivals: true, stops: true)",
        "arrivals" | "stops" | "aborts" | "retract" | "alloc_failure" | "order" => "true",
        "expect" => "[(rule: \"mask-lookahead\", verdict: Clean)]",
        "expect_every" => "[(rule: \"mask-lookahead\", verdict: Lossy, kinds: [\"lost\"])]",
        "ended" => "Token, Length, Abort or Unfinished",
        "kinds" => "[\"lost\", \"unwritten\"]",
        "verdict" => "Clean, Lossy, Corrupt, Broken or Inconclusive",
        "findings" => "[(kind: \"unwritten\", request: \"a\", label: 4)]",
        "kind" => "\"unwritten\"",
        "engine" => "(track_interval: 4, mamba_chunk: 4)",
        "costs" => "(plan: Fixed(50_000), gpu_decode: Uniform(7_000_000, 9_000_000))",
        "cpu" => "\"python-0.5.17\"",
        "gpu" => "\"h100x8-80b-a3b\"",
        "state" => "Ssm(dim: 16, vocab: 64, seed: 0)",
        "dim" => "16",
        "vocab" => "64",
        "release" => "V0_5_17",
        "draft" => "3",
        "accepts" => "[1, 3, 2]",
        "accept" => "Fixed([1, 4, 2]) or Seeded(0.7)",
        "time_scale" => "1.0",
        // Every other field is a number.
        _ => "4",
    }
}
