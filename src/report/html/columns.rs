//! A scene as columns of numbers, compact enough for a page of some thousand turns.
//!
//! `data.js` reads these columns. Times are in ns, lengths in tokens, enums are codes ([`facts`](super::facts)), and -1
//! stands for no value. `d_` columns hold differences from row to row. [`Column`] has the short forms of a column.

use serde::Serialize;

use crate::record::{Owner, SharedField};
use crate::scene::{Arrow, Scene, SlotSegment, Span, TurnAt};

use super::column::{Column, column, deltas, ns, or_none, place, req};
use super::facts::{fit, lane, work};
use super::rows::{self, DonationsJson, GroupsJson, LivesJson, MarksJson, StepsJson};

/// A scene, ready to be serialized.
#[derive(Serialize)]
pub(super) struct SceneJson {
    end: u64,
    turns: TurnsJson,
    spans: SpansJson,
    groups: GroupsJson,
    steps: StepsJson,
    marks: MarksJson,
    segments: SegmentsJson,
    arrows: ArrowsJson,
    lives: LivesJson,
    donations: DonationsJson,
    places: Vec<i64>,
}

#[derive(Serialize)]
struct TurnsJson {
    n: usize,
    d_turn: Column,
    d_at: Column,
    rows: Column,
    used: Column,
    cached: Column,
    waiting: Column,
}

#[derive(Serialize)]
struct SpansJson {
    n: usize,
    lane: Column,
    work: Column,
    batch: Column,
    d_turn: Column,
    d_start: Column,
    dur: Column,
}

#[derive(Serialize)]
struct SegmentsJson {
    n: usize,
    slot: Column,
    d_turn: Column,
    d_start: Column,
    dur: Column,
    /// 0 none, 1 spare, 2 active, 3 track, 4 request, 5 tree.
    owner: Column,
    owner_req: Column,
    owner_idx: Column,
    holds: Column,
    writer: Column,
    label: Column,
    fit: Column,
    /// When the last write lands, from `start`; -1 if before it.
    lands: Column,
}

#[derive(Serialize)]
struct ArrowsJson {
    n: usize,
    field: Column,
    /// The writer, in spans back from the reader; -1 if unknown.
    back: Column,
    d_to: Column,
    d_req: Column,
    rows: Column,
    newer: Column,
    changed: Column,
}

impl SceneJson {
    pub(super) fn new(scene: &Scene) -> SceneJson {
        SceneJson {
            end: scene.end_ns,
            turns: turns(&scene.turns),
            spans: spans(&scene.spans),
            groups: rows::groups(&scene.steps),
            steps: rows::steps(&scene.steps),
            marks: rows::marks(&scene.steps),
            segments: segments(&scene.segments),
            arrows: arrows(&scene.arrows),
            lives: rows::lives(&scene.lives),
            donations: rows::donations(&scene.donations),
            places: scene.places.iter().map(|&at| place(at)).collect(),
        }
    }
}

fn turns(of: &[TurnAt]) -> TurnsJson {
    TurnsJson {
        n: of.len(),
        d_turn: deltas(of, |of| of.turn.into()),
        d_at: deltas(of, |of| ns(of.at_ns)),
        rows: column(of, |of| of.rows.into()),
        used: column(of, |of| of.slots_used.into()),
        cached: column(of, |of| of.slots_cached.into()),
        waiting: column(of, |of| of.waiting.into()),
    }
}

fn spans(of: &[Span]) -> SpansJson {
    SpansJson {
        n: of.len(),
        lane: column(of, |of| lane(of.lane)),
        work: column(of, |of| work(of.work)),
        batch: column(of, |of| or_none(of.batch.map(|batch| batch.0))),
        d_turn: deltas(of, |of| of.turn.into()),
        d_start: deltas(of, |of| ns(of.start_ns)),
        dur: column(of, |of| ns(of.end_ns) - ns(of.start_ns)),
    }
}

fn segments(of: &[SlotSegment]) -> SegmentsJson {
    SegmentsJson {
        n: of.len(),
        slot: column(of, |of| of.slot.0.into()),
        d_turn: deltas(of, |of| of.turn.into()),
        d_start: deltas(of, |of| ns(of.start_ns)),
        dur: column(of, |of| ns(of.end_ns) - ns(of.start_ns)),
        owner: column(of, |of| owner(of.owner).0),
        owner_req: column(of, |of| owner(of.owner).1),
        owner_idx: column(of, |of| owner(of.owner).2),
        holds: column(of, |of| or_none(of.holds)),
        writer: column(of, |of| req(of.writer)),
        label: column(of, |of| or_none(of.label)),
        fit: column(of, |of| fit(of.fit)),
        lands: column(of, |of| of.lands_ns.map_or(-1, |lands| ns(lands) - ns(of.start_ns))),
    }
}

/// The code of an owner, its request and its track index.
fn owner(of: Option<Owner>) -> (i64, i64, i64) {
    match of {
        None => (0, -1, -1),
        Some(Owner::Spare) => (1, -1, -1),
        Some(Owner::Active(req)) => (2, req.0.into(), -1),
        Some(Owner::Track(req, index)) => (3, req.0.into(), index.into()),
        Some(Owner::Request(req)) => (4, req.0.into(), -1),
        Some(Owner::Tree) => (5, -1, -1),
    }
}

fn arrows(of: &[Arrow]) -> ArrowsJson {
    let field =
        |of: SharedField| SharedField::ALL.iter().position(|&field| field == of).expect("all fields are listed") as i64;
    ArrowsJson {
        n: of.len(),
        field: column(of, |of| field(of.field)),
        back: column(of, |of| of.from.map_or(-1, |from| of.to as i64 - from as i64)),
        d_to: deltas(of, |of| of.to as i64),
        d_req: deltas(of, |of| of.req.0.into()),
        rows: column(of, |of| of.rows.into()),
        newer: column(of, |of| of.newer.into()),
        changed: column(of, |of| of.changed.into()),
    }
}
