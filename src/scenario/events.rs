//! The `events` block: what is scripted to happen in a turn.

use super::Diagnostic;
use super::limits::TURN_MAX;
use super::locate::PathStep;
use super::raw::{RawAct, RawEvent};
use super::requests::{RequestIndex, unknown_request};
use super::source::SourceText;
use crate::model::{Engine, Event};

/// Checks each event against the engine and the requests.
pub(super) fn validate(
    source: &SourceText<'_>,
    engine: &Engine,
    names: &[String],
    raw: &[RawEvent],
) -> Result<Vec<Event>, Diagnostic> {
    if raw.is_empty() {
        return Ok(Vec::new());
    }
    let index = RequestIndex::new(names);
    let mut events = Vec::with_capacity(raw.len());
    for (at, event) in raw.iter().enumerate() {
        let field = |name| [PathStep::Field("events"), PathStep::Item(at), PathStep::Field(name)];
        let (RawAct::Abort(id) | RawAct::Retract(id) | RawAct::FailAlloc(id)) = &event.act;
        if event.turn > TURN_MAX {
            let message = format!("turn {} is beyond any run", event.turn);
            return Err(source.at(&field("turn"), message, format!("give a turn of at most {TURN_MAX}")));
        }
        let Some(req) = index.get(id) else {
            let [events, item, act] = field("do");
            return Err(unknown_request(source, &[events, item, act, PathStep::Item(0)], id, names));
        };
        let turn = event.turn;
        let event = match &event.act {
            RawAct::Abort(_) => Event::Abort { turn, req },
            RawAct::Retract(_) => Event::Retract { turn, req },
            RawAct::FailAlloc(_) => Event::FailAlloc { turn, req },
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
