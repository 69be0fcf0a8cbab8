//! The state of the explorer, and its change by each key.
//!
//! Owns bookmarks, undo, the open popup and the focus. Does not draw, and does not touch files or the terminal.

use crate::escape;
use crate::judge::Boundary;
use crate::model::Rule;
use crate::runner::{Position, Session, Unit, differs};

use super::choose::Choosing;
use super::compare::{Bookmark, differences};
use super::keys::Key;
use super::popup::Popup;
use super::screen::too_small;
use super::theme::Theme;

/// What the caller has to do after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Draw again.
    None,
    /// End the explorer.
    Quit,
    /// Write this history as a scenario and show its path.
    Save,
    /// Show the command that replays this history.
    Replay,
}

/// A point of the undo list.
#[derive(Clone, Debug)]
pub struct Point {
    rule: &'static dyn Rule,
    answers: Vec<u32>,
    position: Position,
}

/// The panes, from top to bottom and left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Lanes,
    Requests,
    Slots,
    Decisions,
    Record,
}

impl Pane {
    pub(super) const ALL: [Pane; 5] = [Pane::Lanes, Pane::Requests, Pane::Slots, Pane::Decisions, Pane::Record];

    fn next(self) -> Pane {
        Pane::ALL[(self as usize + 1) % Pane::ALL.len()]
    }
}

/// The explorer.
#[derive(Debug)]
pub struct App<'a> {
    /// The name of the run in the header.
    pub(super) title: String,
    pub(super) names: Vec<String>,
    pub(super) session: Session<'a>,
    pub(super) theme: Theme,
    pub(super) focus: Pane,
    /// Whether the focused pane fills the screen.
    pub(super) zoom: bool,
    /// Lines that each pane is scrolled by, from its default position.
    pub(super) scroll: [i32; Pane::ALL.len()],
    pub(super) popup: Option<Popup>,
    /// The answer to the last key, in the footer; may be empty.
    pub(super) note: String,
    /// The points marked with `m`: A, then B.
    pub(super) bookmarks: Vec<Bookmark>,
    /// Whether the screen is too small for the panes.
    too_small: bool,
    rules: Vec<&'static dyn Rule>,
    undo: Vec<Point>,
    redo: Vec<Point>,
}

impl<'a> App<'a> {
    /// An explorer at the beginning of a session. `rules` are the rules to switch between.
    pub fn new(
        title: String,
        names: &[String],
        session: Session<'a>,
        rules: Vec<&'static dyn Rule>,
        theme: Theme,
    ) -> App<'a> {
        let shown = |text: &str| {
            let text = escape::line(text);
            if theme.ascii { text.replace(|c: char| !c.is_ascii(), "?") } else { text.into_owned() }
        };
        App {
            title: shown(&title),
            names: names.iter().map(|name| shown(name)).collect(),
            session,
            theme,
            focus: Pane::Record,
            zoom: false,
            scroll: [0; Pane::ALL.len()],
            popup: None,
            note: String::new(),
            bookmarks: Vec::new(),
            too_small: false,
            rules,
            undo: Vec::new(),
            redo: Vec::new(),
        }
    }

    /// The run and the position in it.
    pub fn session(&self) -> &Session<'a> {
        &self.session
    }

    /// Shows lines in a popup until a key closes it.
    pub fn show(&mut self, title: &str, text: &str) {
        self.popup = Some(Popup::text(title, text));
    }

    /// Sets the size of the screen, in columns and rows.
    pub fn resize(&mut self, width: u16, height: u16) {
        self.too_small = too_small(width, height);
    }

    /// Carries out a key. A screen that is too small shows nothing of the run: `q` is the only key there.
    pub fn update(&mut self, key: Key) -> Effect {
        if self.too_small {
            return if key == Key::Char('q') { Effect::Quit } else { Effect::None };
        }
        self.note.clear();
        match self.popup.take() {
            None => self.press(key),
            Some(Popup::Choose(choosing)) => self.choosing(choosing, key),
            Some(Popup::Text(mut text)) => {
                if text.scroll(key) {
                    self.popup = Some(Popup::Text(text));
                }
                Effect::None
            }
        }
    }

    fn press(&mut self, key: Key) -> Effect {
        match key {
            Key::Char('q') => return Effect::Quit,
            Key::Char('w') => return Effect::Save,
            Key::Char('p') => return Effect::Replay,
            Key::Char('?') => self.popup = Some(Popup::help()),
            Key::Right | Key::Char('l') => self.go("the end", |session| session.forward(Unit::Phase)),
            Key::Left | Key::Char('h') => self.go("the start", |session| session.back(Unit::Phase)),
            Key::Down | Key::Char('j') => self.go("the end", |session| session.forward(Unit::Turn)),
            Key::Up | Key::Char('k') => self.go("the start", |session| session.back(Unit::Turn)),
            Key::Char(']') => self.go("the end", |session| session.forward(Unit::Result)),
            Key::Char('[') => self.go("the start", |session| session.back(Unit::Result)),
            Key::Char('b') => self.go("no later boundary", |session| session.seek_boundary(true, |_| true)),
            Key::Char('B') => self.go("no earlier boundary", |session| session.seek_boundary(false, |_| true)),
            Key::Char('d') => self.go("no later decision differs", |session| session.seek_boundary(true, wrong)),
            Key::Char('D') => self.go("no earlier decision differs", |session| session.seek_boundary(false, wrong)),
            Key::Char('f') => self.go("no later finding", |session| session.seek_finding(true)),
            Key::Char('F') => self.go("no earlier finding", |session| session.seek_finding(false)),
            Key::Char('o') => self.go("no later open choice", |session| session.seek_question(true)),
            Key::Char('O') => self.go("no earlier open choice", |session| session.seek_question(false)),
            Key::Char('g') => self.go("", |session| {
                session.seek_start();
                true
            }),
            Key::Char('G') => self.go("", |session| {
                session.seek_end();
                true
            }),
            Key::Char('c') => self.choose(),
            Key::Char('u') => self.undo(),
            Key::Char('U') => self.redo(),
            Key::Char('r') => self.switch(1),
            Key::Char('R') => self.switch(self.rules.len() - 1),
            Key::Char('m') => self.mark(),
            Key::Char('=') => self.compare(),
            Key::Tab => self.focus = self.focus.next(),
            Key::Char('z') => self.zoom = !self.zoom,
            Key::PageUp => self.scroll[self.focus as usize] -= 4,
            Key::PageDown => self.scroll[self.focus as usize] += 4,
            Key::Char(c) => self.note = format!("`{c}` does nothing; ? shows the keys"),
            Key::Esc => self.zoom = false,
            Key::Enter => {}
        }
        Effect::None
    }

    fn go(&mut self, nowhere: &str, go: impl FnOnce(&mut Session<'a>) -> bool) {
        self.scroll = [0; Pane::ALL.len()];
        if !go(&mut self.session) {
            self.note = if nowhere.starts_with("the ") { format!("this is {nowhere}") } else { nowhere.to_owned() };
        }
    }

    fn choose(&mut self) {
        if self.session.open().0.is_empty() {
            self.note = "no choice is open in this run: open some with --vary arrivals,stops".to_owned();
        } else if self.session.questions().is_empty() {
            self.note = "no choice is open in this turn: o and O go to a turn with one".to_owned();
        } else {
            self.popup = Some(Popup::Choose(Choosing::new(self.session.questions())));
        }
    }

    fn choosing(&mut self, mut choosing: Choosing, key: Key) -> Effect {
        match key {
            Key::Esc | Key::Char('q' | 'c') => return Effect::None,
            Key::Enter => {
                if let Some((nth, answer)) = choosing.chosen() {
                    self.branch(|session| session.choose(nth, answer));
                    self.note = "a new history from here on; u undoes it".to_owned();
                } else {
                    self.note = "the answer has not changed".to_owned();
                }
                return Effect::None;
            }
            key => choosing.press(key),
        }
        self.popup = Some(Popup::Choose(choosing));
        Effect::None
    }

    /// Changes the history. Undo goes back to the old one.
    fn branch(&mut self, change: impl FnOnce(&mut Session<'a>)) {
        self.undo.push(self.point());
        self.redo.clear();
        change(&mut self.session);
    }

    fn point(&self) -> Point {
        Point { rule: self.session.rule(), answers: self.session.answers().to_vec(), position: self.session.position() }
    }

    fn back_to(&mut self, point: Point) {
        let Point { rule, answers, position } = point;
        self.session.restore(rule, answers, position);
    }

    fn undo(&mut self) {
        match self.undo.pop() {
            Some(point) => {
                self.redo.push(self.point());
                self.back_to(point);
            }
            None => self.note = "nothing to undo".to_owned(),
        }
    }

    fn redo(&mut self) {
        match self.redo.pop() {
            Some(point) => {
                self.undo.push(self.point());
                self.back_to(point);
            }
            None => self.note = "nothing to redo".to_owned(),
        }
    }

    /// Switches to the rule `places` further on in the list.
    fn switch(&mut self, places: usize) {
        let now = self.rules.iter().position(|rule| rule.name() == self.session.rule().name()).unwrap_or(0);
        let rule = self.rules[(now + places) % self.rules.len()];
        let answers = self.session.answers().len();
        self.branch(|session| session.set_rule(rule));
        let lost = answers.saturating_sub(self.session.answers().len());
        self.note = match lost {
            0 => format!("now under {}", rule.name()),
            _ => format!("now under {}; {lost} answers dropped: they do not fit, or equal the script's", rule.name()),
        };
    }

    fn mark(&mut self) {
        if self.bookmarks.len() == 2 {
            self.bookmarks.clear();
        }
        let mark = Bookmark::new(&self.session);
        self.note = format!("mark {} is {}", ["A", "B"][self.bookmarks.len()], mark.place());
        self.bookmarks.push(mark);
    }

    fn compare(&mut self) {
        let here = Bookmark::new(&self.session);
        let (a, b, title) = match self.bookmarks.as_slice() {
            [] => return self.note = "no point is marked: m marks this one".to_owned(),
            [a] => (a, &here, "mark A and this point"),
            [a, b, ..] => (a, b, "marks A and B"),
        };
        let text = differences(a, b, &self.names);
        self.popup = Some(Popup::text(title, &text));
    }
}

fn wrong(of: &Boundary) -> bool {
    differs(of.class)
}
