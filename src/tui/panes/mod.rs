//! The contents of the panes, one file for each pane.

mod decisions;
mod lanes;
mod record;
mod requests;
mod slots;

use ratatui::text::Line;

use super::app::{App, Pane};

/// The lines of a pane.
pub(super) struct PaneLines {
    /// The lines from top to bottom.
    pub(super) lines: Vec<Line<'static>>,
    /// The index of the line to keep in sight.
    pub(super) at: usize,
    /// PaneLines at the top that are always in sight.
    pub(super) head: usize,
}

/// The title and the lines of a pane of so many columns.
pub(super) fn pane(app: &App, pane: Pane, columns: usize) -> (String, PaneLines) {
    match pane {
        Pane::Lanes => ("lanes".to_owned(), lanes::lines(app)),
        Pane::Requests => ("requests".to_owned(), requests::lines(app)),
        Pane::Slots => ("state slots".to_owned(), slots::lines(app)),
        Pane::Decisions => (format!("decisions of {}", app.session.rule().name()), decisions::lines(app, columns)),
        Pane::Record => ("events of this turn".to_owned(), record::lines(app, columns)),
    }
}
