//! The CPU and the GPU around this moment: this turn and the one before, each with its times.

use ratatui::text::{Line, Span};

use crate::report::{TurnLanes, turn_lanes};

use super::super::app::App;
use super::Lines;

/// Turns before this one that are run again: a forward that is in flight now was launched in one of them.
const BEFORE: usize = 2;

pub(super) fn lines(app: &App) -> Lines {
    let session = &app.session;
    let here = session.position().turn;
    let scene = session.scene(BEFORE);
    let mut lines = Vec::new();
    for turn in here.saturating_sub(1)..=here {
        let Some(number) = session.number(turn) else { continue };
        let TurnLanes { from, to, cpu, gpu, phases } = turn_lanes(&scene, number);
        let now = turn == here;
        let style = if now { ratatui::style::Style::new() } else { app.look.faint() };
        let head = format!("turn {number:<6} {from} .. {to}");
        let head_style = if now { app.look.here() } else { style };
        lines.push(Line::from(Span::styled(head, head_style)));
        lines.push(Line::from(Span::styled(format!("CPU  {cpu}"), style)));
        lines.push(Line::from(Span::styled(format!("GPU  {gpu}"), style)));
        if now {
            lines.push(Line::from(Span::styled(cursor(app, &phases), app.look.here())));
        }
    }
    let at = lines.len().saturating_sub(1);
    Lines { lines, at, head: 0 }
}

/// A line that points at the phase that this moment is in, or after.
fn cursor(app: &App, phases: &[(usize, usize)]) -> String {
    let session = &app.session;
    let view = session.view();
    let stop = session.stop();
    let mark = if app.look.ascii { '^' } else { '▲' };
    let (column, word) = match stop.begun.checked_sub(1).and_then(|at| phases.get(at)) {
        None => (0, "the turn begins"),
        Some(&(_, end)) if view.live_view.phase.is_none() => (end, "after it"),
        Some(&(start, end)) => ((start + end) / 2, "in it"),
    };
    let (column, words) = (5 + column, format!("{word}, {}", view.live_view.now));
    // The words stand where there is room for them.
    match column.checked_sub(words.len() + 1) {
        Some(room) => format!("{}{words} {mark}", " ".repeat(room)),
        None => format!("{}{mark} {words}", " ".repeat(column)),
    }
}
