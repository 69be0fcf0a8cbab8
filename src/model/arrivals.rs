//! Requests that have not been seen: what each waits for, and which have reached their earliest moment.

use std::sync::Arc;

use educe::Educe;

use crate::engine::{EventQueue, Time};
use crate::record::{Encoding, ReqId};

use super::batch::Rows;
use super::setup::{Arrive, Setup};

/// A request that may be seen now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due {
    /// When it arrived.
    pub at: Time,
    /// Which.
    pub req: ReqId,
}

/// The requests not seen yet.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct Arrivals {
    timed: EventQueue<ReqId>,
    /// By turn, the latest first; of one turn, the last of the setup first.
    by_turn: Vec<(u32, ReqId)>,
    /// Who waits for the end of each request. Not changed by it: a request ends once.
    after: Arc<[Vec<ReqId>]>,
    before: Vec<(ReqId, ReqId, u32)>,
    due: Vec<Due>,
}

impl Arrivals {
    /// Everything that `setup` will show.
    pub fn new(setup: &Setup) -> Self {
        let mut after = vec![Vec::new(); setup.requests.len()];
        let mut arrivals = Arrivals {
            timed: EventQueue::default(),
            by_turn: Vec::new(),
            after: Vec::new().into(),
            before: Vec::new(),
            due: Vec::new(),
        };
        for (i, spec) in setup.requests.iter().enumerate() {
            let req = ReqId(i as u32);
            match spec.arrive {
                Arrive::At(at) => arrivals.timed.push(at, req),
                Arrive::Turn(turn) => arrivals.by_turn.push((turn, req)),
                Arrive::After(other) => after[other.index()].push(req),
                Arrive::Before(other, k) => arrivals.before.push((req, other, k)),
            }
        }
        arrivals.by_turn.sort_unstable_by(|a, b| b.cmp(a));
        arrivals.after = after.into();
        arrivals
    }

    /// Moves those whose turn or time has come among the due ones.
    pub fn come(&mut self, turn: u32, now: Time) {
        while let Some((at, req)) = self.timed.pop_due(now) {
            self.due.push(Due { at, req });
        }
        while let Some((_, req)) = self.by_turn.pop_if(|next| next.0 <= turn) {
            self.due.push(Due { at: now, req });
        }
    }

    /// Moves those that waited for the end of `req` among the due ones.
    pub fn ended(&mut self, req: ReqId, now: Time) {
        self.due.extend(self.after[req.index()].iter().map(|&req| Due { at: now, req }));
    }

    /// Moves the pinned requests for which `ready(other, k)` holds among the due ones; returns them with the request
    /// that they were pinned to.
    pub fn pinned(&mut self, now: Time, mut ready: impl FnMut(ReqId, u32) -> bool) -> Vec<(ReqId, ReqId)> {
        if self.before.is_empty() {
            return Vec::new();
        }
        let (came, wait): (Vec<_>, Vec<_>) = self.before.iter().copied().partition(|&(_, other, k)| ready(other, k));
        self.before = wait;
        self.due.extend(came.iter().map(|&(req, ..)| Due { at: now, req }));
        came.into_iter().map(|(req, other, _)| (req, other)).collect()
    }

    /// Takes the due requests in order of arrival, then of their place in the setup, for which `see` holds.
    pub fn take_due(&mut self, mut see: impl FnMut(Due) -> bool) -> Rows<Due> {
        if self.due.is_empty() {
            return Rows::new();
        }
        self.due.sort_unstable();
        let mut seen = Rows::new();
        self.due.retain(|&due| {
            let sees = see(due);
            if sees {
                seen.push(due);
            }
            !sees
        });
        seen
    }

    /// How many requests may be seen at the next ingest, whatever its turn or time.
    pub fn due(&self) -> usize {
        self.due.len()
    }

    /// The first of them, in order of arrival.
    pub fn first_due(&self) -> Option<ReqId> {
        self.due.iter().min().map(|due| due.req)
    }

    /// The next turn and the next time at which a request comes by itself.
    pub fn next(&self) -> (Option<u32>, Option<Time>) {
        (self.by_turn.last().map(|next| next.0), self.timed.next_at())
    }

    /// Writes the due requests in the order in which they will be asked about. Who else has not been seen follows from what
    /// was.
    ///
    /// Who comes later stands behind them, but for one thing: what came at the very time that it is now stands by its place
    /// in the setup among whatever comes at the next ingest. `times` says that times are to be written as they are.
    pub fn encode(&self, now: Time, times: bool, out: &mut Encoding) {
        // By the setup, those of them that are still there are the requests that were not seen and are not due.
        let Arrivals { due, timed: _, by_turn: _, after: _, before: _ } = self;
        if due.is_empty() {
            return;
        }
        let mut due = due.clone();
        due.sort_unstable();
        for Due { at, req } in due {
            out.put_req(req);
            out.flag(at == now);
            if times {
                out.long(at.ns());
            }
        }
    }

    /// Whether some request waits to be pinned to one for which `over` holds.
    pub fn pinned_to(&self, mut over: impl FnMut(ReqId) -> bool) -> bool {
        self.before.iter().any(|&(_, other, _)| over(other))
    }
}
