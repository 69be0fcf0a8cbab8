//! The decisions pane: for each boundary the checkpoint due, the decision of the rule and its class; later boundaries
//! are faint.

use ratatui::text::{Line, Span};

use crate::judge::Boundary;
use crate::record::KeptState;
use crate::report::name;

use super::super::app::App;
use super::super::words::{cell, kept_words};
use super::PaneLines;

/// Most boundaries before this moment, and most after it.
const SHOWN: usize = 200;

pub(super) fn lines(app: &App, columns: usize) -> PaneLines {
    let turn = turn_columns(app);
    // The id gets the columns that numbers and words leave.
    let id = columns.saturating_sub(35 + turn).clamp(4, 24);
    let head = format!("{:>turn$} {:<id$} {:>4} {:>2} {:<6} {:<6} class", "turn", "req", "k", "L", "due", "rule");
    let mut lines = vec![Line::from(Span::styled(head, app.theme.head()))];
    let (done, ahead) = app.session.boundaries();
    let skipped = done.len().saturating_sub(SHOWN);
    lines.extend(done[skipped..].iter().map(|of| line(app, of, id, true)));
    let at = lines.len() - 1;
    lines.extend(ahead.iter().take(SHOWN).map(|of| line(app, of, id, false)));
    if lines.len() == 1 {
        lines.push(Line::from("no boundary in this run"));
    }
    PaneLines { lines, at, head: 1 }
}

fn line(app: &App, of: &Boundary, id: usize, done: bool) -> Line<'static> {
    let turn = turn_columns(app);
    let due = of.due.map_or("-".to_owned(), |slot| format!("{}@{slot}", of.k));
    let rule = if of.fired { kept_words(KeptState { label: of.label, slot: of.slot }) } else { "-".to_owned() };
    let id = cell(&name::request(&app.names, of.req), id);
    let start = format!("{:>turn$} {id} {:>4} {:>2} {due:<6} {rule:<6} ", of.turn, of.k, of.lookahead);
    let class = name::class(of.class).to_owned();
    if done {
        Line::from(vec![Span::raw(start), Span::styled(class, app.theme.class(of.class))])
    } else {
        Line::from(Span::styled(format!("{start}{class}"), app.theme.faint()))
    }
}

/// Columns for the number of a turn.
fn turn_columns(app: &App) -> usize {
    let last = app.session.turns().checked_sub(1).and_then(|last| app.session.number(last));
    last.map_or(0, |last| last.to_string().len()).max(4)
}
