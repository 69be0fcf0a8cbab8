//! Keys: their spelling in a script, and the help text.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// Scrolls up.
    PageUp,
    /// Scrolls down.
    PageDown,
    /// Focuses the next pane.
    Tab,
    /// Applies the selected answer.
    Enter,
    /// Closes a popup, or ends the zoom.
    Esc,
}

/// Keys without a character, by their name in a script.
const NAMED: [(&str, Key); 10] = [
    ("left", Key::Left),
    ("right", Key::Right),
    ("up", Key::Up),
    ("down", Key::Down),
    ("pgup", Key::PageUp),
    ("pgdn", Key::PageDown),
    ("tab", Key::Tab),
    ("enter", Key::Enter),
    ("esc", Key::Esc),
    ("lt", Key::Char('<')),
];

/// The lines of the help: keys and what they do.
pub(super) const HELP: [(&str, &str); 20] = [
    ("right l, left h", "one phase forward, back"),
    ("down j, up k", "one turn forward, back"),
    ("] [", "one result row forward, back"),
    ("b B", "next, previous boundary (due or fired)"),
    ("d D", "next, previous decision that differs"),
    ("f F", "next, previous finding"),
    ("o O", "next, previous turn with open choices"),
    ("g G", "to the start, to the end"),
    ("c", "answer an open choice of this turn"),
    ("u U", "undo, redo a choice or a rule"),
    ("r R", "next, previous rule, at this point"),
    ("m", "mark this point: A, then B"),
    ("=", "compare A with B, or A with this point"),
    ("w", "write this history as a scenario"),
    ("p", "show the command that replays it"),
    ("tab", "the next pane"),
    ("z", "show one pane, or all"),
    ("pgup pgdn", "scroll the pane"),
    ("?", "this help (slot labels: ? exposed, !! wrong)"),
    ("q, esc", "quit; close a popup"),
];

/// Reads a script: characters are keys; others are named, as in `<right>`.
///
/// # Errors
/// The mistake in words, for the command line.
pub fn parse(script: &str) -> Result<Vec<Key>, String> {
    let mut keys = Vec::new();
    let mut rest = script;
    while let Some(c) = rest.chars().next() {
        if c == '<' {
            let (name, after) =
                rest[1..].split_once('>').ok_or("a `<` has no `>` after it: the key `<` is written <lt>")?;
            let entry = NAMED.iter().find(|entry| entry.0 == name);
            let names = || NAMED.map(|entry| entry.0).join(", ");
            keys.push(entry.ok_or_else(|| format!("there is no key <{name}>; named keys are {}", names()))?.1);
            rest = after;
        } else {
            if !c.is_whitespace() {
                keys.push(Key::Char(c));
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_characters_and_names() {
        let keys = parse("l <right>=<lt>?").expect("a script");
        assert_eq!(keys, [Key::Char('l'), Key::Right, Key::Char('='), Key::Char('<'), Key::Char('?')]);
        assert!(parse("<nowhere>").is_err_and(|why| why.contains("<nowhere>") && why.contains("pgdn")));
        assert!(parse("a<").is_err());
    }
}
