//! A mistake in an input file: where it is, the line it is on, and what to do about it. Owns the rendering, which is
//! the same bytes on every machine: fixed width, plain characters, what cannot be printed escaped.

use std::fmt;
use std::ops::Range;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, SourceCode, SourceSpan, SpanContents};

use crate::escape;

/// The most characters of a source line that are shown; a longer line is cut around the mark.
const SHOWN_CHARS: usize = 160;
/// Characters kept before the mark when a line is cut.
const LEAD_CHARS: usize = 60;

/// An error of the user's, with its place in the file and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    file: String,
    message: String,
    remedy: String,
    excerpt: Option<Box<Excerpt>>,
    /// Whether the source line is shown.
    is_shown: bool,
}

/// One line of the file, cut to what is shown, with the part in question marked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    file: String,
    line: usize,
    column: usize,
    shown: String,
    mark: Range<usize>,
}

impl Diagnostic {
    /// An error at a byte range of a text; what lies beyond the end of the first line is not marked.
    pub(crate) fn at(
        file: &str,
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let excerpt = Excerpt::cut(file, text, span);
        Diagnostic { excerpt: Some(Box::new(excerpt)), is_shown: true, ..Diagnostic::of_file(file, message, remedy) }
    }

    /// The error about a file that another file names: the place is in the message, and the content is not shown. The
    /// message must not have any of it either.
    pub(crate) fn without_source(self) -> Self {
        let message = format!("{}:{}:{}: {}", self.file, self.line(), self.column(), self.message);
        Diagnostic { message, is_shown: false, ..self }
    }

    /// An error about a file as a whole, which could not be read.
    pub(crate) fn of_file(file: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (message, remedy) = (message.into(), remedy.into());
        Diagnostic {
            file: escape::line(file).into_owned(),
            message: escape::line(&message).into_owned(),
            remedy: escape::line(&remedy).into_owned(),
            excerpt: None,
            is_shown: false,
        }
    }

    /// The file, as it was named by the caller or by the scenario, escaped.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, counted from 1; 0 if the file could not be read.
    pub fn line(&self) -> usize {
        self.excerpt.as_ref().map_or(0, |excerpt| excerpt.line)
    }

    /// The column in characters, counted from 1; 0 if the file could not be read.
    pub fn column(&self) -> usize {
        self.excerpt.as_ref().map_or(0, |excerpt| excerpt.column)
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }

    /// The whole report: message, `file:line:column`, the source line with a mark under the value, `help: ` and the
    /// remedy. Ends with a newline.
    pub fn render(&self, color: bool) -> String {
        let theme = if color { GraphicalTheme::ascii() } else { GraphicalTheme::none() };
        let handler =
            GraphicalReportHandler::new_themed(theme).with_width(120).with_wrap_lines(false).with_links(false);
        let mut report = String::new();
        match handler.render_report(&mut report, self) {
            Ok(()) => report,
            Err(_) => {
                format!("{}:{}:{}: {}\nhelp: {}\n", self.file, self.line(), self.column(), self.message, self.remedy)
            }
        }
    }
}

impl miette::Diagnostic for Diagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.remedy))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_deref().filter(|_| self.is_shown).map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let mark = self.excerpt.as_ref().filter(|_| self.is_shown)?.mark.clone();
        Some(Box::new(std::iter::once(LabeledSpan::new(None, mark.start, mark.len()))))
    }
}

impl Excerpt {
    fn cut(file: &str, text: &str, span: Range<usize>) -> Excerpt {
        let start = floor_char(text, span.start);
        let end = floor_char(text, span.end).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let source = text[line_start..line_end].trim_end_matches('\r');
        let first = text[line_start..start].chars().count();
        let marked = text[start..end.min(line_end)].trim_end().chars().count().max(1);

        let chars: Vec<String> = source.chars().map(shown_char).collect();
        let from = if chars.len() > SHOWN_CHARS { first.saturating_sub(LEAD_CHARS) } else { 0 };
        let to = chars.len().min(from + SHOWN_CHARS);
        let mut shown = String::new();
        if from > 0 {
            shown.push_str("...");
        }
        let offset_of = |shown: &str, chars: &[String]| shown.len() + chars.iter().map(String::len).sum::<usize>();
        let begin = offset_of(&shown, &chars[from..first.min(to)]);
        let stop = offset_of(&shown, &chars[from..(first + marked).min(to)]);
        shown.extend(chars[from..to].iter().map(String::as_str));
        if begin == stop {
            // Behind the last character: room for the mark.
            shown.push(' ');
        }
        let mark = begin..stop.max(begin + 1);
        if to < chars.len() {
            shown.push_str("...");
        }
        Excerpt {
            file: escape::line(file).into_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column: first + 1,
            shown,
            mark,
        }
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        _span: &SourceSpan,
        _lines_before: usize,
        _lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        Ok(Box::new(ExcerptLine { excerpt: self, span: SourceSpan::from((0, self.shown.len())) }))
    }
}

struct ExcerptLine<'a> {
    excerpt: &'a Excerpt,
    span: SourceSpan,
}

impl<'a> SpanContents<'a> for ExcerptLine<'a> {
    fn data(&self) -> &'a [u8] {
        self.excerpt.shown.as_bytes()
    }

    fn span(&self) -> &SourceSpan {
        &self.span
    }

    fn line(&self) -> usize {
        self.excerpt.line - 1
    }

    fn column(&self) -> usize {
        self.excerpt.column - 1
    }

    fn line_count(&self) -> usize {
        1
    }

    fn name(&self) -> Option<&str> {
        Some(&self.excerpt.file)
    }
}

/// A character of the source line as it is shown. A tab is left to miette, which aligns it.
fn shown_char(c: char) -> String {
    if c == '\t' { c.to_string() } else { escape::line(c.encode_utf8(&mut [0; 4])).into_owned() }
}

fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
