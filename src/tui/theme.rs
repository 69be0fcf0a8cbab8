//! The theme: colours and box characters, by what the terminal can show.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use crate::judge::{Class, Verdict};
use crate::scene::Fit;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// ASCII characters only.
    pub ascii: bool,
    /// Colours. Without them, bold and reversed text stand out.
    pub colour: bool,
}

const ASCII: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

impl Theme {
    /// The border of a pane.
    pub(super) fn border(self, focused: bool) -> border::Set<'static> {
        match (self.ascii, focused) {
            (true, _) => ASCII,
            (false, false) => border::PLAIN,
            (false, true) => border::THICK,
        }
    }

    fn style(self, colour: Color, without: Modifier) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new().add_modifier(without) }
    }

    /// Wrong.
    pub(super) fn bad(self) -> Style {
        self.style(Color::LightRed, Modifier::REVERSED).add_modifier(Modifier::BOLD)
    }

    /// Wrong if it were donated now, or early.
    pub(super) fn risky(self) -> Style {
        self.style(Color::Yellow, Modifier::BOLD)
    }

    /// Right.
    pub(super) fn good(self) -> Style {
        self.style(Color::Green, Modifier::empty())
    }

    /// The current position.
    pub(super) fn here(self) -> Style {
        self.style(Color::Cyan, Modifier::empty()).add_modifier(Modifier::BOLD)
    }

    /// Not yet happened, or less important.
    pub(super) fn faint(self) -> Style {
        self.style(Color::DarkGray, Modifier::DIM)
    }

    /// The head of a table.
    pub(super) fn head(self) -> Style {
        Style::new().add_modifier(Modifier::UNDERLINED)
    }

    /// A verdict.
    pub(super) fn verdict(self, verdict: Verdict) -> Style {
        match verdict {
            Verdict::Clean => self.good(),
            Verdict::Lossy | Verdict::Inconclusive => self.risky(),
            Verdict::Corrupt | Verdict::Broken => self.bad(),
        }
    }

    /// A decision.
    pub(super) fn class(self, class: Class) -> Style {
        match class {
            Class::Agree | Class::Settled => self.good(),
            Class::Early => self.risky(),
            Class::WrongSlot | Class::WrongLabel | Class::Missed | Class::Repeat => self.bad(),
        }
    }

    /// The comparison of label and content.
    pub(super) fn fit(self, fit: Fit) -> Style {
        match fit {
            Fit::None => Style::new(),
            Fit::Right => self.good(),
            Fit::Exposed => self.risky(),
            Fit::Wrong => self.bad(),
        }
    }
}
