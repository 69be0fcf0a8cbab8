//! The requests pane: the bookkeeping of each request, finished ones last.

use ratatui::text::{Line, Span};

use crate::record::ReqId;
use crate::report::name;
use crate::scene::{Fit, RequestStatus};

use super::super::app::App;
use super::super::words::{cell, kept_words, status_word};
use super::PaneLines;

pub(super) fn lines(app: &App) -> PaneLines {
    let view = app.session.view();
    let head = format!(
        "{:<7} {:<8} {:>4} {:>4} {:>2} {:>4} {:>2} {:>2} {:<6}",
        "request", "status", "k", "out", "L", "C", "nx", "la", "keeps"
    );
    let mut lines = vec![Line::from(Span::styled(head, app.theme.head()))];
    let mut over = Vec::new();
    let mut at_line = 0;
    let about = app.session.about();
    for (at, it) in view.live_view.reqs().iter().enumerate() {
        let id = cell(&name::request(&app.names, ReqId(at as u32)), 7);
        let idx = |of: Option<u8>| of.map_or("-".to_owned(), |of| of.to_string());
        let lookahead = it.lookahead.map_or("-".to_owned(), |l| l.to_string());
        let numbers = format!(
            "{id} {:<8} {:>4} {:>4} {lookahead:>2} {:>4} {:>2} {:>2} ",
            status_word(it.status),
            it.k,
            it.outputs,
            it.fields.kv_committed_len,
            idx(it.fields.next_track_idx),
            idx(it.fields.last_track_idx),
        );
        let kept = it.kept();
        let fit = kept.slot.map_or(Fit::None, |slot| view.slot(slot).fit);
        let faint = matches!(it.status, RequestStatus::Finished | RequestStatus::Unseen);
        let style = if faint { app.theme.faint() } else { ratatui::style::Style::new() };
        let kept = Span::styled(kept_words(kept), app.theme.fit(fit));
        let line = Line::from(vec![Span::styled(numbers, style), kept]);
        if faint {
            over.push(line);
        } else {
            lines.push(line);
        }
        if about == Some(ReqId(at as u32)) && !faint {
            at_line = lines.len() - 1;
        }
    }
    lines.extend(over);
    PaneLines { lines, at: at_line, head: 1 }
}
