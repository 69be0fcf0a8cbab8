//! Requests as columns: their steps by batch, the boundaries among them, their lives and donations.

use serde::Serialize;

use crate::scene::{DonationMark, RequestLife, RequestStep};

use super::column::{Column, column, deltas, ns, or_none, place, slot};
use super::facts::{check, class, finish, mode, passed};

/// Common columns of the steps of one batch, which follow each other.
#[derive(Serialize)]
pub(super) struct GroupsJson {
    n: usize,
    batch: Column,
    rows: Column,
    prepare: Column,
    forward: Column,
    result: Column,
}

#[derive(Serialize)]
pub(super) struct StepsJson {
    n: usize,
    req: Column,
    mode: Column,
    k: Column,
    /// Tokens that the step adds.
    adds: Column,
    /// Committed at prepare, less k.
    prepared: Column,
    /// Committed at the result, less that at prepare, plus 1; 0 if the result was not processed.
    result: Column,
    /// L, plus 1 if it is not negative; 0 if there is no L.
    lookahead: Column,
    check: Column,
    outputs: Column,
    skipped: Column,
}

/// Marks: steps with a boundary or a decision.
#[derive(Serialize)]
pub(super) struct MarksJson {
    n: usize,
    d_step: Column,
    due_slot: Column,
    due_len: Column,
    fired: Column,
    label: Column,
    slot: Column,
    class: Column,
}

#[derive(Serialize)]
pub(super) struct LivesJson {
    n: usize,
    arrived: Column,
    seen: Column,
    prompt: Column,
    hit: Column,
    outputs: Column,
    finish: Column,
    finished: Column,
    retracted: Column,
}

#[derive(Serialize)]
pub(super) struct DonationsJson {
    n: usize,
    req: Column,
    label: Column,
    key: Column,
    slot: Column,
    span: Column,
    finished: Column,
    existed: Column,
    right: Column,
}

pub(super) fn groups(of: &[RequestStep]) -> GroupsJson {
    let same = |a: &RequestStep, b: &RequestStep| {
        (a.batch, a.prepare, a.forward, a.result) == (b.batch, b.prepare, b.forward, b.result)
    };
    let groups: Vec<&[RequestStep]> = of.chunk_by(same).collect();
    GroupsJson {
        n: groups.len(),
        batch: column(&groups, |of| of[0].batch.0.into()),
        rows: column(&groups, |of| of.len() as i64),
        prepare: column(&groups, |of| place(of[0].prepare)),
        forward: column(&groups, |of| place(of[0].forward)),
        result: column(&groups, |of| place(of[0].result)),
    }
}

pub(super) fn steps(of: &[RequestStep]) -> StepsJson {
    let committed = |of: &RequestStep| i64::from(of.committed_at_prepare);
    StepsJson {
        n: of.len(),
        req: column(of, |of| of.req.0.into()),
        mode: column(of, |of| mode(of.mode)),
        k: column(of, |of| of.k.into()),
        adds: column(of, |of| i64::from(of.k) - i64::from(of.from)),
        prepared: column(of, |of| committed(of) - i64::from(of.k)),
        result: column(of, |of| of.committed_at_result.map_or(0, |live| i64::from(live) - committed(of) + 1)),
        lookahead: column(of, |of| {
            of.lookahead.map_or(0, |lookahead| if lookahead < 0 { lookahead } else { lookahead + 1 })
        }),
        check: column(of, |of| check(of.check)),
        outputs: column(of, |of| or_none(of.outputs)),
        skipped: column(of, |of| of.skipped.map_or(0, passed)),
    }
}

pub(super) fn marks(of: &[RequestStep]) -> MarksJson {
    let worth = |of: &RequestStep| of.due.is_some() || of.fired.is_some() || of.class.is_some();
    let of: Vec<(usize, &RequestStep)> = of.iter().enumerate().filter(|(_, of)| worth(of)).collect();
    let of = &of[..];
    MarksJson {
        n: of.len(),
        d_step: deltas(of, |of| of.0 as i64),
        due_slot: column(of, |of| slot(of.1.due.map(|due| due.0))),
        due_len: column(of, |of| or_none(of.1.due.map(|due| due.1))),
        fired: column(of, |of| of.1.fired.is_some().into()),
        label: column(of, |of| or_none(of.1.fired.and_then(|fired| fired.0))),
        slot: column(of, |of| slot(of.1.fired.and_then(|fired| fired.1))),
        class: column(of, |of| of.1.class.map_or(-1, class)),
    }
}

pub(super) fn lives(of: &[RequestLife]) -> LivesJson {
    LivesJson {
        n: of.len(),
        arrived: column(of, |of| of.arrived_ns.map_or(-1, ns)),
        seen: column(of, |of| or_none(of.seen)),
        prompt: column(of, |of| of.prompt_len.into()),
        hit: column(of, |of| of.hit.into()),
        outputs: column(of, |of| of.outputs.into()),
        finish: column(of, |of| of.finish.map_or(-1, finish)),
        finished: column(of, |of| of.finished_ns.map_or(-1, ns)),
        retracted: column(of, |of| of.retracted.into()),
    }
}

pub(super) fn donations(of: &[DonationMark]) -> DonationsJson {
    DonationsJson {
        n: of.len(),
        req: column(of, |of| of.req.0.into()),
        label: column(of, |of| of.label.into()),
        key: column(of, |of| of.key_len.into()),
        slot: column(of, |of| of.slot.0.into()),
        span: column(of, |of| of.span as i64),
        finished: column(of, |of| of.finished.into()),
        existed: column(of, |of| of.existed.into()),
        right: column(of, |of| of.right.into()),
    }
}
