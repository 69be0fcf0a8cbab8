//! The `engine` block of a setup as names and values: the fields of the engine, and the numeric state.

use crate::model::{Engine, EngineField, FieldValue, Setup, Ssm};

/// A value of the `engine` block.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Of an engine field.
    Engine(FieldValue),
    /// Of `state`.
    State(Option<Ssm>),
}

/// The field behind which `state` is written.
const BEFORE_STATE: &str = "spec";

/// Every field but `release`, in the order of the documentation.
pub(super) fn fields(setup: &Setup) -> Vec<(&'static str, Value)> {
    listed(setup, |_| true, true)
}

/// Fields that are not as the preset of the engine's release has them.
pub(super) fn deviations(setup: &Setup) -> Vec<(&'static str, Value)> {
    let preset = Engine::preset(setup.engine.release);
    listed(setup, |field| !field.is_same(&setup.engine, &preset), setup.state.is_some())
}

fn listed(setup: &Setup, is_listed: impl Fn(&EngineField) -> bool, state: bool) -> Vec<(&'static str, Value)> {
    let mut list = Vec::with_capacity(Engine::FIELDS.len() + 1);
    for field in Engine::FIELDS {
        if is_listed(field) {
            list.push((field.name, Value::Engine((field.value)(&setup.engine))));
        }
        if state && field.name == BEFORE_STATE {
            list.push(("state", Value::State(setup.state)));
        }
    }
    list
}

/// Names of the fields in which releases differ.
pub(super) fn release_differences() -> Vec<&'static str> {
    Engine::FIELDS.iter().filter(|field| field.differs_by_release()).map(|field| field.name).collect()
}
