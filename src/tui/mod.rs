//! The explorer: steps through a run in a terminal, takes other choices, and compares the outcomes.
//!
//! [`App`] is a value. [`App::update`] changes it by a key, [`draw`] draws it. It does no input or output: it returns
//! an [`Effect`], and the caller writes files and shows commands.

mod app;
mod choose;
mod compare;
mod keys;
mod panes;
mod popup;
mod screen;
mod terminal;
mod theme;
mod words;

pub use app::{App, Effect, Point};
pub use keys::{Key, parse};
pub use screen::{draw, screen};
pub use terminal::{TerminalError, show};
pub use theme::Theme;
