//! The state slots: who holds each, what it holds once all launched forwards have run, and under which label: `?` if it would
//! be wrong were it donated now, `!!` if it was donated and is wrong.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::record::Owner;
use crate::scene::{Fit, SlotView};

use super::super::app::App;
use super::super::words::{cell, held_words, owner_words};
use super::Lines;

pub(super) fn lines(app: &App) -> Lines {
    let view = app.session.view();
    let head = format!("{:<4} {:<9} {:<6} {:<5}", "slot", "owner", "holds", "label");
    let mut lines = vec![Line::from(Span::styled(head, app.look.head()))];
    let mut rows = Vec::new();
    for slot in view.live_view.slot_ids().filter(|slot| slot.0 > 0) {
        let now = view.slot(slot);
        let SlotView { owner, label, fit, lands, .. } = now;
        // What a slot held that nobody holds any more is of no account.
        let holds = if owner.is_some() { held_words(&now, &app.names) } else { String::new() };
        let start =
            format!("{:<4} {} {} ", slot.to_string(), cell(&owner_words(owner, &app.names), 9), cell(&holds, 6));
        let style = match owner {
            None | Some(Owner::Spare) => app.look.faint(),
            Some(Owner::Active(_) | Owner::Track(..) | Owner::Request(_) | Owner::Tree) => Style::new(),
        };
        let mut spans = vec![Span::styled(start, style)];
        if let Some(label) = label {
            let mark = match fit {
                Fit::None | Fit::Right => "",
                Fit::Exposed => "?",
                Fit::Wrong => "!!",
            };
            spans.push(Span::styled(format!("{label}{mark}"), app.look.fit(fit)));
        }
        if let Some((batch, _)) = lands {
            let arrow = if app.look.ascii { "<-" } else { "←" };
            spans.push(Span::styled(format!(" {arrow}{batch}"), app.look.here()));
        }
        rows.push((rank(owner, label, fit), Line::from(spans)));
    }
    rows.sort_by_key(|row| row.0);
    lines.extend(rows.into_iter().map(|row| row.1));
    Lines { lines, at: 0, head: 1 }
}

/// What the bookkeeping is about comes first: what is wrong or would be, labelled slots of requests, track slots, the tree.
fn rank(owner: Option<Owner>, label: Option<u32>, fit: Fit) -> u8 {
    match (label, owner) {
        (Some(_), _) if matches!(fit, Fit::Wrong | Fit::Exposed) => 0,
        (Some(_), Some(Owner::Track(..))) => 1,
        (Some(_), _) => 2,
        (None, Some(Owner::Track(..) | Owner::Tree)) => 3,
        (None, Some(Owner::Active(_) | Owner::Request(_))) => 4,
        (None, Some(Owner::Spare)) => 5,
        (None, None) => 6,
    }
}
