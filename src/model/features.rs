//! What the machine can do beyond whole prefills and plain decode steps, as a type: a machine built without a feature
//! has no branch for it.

use super::setup::{Event, Setup, SlotFree};

/// The features that a machine is built with. A machine without one must not be given a setup that asks for it.
pub trait Features {
    /// Prompts prefilled in chunks.
    const CHUNKS: bool;
    /// Decode rows that ride along in prefill batches.
    const MIXED: bool;
    /// Aborts and forced retractions.
    const EVENTS: bool;
    /// Speculative decoding.
    const SPEC: bool;
    /// Slots of finished requests that are freed after the step in flight.
    const DEFERRED_FREE: bool;
    /// The comparison of what results read with what their prepare saw.
    const SKEW: bool;
    /// What a witness is told of fields and arrays.
    const WITNESS: bool;

    /// Whether a machine with these features can run `setup`.
    fn suffice(setup: &Setup) -> bool {
        let engine = &setup.engine;
        (Self::CHUNKS || engine.chunked_prefill_size.is_none())
            && (Self::MIXED || !engine.mixed_chunk)
            && (Self::EVENTS || !setup.events.iter().any(asks))
            && (Self::SPEC || engine.spec.is_none())
            && (Self::DEFERRED_FREE || engine.slot_free != SlotFree::Deferred)
    }
}

fn asks(event: &Event) -> bool {
    matches!(event, Event::Abort { .. } | Event::Retract { .. })
}

/// Every feature: what runs are made with.
#[derive(Clone, Copy, Debug)]
pub struct Every;

impl Features for Every {
    const CHUNKS: bool = true;
    const MIXED: bool = true;
    const EVENTS: bool = true;
    const SPEC: bool = true;
    const DEFERRED_FREE: bool = true;
    const SKEW: bool = true;
    const WITNESS: bool = true;
}

/// None of them: what benches compare a run with, to measure what switched-off features cost.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Features for Plain {
    const CHUNKS: bool = false;
    const MIXED: bool = false;
    const EVENTS: bool = false;
    const SPEC: bool = false;
    const DEFERRED_FREE: bool = false;
    const SKEW: bool = false;
    const WITNESS: bool = false;
}
