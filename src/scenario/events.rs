//! The `events` block: what is scripted to happen in a turn.

use super::Diagnostic;
use super::limits::TURN_MAX;
use super::locate::Step;
use super::raw::{self, Act};
use super::requests::{Index, unknown_request};
use super::source::Source;
use crate::model::{Engine, Event};

/// Checks each event against the engine and the requests.
pub(super) fn validate(
    source: &Source<'_>,
    engine: &Engine,
    names: &[String],
    raw: &[raw::Event],
) -> Result<Vec<Event>, Diagnostic> {
    if raw.is_empty() {
        return Ok(Vec::new());
    }
    let index = Index::new(names);
    let mut events = Vec::with_capacity(raw.len());
    for (at, event) in raw.iter().enumerate() {
        let field = |name| [Step::Field("events"), Step::Item(at), Step::Field(name)];
        let (Act::Abort(id) | Act::Retract(id) | Act::FailAlloc(id)) = &event.act;
        if event.turn > TURN_MAX {
            let message = format!("turn {} is beyond any run", event.turn);
            return Err(source.at(&field("turn"), message, format!("give a turn of at most {TURN_MAX}")));
        }
        let Some(req) = index.get(id) else {
            let [events, item, act] = field("do");
            return Err(unknown_request(source, &[events, item, act, Step::Item(0)], id, names));
        };
        let turn = event.turn;
        let event = match &event.act {
            Act::Abort(_) => Event::Abort { turn, req },
            Act::Retract(_) => Event::Retract { turn, req },
            Act::FailAlloc(_) => Event::FailAlloc { turn, req },
        };
        if matches!(event, Event::FailAlloc { .. }) && !engine.track_policy().second_slot_on_demand {
            let message = format!("FailAlloc has nothing to refuse under the strategy {:?}", engine.strategy);
            let remedy =
                "only ExtraBufferLazy takes a slot on demand: set `strategy: ExtraBufferLazy`, or drop the event";
            return Err(source.at(&field("do"), message, remedy));
        }
        events.push(event);
    }
    Ok(events)
}
