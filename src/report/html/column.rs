//! A column of numbers in its shortest form.
//!
//! -1 stands for no value. A column of equal values is one number. A column of long runs has each value once, with its
//! number of repeats.

use serde::Serialize;

use crate::record::{ReqId, SlotId};

/// A column of numbers.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Column {
    Same(i64),
    Runs { runs: Vec<i64> },
    Each(Vec<i64>),
}

pub(super) fn column<T>(rows: &[T], of: impl Fn(&T) -> i64) -> Column {
    short(rows.iter().map(of).collect())
}

/// The shortest form of a column.
pub(super) fn short(all: Vec<i64>) -> Column {
    let runs: Vec<&[i64]> = all.chunk_by(|a, b| a == b).collect();
    match runs.as_slice() {
        [one] => Column::Same(one[0]),
        runs if !runs.is_empty() && 3 * runs.len() < all.len() => {
            Column::Runs { runs: runs.iter().flat_map(|run| [run[0], run.len() as i64]).collect() }
        }
        _ => Column::Each(all),
    }
}

pub(super) fn deltas<T>(rows: &[T], of: impl Fn(&T) -> i64) -> Column {
    let mut last = 0;
    let all = rows.iter().map(|row| {
        let value = of(row);
        value - std::mem::replace(&mut last, value)
    });
    short(all.collect())
}

pub(super) fn or_none(of: Option<impl Into<i64>>) -> i64 {
    of.map_or(-1, Into::into)
}

pub(super) fn ns(of: u64) -> i64 {
    i64::try_from(of).expect("virtual time ends before three centuries")
}

pub(super) fn place(of: Option<usize>) -> i64 {
    of.map_or(-1, |index| index as i64)
}

pub(super) fn slot(of: Option<SlotId>) -> i64 {
    or_none(of.map(|slot| slot.0))
}

pub(super) fn req(of: Option<ReqId>) -> i64 {
    or_none(of.map(|req| req.0))
}
