//! The explorer: a person steps through a run in a terminal, takes other choices, and compares what came of them.
//!
//! [`App`] is a value; [`App::update`] is a pure function of it and a key, and [`draw`] one of it and a frame. Whatever leaves the
//! program (a file, the terminal) is an [`Effect`] that somebody else brings about.

mod app;
mod choose;
mod compare;
mod keys;
mod look;
mod panes;
mod popup;
mod screen;
mod terminal;
mod words;

pub use app::{App, Effect, Point};
pub use keys::{Key, parse};
pub use look::Look;
pub use screen::{draw, screen};
pub use terminal::{Trouble, show};
