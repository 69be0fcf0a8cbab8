//! The text being read and its name: turns a path into the text, or a range of it, into a diagnostic.

use std::ops::Range;

use ron::error::Position;

use super::Diagnostic;
use super::locate::{self, PathStep};

/// A scenario text under its file name.
pub(super) struct SourceText<'a> {
    /// The name shown in diagnostics.
    pub name: &'a str,
    /// The text, without byte order mark.
    pub text: &'a str,
}

impl SourceText<'_> {
    /// Whether the text has nothing but blanks and comments.
    pub fn is_blank(&self) -> bool {
        locate::value(self.text, &[]).span.is_empty()
    }

    /// Whether the value at a path begins with a bracket.
    pub fn opens_bracket(&self, path: &[PathStep<'_>]) -> bool {
        self.text[locate::value(self.text, path).span].starts_with(['(', '[', '{'])
    }

    /// Whether the value at a path begins with `{`.
    pub fn opens_brace(&self, path: &[PathStep<'_>]) -> bool {
        self.text[locate::value(self.text, path).span].starts_with('{')
    }

    /// An error about the value at a path, or about the deepest part of the path that is there.
    pub fn at(&self, path: &[PathStep<'_>], message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        self.range(locate::value(self.text, path).span, message, remedy)
    }

    /// An error about the first of these values that the text has. Any of them may be left to its default; if the text
    /// has none, the error is about the place of the first path.
    pub fn at_first(
        &self,
        paths: &[&[PathStep<'_>]],
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Diagnostic {
        let mut found = paths.iter().map(|path| locate::value(self.text, path));
        let first = found.clone().find(|found| found.whole).or_else(|| found.next());
        self.range(first.map_or(0..0, |found| found.span), message, remedy)
    }

    /// An error about the name of a field, its `nth` occurrence, in the struct at a path.
    pub fn at_key(
        &self,
        path: &[PathStep<'_>],
        (name, nth): (&str, usize),
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Diagnostic {
        let span = locate::key(self.text, path, name, nth).unwrap_or_else(|| locate::value(self.text, path).span);
        self.range(span, message, remedy)
    }

    /// The word around a position, if the deserializer stopped inside a word.
    pub fn word_across(&self, position: Position) -> Option<Range<usize>> {
        let at = self.offset(position);
        let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let before = self.text[..at].chars().rev().take_while(|c| in_word(*c)).map(char::len_utf8).sum::<usize>();
        let after = self.text[at..].chars().take_while(|c| in_word(*c)).map(char::len_utf8).sum::<usize>();
        (before > 0 && after > 0).then_some(at - before..at + after)
    }

    /// The byte at a position that the deserializer gave.
    pub fn offset(&self, position: Position) -> usize {
        let line_start = match position.line.checked_sub(2) {
            None => 0,
            Some(breaks) => self.text.match_indices('\n').nth(breaks).map_or(self.text.len(), |(at, _)| at + 1),
        };
        let line = &self.text[line_start..];
        let column = position.col.saturating_sub(1);
        let offset = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        line_start + offset
    }

    /// An error about a range of bytes.
    pub fn range(&self, span: Range<usize>, message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.name, self.text, span, message, remedy)
    }
}
