//! The canonical encoding of the judge between two turns: all fields that can matter for a later finding.
//!
//! Not encoded: counts, places and times, earlier findings, and requests that have ended. A search takes the findings
//! of each turn ([`Judge::take_findings`]), so two paths to a state may have different findings.

use crate::record::{ContentNames, Encoding, Owner, PageRange, Prefix, ReqId, SlotId};

use super::storage::{Hit, LiveRequest, Storage};
use super::{Finding, Goals, Judge};

/// The word that ends a list.
const END: u32 = u32::MAX - 2;

impl Judge {
    /// Takes the findings and goals since the last call, and resets everything that only a report needs. `over` is
    /// whether the run has ended. Reasons of accounting findings have no counts.
    pub fn take_findings(&mut self, over: bool) -> (Vec<Finding>, Goals) {
        if over {
            self.decisions.close(&mut self.findings);
        }
        let goals = self.goals();
        self.forget_counts();
        (self.findings.take(), goals)
    }

    /// The names of contents, for an encoding.
    pub fn names(&self) -> &impl ContentNames {
        &self.storage
    }

    /// The state of the judge as text, without reduction, except for the turn: an endless sequence of idle turns is one
    /// state.
    pub fn unreduced(&self) -> String {
        let mut judge = self.clone();
        judge.turns = 0;
        judge.findings.turn = 0;
        format!("{judge:?}")
    }

    /// Resets counts, goals and lists for reports.
    fn forget_counts(&mut self) {
        self.decisions.forget_counts();
        self.goals = Goals::NONE;
        self.pins_missed.clear();
        self.pins_ended.clear();
    }

    /// Encodes every live request and every slot with a label, in the order of the labels. Slots that only the judge
    /// can still reach get their labels here.
    pub fn encode(&self, out: &mut Encoding) {
        // All fields are listed, so that a new field does not compile until it is considered here.
        let Judge {
            storage,
            decisions,
            // By the setup.
            options: _,
            // Findings are taken after each turn; turn and phase are for reports.
            findings: _,
            // A finished request is released in the same turn, so no live request has finished. All else is for
            // reports.
            outcomes: _,
            // For reports and goals only.
            goals: _,
            coverage: _,
            turns: _,
            pins_missed: _,
            pins_ended: _,
            events_unused: _,
            // The run has ended if one of them is set.
            bound: _,
            asserted: _,
        } = self;
        for at in 0..out.reqs().len() {
            let req = out.reqs()[at];
            storage.encode_request(req, out);
            decisions.encode(req, out);
        }
        storage.encode_rest(out);
        let mut at = 0;
        while at < out.slots().len() {
            storage.encode_slot(out.slots()[at], out);
            at += 1;
        }
    }
}

impl Storage {
    /// Encodes the lock, the taint and the last hit of a live request.
    fn encode_request(&self, req: ReqId, out: &mut Encoding) {
        out.flag(self.owners.is_locked(req));
        let Some(LiveRequest { taint, hit, tokens: _ }) = self.requests.peek(req) else { return out.word(END) };
        // The machine encodes the tokens. The index of the root finding is for reports.
        let tainted = u32::from(taint.is_some());
        match hit {
            Some(Hit { source, len, root }) => {
                let source = out.label_slot(Some(*source));
                out.put([tainted, source, *len, u32::from(root.is_some())]);
            }
            None => out.put([tainted, END]),
        }
    }

    /// Encodes the number of forwards in flight, and what requests that have ended still own.
    fn encode_rest(&self, out: &mut Encoding) {
        let Storage {
            contents,
            owners,
            pages,
            // Encoded for each live request.
            requests: _,
            // Encoded with each name that depends on it.
            lineage: _,
            // A run that overflows ends at once.
            streams_overflow: _,
        } = self;
        let has_ended = |req: ReqId| !out.is_live(req);
        // A finding at the end of the run.
        let leaked = owners.owned_by(has_ended) + pages.owned_by(has_ended);
        out.word(contents.in_flight_count());
        out.long(leaked);
    }

    /// Encodes the owner and the content of a slot.
    fn encode_slot(&self, slot: SlotId, out: &mut Encoding) {
        let (kind, req) = self.owners.kind(slot);
        self.contents.encode(slot, [kind, out.label_if_live(req)], self, out);
    }
}

impl ContentNames for Storage {
    #[inline]
    fn owner(&self, content: Prefix, encoding: &Encoding) -> Option<ReqId> {
        let is_of = |req: &&ReqId| self.is_prefix_of(content, **req);
        if content.len == 0 { None } else { encoding.reqs().iter().find(is_of).copied() }
    }

    fn put_sequence(&self, content: Prefix, out: &mut Encoding) {
        self.encode_sequence(content, out);
    }

    #[inline]
    fn put_free_slot(&self, slot: SlotId, position: u32, out: &mut Encoding) {
        let Some(state) = self.contents.idle_content(slot).filter(|_| self.owners.owner(slot).is_none()) else {
            let label = out.label_slot(Some(slot));
            return out.put([position, label]);
        };
        if state == Prefix::EMPTY {
            return;
        }
        let owner = self.owner(state, out);
        if owner.is_none() && !out.shares() {
            return;
        }
        match out.label_free(slot, position) {
            Some(label) => out.put([position, label]),
            None => self.contents.encode_idle(slot, [position, 0], owner, self, out),
        }
    }

    #[inline]
    fn intact_donation(&self, slot: SlotId, state: Prefix) -> Option<(ReqId, bool)> {
        let is_cached = self.owners.owner(slot) == Some(Owner::Tree);
        self.contents.intact_donation(slot, state).filter(|_| is_cached)
    }

    fn put_pages(&self, pages: PageRange, req: ReqId, out: &mut Encoding) {
        self.pages.encode(pages, req, out);
    }
}
