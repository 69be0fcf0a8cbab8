//! A deterministic discrete-event simulator of an LLM server's *overlap scheduler*.
//!
//! While the GPU runs batch N, the scheduler prepares and launches batch N+1, and only then processes the result of N,
//! over request objects that all batches share. This crate replays any such timing, runs the real bookkeeping rules
//! that decide which recurrent (Mamba) state is cached under which prefix length, and lets a judge compare every
//! decision with what the forwards really wrote.
//!
//! Data goes one way: a [`scenario`] becomes a validated [`model::Setup`]; the [`model::Machine`] takes choices in
//! and gives facts out ([`record`]); the [`judge`] sees the facts alone; [`report`] renders what it says. [`runner`]
//! puts them together and is the only place that names a concrete [`rule`].
//!
//! ```
//! use overlapsim::{judge::Verdict, runner, scenario};
//!
//! let text = r#"(
//!     engine: (track_interval: 4, mamba_chunk: 4),
//!     requests: [
//!         (id: "a", prompt: Fresh(1), stop: Token(4)),
//!         // Seen once "a" has prepared step 4, so that its prefill takes the turn of step 5.
//!         (id: "b", arrive: Before("a", 5), prompt: Fresh(1), stop: Length(1)),
//!     ],
//! )"#;
//! let scenario = scenario::parse("example", text, ".".as_ref(), &runner::rule_names()).expect("a valid scenario");
//! let judge = |rule| runner::run(&scenario.setup, runner::rule(rule).unwrap(), 0, runner::Keep::default(), None);
//!
//! assert_eq!(judge("completed-mask").judgement.verdict, Verdict::Clean);
//! let corrupt = judge("mask-lookahead").judgement;
//! assert_eq!(corrupt.verdict, Verdict::Corrupt);
//! assert_eq!(corrupt.findings[0].reason, "label 4, but no forward has written the slot");
//! ```

#[macro_use]
pub mod engine;
pub mod escape;
pub mod packed;
pub mod reading;
pub mod record;

pub mod model;
pub mod rule;

pub mod judge;
pub mod numeric;

pub mod metrics;
pub mod scene;

pub mod scenario;
pub mod workload;

pub mod conform;
pub mod report;

pub mod graph;
pub mod search;

pub mod history;
pub mod runner;
pub mod shrink;

pub mod tui;

pub mod cli;
pub mod command;
