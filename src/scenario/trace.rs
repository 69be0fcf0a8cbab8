//! The `trace` block: a public trace in place of requests. Reads the file, leaves its rows to the workload module, and
//! reports a bad row with the trace's own name, line and column. The file may be any that the scenario names, so no error
//! shows its content.

use std::path::{Path, PathBuf};

use super::limits::REQUESTS_MAX;
use super::locate::PathStep;
use super::raw::{RawTrace, TraceFormat};
use super::requests::{RequestList, beyond_the_pool};
use super::source::SourceText;
use super::words::quote;
use super::{Diagnostic, Folder, Outside};
use crate::model::Engine;
use crate::reading::{self, TRACE_BYTES_MAX, Unreadable};
use crate::workload::{Scale, TracePlace, TraceRow, azure, mooncake};

/// The lines that are read of a trace beyond its rows: the header, and the row that is one too many.
const LINES_MORE: usize = 2;

/// Reads a trace into requests named `t0`, `t1`, .. by row.
pub(super) fn validate(
    source: &SourceText<'_>,
    engine: &Engine,
    raw: &RawTrace,
    folder: Folder<'_>,
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
    let file = folder.path.join(&raw.path).to_string_lossy().into_owned();
    let limit = raw.limit.map(|limit| limit as usize);
    let text = path(folder, Path::new(&raw.path)).and_then(|path| read(&path, limit)).map_err(|trouble| {
        let message = format!("cannot read the trace {}: {}", quote(&file), trouble.why);
        source.at(&field("path"), message, trouble.remedy.unwrap_or("give its path relative to the scenario file"))
    })?;
    let rows = match raw.format {
        TraceFormat::AzureCsv => azure::read(&text, limit, scale),
        TraceFormat::MooncakeJsonl => mooncake::read(&text, limit, scale),
    };
    let rows = rows.map_err(|bad| at_row(&file, &text, bad.place, bad.message, bad.remedy))?;
    requests(engine, &file, &text, rows)
}

/// The path of a trace that a scenario names.
fn path(folder: Folder<'_>, named: &Path) -> Result<PathBuf, Unreadable> {
    match folder.outside {
        Outside::Refused => reading::inside(folder.path, named),
        Outside::Allowed => Ok(folder.path.join(named)),
    }
}

/// The text of a trace: its rows up to `limit`, and the header.
fn read(path: &Path, limit: Option<usize>) -> Result<String, Unreadable> {
    let lines_max = limit.unwrap_or(REQUESTS_MAX).saturating_add(LINES_MORE);
    let bytes = reading::first_lines(path, lines_max, TRACE_BYTES_MAX)?;
    let not_text = |_| Unreadable { why: "it is not UTF-8 text".into(), remedy: Some("save the trace as UTF-8 text") };
    String::from_utf8(bytes).map_err(not_text)
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
    Diagnostic::at(file, text, start..start + place.len, message, remedy).without_source()
}
