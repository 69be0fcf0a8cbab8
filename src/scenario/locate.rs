//! The place of a value in RON text. The deserializer reports places only for text that it cannot read. A value that it
//! reads and validation refuses is found here, by walking the tokens along a path. Syntax errors are not reported here:
//! on broken text the result is the deepest place that was reached.

use std::ops::Range;

use super::scan::{Scanner, TokenKind};

/// One step from a value into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathStep<'a> {
    /// A named field of a struct.
    Field(&'a str),
    /// An item of a list, or an argument of an enum variant.
    Item(usize),
}

/// The place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundValue {
    /// Byte range of the value.
    pub span: Range<usize>,
    /// Whether every step was found. If not, `span` is that of the deepest step that was.
    pub whole: bool,
}

/// Finds the value at a path.
pub(super) fn value(text: &str, path: &[PathStep<'_>]) -> FoundValue {
    let mut scanner = Scanner::new(text);
    scanner.skip_attributes();
    let mut span = scanner.clone().skip_value();
    for step in path {
        let Some(inner) = descend(&mut scanner, *step) else { return FoundValue { span, whole: false } };
        span = inner;
    }
    FoundValue { span, whole: true }
}

/// Finds the name of a field, its `nth` occurrence counted from 0, in the struct at a path.
pub(super) fn key(text: &str, path: &[PathStep<'_>], name: &str, nth: usize) -> Option<Range<usize>> {
    let mut scanner = Scanner::new(text);
    scanner.skip_attributes();
    for step in path {
        descend(&mut scanner, *step)?;
    }
    enter(&mut scanner)?;
    find_field(&mut scanner, name, nth)
}

/// Moves the scanner to the start of the value behind a step and gives its range.
fn descend(scanner: &mut Scanner<'_>, step: PathStep<'_>) -> Option<Range<usize>> {
    enter(scanner)?;
    match step {
        PathStep::Field(name) => {
            find_field(scanner, name, 0)?;
        }
        PathStep::Item(index) => {
            for _ in 0..index {
                scanner.skip_value();
                if scanner.take().kind != TokenKind::Comma {
                    return None;
                }
            }
            if matches!(scanner.peek().kind, TokenKind::Close | TokenKind::End) {
                return None;
            }
        }
    }
    Some(scanner.clone().skip_value())
}

/// Moves past the opening bracket of the value here, and past `Some(`, since options are written without it.
fn enter(scanner: &mut Scanner<'_>) -> Option<()> {
    loop {
        let mut token = scanner.take();
        let some = token.kind == TokenKind::Word && scanner.slice(&token) == "Some";
        if token.kind == TokenKind::Word {
            token = scanner.take();
        }
        if token.kind != TokenKind::Open {
            return None;
        }
        if !some {
            return Some(());
        }
    }
}

/// Moves past `name:` in the fields here and gives the range of the name.
fn find_field(scanner: &mut Scanner<'_>, name: &str, nth: usize) -> Option<Range<usize>> {
    let mut seen = 0;
    loop {
        let token = scanner.take();
        if token.kind != TokenKind::Word || scanner.take().kind != TokenKind::Colon {
            return None;
        }
        let word = scanner.slice(&token);
        if word.strip_prefix("r#").unwrap_or(word) == name {
            if seen == nth {
                return Some(token.start..token.end);
            }
            seen += 1;
        }
        scanner.skip_value();
        if scanner.take().kind != TokenKind::Comma {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PathStep::{Field, Item};
    use super::*;

    const TEXT: &str = r####"#![enable(implicit_some)]
// requests: [(id: "no")]
Scenario( /* ( [ /* nested */ */
    title: "a ) \" requests: [", raw: r#"x "]) "#, c: ')',
    requests: [(id: "a"), Some((id: r##"b"#"##, arrive: Before("a", 5), r#do: 1, id: 2)),],
)"####;

    #[track_caller]
    fn found(path: &[PathStep<'_>], expected: &str, whole: bool) {
        let found = value(TEXT, path);
        assert_eq!((&TEXT[found.span.clone()], found.whole), (expected, whole), "{path:?}");
    }

    #[test]
    fn values_are_found_by_path() {
        found(&[Field("requests"), Item(0)], "(id: \"a\")", true);
        found(&[Field("requests"), Item(1), Field("id")], "r##\"b\"#\"##", true);
        found(&[Field("requests"), Item(1), Field("arrive")], "Before(\"a\", 5)", true);
        found(&[Field("requests"), Item(1), Field("arrive"), Item(1)], "5", true);
        found(&[Field("requests"), Item(1), Field("do")], "1", true);
        found(&[Field("c")], "')'", true);
    }

    #[test]
    fn a_missing_step_gives_the_deepest_place() {
        found(&[Field("requests"), Item(0), Field("stop")], "(id: \"a\")", false);
        found(&[Field("c"), Item(0)], "')'", false);
        assert!(!value("", &[Field("a")]).whole);
        assert!(!value("(a: [", &[Field("a"), Item(0)]).whole);
    }

    #[test]
    fn names_are_found_too() {
        let path = [Field("requests"), Item(1)];
        let second = key(TEXT, &path, "id", 1).expect("the second id");
        assert!(TEXT[second.start..].starts_with("id: 2"));
        assert_eq!(key(TEXT, &path, "id", 2), None);
    }
}
