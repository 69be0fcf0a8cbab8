//! An event as the model tells it, in the words of a recording.

use serde_json::{Map, Value};

use crate::record::Phase;

/// One event of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedEvent {
    /// The loop turn, counted from 0.
    pub turn: u32,
    /// The CPU phase that it was told in.
    pub phase: Phase,
    /// Its kind: `ev` of a recording.
    pub kind: &'static str,
    /// Its fields but `i` and `ev`.
    pub fields: Vec<(&'static str, Value)>,
}

impl EncodedEvent {
    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// The event as a recording would have it.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("i".into(), (self.turn + 1).into());
        map.insert("ev".into(), self.kind.into());
        for (name, value) in &self.fields {
            map.insert((*name).to_string(), value.clone());
        }
        Value::Object(map)
    }
}

/// Who hears the events of a model, in order.
pub trait Listener {
    /// One event.
    fn told(&mut self, event: EncodedEvent);

    /// Whether nothing more need be told.
    fn is_over(&self) -> bool {
        false
    }
}

impl Listener for Vec<EncodedEvent> {
    fn told(&mut self, event: EncodedEvent) {
        self.push(event);
    }
}
