//! The lines of a recording file, plain or compressed, as a stream. They are not parsed here.

use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::escape;
use crate::packed::Packed;
use crate::reading::{self, RECORDING_BYTES_MAX};

/// The longest line that is read, in bytes: a prompt of a few million tokens. A parsed line takes up to 32 times its length.
const LINE_MAX: u64 = 1 << 25;

/// An error in a recording file: what is wrong with which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingError {
    /// The line, from 1; 0 if the error is about the file as a whole.
    pub line: u64,
    /// What is wrong, in one line, escaped.
    pub message: String,
    /// What the user can do.
    pub remedy: &'static str,
}

impl RecordingError {
    /// An error at a line.
    pub(super) fn at(line: u64, message: impl Into<String>, remedy: &'static str) -> RecordingError {
        RecordingError { line, message: escape::line(&message.into()).into_owned(), remedy }
    }
}

/// A line that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Its text without the line break, with replacement characters if it is not UTF-8.
    pub text: String,
    /// It is UTF-8 text.
    pub is_text: bool,
}

/// The lines of a file, one after the other.
pub struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    number: u64,
    /// The number of bytes read, unpacked.
    bytes: u64,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lines({}:{})", self.path.to_string_lossy(), self.number)
    }
}

impl Lines {
    /// Opens a file. Its first bytes tell whether it is compressed.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn open(path: &Path) -> Result<Lines, RecordingError> {
        let remedy = "give the path of a recording: .jsonl or .jsonl.gz";
        let cannot = |error: &io::Error| RecordingError::at(0, format!("cannot be read: {error}"), remedy);
        // A recording is read more than once, and by several threads: it is always a regular file.
        let file = reading::regular(path).map_err(|trouble| {
            RecordingError::at(0, format!("cannot be read: {}", trouble.why), trouble.remedy.unwrap_or(remedy))
        })?;
        let mut plain = BufReader::with_capacity(1 << 16, file);
        let packed = Packed::of(plain.fill_buf().map_err(|error| cannot(&error))?);
        let reader: Box<dyn BufRead + Send> = match packed {
            None => Box::new(plain),
            Some(Packed::Gzip) => Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(plain))),
            Some(packed @ (Packed::Zstd | Packed::Zip | Packed::Xz | Packed::Bzip2)) => {
                return Err(RecordingError::at(0, format!("cannot be read: {}", packed.name()), packed.remedy()));
            }
        };
        Ok(Lines { path: path.to_path_buf(), reader, number: 0, bytes: 0 })
    }

    /// Skips the lines before the given one.
    ///
    /// # Errors
    /// Reading the file failed.
    pub(super) fn skip_to(&mut self, number: u64) -> Result<(), RecordingError> {
        while self.number + 1 < number {
            self.number += 1;
            self.line()?;
        }
        Ok(())
    }

    /// The bytes of a line with its line break; none at the end of the file.
    fn line(&mut self) -> Result<Vec<u8>, RecordingError> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(LINE_MAX).read_until(b'\n', &mut bytes);
        read.map_err(|error| broken(self.number, &error))?;
        self.bytes += bytes.len() as u64;
        if bytes.len() as u64 == LINE_MAX && bytes.last() != Some(&b'\n') {
            let message = format!("the line is longer than {} MiB", LINE_MAX >> 20);
            return Err(RecordingError::at(self.number, message, "this is not a recording"));
        }
        if self.bytes > RECORDING_BYTES_MAX {
            let message = format!("the file has more than the {} GiB that are read", RECORDING_BYTES_MAX >> 30);
            return Err(RecordingError::at(self.number, message, "split it: every recording begins with its `meta`"));
        }
        Ok(bytes)
    }

    /// The next line that is not blank; none at the end of the file.
    ///
    /// # Errors
    /// Reading the file failed, or the line is too long.
    pub fn next(&mut self) -> Result<Option<Line>, RecordingError> {
        loop {
            self.number += 1;
            let number = self.number;
            let bytes = self.line()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let ended = bytes.last() == Some(&b'\n');
            if !ended && serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_err() {
                return Err(RecordingError::at(number, "the file ends in the middle of this line", CUT));
            }
            let (text, is_text) = match String::from_utf8(bytes) {
                Ok(text) => (text, true),
                Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
            };
            let text = text.strip_prefix('\u{feff}').filter(|_| number == 1).unwrap_or(&text).trim();
            if !text.is_empty() {
                return Ok(Some(Line { number, text: text.to_string(), is_text }));
            }
        }
    }
}

const CUT: &str = "the recording was cut off: copy or record it again";

fn broken(line: u64, error: &io::Error) -> RecordingError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => RecordingError::at(line, "the compressed data ends too early", CUT),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            RecordingError::at(line, "the compressed data is damaged", "copy the file again, or test it with `gzip -t`")
        }
        _ => RecordingError::at(line, format!("reading failed: {error}"), "copy the file again"),
    }
}
