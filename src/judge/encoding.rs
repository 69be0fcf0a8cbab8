//! The state of the judge between two turns, written out in canonical words: all that can bear on a later finding.
//!
//! Left out are counts, where and when things were, what was found already, and what is known only of requests that are
//! over. Findings are taken as they come ([`Judge::take_findings`]), so that two ways to a state need not have found the
//! same.

use crate::record::{ContentNames, Encoding, Owner, PageRange, Prefix, ReqId, SlotId};

use super::storage::{Hit, LiveRequest, Storage};
use super::{Finding, Goals, Judge};

/// Where one list ends and the next begins.
const END: u32 = u32::MAX - 2;

impl Judge {
    /// What was found since this was last asked, with the goals that were reached, and forgets what only a report needs.
    /// `over` says that the run has ended. The words of accounting findings do not say how often.
    pub fn take_findings(&mut self, over: bool) -> (Vec<Finding>, Goals) {
        if over {
            self.decisions.close(&mut self.findings);
        }
        let goals = self.goals();
        self.forget_counts();
        (self.findings.take(), goals)
    }

    /// What contents are called.
    pub fn names(&self) -> &impl ContentNames {
        &self.storage
    }

    /// The state letter by letter, but for where and when it is: a wait that can go on for ever is one state.
    pub fn unreduced(&self) -> String {
        let mut judge = self.clone();
        judge.turns = 0;
        judge.findings.turn = 0;
        format!("{judge:?}")
    }

    fn forget_counts(&mut self) {
        self.decisions.forget_counts();
        self.goals = Goals::NONE;
        self.pins_missed.clear();
        self.pins_ended.clear();
    }

    /// Encodes what is known of every live request and of every slot that has a label, in the order of the labels; slots
    /// that only the judge still looks at get theirs here.
    pub fn encode(&self, out: &mut Encoding) {
        // No field is left out by oversight: a new one does not compile until it stands here.
        let Judge {
            storage,
            decisions,
            // Given with the setup.
            options: _,
            // What was found was taken, and where it was is for reports.
            findings: _,
            // Whether a live request has finished is the machine's: it is released in the same turn. All else is for a report.
            outcomes: _,
            // What only a report or a goal needs.
            goals: _,
            coverage: _,
            turns: _,
            pins_missed: _,
            pins_ended: _,
            events_unused: _,
            // A run is over after either.
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
    fn encode_request(&self, req: ReqId, out: &mut Encoding) {
        out.flag(self.owners.is_locked(req));
        let Some(LiveRequest { taint, hit, tokens: _ }) = self.requests.peek(req) else { return out.word(END) };
        // The tokens are those that the machine encodes. Which finding is at the root is for reports.
        let tainted = u32::from(taint.is_some());
        match hit {
            Some(Hit { source, len, root }) => {
                let source = out.label_slot(Some(*source));
                out.put([tainted, source, *len, u32::from(root.is_some())]);
            }
            None => out.put([tainted, END]),
        }
    }

    /// Encodes what belongs to no live request and no slot with a label.
    fn encode_rest(&self, out: &mut Encoding) {
        let Storage {
            contents,
            owners,
            pages,
            // Encoded for each live request.
            requests: _,
            // Encoded with every name that it bears on.
            lineage: _,
            // A run that names too much is cut short at once.
            streams_overflow: _,
        } = self;
        let is_over = |req: ReqId| !out.is_live(req);
        // What is owned by a request that is over would be found at the end.
        let left = owners.owned_by(is_over) + pages.owned_by(is_over);
        out.word(contents.in_flight_count());
        out.long(left);
    }

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
