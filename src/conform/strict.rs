//! The recording beside the events that the model tells: in step, every field, up to the first difference.

use serde_json::Value;

use super::assertions;
use super::ledger::{Ledger, Recorded, difference};
use super::told::{Listener, Told};

/// Fields that older recordings do not have, by event: absent, they are not compared.
const YOUNGER: [(&str, &str); 2] = [("donate", "tainted"), ("end", "stats.donate_bad_root")];

/// Compares as the model tells.
#[derive(Debug)]
pub struct Strict<'l, 'a>(pub &'l mut Ledger<'a>);

impl Strict<'_, '_> {
    /// The model is through: nothing may be left.
    pub fn end(&mut self) {
        if self.0.is_over() {
            return;
        }
        if let Some(left) = self.0.pop() {
            let kind = left.kind.clone().into();
            self.0.differ(&left, "ev", kind, Value::Null, None);
        }
    }

    /// States in the tree that are wrong come in the order in which the recording walked the tree, which says nothing
    /// of the scheduler: those that follow each other are put into one order.
    fn sort_tree(&mut self, first: Recorded) -> Option<Recorded> {
        let mut all = vec![first];
        while let Some(next) = self.0.pop() {
            if next.kind != "tree_mismatch" {
                self.0.put_back(vec![next]);
                break;
            }
            all.push(next);
        }
        let number = |event: &Recorded, name: &str| event.fields.get(name).and_then(Value::as_u64);
        all.sort_by_key(|event| (number(event, "label"), number(event, "slot"), number(event, "n")));
        self.0.put_back(all);
        self.0.pop()
    }

    fn compare(&mut self, told: &Told) {
        let mut next = self.0.pop();
        if let Some(first) = next.take_if(|event| event.kind == "tree_mismatch" && told.kind == "tree_mismatch") {
            next = if self.0.compared.contains_key("tree_mismatch") { Some(first) } else { self.sort_tree(first) };
        }
        let Some(mut recorded) = next else {
            if self.0.trouble.is_none() {
                self.0.ran_out(told);
            }
            return;
        };
        let kind = recorded.kind.clone();
        if kind == "assert" {
            assertions::name(&mut recorded.fields);
        }
        if kind != told.kind {
            return self.0.differ(&recorded, "ev", kind.into(), told.kind.into(), Some(told));
        }
        if recorded.turn != told.turn {
            return self.0.differ(&recorded, "i", (recorded.turn + 1).into(), (told.turn + 1).into(), Some(told));
        }
        for (name, value) in &told.fields {
            match recorded.fields.get(*name) {
                None if YOUNGER.contains(&(told.kind, name)) => self.0.leave(format!("{}.{name}", told.kind), 1),
                None => return self.0.differ(&recorded, name, Value::Null, value.clone(), Some(told)),
                Some(other) if *name == "stats" => {
                    if let Some((path, was, is)) = self.stats_differ(other, value) {
                        return self.0.differ(&recorded, &path, was, is, Some(told));
                    }
                }
                Some(other) => {
                    if let Some(place) = difference(name, other, value) {
                        return self.0.differ(&recorded, &place.path, place.recorded, place.modelled, Some(told));
                    }
                }
            }
        }
        if let Some(name) = recorded.fields.keys().find(|name| told.get(name).is_none()).cloned() {
            let value = recorded.fields[&name].clone();
            return self.0.differ(&recorded, &name, value, Value::Null, Some(told));
        }
        self.0.agree(recorded);
    }

    /// The totals: those that older recordings do not have are left out.
    fn stats_differ(&mut self, recorded: &Value, modelled: &Value) -> Option<(String, Value, Value)> {
        let (Value::Object(recorded), Value::Object(modelled)) = (recorded, modelled) else {
            return Some(("stats".into(), recorded.clone(), modelled.clone()));
        };
        let older = !recorded.contains_key("donate_bad_root");
        for name in recorded.keys().chain(modelled.keys()) {
            if older && name.starts_with("donate_bad_root") {
                self.0.leave(format!("end.stats.{name}"), 1);
                continue;
            }
            let (was, is) = (recorded.get(name), modelled.get(name));
            if was != is {
                let shown = |value: Option<&Value>| value.cloned().unwrap_or(Value::Null);
                return Some((format!("stats.{name}"), shown(was), shown(is)));
            }
        }
        None
    }
}

impl Listener for Strict<'_, '_> {
    fn told(&mut self, event: Told) {
        if !self.0.is_over() {
            self.compare(&event);
        }
    }
}
