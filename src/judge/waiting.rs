//! Rows of a decode batch that were prepared and are in no window yet.
//!
//! Owns when they get there: nearly always their launch comes before anybody looks, and then a row is looked up once for both.
//! Refuses to make a difference: whoever looks at a window, or could, settles first.

use crate::record::{BatchId, Fact, ReqId, Short, same_reqs};

use super::court::Judge;
use super::steady::names_req;
use super::window::Window;

/// The rows of the last batch prepared, all of requests that are alive, no two of the same.
#[derive(Debug)]
pub(super) struct Waiting {
    batch: BatchId,
    reqs: Short<ReqId, 4>,
    ks: Short<u32, 4>,
    /// The rows before this one are in the windows.
    next: usize,
}

clone_in_place!(Waiting { reqs, ks } copied { batch, next });

impl Default for Waiting {
    fn default() -> Self {
        Waiting { batch: BatchId(0), reqs: Short::new(), ks: Short::new(), next: 0 }
    }
}

impl Waiting {
    /// Whether no row is waiting.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.next == self.reqs.len()
    }

    /// Lets rows wait, where none does.
    pub fn put(&mut self, batch: BatchId, reqs: &[ReqId], ks: &[u32]) {
        assert!(self.is_empty() && reqs.len() == ks.len(), "rows wait for one launch");
        (self.batch, self.next) = (batch, 0);
        self.reqs.copy_from(reqs);
        self.ks.copy_from(ks);
    }

    /// Puts the row of a request that waits into a copy of its window.
    pub fn prepare(&self, req: ReqId, window: &mut Window) {
        if let Some(row) = (self.next..self.reqs.len()).find(|&row| self.reqs[row] == req) {
            window.prepare(self.batch, self.ks[row]);
        }
    }

    /// Whether the rows taken last are the first of the batch.
    pub fn were_first(&self, reqs: &[ReqId]) -> bool {
        self.next == reqs.len()
    }

    /// Takes the next rows if they are these.
    pub fn take(&mut self, batch: BatchId, reqs: &[ReqId], ks: &[u32]) -> bool {
        let end = self.next + reqs.len();
        let (own_reqs, own_ks) = (self.reqs.get(self.next..end), self.ks.get(self.next..end));
        let same = self.batch == batch && own_reqs.is_some_and(|own| same_reqs(own, reqs)) && own_ks == Some(ks);
        if same {
            self.next = end;
        }
        same
    }
}

impl Judge {
    /// Whether rows may wait: none makes a request up, and no request has two.
    pub(super) fn may_wait(&self, reqs: &[ReqId]) -> bool {
        let alive = |&req: &ReqId| self.requests.is_alive(req);
        self.all_lag(reqs) || reqs.is_sorted_by(|a, b| a < b) && reqs.iter().all(alive)
    }

    /// Puts the rows that wait into the windows, before a fact that looks there.
    #[inline]
    pub(super) fn settle_before(&mut self, fact: &Fact) {
        if !self.waiting.is_empty() && names_req(fact) {
            self.settle_rows();
        }
    }

    /// Puts the rows that wait into the windows.
    #[inline]
    pub(super) fn settle_waiting(&mut self) {
        if !self.waiting.is_empty() {
            self.settle_rows();
        }
    }

    /// Nothing waits or lags any more, and what did is forgotten.
    pub(super) fn forget_lag(&mut self) {
        self.settle_waiting();
        self.waiting = Waiting::default();
        self.forget_steady();
    }

    #[inline(never)]
    fn settle_rows(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let rest = waiting.next..waiting.reqs.len();
        waiting.reqs[rest.clone()].iter().for_each(|&req| self.catch_up_req(req));
        self.prepared(waiting.batch, &waiting.reqs[rest.clone()], &waiting.ks[rest]);
        self.waiting = Waiting { next: waiting.reqs.len(), ..waiting };
    }

    /// Puts prepared rows into the windows.
    pub(super) fn prepared(&mut self, batch: BatchId, reqs: &[ReqId], ks: &[u32]) {
        for (&req, &k) in reqs.iter().zip(ks) {
            if let Some(live) = self.requests.get_or_new(req) {
                live.window.prepare(batch, k);
            }
        }
    }
}
