//! The codes of enums in the data of the page with their words, and the KL divergence of cache hits.
//!
//! A code is a position in a list of words; [`columns`](super::columns) writes codes.

use serde::Serialize;

use crate::judge::{Boundary, Class};
use crate::numeric::{BEFORE, LIMIT, Severity};
use crate::record::{BoundaryCheck, FinishKind, ForwardMode, Phase, SharedField, SkipReason};
use crate::report::name;
use crate::scene::{Fit, Lane, Work};

/// The words behind the codes.
#[derive(Serialize)]
pub(super) struct PageWords {
    lanes: [&'static str; 3],
    works: [&'static str; 11],
    modes: [&'static str; 4],
    checks: [&'static str; 4],
    classes: [&'static str; 7],
    fits: [&'static str; 4],
    fields: [&'static str; SharedField::ALL.len()],
    finishes: [&'static str; 3],
    /// Why a result was skipped; the first code means that it was not.
    passed: [&'static str; 3],
}

const MODES: [ForwardMode; 4] = [ForwardMode::Extend, ForwardMode::Decode, ForwardMode::Mixed, ForwardMode::Verify];
/// Every class, by its code.
pub(super) const CLASSES: [Class; 7] =
    [Class::Agree, Class::Settled, Class::Early, Class::WrongSlot, Class::WrongLabel, Class::Missed, Class::Repeat];

impl PageWords {
    pub(super) fn new() -> PageWords {
        let phases = [Phase::Ingest, Phase::Plan, Phase::Prepare, Phase::Launch, Phase::Result].map(name::phase);
        let modes = MODES.map(name::mode);
        let mut works = ["wait"; 11];
        works[..5].copy_from_slice(&phases);
        works[6..10].copy_from_slice(&modes);
        works[10] = "copy";
        PageWords {
            lanes: [Lane::Cpu, Lane::Forward, Lane::Copy].map(name::lane_key),
            works,
            modes,
            checks: [BoundaryCheck::None, BoundaryCheck::Mask, BoundaryCheck::Recompute, BoundaryCheck::MaskLost]
                .map(name::check),
            classes: CLASSES.map(name::class),
            fits: ["none", "right", "exposed", "wrong"],
            fields: SharedField::ALL.map(name::field),
            finishes: [FinishKind::Token, FinishKind::Length, FinishKind::Abort].map(name::finish),
            passed: ["", name::skip_reason(SkipReason::Ended), name::skip_reason(SkipReason::Retracted)],
        }
    }
}

pub(super) fn lane(of: Lane) -> i64 {
    match of {
        Lane::Cpu => 0,
        Lane::Forward => 1,
        Lane::Copy => 2,
        Lane::Schedule => unreachable!("a scene has no span on the schedule stream"),
    }
}

pub(super) fn work(of: Work) -> i64 {
    match of {
        Work::Phase(Phase::Ingest) => 0,
        Work::Phase(Phase::Plan) => 1,
        Work::Phase(Phase::Prepare) => 2,
        Work::Phase(Phase::Launch) => 3,
        Work::Phase(Phase::Result) => 4,
        Work::Wait => 5,
        Work::Forward(of) => 6 + mode(of),
        Work::ResultCopy => 10,
        Work::Cpu => unreachable!("the machine does all CPU work in phases"),
        Work::StateCopy => unreachable!("a scene has no span for a state copy"),
    }
}

pub(super) fn mode(of: ForwardMode) -> i64 {
    match of {
        ForwardMode::Extend => 0,
        ForwardMode::Decode => 1,
        ForwardMode::Mixed => 2,
        ForwardMode::Verify => 3,
    }
}

pub(super) fn check(of: BoundaryCheck) -> i64 {
    match of {
        BoundaryCheck::None => 0,
        BoundaryCheck::Mask => 1,
        BoundaryCheck::Recompute => 2,
        BoundaryCheck::MaskLost => 3,
    }
}

pub(super) fn class(of: Class) -> i64 {
    match of {
        Class::Agree => 0,
        Class::Settled => 1,
        Class::Early => 2,
        Class::WrongSlot => 3,
        Class::WrongLabel => 4,
        Class::Missed => 5,
        Class::Repeat => 6,
    }
}

/// The number of rows of each class.
pub(super) fn outcomes(rows: &[Boundary]) -> [u64; CLASSES.len()] {
    CLASSES.map(|class| rows.iter().filter(|row| row.class == class).count() as u64)
}

pub(super) fn fit(of: Fit) -> i64 {
    match of {
        Fit::None => 0,
        Fit::Right => 1,
        Fit::Exposed => 2,
        Fit::Wrong => 3,
    }
}

pub(super) fn finish(of: FinishKind) -> i64 {
    match of {
        FinishKind::Token => 0,
        FinishKind::Length => 1,
        FinishKind::Abort => 2,
    }
}

pub(super) fn passed(of: SkipReason) -> i64 {
    match of {
        SkipReason::Ended => 1,
        SkipReason::Retracted => 2,
    }
}

/// The KL divergence of cache hits in nats, and the limits of the public test.
#[derive(Serialize)]
pub(super) struct PageKlJson {
    limit: f64,
    before: f64,
    hits: Vec<PageHitJson>,
}

#[derive(Serialize)]
struct PageHitJson {
    request: String,
    turn: u32,
    label: u32,
    right: bool,
    outputs: u32,
    avg: Option<f64>,
    max: Option<f64>,
    first_difference: Option<u32>,
}

impl PageKlJson {
    pub(super) fn new(severity: &Severity, names: &[String]) -> PageKlJson {
        let hits = severity.hits.iter().map(|hit| PageHitJson {
            request: name::request(names, hit.req),
            turn: hit.turn,
            label: hit.label,
            right: hit.source_right,
            outputs: hit.positions,
            avg: hit.avg(),
            max: hit.max(),
            first_difference: hit.first_difference,
        });
        PageKlJson { limit: LIMIT, before: BEFORE, hits: hits.collect() }
    }
}
