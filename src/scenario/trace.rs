//! The `trace` block: a public trace in place of requests. Reads the file, leaves its rows to the workload module, and
//! reports a bad row with the trace's own name, line and column.

use std::io;
use std::path::Path;

use super::Diagnostic;
use super::limits::REQUESTS_MAX;
use super::locate::PathStep;
use super::raw::{RawTrace, TraceFormat};
use super::requests::{RequestList, beyond_the_pool};
use super::source::SourceText;
use super::words::quote;
use crate::model::Engine;
use crate::packed::Packed;
use crate::workload::{Scale, TracePlace, TraceRow, azure, mooncake};

/// Reads a trace into requests named `t0`, `t1`, .. by row.
pub(super) fn validate(
    source: &SourceText<'_>,
    engine: &Engine,
    raw: &RawTrace,
    base: &Path,
) -> Result<RequestList, Diagnostic> {
    let field = |name| [PathStep::Field("trace"), PathStep::Field(name)];
    if raw.limit == Some(0) {
        return Err(source.at(&field("limit"), "`limit` is 0", "give at least 1, or leave it out for the whole trace"));
    }
    let scale = raw.time_scale.map_or(Ok(Scale::ONE), Scale::new).map_err(|why| {
        source.at(
            &field("time_scale"),
            format!("`time_scale` {why}"),
            "give a factor such as 0.5, which halves all times",
        )
    })?;
    let path = base.join(&raw.path);
    let file = path.display().to_string();
    let text = read(&path).map_err(|(why, remedy)| {
        source.at(&field("path"), format!("cannot read the trace {}: {why}", quote(&file)), remedy)
    })?;
    let limit = raw.limit.map(|limit| limit as usize);
    let rows = match raw.format {
        TraceFormat::AzureCsv => azure::read(&text, limit, scale),
        TraceFormat::MooncakeJsonl => mooncake::read(&text, limit, scale),
    };
    let rows = rows.map_err(|bad| at_row(&file, &text, bad.place, bad.message, bad.remedy))?;
    requests(engine, &file, &text, rows)
}

/// The text of a trace, or the reason and the remedy.
fn read(path: &Path) -> Result<String, (String, &'static str)> {
    let help = "give its path relative to the scenario file";
    let bytes = std::fs::read(path).map_err(|error| (why_unreadable(&error), help))?;
    if let Some(packed) = Packed::of(&bytes) {
        return Err((packed.name().into(), packed.remedy()));
    }
    String::from_utf8(bytes).map_err(|_| ("it is not UTF-8 text".into(), "save the trace as UTF-8 text"))
}

/// Why a file could not be read, in the same words on every system.
pub(super) fn why_unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "it may not be read".into(),
        io::ErrorKind::IsADirectory => "it is a directory".into(),
        io::ErrorKind::InvalidInput | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
            "it is not the path of a file".into()
        }
        _ => error.to_string(),
    }
}

fn requests(engine: &Engine, file: &str, text: &str, rows: Vec<TraceRow>) -> Result<RequestList, Diagnostic> {
    let mut requests = RequestList { specs: Vec::with_capacity(rows.len()), names: Vec::with_capacity(rows.len()) };
    for (at, row) in rows.into_iter().enumerate() {
        let name = format!("t{at}");
        let refused = if at == REQUESTS_MAX {
            Some((format!("more than {REQUESTS_MAX} rows"), "set a smaller `limit`".to_string()))
        } else {
            beyond_the_pool(engine, &name, row.prompt_len, row.outputs)
        };
        if let Some((message, remedy)) = refused {
            return Err(at_row(file, text, row.place, message, remedy));
        }
        requests.specs.push(row.request());
        requests.names.push(name);
    }
    Ok(requests)
}

fn at_row(file: &str, text: &str, place: TracePlace, message: String, remedy: String) -> Diagnostic {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line_start = text.split_inclusive('\n').take(place.line - 1).map(str::len).sum::<usize>();
    let start = line_start + place.offset;
    Diagnostic::at(file, text, start..start + place.len, message, remedy)
}
