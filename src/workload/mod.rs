//! Sources of requests beside scenario files: importers of public traces, and a generator of random small setups.
//!
//! Importers parse text into rows and turn rows into requests. They know nothing of files: a bad row is reported by
//! line and column, and the caller adds the file.

pub mod azure;
mod decode_table;
mod draw;
mod generate;
pub mod mooncake;
mod parts;
mod preset;
mod scale;
mod script;
mod steady;
mod variants;

use std::sync::Arc;

use crate::engine::Time;
use crate::model::{Arrive, Prompt, RequestSpec, Stop};
use crate::record::Token;

pub use decode_table::DecodeTable;
pub use generate::generate;
pub use preset::Preset;
pub use scale::{Scale, ScaleError};
pub use steady::{NotSteady, RequestShape, shapes, steady};

/// The first fresh token; sampled tokens are below.
const FRESH_FIRST: Token = 1000;
/// Tokens are below this.
const TOKEN_END: u64 = 1 << 31;

/// The longest prompt, and the most outputs of a request.
pub const LEN_MAX: u32 = 1 << 24;

/// A place in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePlace {
    /// The line, counted from 1.
    pub line: usize,
    /// Byte offset in the line, without its line break.
    pub offset: usize,
    /// Its length in bytes.
    pub len: usize,
}

/// What is wrong with a row, and the remedy. Neither has any text of the trace: a scenario may name a file that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadRow {
    /// Where.
    pub place: TracePlace,
    /// What is wrong.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl BadRow {
    fn new(place: TracePlace, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        BadRow { place, message: message.into(), remedy: remedy.into() }
    }
}

/// One request of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// When it arrived, counted from the first row and scaled.
    pub at: Time,
    /// Its prompt.
    pub prompt: Prompt,
    /// Tokens in the prompt.
    pub prompt_len: u32,
    /// Tokens generated; at least one.
    pub outputs: u32,
    /// The place of its prompt length.
    pub place: TracePlace,
}

impl TraceRow {
    /// The request: it arrives at its time and ends by length.
    pub fn request(self) -> RequestSpec {
        let accept = Vec::new();
        RequestSpec {
            arrive: Arrive::At(self.at),
            prompt: self.prompt,
            stop: Stop::Length,
            max_new: self.outputs,
            accept,
        }
    }
}

/// Time of arrival, counted from the first row, which must not be later than any other.
#[derive(Debug, Default)]
struct TraceClock {
    first_ns: Option<u128>,
    last_ns: u128,
}

impl TraceClock {
    fn since_first(&mut self, ns: u128, scale: Scale, place: TracePlace) -> Result<Time, BadRow> {
        let first_ns = *self.first_ns.get_or_insert(ns);
        if ns < self.last_ns {
            return Err(BadRow::new(
                place,
                "the timestamp is earlier than that of the row before",
                "sort the rows by time",
            ));
        }
        self.last_ns = ns;
        let scaled = scale.apply(ns - first_ns);
        scaled
            .map(Time)
            .ok_or_else(|| BadRow::new(place, "the row arrives later than 10^9 seconds", "set a smaller `time_scale`"))
    }
}

/// A length of a row, if a request can have it.
fn len(name: &str, given: u64, place: TracePlace) -> Result<u32, BadRow> {
    match u32::try_from(given) {
        Ok(0) => {
            let remedy = "every request has a prompt and an output: take the row out";
            Err(BadRow::new(place, format!("`{name}` is 0"), remedy))
        }
        Ok(len) if len <= LEN_MAX => Ok(len),
        Ok(_) | Err(_) => Err(too_long(name, place)),
    }
}

fn too_long(name: &str, place: TracePlace) -> BadRow {
    let message = format!("`{name}` is more than the simulator holds");
    BadRow::new(place, message, format!("at most {LEN_MAX}: take the row out"))
}

/// Hands out fresh tokens, each once.
#[derive(Debug)]
struct Fresh {
    next: u64,
}

impl Fresh {
    fn new() -> Self {
        Fresh { next: FRESH_FIRST.into() }
    }

    fn take(&mut self, len: u32, place: TracePlace) -> Result<Token, BadRow> {
        let first = self.next;
        self.next += u64::from(len);
        match Token::try_from(first) {
            Ok(first) if self.next <= TOKEN_END => Ok(first),
            _ => Err(BadRow::new(place, "the trace has more than 2^31 different tokens", "set a smaller `limit`")),
        }
    }
}

/// The lines of a trace with their numbers, without line breaks and without blank lines at the end.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_end();
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate().map(|(at, line)| (at + 1, line))
}

fn blocks(firsts: Vec<Token>, block_len: u32, len: u32) -> Prompt {
    Prompt::Blocks { firsts: Arc::from(firsts), block_len, len }
}
