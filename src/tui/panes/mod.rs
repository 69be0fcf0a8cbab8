//! What each pane says: lines, and the one that should be in sight. One file a pane.

mod decisions;
mod lanes;
mod record;
mod requests;
mod slots;

use ratatui::text::Line;

use super::app::{App, Pane};

/// The lines of a pane.
pub(super) struct Lines {
    /// From top to bottom.
    pub(super) lines: Vec<Line<'static>>,
    /// The one that should be in sight.
    pub(super) at: usize,
    /// Lines at the top that are always in sight.
    pub(super) head: usize,
}

/// The title of a pane, and what it says in so many columns.
pub(super) fn pane(app: &App, pane: Pane, columns: usize) -> (String, Lines) {
    match pane {
        Pane::Lanes => ("lanes".to_owned(), lanes::lines(app)),
        Pane::Requests => ("requests".to_owned(), requests::lines(app)),
        Pane::Slots => ("state slots".to_owned(), slots::lines(app)),
        Pane::Decisions => (format!("{} beside the oracle", app.session.rule().name()), decisions::lines(app, columns)),
        Pane::Record => ("record of the turn".to_owned(), record::lines(app, columns)),
    }
}
