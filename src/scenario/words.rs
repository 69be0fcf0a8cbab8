//! Words of messages: the known name nearest to a misspelt one, remedies for unknown fields, quotes of user text.

use crate::escape;

/// The most characters of user text that a message repeats.
const QUOTED_CHARS: usize = 40;
/// The most known words that a remedy lists.
const LISTED: usize = 24;

/// The remedy for a word that is not one of `known`.
pub fn instead_of(word: &str, known: &[&str], what: &str) -> String {
    let mut names = known.iter().take(LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if known.len() > LISTED {
        names.push_str(", ..");
    }
    match nearest(word, known) {
        Some(name) => format!("did you mean `{name}`? {what}: {names}"),
        None => format!("{what}: {names}"),
    }
}

/// The remedy for a field that is not known here.
pub(super) fn unknown_field(word: &str, known: &[&str]) -> String {
    match word {
        "choices" => "a list of choices is given on the command line: `overlapsim run FILE --choices 0.1.2`".into(),
        "abort" | "aborts" | "retract" | "retracts" if !known.contains(&"stops") => {
            "write it as an event: `events: [(turn: 7, do: Abort(\"a\"))]`, or `Retract(\"a\")`".into()
        }
        "reason" => "a finding is identified by kind, request, label, holds, turn and slot: leave out `reason`".into(),
        _ => instead_of(word, known, "the fields here are"),
    }
}

/// User text in quotes, escaped and cut to a length that fits a message.
pub(super) fn quote(text: &str) -> String {
    let short: String = text.chars().take(QUOTED_CHARS).collect();
    let more = if short.len() < text.len() { ".." } else { "" };
    escape::line(&format!("{short:?}{more}")).into_owned()
}

/// The known word nearest to a misspelt one, if at most a third of the letters are wrong.
fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let letters_max = (word.chars().take(QUOTED_CHARS).count() / 3).max(1);
    let distances = known.iter().map(|name| (distance(word, name), *name));
    distances
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= letters_max)
        .map(|(_, name)| name)
}

/// Letters to insert, delete or replace, without regard to case.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().take(QUOTED_CHARS).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_has_a_nearest_one() {
        let known = ["track_interval", "mamba_chunk", "page_size"];
        assert_eq!(nearest("track_intervall", &known), Some("track_interval"));
        assert_eq!(nearest("PageSize", &known), Some("page_size"));
        assert_eq!(nearest("requests", &known), None);
    }

    #[test]
    fn quoted_text_is_short_and_escaped() {
        assert_eq!(quote("a\u{1b}\n"), r#""a\u{1b}\n""#);
        assert_eq!(quote(&"x".repeat(100)).len(), QUOTED_CHARS + 4);
    }
}
