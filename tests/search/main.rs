//! The searches: `check`, `fuzz`, `merge` and `run --choices`, what they find and what they print.

#[path = "../common/mod.rs"]
mod common;

mod check;
mod choices;
mod coverage;
mod features;
mod findings;
mod futures;
mod fuzz;
mod idle;
mod literal;
mod named;
mod planted;
mod reduction;
mod reproducers;
mod slots;
mod small;
mod stop;
mod threads;
mod tools;
