//! Colours of words. Renderers put marks around a word; [`printed`] turns them into escapes for a terminal, or drops them
//! with everything else that a terminal would not show as it is. Layout does not count marks, so the plain text is the
//! same either way.
//!
//! A mark is one of ten noncharacters of Unicode, which no text contains. Names and messages from files are escaped where
//! they are put into a line ([`crate::escape`]); a noncharacter of a file that is not can change a colour and no more.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::escape;
use crate::judge::{Class, FindingKind, Verdict};

use super::name;
use super::second_judge::DISAGREEMENT;

/// The numbers of styles in escapes for terminals (SGR), in the order of their marks: none, bold, faint, underlined, and
/// the colours that are used.
const SGR: [u8; 10] = [0, 1, 2, 4, 31, 32, 33, 34, 35, 36];
/// The mark of the first of them. The others follow it.
const FIRST_MARK: char = '\u{fdd0}';

const NONE: char = mark(0);
const BOLD: char = mark(1);
const RED: char = mark(31);
const GREEN: char = mark(32);
const YELLOW: char = mark(33);
const CYAN: char = mark(36);

/// The mark of a style.
const fn mark(number: u8) -> char {
    let mut at = 0;
    while SGR[at] != number {
        at += 1;
    }
    match char::from_u32(FIRST_MARK as u32 + at as u32) {
        Some(mark) => mark,
        None => unreachable!(),
    }
}

/// The number of the style of a mark.
fn sgr(mark: char) -> Option<u8> {
    SGR.get(u32::from(mark).checked_sub(u32::from(FIRST_MARK))? as usize).copied()
}

/// The meaning of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Right.
    Good,
    /// A reason not to trust the run.
    Doubt,
    /// Wrong.
    Bad,
    /// A remedy.
    Help,
    /// No colour.
    None,
}

impl Tone {
    fn marks(self) -> &'static [char] {
        match self {
            Tone::Good => &[GREEN],
            Tone::Doubt => &[YELLOW],
            Tone::Bad => &[BOLD, RED],
            Tone::Help => &[CYAN],
            Tone::None => &[],
        }
    }

    /// A word in this tone.
    pub(crate) fn word(self, word: &str) -> String {
        let marks = self.marks();
        let end = if marks.is_empty() { None } else { Some(NONE) };
        marks.iter().copied().chain(word.chars()).chain(end).collect()
    }

    /// The word, in this tone if `any`.
    pub(super) fn word_if(self, any: bool, word: &str) -> String {
        if any { self.word(word) } else { word.to_owned() }
    }

    fn of_verdict(verdict: Verdict) -> Tone {
        match verdict {
            Verdict::Clean => Tone::Good,
            Verdict::Lossy | Verdict::Inconclusive => Tone::Doubt,
            Verdict::Corrupt | Verdict::Broken => Tone::Bad,
        }
    }

    fn of_kind(kind: FindingKind) -> Tone {
        match kind {
            // Wrong, but not by itself; and nothing wrong, but slow.
            FindingKind::Inherited | FindingKind::Lost => Tone::Doubt,
            FindingKind::Mislabelled
            | FindingKind::Unwritten
            | FindingKind::Foreign
            | FindingKind::Aliased
            | FindingKind::Torn
            | FindingKind::Assertion
            | FindingKind::Leak
            | FindingKind::DoubleFree
            | FindingKind::UseAfterFree
            | FindingKind::Lock => Tone::Bad,
        }
    }

    fn of_class(class: Class) -> Tone {
        match class {
            Class::Agree | Class::Settled | Class::Early => Tone::None,
            Class::WrongSlot | Class::WrongLabel | Class::Missed | Class::Repeat => Tone::Bad,
        }
    }
}

/// A verdict.
pub(crate) fn verdict(of: Verdict) -> String {
    Tone::of_verdict(of).word(name::verdict(of))
}

/// A verdict by its name; any other word unchanged.
pub(super) fn verdict_word(word: &str) -> String {
    let other = || if word == DISAGREEMENT { bad(word) } else { word.to_owned() };
    name::verdict_from_name(word).map_or_else(other, verdict)
}

/// A word about something that is wrong.
pub(super) fn bad(word: &str) -> String {
    Tone::Bad.word(word)
}

/// A kind of finding.
pub(super) fn kind(of: FindingKind) -> String {
    Tone::of_kind(of).word(name::kind(of))
}

/// A kind of finding by its name; any other word unchanged.
pub(super) fn kind_word(word: &str) -> String {
    name::kind_from_name(word).map_or_else(|| word.to_owned(), kind)
}

/// A decision class.
pub(super) fn class(of: Class) -> String {
    Tone::of_class(of).word(name::class(of))
}

/// A line with a warning.
pub(super) fn warning(text: &str) -> String {
    format!("{} {text}", Tone::Doubt.word("warning:"))
}

/// A message of several lines, with the words `error:`, `warning:` and `help:` coloured.
pub(crate) fn message(text: &str) -> String {
    text.split_inclusive('\n').map(message_line).collect()
}

fn message_line(line: &str) -> String {
    for (word, tone) in [("error:", Tone::Bad), ("warning:", Tone::Doubt), ("help:", Tone::Help)] {
        if let Some(rest) = line.strip_prefix(word) {
            return format!("{}{rest}", tone.word(word));
        }
    }
    line.to_owned()
}

/// A text as it is printed: marks become escapes for a terminal, or are dropped. Line feeds and tabs stay; every other
/// character that a terminal would not show is escaped as in [`escape::lines`].
pub(crate) fn printed(text: &str, color: bool) -> Cow<'_, str> {
    let Some(first) = text.find(|c| sgr(c).is_some()) else { return escape::lines(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut at = Some(first);
    while let Some(mark) = at {
        out.push_str(&escape::lines(&rest[..mark]));
        let c = rest[mark..].chars().next().expect("a mark is there");
        if let Some(number) = sgr(c).filter(|_| color) {
            let _ = write!(out, "\x1b[{number}m");
        }
        rest = &rest[mark + c.len_utf8()..];
        at = rest.find(|c| sgr(c).is_some());
    }
    out.push_str(&escape::lines(rest));
    Cow::Owned(out)
}

/// A text as it is printed without colours.
pub fn plain(text: &str) -> Cow<'_, str> {
    printed(text, false)
}

/// A text with the escapes of a library in place of marks. The text that the library was given must hold none.
pub(crate) fn from_sgr(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A style is numbers and an `m`.
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|&end| part[end..].starts_with('m')) {
            Some(end) => {
                let numbers = part[..end].split(';').filter_map(|number| number.parse().ok());
                out.extend(numbers.filter(|number| SGR.contains(number)).map(mark));
                out.push_str(&part[end + 1..]);
            }
            None => {
                out.push_str("\x1b[");
                out.push_str(part);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_comes_off_without_a_trace() {
        let text = format!("{}   of {}\n{}", verdict(Verdict::Corrupt), kind(FindingKind::Lost), class(Class::Agree));
        assert_ne!(text, plain(&text));
        assert_eq!(plain(&text), "corrupt   of lost\nagree");
        assert_eq!(class(Class::Agree), "agree");
        assert_eq!(verdict_word("corrupt"), verdict(Verdict::Corrupt));
        assert_eq!((verdict_word("x"), kind_word("x")), ("x".to_owned(), "x".to_owned()));
    }

    #[test]
    fn only_marks_become_escapes() {
        let text = format!("{}\x1b[2J\u{202e}\t\n", Tone::Bad.word("x"));
        assert_eq!(printed(&text, true), "\x1b[1m\x1b[31mx\x1b[0m\\u{1b}[2J\\u{202e}\t\n");
        assert_eq!(printed(&text, false), "x\\u{1b}[2J\\u{202e}\t\n");
        assert_eq!(printed("\u{fdda}\u{fdef}", true), r"\u{fdda}\u{fdef}");
    }

    #[test]
    fn styles_of_a_library_become_marks() {
        let text = "\x1b[1m\x1b[31mx\x1b[0m \x1b[36;4;1mfile\x1b[0m\x1b[m";
        let marked = from_sgr(text);
        assert_eq!(printed(&marked, true), "\x1b[1m\x1b[31mx\x1b[0m \x1b[36m\x1b[4m\x1b[1mfile\x1b[0m");
        assert_eq!(plain(&marked), "x file");
        for other in ["\x1b", "\x1b[", "\x1b[2J", "\x1b[31", "a\x1b[;\u{e9}m", "\x07\x7f"] {
            assert_eq!(from_sgr(other), other);
        }
    }

    #[test]
    fn only_the_beginnings_of_lines_are_messages() {
        let text = message("error: no help: here\nhelp: look\nerrors\n");
        let (error, help) = (Tone::Bad.word("error:"), Tone::Help.word("help:"));
        assert_eq!(text, format!("{error} no help: here\n{help} look\nerrors\n"));
    }
}
