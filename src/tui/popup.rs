//! The popup over the panes: a choice, or lines to read.

use crate::escape;

use super::choose::Choosing;
use super::keys::{HELP, Key};

/// The open popup.
#[derive(Clone, Debug)]
pub(super) enum Popup {
    /// Open choices.
    Choose(Choosing),
    /// Lines to read.
    Text(TextPopup),
}

/// Lines to read, and how far they are scrolled.
#[derive(Clone, Debug)]
pub(super) struct TextPopup {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    pub(super) first: usize,
}

impl Popup {
    pub(super) fn text(title: &str, text: &str) -> Popup {
        let lines = text.lines().map(|line| escape::line(line).into_owned()).collect();
        Popup::Text(TextPopup { title: title.to_owned(), lines, first: 0 })
    }

    pub(super) fn help() -> Popup {
        let lines = HELP.iter().map(|(keys, what)| format!("{keys:<16} {what}")).collect();
        Popup::Text(TextPopup { title: "keys".to_owned(), lines, first: 0 })
    }
}

impl TextPopup {
    /// Scrolls and returns true for a scroll key; returns false for any other key, which closes the popup.
    pub(super) fn scroll(&mut self, key: Key) -> bool {
        let last = self.lines.len().saturating_sub(1);
        match key {
            Key::Down | Key::Char('j') => self.first = (self.first + 1).min(last),
            Key::Up | Key::Char('k') => self.first = self.first.saturating_sub(1),
            Key::PageDown => self.first = (self.first + 10).min(last),
            Key::PageUp => self.first = self.first.saturating_sub(10),
            Key::Char(_) | Key::Left | Key::Right | Key::Tab | Key::Enter | Key::Esc => return false,
        }
        true
    }
}
