//! overlapsim (contracts under construction)
#![allow(missing_docs)]
pub mod cli;
pub mod command;
pub mod engine;
pub mod judge;
pub mod model;
pub mod record;
pub mod report;
pub mod rule;
pub mod runner;
pub mod scenario;
pub mod workload;
