//! Helpers shared by the integration tests.
#![allow(dead_code, reason = "each test file uses some of them")]

pub mod draws;
pub mod planted;
pub mod setups;
pub mod tape;
