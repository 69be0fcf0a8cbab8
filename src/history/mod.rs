//! What happened in a run, as a setup of its own, and how such a setup is made smaller.
//!
//! A search answers questions that its scenario leaves open. What it finds is worth keeping only as a scenario that
//! leaves nothing open: [`concrete()`] writes one history down as a script, [`smaller()`] lists what might do with less of it
//! (`docs/shrinking.md`). [`with_pattern()`] scripts the lookahead of one request. Owns setups only: what is a finding, and
//! what a file may say, is asked of others.

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
