//! The program as a user sees it: its commands, what they print, refuse and write, and the pages that describe them.
//!
//! Tests run in the order of their names: `binary::a_determinism_check_comes_first` before all others.

#[path = "../common/mod.rs"]
mod common;

mod binary;
mod browser;
mod color;
mod conform;
mod cost;
mod docs;
mod examples;
mod expect_every;
mod expect_numbers;
mod explore;
mod fail_on;
mod files;
mod hostile;
mod hostile_text;
mod jitter;
mod numbers;
mod observations;
mod packed;
mod page;
mod pages;
mod reference;
mod sayings;
mod signals;
mod trace;
mod tutorial;
