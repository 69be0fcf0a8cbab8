//! The slots pane: owner, content once all launched forwards have run, and label of each state slot. `?` marks an
//! exposed label, `!!` a wrong one.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::record::Owner;
use crate::scene::{Fit, SlotView};

use super::super::app::App;
use super::super::words::{cell, held_words, owner_words};
use super::PaneLines;

pub(super) fn lines(app: &App) -> PaneLines {
    let view = app.session.view();
    let head = format!("{:<4} {:<9} {:<6} {:<5}", "slot", "owner", "holds", "label");
    let mut lines = vec![Line::from(Span::styled(head, app.theme.head()))];
    let mut rows = Vec::new();
    for slot in view.live_view.slot_ids().filter(|slot| slot.0 > 0) {
        let now = view.slot(slot);
        let SlotView { owner, label, fit, lands, .. } = now;
        // The content of a free slot does not matter.
        let holds = if owner.is_some() { held_words(&now, &app.names) } else { String::new() };
        let start =
            format!("{:<4} {} {} ", slot.to_string(), cell(&owner_words(owner, &app.names), 9), cell(&holds, 6));
        let style = match owner {
            None | Some(Owner::Spare) => app.theme.faint(),
            Some(Owner::Active(_) | Owner::Track(..) | Owner::Request(_) | Owner::Tree) => Style::new(),
        };
        let mut spans = vec![Span::styled(start, style)];
        if let Some(label) = label {
            let mark = match fit {
                Fit::None | Fit::Right => "",
                Fit::Exposed => "?",
                Fit::Wrong => "!!",
            };
            spans.push(Span::styled(format!("{label}{mark}"), app.theme.fit(fit)));
        }
        if let Some((batch, _)) = lands {
            let arrow = if app.theme.ascii { "<-" } else { "←" };
            spans.push(Span::styled(format!(" {arrow}{batch}"), app.theme.here()));
        }
        rows.push((rank(owner, label, fit), Line::from(spans)));
    }
    rows.sort_by_key(|row| row.0);
    lines.extend(rows.into_iter().map(|row| row.1));
    PaneLines { lines, at: 0, head: 1 }
}

/// The order of the slots: wrong and exposed labels, labelled track slots, other labels, track slots and the tree, the
/// rest.
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
