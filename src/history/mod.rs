//! One history of a setup as a setup without choices, and smaller variants of such a setup.
//!
//! A search answers questions that its scenario leaves open. A finding is kept as a scenario that leaves nothing open:
//! [`concrete()`] makes a script of one history, and [`smaller()`] lists candidates for shrinking it
//! (`docs/shrinking.md`). [`with_pattern()`] scripts the lookahead of one request. Owns setups only: callers decide
//! what is a finding and what a file can hold.

mod concrete;
mod happened;
mod measure;
mod pattern;
mod prompts;
mod smaller;
mod trace;

pub use concrete::{TurnsMax, concrete, concrete_while};
pub use measure::{Measure, measure};
pub use pattern::{ALL_MAX, Pattern, decode_steps, stand_ins, usual_first_step, with_pattern};
pub use smaller::smaller;
