//! The record pane: all facts of this turn, later ones faint, with each finding after the fact that shows it.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::judge::Finding;
use crate::record::{Entry, Fact, RunFact};
use crate::report::name;

use super::super::app::App;
use super::super::words::entry_words;
use super::PaneLines;

pub(super) fn lines(app: &App, columns: usize) -> PaneLines {
    let session = &app.session;
    let fact = session.position().fact;
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut at = 0;
    let mut found = session.findings_in_turn().into_iter().peekable();
    for (index, entry) in session.record().iter().enumerate() {
        let happened = index < fact;
        if let Some(words) = entry_words(entry, &app.names) {
            let indent = if is_head(entry) { "" } else { "  " };
            let style = if happened { Style::new() } else { app.theme.faint() };
            for line in words.lines() {
                push(&mut lines, &format!("{indent}{line}"), style, columns);
            }
        }
        while let Some((_, finding)) = found.next_if(|(after, _)| *after == index + 1) {
            let style = if happened { app.theme.bad() } else { app.theme.faint() };
            push(&mut lines, &words(finding, app), style, columns);
        }
        if happened {
            at = lines.len().saturating_sub(1);
        }
    }
    if let Some(line) = lines.get_mut(at).filter(|_| fact > 0) {
        let mark = if app.theme.ascii { ">" } else { "▶" };
        line.spans[0] = Span::styled(mark, app.theme.here());
    }
    PaneLines { lines, at, head: 0 }
}

/// Adds a line, wrapped. The first column is for the mark of this moment.
fn push(lines: &mut Vec<Line<'static>>, text: &str, style: Style, columns: usize) {
    let indent = text.len() - text.trim_start().len() + 2;
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if line.chars().count() + word.trim_end().chars().count() >= columns && line.trim().chars().count() > 0 {
            let next = " ".repeat(indent.min(columns / 2));
            lines.push(Line::from(vec![Span::raw(" "), Span::styled(std::mem::replace(&mut line, next), style)]));
        }
        line.push_str(word);
    }
    lines.push(Line::from(vec![Span::raw(" "), Span::styled(line, style)]));
}

fn is_head(entry: &Entry) -> bool {
    matches!(
        entry,
        Entry::Fact(Fact::Run(
            RunFact::Turn { .. } | RunFact::Begin { .. } | RunFact::Done { .. } | RunFact::Bound { .. }
        ))
    )
}

fn words(finding: &Finding, app: &App) -> String {
    let id = finding.req.map_or(String::new(), |req| format!(" {}:", name::request(&app.names, req)));
    format!("!! {}{id} {}", name::kind(finding.kind), finding.reason)
}
