//! The chooser of the exhaustive search: enumerates every list of answers to the questions of one step.

use crate::engine::{Choice, ChoicePoint, Chooser, OpenPoints};

/// An open question of the present list, and its answer as a rank: rank 0 is the default, then the other answers in
/// ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AskedQuestion {
    options: u32,
    default: u32,
    rank: u32,
}

impl AskedQuestion {
    fn answer(self) -> u32 {
        match self.rank {
            0 => self.default,
            rank if rank <= self.default => rank - 1,
            rank => rank,
        }
    }
}

/// Answers the open questions of one step from the present list; [`Enumerate::advance`] moves to the next list. The
/// first list has all defaults, and the last question changes first. Durations are the shortest.
#[derive(Clone, Debug)]
pub struct Enumerate<'a> {
    open: &'a OpenPoints,
    /// The present list.
    asked: Vec<AskedQuestion>,
    /// The number of questions asked so far in this step.
    at: usize,
}

impl<'a> Enumerate<'a> {
    /// An enumeration at the first list of a step.
    pub fn new(open: &'a OpenPoints) -> Self {
        Enumerate { open, asked: Vec::new(), at: 0 }
    }

    /// Restarts at the first list, for another step.
    pub fn begin(&mut self) {
        self.asked.clear();
        self.at = 0;
    }

    /// Moves to the next list for the same step. Returns false after the last list.
    pub fn advance(&mut self) -> bool {
        assert!(self.at == self.asked.len(), "the same answers lead to the same questions");
        self.at = 0;
        while let Some(last) = self.asked.last_mut() {
            last.rank += 1;
            if last.rank < last.options {
                return true;
            }
            self.asked.pop();
        }
        false
    }

    /// The answers given so far in this step, each with whether it is the default.
    pub fn answers(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        self.asked[..self.at].iter().map(|asked| (asked.answer(), asked.rank == 0))
    }
}

impl Chooser for Enumerate<'_> {
    fn choose(&mut self, choice: Choice) -> u32 {
        if choice.options < 2 || !self.open.has(choice.point) {
            return choice.default;
        }
        let Choice { options, default, .. } = choice;
        if self.at == self.asked.len() {
            self.asked.push(AskedQuestion { options, default, rank: 0 });
        }
        let asked = self.asked[self.at];
        assert!((asked.options, asked.default) == (options, default), "the same answers lead to the same questions");
        self.at += 1;
        asked.answer()
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        self.open.has(point)
    }

    fn duration_ns(&mut self, lo_ns: u64, _: u64) -> u64 {
        lo_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(chooser: &mut Enumerate, options: u32, default: u32) -> u32 {
        chooser.choose(Choice { point: ChoicePoint::Arrival, subject: 0, options, default })
    }

    #[test]
    fn every_list_is_tried_once_defaults_first() {
        let open = OpenPoints(vec![ChoicePoint::Arrival]);
        let mut chooser = Enumerate::new(&open);
        let mut lists = Vec::new();
        loop {
            // The second question depends on the first answer.
            let first = ask(&mut chooser, 3, 1);
            let second = (first == 2).then(|| ask(&mut chooser, 2, 0));
            assert_eq!(chooser.choose(Choice { point: ChoicePoint::Stop, subject: 0, options: 9, default: 4 }), 4);
            lists.push((first, second));
            if !chooser.advance() {
                break;
            }
        }
        assert_eq!(lists, [(1, None), (0, None), (2, Some(0)), (2, Some(1))]);
    }
}
