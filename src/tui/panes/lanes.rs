//! The lanes pane: CPU and GPU in this turn and the turn before.

use ratatui::text::{Line, Span};

use crate::report::{TurnLanes, turn_lanes};

use super::super::app::App;
use super::PaneLines;

/// Turns before this one that the scene includes. The forwards in flight were launched in one of them.
const BEFORE: usize = 2;

pub(super) fn lines(app: &App) -> PaneLines {
    let session = &app.session;
    let here = session.position().turn;
    let scene = session.scene(BEFORE);
    let mut lines = Vec::new();
    for turn in here.saturating_sub(1)..=here {
        let Some(number) = session.number(turn) else { continue };
        let TurnLanes { from, to, cpu, gpu, phases } = turn_lanes(&scene, number);
        let now = turn == here;
        let style = if now { ratatui::style::Style::new() } else { app.theme.faint() };
        let head = format!("turn {number:<6} {from} .. {to}");
        let head_style = if now { app.theme.here() } else { style };
        lines.push(Line::from(Span::styled(head, head_style)));
        lines.push(Line::from(Span::styled(format!("CPU  {cpu}"), style)));
        lines.push(Line::from(Span::styled(format!("GPU  {gpu}"), style)));
        if now {
            lines.push(Line::from(Span::styled(cursor(app, &phases), app.theme.here())));
        }
    }
    let at = lines.len().saturating_sub(1);
    PaneLines { lines, at, head: 0 }
}

/// A line that points at the present phase, or the end of the last one.
fn cursor(app: &App, phases: &[(usize, usize)]) -> String {
    let session = &app.session;
    let view = session.view();
    let stop = session.stop();
    let mark = if app.theme.ascii { '^' } else { '▲' };
    let (column, word) = match stop.begun.checked_sub(1).and_then(|at| phases.get(at)) {
        None => (0, "the turn begins"),
        Some(&(_, end)) if view.live_view.phase.is_none() => (end, "after it"),
        Some(&(start, end)) => ((start + end) / 2, "in it"),
    };
    let (column, words) = (5 + column, format!("{word}, {}", view.live_view.now));
    // The words are left of the mark if there is room, else right of it.
    match column.checked_sub(words.len() + 1) {
        Some(room) => format!("{}{words} {mark}", " ".repeat(room)),
        None => format!("{}{mark} {words}", " ".repeat(column)),
    }
}
