//! Requests that have not arrived: what each of them waits for, and which may arrive now.

use std::sync::Arc;

use educe::Educe;

use crate::engine::{EventQueue, Time};
use crate::record::{Encoding, ReqId};

use super::batch::Rows;
use super::setup::{Arrive, Setup};

/// A request that may arrive at the next ingest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueArrival {
    /// The time at which it became due.
    pub at: Time,
    /// The request.
    pub req: ReqId,
}

/// The requests that have not arrived.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct ArrivalQueue {
    timed: EventQueue<ReqId>,
    /// Requests that arrive in a turn, latest turn first, and within a turn the last of the setup first.
    by_turn: Vec<(u32, ReqId)>,
    /// For each request, the requests that arrive at its end. The list never changes, since a request ends once.
    after: Arc<[Vec<ReqId>]>,
    /// Requests pinned before a step: the request, the other request, and the length of the step.
    before: Vec<(ReqId, ReqId, u32)>,
    due: Vec<DueArrival>,
}

impl ArrivalQueue {
    /// All requests of a setup.
    pub fn new(setup: &Setup) -> Self {
        let mut after = vec![Vec::new(); setup.requests.len()];
        let mut arrivals = ArrivalQueue {
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

    /// Makes the requests due whose turn or time has come.
    pub fn come(&mut self, turn: u32, now: Time) {
        while let Some((at, req)) = self.timed.pop_due(now) {
            self.due.push(DueArrival { at, req });
        }
        while let Some((_, req)) = self.by_turn.pop_if(|next| next.0 <= turn) {
            self.due.push(DueArrival { at: now, req });
        }
    }

    /// Makes the requests due that arrive at the end of `req`.
    pub fn ended(&mut self, req: ReqId, now: Time) {
        self.due.extend(self.after[req.index()].iter().map(|&req| DueArrival { at: now, req }));
    }

    /// Makes the pinned requests due for which `ready(other, k)` holds. Returns each of them with the request that it
    /// was pinned to.
    pub fn pinned(&mut self, now: Time, mut ready: impl FnMut(ReqId, u32) -> bool) -> Vec<(ReqId, ReqId)> {
        if self.before.is_empty() {
            return Vec::new();
        }
        let (came, wait): (Vec<_>, Vec<_>) = self.before.iter().copied().partition(|&(_, other, k)| ready(other, k));
        self.before = wait;
        self.due.extend(came.iter().map(|&(req, ..)| DueArrival { at: now, req }));
        came.into_iter().map(|(req, other, _)| (req, other)).collect()
    }

    /// Takes the due requests for which `see` holds, by arrival, then by place in the setup.
    pub fn take_due(&mut self, mut see: impl FnMut(DueArrival) -> bool) -> Rows<DueArrival> {
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

    /// Number of due requests.
    pub fn due(&self) -> usize {
        self.due.len()
    }

    /// The first due request, in order of arrival.
    pub fn first_due(&self) -> Option<ReqId> {
        self.due.iter().min().map(|due| due.req)
    }

    /// The next turn and the next time at which a request arrives by itself.
    pub fn next(&self) -> (Option<u32>, Option<Time>) {
        (self.by_turn.last().map(|next| next.0), self.timed.next_at())
    }

    /// Writes the due requests in the order in which the chooser is asked about them.
    ///
    /// A request that becomes due later comes after them. The exception is a request that is due at exactly `now`: at
    /// the next ingest it is ordered by its place in the setup among the requests that become due then, so a flag marks
    /// it. With `times`, the times themselves are written.
    pub fn encode(&self, now: Time, times: bool, out: &mut Encoding) {
        // These lists follow from the setup: their requests are those that are unseen and not due.
        let ArrivalQueue { due, timed: _, by_turn: _, after: _, before: _ } = self;
        if due.is_empty() {
            return;
        }
        let mut due = due.clone();
        due.sort_unstable();
        for DueArrival { at, req } in due {
            out.put_req(req);
            out.flag(at == now);
            if times {
                out.long(at.ns());
            }
        }
    }

    /// Whether a request is pinned to another request for which `over` holds.
    pub fn pinned_to(&self, mut over: impl FnMut(ReqId) -> bool) -> bool {
        self.before.iter().any(|&(_, other, _)| over(other))
    }
}
