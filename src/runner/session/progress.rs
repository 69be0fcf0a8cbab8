//! What a run has shown up to the current position, and what is still to come.

use crate::judge::{Boundary, Finding};
use crate::record::{BatchFact, Entry, Fact, ReqId, RequestFact};

use super::{Position, Session, give};

impl Session<'_> {
    /// The boundaries that have been processed, and those that are still to come.
    pub fn boundaries(&self) -> (&[Boundary], &[Boundary]) {
        let Position { turn, fact } = self.position();
        let number = self.number(turn).unwrap_or(0);
        let all = &self.judgement().boundaries;
        let done = |of: &Boundary| of.turn < number || of.turn == number && self.row_end(of.batch, of.req) <= fact;
        all.split_at(all.partition_point(done))
    }

    /// The findings so far.
    pub fn findings(&self) -> &[Finding] {
        let all = &self.judgement().findings;
        let over = self.position() == Position { turn: self.turns() - 1, fact: self.record().len() };
        if over { all } else { &all[..self.view().judge.finding_count()] }
    }

    /// The findings of this turn, each with the number of entries after which it is there.
    pub fn findings_in_turn(&self) -> Vec<(usize, &Finding)> {
        let all = &self.judgement().findings;
        let mut view = self.turn.before.view.clone();
        let mut found = Vec::new();
        for (at, entry) in self.record().iter().enumerate() {
            let before = view.judge.finding_count();
            give(entry, &mut view);
            found.extend((before..view.judge.finding_count()).filter_map(|nth| Some((at + 1, all.get(nth)?))));
        }
        found
    }

    /// The request of the row that is being prepared or processed, or was last.
    pub fn about(&self) -> Option<ReqId> {
        let Position { fact, .. } = self.position();
        self.record()[..fact].iter().rev().find_map(|entry| match entry {
            Entry::Fact(
                Fact::Batch(BatchFact::PrepareDecode { req, .. } | BatchFact::PrepareExtend { req, .. })
                | Fact::Request(
                    RequestFact::Output { req, .. }
                    | RequestFact::Skip { req, .. }
                    | RequestFact::MiddleChunk { req, .. },
                ),
            ) => Some(*req),
            Entry::Fact(_) | Entry::Tokens(..) => None,
        })
    }
}
