//! The judge and the drawings of its findings: records written by hand, planted wrong rules, goals, races, the graph, the scene.

#[path = "../common/mod.rs"]
mod common;

mod goals;
mod graph;
mod graph_cuts;
mod judge_races;
mod planted;
mod records;
mod scene;
mod second_judge;
mod session;
mod shrink;
