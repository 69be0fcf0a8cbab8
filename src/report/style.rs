//! Colours of words. Renderers put escapes around a word; the printing code keeps them or removes them with [`plain`].
//! Layout does not count escapes, so the plain text is the same either way.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};

use crate::judge::{Class, FindingKind, Verdict};

use super::name;

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
    fn style(self) -> Style {
        match self {
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Doubt => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Help => AnsiColor::Cyan.on_default(),
            Tone::None => Style::new(),
        }
    }

    /// A word in this tone.
    pub(crate) fn word(self, word: &str) -> String {
        let style = self.style();
        format!("{style}{word}{style:#}")
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
    name::verdict_from_name(word).map_or_else(|| word.to_owned(), verdict)
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

/// A text without its styles.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(ESCAPE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A style is numbers and an `m`. Other escapes stay.
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|&end| part[end..].starts_with('m')) {
            Some(end) => out.push_str(&part[end + 1..]),
            None => {
                out.push_str(ESCAPE);
                out.push_str(part);
            }
        }
    }
    Cow::Owned(out)
}

const ESCAPE: &str = "\x1b[";

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
    fn what_is_no_style_stays() {
        for text in ["", "plain \u{e9}\n", "\x1b", "\x1b[", "\x1b[2J", "\x1b[31", "a\x1b[;\u{e9}m", "\x07\x7f"] {
            assert_eq!(plain(text), text);
        }
        assert_eq!(plain("\x1b[1m\x1b[31mx\x1b[0m\x1b[mz"), "xz");
    }

    #[test]
    fn only_the_beginnings_of_lines_are_messages() {
        let text = message("error: no help: here\nhelp: look\nerrors\n");
        let (error, help) = (Tone::Bad.word("error:"), Tone::Help.word("help:"));
        assert_eq!(text, format!("{error} no help: here\n{help} look\nerrors\n"));
    }
}
