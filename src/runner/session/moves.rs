//! Steps and jumps of a session: where the next phase, decode result, boundary or finding is.

use crate::judge::{Boundary, Class};
use crate::record::{BatchFact, BatchId, DecisionFact, Entry, Fact, ReqId, RequestFact, RunFact};

use super::{Position, Session, give};

/// The unit of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A loop turn.
    Turn,
    /// A CPU phase.
    Phase,
    /// A row of a processed result.
    Result,
}

/// A point within a turn that means the same under every rule: how many phases had begun and ended, and how many rows
/// had been prepared or processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StopPoint {
    /// Phases begun so far.
    pub begun: usize,
    ended: usize,
    rows: usize,
    /// A row is under way.
    in_row: bool,
    /// The turn is over.
    last: bool,
}

impl StopPoint {
    fn add(&mut self, entry: &Entry) {
        let Entry::Fact(fact) = entry else { return };
        let row = begins_row(fact)
            || matches!(fact, Fact::Batch(BatchFact::PrepareExtend { .. } | BatchFact::PrepareDecode { .. }));
        let (begins, ends) =
            (matches!(fact, Fact::Run(RunFact::Begin { .. })), matches!(fact, Fact::Run(RunFact::End { .. })));
        self.begun += usize::from(begins);
        self.ended += usize::from(ends);
        self.rows += usize::from(row);
        self.in_row = row || self.in_row && !begins && !ends;
    }

    fn counts(self) -> (usize, usize, usize) {
        (self.begun, self.ended, self.rows)
    }
}

/// Whether a row of a result begins with this fact.
fn begins_row(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Request(RequestFact::Output { .. } | RequestFact::Skip { .. } | RequestFact::MiddleChunk { .. })
    )
}

impl Session<'_> {
    /// Steps forward. Returns false at the end of the run.
    pub fn forward(&mut self, unit: Unit) -> bool {
        let Position { turn, fact } = self.position();
        let last = self.record().len();
        let to = match unit {
            Unit::Turn => (fact < last).then_some(last),
            Unit::Phase | Unit::Result => self.stops(unit).into_iter().find(|&stop| stop > fact),
        };
        match to {
            Some(fact) => self.seek(Position { turn, fact }),
            None if turn + 1 >= self.turns() => return false,
            None => self.first_stop_from(turn + 1, unit),
        }
        true
    }

    /// Steps back. Returns false at the beginning of the run.
    pub fn back(&mut self, unit: Unit) -> bool {
        let Position { turn, fact } = self.position();
        let to = match unit {
            Unit::Turn => None,
            Unit::Phase | Unit::Result => self.stops(unit).into_iter().rfind(|&stop| stop < fact),
        };
        match (to, turn.checked_sub(1)) {
            (Some(fact), _) => self.seek(Position { turn, fact }),
            (None, None) if fact == 0 => return false,
            (None, None) => self.seek(Position::default()),
            (None, Some(before)) => self.last_stop_to(before, unit),
        }
        true
    }

    /// Goes to the beginning.
    pub fn seek_start(&mut self) {
        self.seek(Position::default());
    }

    /// Goes to the end.
    pub fn seek_end(&mut self) {
        self.seek(Position { turn: usize::MAX, fact: usize::MAX });
    }

    /// Goes to the next result with a boundary that was due or fired and for which `fits` returns true, or to the
    /// previous one.
    pub fn seek_boundary(&mut self, ahead: bool, fits: impl Fn(&Boundary) -> bool) -> bool {
        let here = self.position();
        let list: Vec<Boundary> = self.judgement().boundaries.iter().filter(|of| fits(of)).copied().collect();
        self.seek_nearest(here, list.len(), ahead, |session, at| {
            let of = &list[at];
            session.turn_of(of.turn, |session| session.row_end(of.batch, of.req))
        })
    }

    /// Goes to the position at which the next finding was found, or the previous one.
    pub fn seek_finding(&mut self, ahead: bool) -> bool {
        let here = self.position();
        self.seek_nearest(here, self.judgement().findings.len(), ahead, |session, nth| {
            // A finding at the end of the run belongs to the last turn.
            let turn = session.found.get(nth).copied().unwrap_or(session.turns() - 1);
            session.seek(Position { turn, fact: 0 });
            Some(Position { turn, fact: session.found_at(nth) })
        })
    }

    /// Goes to the next turn in which a question was open, or to the previous one.
    pub fn seek_question(&mut self, ahead: bool) -> bool {
        let here = self.position().turn;
        let to = if ahead {
            self.asking.get(self.asking.partition_point(|&turn| turn <= here))
        } else {
            self.asking.partition_point(|&turn| turn < here).checked_sub(1).and_then(|at| self.asking.get(at))
        };
        let Some(&turn) = to else { return false };
        self.seek(Position { turn, fact: usize::MAX });
        true
    }

    /// The point within the turn.
    pub fn stop(&self) -> StopPoint {
        let mut stop = StopPoint::default();
        let fact = self.position().fact;
        self.record()[..fact].iter().for_each(|entry| stop.add(entry));
        stop.last = fact == self.record().len();
        stop
    }

    /// Goes to a point within this turn that a run under another rule had: right after the same phase began or ended,
    /// or after the whole of the same row.
    pub(super) fn seek_stop(&mut self, to: StopPoint) {
        let turn = self.position().turn;
        let mut stop = StopPoint::default();
        let mut fact = 0;
        for (at, entry) in self.record().iter().enumerate() {
            let before = stop;
            stop.add(entry);
            if stop.counts() > to.counts() {
                break;
            }
            // A row goes on until something else begins.
            if stop.counts() != before.counts() || stop.rows > 0 && stop.in_row {
                fact = at + 1;
            }
        }
        let fact = if to.last { self.record().len() } else { fact };
        self.seek(Position { turn, fact });
    }

    /// The entries after which a step of this unit ends in this turn.
    fn stops(&self, unit: Unit) -> Vec<usize> {
        let record = self.record();
        let fact = |at: usize| match &record[at] {
            Entry::Fact(fact) => Some(fact),
            Entry::Tokens(..) => None,
        };
        let mut in_row = false;
        let mut stops = Vec::new();
        for at in 0..record.len() {
            let Some(fact) = fact(at) else { continue };
            let ends = matches!(fact, Fact::Run(RunFact::End { .. }));
            let begins = begins_row(fact);
            match unit {
                Unit::Turn => {}
                Unit::Phase if ends => stops.push(at + 1),
                Unit::Phase => {}
                // A row ends where the next one begins, or with the phase.
                Unit::Result if in_row && (begins || ends) => stops.push(at),
                Unit::Result => {}
            }
            in_row = begins || in_row && !ends;
        }
        if unit != Unit::Result && stops.last() != Some(&record.len()) {
            stops.push(record.len());
        }
        stops
    }

    /// Goes to the first stop of the turns from this one on; to the end of the run if there is none.
    fn first_stop_from(&mut self, turn: usize, unit: Unit) {
        for turn in turn..self.turns() {
            self.seek(Position { turn, fact: 0 });
            let to = if unit == Unit::Turn { Some(self.record().len()) } else { self.stops(unit).first().copied() };
            if let Some(fact) = to {
                return self.seek(Position { turn, fact });
            }
        }
        self.seek_end();
    }

    /// Goes to the last stop of the turns down from this one; to the start if there is none.
    fn last_stop_to(&mut self, turn: usize, unit: Unit) {
        for turn in (0..=turn).rev() {
            self.seek(Position { turn, fact: 0 });
            let to = if unit == Unit::Turn { Some(self.record().len()) } else { self.stops(unit).last().copied() };
            if let Some(fact) = to {
                return self.seek(Position { turn, fact });
            }
        }
        self.seek_start();
    }

    /// Goes to the nearest position of a sorted list after the current one, or before it. Stays if there is none.
    fn seek_nearest(
        &mut self,
        here: Position,
        count: usize,
        ahead: bool,
        place: impl Fn(&mut Self, usize) -> Option<Position>,
    ) -> bool {
        // A binary search: the positions are sorted.
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            let at = place(self, middle).unwrap_or_default();
            let before = if ahead { at <= here } else { at < here };
            if before { low = middle + 1 } else { high = middle }
        }
        let found = if ahead { (low < count).then_some(low) } else { low.checked_sub(1) };
        let to = found.and_then(|at| place(self, at));
        self.seek(to.unwrap_or(here));
        to.is_some()
    }

    /// A position in the turn of this number.
    fn turn_of(&mut self, number: u32, fact: impl Fn(&Self) -> usize) -> Option<Position> {
        let turn = self.numbers.binary_search(&number).ok()?;
        self.seek(Position { turn, fact: 0 });
        Some(Position { turn, fact: fact(self) })
    }

    /// After which entry the row of a result is over.
    pub(super) fn row_end(&self, batch: BatchId, req: ReqId) -> usize {
        let mut inside = false;
        for (at, entry) in self.record().iter().enumerate() {
            let Entry::Fact(fact) = entry else { continue };
            if inside && (begins_row(fact) || matches!(fact, Fact::Run(RunFact::End { .. }))) {
                return at;
            }
            if let Fact::Decision(DecisionFact::Row { batch: of, req: whose, .. }) = *fact {
                inside |= (of, whose) == (batch, req);
            }
        }
        self.record().len()
    }

    /// After which entry finding number `nth`, from 0, is there.
    fn found_at(&self, nth: usize) -> usize {
        let mut view = self.turn.before.view.clone();
        for (at, entry) in self.record().iter().enumerate() {
            give(entry, &mut view);
            if view.judge.finding_count() > nth {
                return at + 1;
            }
        }
        self.record().len()
    }
}

/// Whether a rule and the oracle differ.
pub fn differs(class: Class) -> bool {
    match class {
        Class::Agree | Class::Settled | Class::Early => false,
        Class::WrongSlot | Class::WrongLabel | Class::Missed | Class::Repeat => true,
    }
}
