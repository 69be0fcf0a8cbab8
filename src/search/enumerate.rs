//! The chooser of the exhaustive search: every list of answers that one step can be given, one list after another.

use crate::engine::{Choice, ChoicePoint, Chooser, OpenPoints};

/// An open question that was asked, and the answer that is tried: by rank, where the script's answer is 0 and the others
/// follow in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    options: u32,
    default: u32,
    rank: u32,
}

impl Asked {
    fn answer(self) -> u32 {
        match self.rank {
            0 => self.default,
            rank if rank <= self.default => rank - 1,
            rank => rank,
        }
    }
}

/// Answers the open questions of one step with the present list; [`Enumerate::advance`] goes on to the next list. The first
/// list is the script's, and the last question changes first. Durations are the shortest.
#[derive(Clone, Debug)]
pub struct Enumerate<'a> {
    open: &'a OpenPoints,
    asked: Vec<Asked>,
    at: usize,
}

impl<'a> Enumerate<'a> {
    /// Before the first step.
    pub fn new(open: &'a OpenPoints) -> Self {
        Enumerate { open, asked: Vec::new(), at: 0 }
    }

    /// Begins with the lists of another step.
    pub fn begin(&mut self) {
        self.asked.clear();
        self.at = 0;
    }

    /// Goes on to the next list for the same step. Says no when all were tried.
    pub fn advance(&mut self) -> bool {
        assert!(self.at == self.asked.len(), "a step asks the same questions when it gets the same answers");
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

    /// The answers of the present list, each with whether it is the script's.
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
            self.asked.push(Asked { options, default, rank: 0 });
        }
        let asked = self.asked[self.at];
        assert!((asked.options, asked.default) == (options, default), "a step is a function of its answers");
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
    fn every_list_comes_once_the_scripts_first() {
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
