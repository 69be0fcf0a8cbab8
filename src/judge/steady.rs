//! Rows of a decode batch that go on as they are, step after step: what is told of them is put down by column and looked at later.
//!
//! Owns which rows lag behind in their windows, tokens, slots and outputs, and by what. Refuses to make a difference: whoever
//! could look at one of them lets it catch up first. Looks at such a request or slot, changes of its outputs, and its slot's
//! change of hands are assertions, so that who forgets ends the judge and not with another judgement.

mod leave;
mod result;
mod step;

pub(super) use leave::names_req;

use crate::record::{BatchId, Quiet, ReqId, SlotId, Token, same_reqs};

use super::window::Window;

/// Batches of fewer rows are judged row by row.
const ROWS_MIN: usize = if cfg!(test) { 1 } else { 8 };
/// Steps after which all rows catch up.
const STEPS_MAX: usize = if cfg!(test) { 5 } else { 32 };
/// Rows that catch up together: their tokens of one step lie in a cache line.
const TOGETHER: usize = 16;
/// Rows that are looked at together for one that does not go on.
const LOOK: usize = if cfg!(test) { 2 } else { 64 };

/// What is told of steps: requests, lengths, slots and tokens.
pub(super) type Told<'a> = (&'a [ReqId], &'a [u32], &'a [(SlotId, Option<SlotId>)], &'a [Token]);

/// The rows of the decode batch stepped last, some of which lag.
#[derive(Clone, Debug, Default)]
pub(super) struct Steady {
    /// By row: requests in order, their active slots, and the lengths that they have reached.
    reqs: Vec<ReqId>,
    slots: Vec<SlotId>,
    ks: Vec<u32>,
    /// By row: whether it lags.
    lags: Vec<bool>,
    /// By row that lags: the first step that it has not caught up on.
    since: Vec<u32>,
    /// By row that lags: the outputs that were told.
    outputs: Vec<u32>,
    /// The rows that do not lag, in order.
    others: Vec<u32>,
    /// The tokens sampled, by step and row.
    tokens: Vec<Token>,
    /// How far the tokens of two steps are apart: at least as many as there are rows.
    stride: usize,
    /// The launch of each step.
    launches: Vec<u32>,
    /// The window of every row that lags, as if it had reached `k`.
    window: Window,
    k: u32,
    /// The result that is being told.
    result: Option<Passing>,
    /// No rows: memory for those that leave.
    moved: Vec<u32>,
}

/// A result of which some rows were told.
#[derive(Clone, Debug)]
struct Passing {
    batch: BatchId,
    /// The window of a row that was told, and what it knew of the row.
    window: Window,
    k: u32,
    lookahead: u32,
    /// The rows before this one were told.
    rows: usize,
}

impl Steady {
    /// Whether rows are these, all of them alive as they lag.
    fn all_lag(&self, reqs: &[ReqId]) -> bool {
        self.others.is_empty() && same_reqs(&self.reqs, reqs)
    }

    /// What to add to a length in the common window for that of a row.
    fn shift(&self, row: usize) -> u32 {
        self.ks[row].wrapping_sub(self.k)
    }

    fn put<T: Copy>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) {
        list.clear();
        list.extend(items);
    }

    /// Other rows, of which none lags yet.
    fn begin(&mut self, reqs: &[ReqId], ks: &[u32], slots: &[(SlotId, Option<SlotId>)]) {
        assert_eq!(self.lagging(), 0, "the rows before have caught up");
        Steady::put(&mut self.others, 0..reqs.len() as u32);
        Steady::put(&mut self.reqs, reqs.iter().copied());
        Steady::put(&mut self.ks, ks.iter().copied());
        Steady::put(&mut self.slots, slots.iter().map(|slots| slots.0));
        Steady::put(&mut self.lags, reqs.iter().map(|_| false));
        Steady::put(&mut self.since, reqs.iter().map(|_| 0));
        Steady::put(&mut self.outputs, reqs.iter().map(|_| 0));
        self.launches.clear();
        self.result = None;
        self.make_room();
    }

    /// Room for all rows at every step, and for some that may join them.
    fn make_room(&mut self) {
        let rows = self.reqs.len();
        assert!(self.launches.is_empty(), "what is there lies as it did before");
        if rows > self.stride {
            self.stride = rows + rows / 4 + 4;
            self.tokens.resize(self.stride * STEPS_MAX, 0);
        }
    }

    /// Rows behind those that are there, of which none lags yet.
    fn join(&mut self, reqs: &[ReqId], ks: &[u32], slots: &[(SlotId, Option<SlotId>)]) {
        let rows = self.reqs.len();
        self.reqs.extend_from_slice(&reqs[rows..]);
        // As if they went on as they did.
        self.ks.extend(ks[rows..].iter().map(|k| k.wrapping_sub(1)));
        self.slots.extend(slots[rows..].iter().map(|slots| slots.0));
        self.others.extend(rows as u32..reqs.len() as u32);
        self.lags.resize(reqs.len(), false);
        self.since.resize(reqs.len(), 0);
        self.outputs.resize(reqs.len(), 0);
    }

    /// No rows any more but the first ones; the others have caught up.
    fn cut(&mut self, rows: usize) {
        assert!(!self.lags[rows..].contains(&true), "who lags stays");
        self.others.retain(|&other| (other as usize) < rows);
        self.reqs.truncate(rows);
        self.ks.truncate(rows);
        self.slots.truncate(rows);
        self.lags.truncate(rows);
        self.since.truncate(rows);
        self.outputs.truncate(rows);
    }

    /// The tokens of a step.
    fn column(&self, step: usize) -> &[Token] {
        &self.tokens[step * self.stride..][..self.reqs.len()]
    }

    /// How many rows lag.
    fn lagging(&self) -> usize {
        self.reqs.len() - self.others.len()
    }

    /// The first row that does not lag, from `row` on, or the end.
    fn next_other(&self, row: usize) -> usize {
        let at = self.others.partition_point(|&other| (other as usize) < row);
        self.others.get(at).map_or(self.reqs.len(), |&other| other as usize)
    }

    /// Adds the rows that do not go on as they did to a list, also those that do not lag.
    fn find_moved(&self, ks: &[u32], slots: &[(SlotId, Option<SlotId>)], moved: &mut Vec<u32>) {
        let own = self.ks.chunks(LOOK).zip(self.slots.chunks(LOOK));
        let told = ks.chunks(LOOK).zip(slots.chunks(LOOK));
        for (first, ((own_ks, own_slots), (ks, slots))) in (0_u32..).step_by(LOOK).zip(own.zip(told)) {
            // Without a way out before the end, so that it can be done for several rows at a time.
            let apart = own_ks.iter().zip(ks).fold(0, |apart, (own, k)| apart | (own.wrapping_add(1) ^ k));
            let pairs = own_slots.iter().zip(slots);
            let same = pairs.fold(true, |all, (own, (slot, track))| all & (own == slot) & track.is_none());
            if apart == 0 && same {
                continue;
            }
            let rows = (first..).zip(own_ks.iter().zip(own_slots)).zip(ks.iter().zip(slots));
            for ((row, (own_k, own_slot)), (&k, &slots)) in rows {
                if k != own_k.wrapping_add(1) || slots != (*own_slot, None) {
                    moved.push(row);
                }
            }
        }
    }

    /// How many rows of a result are these rows from `start` on, before the first that is another.
    fn count_same(&self, start: usize, rows: &[Quiet]) -> usize {
        let own = || self.reqs[start..].iter().zip(rows);
        // Without a way out before the end, as nearly always all are.
        if own().fold(true, |same, (&req, row)| same & (req == row.req)) {
            return own().len();
        }
        own().take_while(|&(&req, row)| req == row.req).count()
    }
}
