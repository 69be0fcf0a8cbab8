//! Helpers shared by the integration tests.
#![allow(dead_code, reason = "each program uses some of them")]

pub mod browser;
pub mod cases;
pub mod draws;
pub mod folder;
pub mod planted;
pub mod reproducers;
pub mod setups;
pub mod skip;
pub mod tape;
