//! The machine and its inputs: the loop under any timing, recordings of the real scheduler, scenario files, traces, generated setups,
//! snapshots of runs; and the allowed imports between modules.

#[path = "../common/mod.rs"]
mod common;

mod encoding;
mod facts;
mod generate;
mod generate_wide;
mod history;
mod imports;
mod kl;
mod kl_command;
mod loop_properties;
mod paired;
mod recorded;
mod recordings;
mod releases;
mod rule_rows;
mod scenario_errors;
mod snapshots;
mod traces;
