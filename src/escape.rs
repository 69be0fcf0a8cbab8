//! Characters that must not reach a terminal, a pipe or a log as they are, and how they are written instead.
//!
//! Such are control characters, format characters (bidirectional ones among them), line and paragraph separators,
//! unassigned and private characters, every blank but the plain one, and all that Unicode calls ignorable by default:
//! invisible letters, variation selectors, tags. Unicode properties say which they are. Two characters without ink have no
//! property that says so: the blank of Braille and the null note head.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// `C`: control, format, unassigned, private. `Z`: separators.
const NOT_PRINTABLE: &str = r"[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\x{2800}\x{1D159}--[ ]]";

static CLASS: LazyLock<ClassUnicode> =
    LazyLock::new(|| match regex_syntax::parse(NOT_PRINTABLE).map(|it| it.into_kind()) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        other => unreachable!("the pattern is one class of characters: {other:?}"),
    });

/// Whether a character is shown as itself: a visible one, or the plain blank.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    let ranges = CLASS.ranges();
    let next = ranges.partition_point(|range| range.end() < c);
    ranges.get(next).is_none_or(|range| c < range.start())
}

/// A text without line breaks of its own, for one line of output: every character that is not printable as `\u{..}`.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_printable, |out, c| {
        let _ = write!(out, "{}", c.escape_unicode());
    })
}

/// A text of several lines: as [`line()`], but line feeds and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| is_printable(c) || c == '\n' || c == '\t',
        |out, c| {
            let _ = write!(out, "{}", c.escape_unicode());
        },
    )
}

/// A JSON text. Whatever is not printable is within strings there, except for line feeds, and is written as JSON
/// escapes: the value stays the same.
pub fn json(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |c| is_printable(c) || c == '\n',
        |out, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

/// A path, for one line of output. Bytes that are not UTF-8 are replaced.
pub fn path(path: &Path) -> String {
    line(&path.to_string_lossy()).into_owned()
}

fn escaped(text: &str, stays: impl Fn(char) -> bool, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let Some(first) = text.find(|c| !stays(c)) else { return Cow::Borrowed(text) };
    let mut out = text[..first].to_owned();
    for c in text[first..].chars() {
        if stays(c) {
            out.push(c);
        } else {
            escape(&mut out, c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_cannot_be_seen_are_not_printable() {
        let wrong = [
            '\0',
            '\u{7}',
            '\u{8}',
            '\t',
            '\n',
            '\r',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{a0}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180e}',
            '\u{200b}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202e}',
            '\u{2060}',
            '\u{2065}',
            '\u{2066}',
            '\u{3000}',
            '\u{3164}',
            '\u{e000}',
            '\u{fdd0}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{ffff}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0100}',
            '\u{10ffff}',
        ];
        for c in wrong {
            assert!(!is_printable(c), "{:x}", u32::from(c));
        }
        for c in
            ['a', ' ', '~', '\u{e9}', '\u{df}', '\u{416}', '\u{4e2d}', '\u{301}', '\u{2192}', '\u{fffd}', '\u{1f600}']
        {
            assert!(is_printable(c), "{:x}", u32::from(c));
        }
    }

    #[test]
    fn what_is_escaped_depends_on_the_place() {
        let text = "a\t\n\u{202e}\u{e0001}\u{1b}[0m";
        assert_eq!(line(text), r"a\u{9}\u{a}\u{202e}\u{e0001}\u{1b}[0m");
        assert_eq!(lines(text), "a\t\n\\u{202e}\\u{e0001}\\u{1b}[0m");
        assert!(matches!(lines("plain \u{e9}\n"), Cow::Borrowed(_)));
        let value = serde_json::json!({ "\u{202e}": [text, "\u{7f}\u{fdd0}"] });
        let shown = json(&serde_json::to_string_pretty(&value).unwrap()).into_owned();
        assert!(shown.chars().all(|c| is_printable(c) || c == '\n'), "{shown}");
        assert!(shown.contains(r"\u202e\udb40\udc01\u001b[0m"), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
