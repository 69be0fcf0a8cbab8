//! The state of the judge between two turns, written out in canonical words: all that can bear on a later finding.
//!
//! Left out are counts, where and when things were, what was found already, and what is known only of requests that are
//! over. Findings are taken as they come ([`Judge::take_findings`]), so that two ways to a state need not have found the
//! same.

use crate::record::{Canon, Names, PageId, Prefix, ReqId, SlotId, StreamId};

use super::court::Judge;
use super::live::{Hit, Live};
use super::{Finding, Goals};

/// Where one list ends and the next begins.
const END: u32 = u32::MAX - 2;

impl Judge {
    /// What was found since this was last asked, with the goals that were reached, and forgets what only a report needs.
    /// `over` says that the run has ended. The words of accounting findings do not say how often.
    pub fn take_findings(&mut self, over: bool) -> (Vec<Finding>, Goals) {
        self.rows.close(&mut self.requests, &mut self.counts);
        if over {
            self.settle();
        }
        let goals = self.goals();
        self.forget_counts();
        (self.findings.take(), goals)
    }

    /// Whether a bound ended the run, or it named more than the judge follows.
    pub fn is_cut(&self) -> bool {
        self.bound.is_some() || self.is_overflow()
    }

    /// Whether the run named more than the judge follows.
    pub fn is_overflow(&self) -> bool {
        self.overflow || self.store.overflow || self.account.overflow || self.requests.overflow
    }

    /// The state letter by letter, but for where and when it is: a wait that can go on for ever is one state.
    pub fn literal(&self) -> String {
        let mut judge = self.clone();
        judge.turns = 0;
        judge.findings.turn = 0;
        format!("{judge:?}")
    }

    fn forget_counts(&mut self) {
        self.counts = super::Checkpoints::default();
        self.rows.forget_counts();
        self.goals = Goals::NONE;
        self.pins_missed.clear();
        self.pins_ended.clear();
    }

    /// Writes what is known of every live request and of every slot that has a label, in the order of the labels; slots
    /// that only the judge still looks at get theirs here.
    pub fn canon(&self, out: &mut Canon) {
        // No field is left out by oversight: a new one does not compile until it stands here.
        let Judge {
            // Written with every name that it bears on.
            lineage: _,
            requests,
            store,
            account,
            rows,
            // Given with the setup.
            options: _,
            // What was found was taken, and where it was is for reports.
            findings: _,
            // What only a report or a goal needs.
            counts: _,
            goals: _,
            coverage: _,
            turns: _,
            pins_missed: _,
            pins_ended: _,
            events_unused: _,
            // A run is over after either.
            bound: _,
            dead: _,
            overflow: _,
        } = self;
        assert!(rows.is_closed(), "findings are taken first");
        for at in 0..out.reqs().len() {
            let req = out.reqs()[at];
            out.flag(account.is_locked(req));
            match requests.peek(req) {
                Some(live) => self.canon_live(live, out),
                None => out.word(END),
            }
        }
        // What is booked to nobody alive would be found at the end.
        out.put([store.in_flight_count(), account.left(|req| !out.is_live(req))]);
        let mut at = 0;
        while at < out.slots().len() {
            self.canon_slot(out.slots()[at], out);
            at += 1;
        }
    }

    fn canon_live(&self, live: &Live, out: &mut Canon) {
        let Live {
            window,
            dues,
            marks,
            taint,
            hit,
            truth: _, // The tokens that the machine writes.
            // For the prefix hit of a report, and what a loss costs.
            matched: _,
            admitted: _,
        } = live;
        // Which finding is at the root is for reports.
        let tainted = u32::from(taint.is_some());
        match hit {
            Some(Hit { source, len, root }) => {
                let source = out.label_slot(Some(*source));
                out.put([tainted, source, *len, u32::from(root.is_some())]);
            }
            None => out.put([tainted, END]),
        }
        window.canon(out);
        marks.canon(out);
        dues.canon(out);
    }

    #[inline]
    fn canon_slot(&self, slot: SlotId, out: &mut Canon) {
        let (kind, holder) = self.account.kind(slot);
        self.store.canon(slot, [kind, out.rank_if_live(holder)], self, out);
    }
}

impl Names for Judge {
    #[inline]
    fn owner(&self, content: Prefix, canon: &Canon) -> Option<ReqId> {
        let has = |req: &&ReqId| self.requests.peek(**req).is_some_and(|live| live.truth.has(content, &self.lineage));
        if content.len == 0 { None } else { canon.reqs().iter().find(has).copied() }
    }

    fn sequence(&self, content: Prefix, out: &mut Canon) {
        let mut at = content.stream;
        while at != StreamId::ROOT {
            let parent = self.lineage.parent(at);
            out.put([at.0, parent.len]);
            at = parent.stream;
        }
        out.word(StreamId::ROOT.0);
    }

    #[inline]
    fn free(&self, slot: SlotId, place: u32, out: &mut Canon) {
        let Some(state) = self.store.settled(slot).filter(|_| self.account.is_free(slot)) else {
            let label = out.label_slot(Some(slot));
            return out.put([place, label]);
        };
        if state == Prefix::EMPTY {
            return;
        }
        let owner = self.owner(state, out);
        if owner.is_none() && !out.shares() {
            return;
        }
        match out.label_free(slot, place) {
            Some(label) => out.put([place, label]),
            None => self.store.canon_settled(slot, [place, 0], owner, self, out),
        }
    }

    #[inline]
    fn plain(&self, slot: SlotId, state: Prefix) -> Option<(ReqId, bool)> {
        self.store.plain(slot, state).filter(|_| self.account.is_cached(slot))
    }

    #[inline]
    fn pages(&self, pages: &[PageId], req: ReqId, out: &mut Canon) {
        self.account.pages_of(pages, req, |word| out.word(word));
    }
}
