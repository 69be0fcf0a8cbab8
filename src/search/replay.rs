//! The chooser of a replay: answers from a list; after the end of the list it gives the defaults.

use crate::engine::{Choice, ChoicePoint, Chooser, OpenPoints, Seeded};

/// The first entry of a choice list that does not fit the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The number of the entry, from 1.
    pub nth: usize,
    /// The answer of the entry.
    pub answer: u32,
    /// The question; `None` if the run ended before the entry was used.
    pub asked: Option<Choice>,
    /// The turn of the question, or the last turn.
    pub turn: u32,
}

/// Answers open questions from a list, then with the defaults. Durations are drawn by seed, or are the shortest, as in
/// the exhaustive search.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    open: &'a OpenPoints,
    list: &'a [u32],
    /// Entries used so far.
    at: usize,
    turn: u32,
    misfit: Option<Misfit>,
    durations: Option<Seeded>,
}

impl<'a> Replay<'a> {
    /// Replays `list`. Durations are the shortest if there is no seed.
    pub fn new(open: &'a OpenPoints, list: &'a [u32], seed: Option<u64>) -> Self {
        Replay { open, list, at: 0, turn: 0, misfit: None, durations: seed.map(Seeded::new) }
    }

    /// The first entry that does not fit: an answer out of range, or an entry left over at the end. Call it after the
    /// run.
    pub fn misfit(&self) -> Option<Misfit> {
        let left = self.list.get(self.at);
        let left = left.map(|&answer| Misfit { nth: self.at + 1, answer, asked: None, turn: self.turn });
        self.misfit.or(left)
    }
}

impl Chooser for Replay<'_> {
    fn choose(&mut self, choice: Choice) -> u32 {
        if choice.point == ChoicePoint::Turn {
            self.turn = choice.subject;
        }
        if choice.options < 2 || !self.open.has(choice.point) {
            return choice.default;
        }
        let Some(&answer) = self.list.get(self.at) else { return choice.default };
        self.at += 1;
        if answer < choice.options {
            return answer;
        }
        let misfit = Misfit { nth: self.at, answer, asked: Some(choice), turn: self.turn };
        self.misfit.get_or_insert(misfit);
        choice.default
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        point == ChoicePoint::Turn || self.open.has(point)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.durations.as_mut().map_or(lo_ns, |drawn| drawn.duration_ns(lo_ns, hi_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misfit_names_entry_question_and_turn() {
        let open = OpenPoints(vec![ChoicePoint::Arrival]);
        let ask = |chooser: &mut Replay, options| {
            chooser.choose(Choice { point: ChoicePoint::Arrival, subject: 7, options, default: 0 })
        };
        let mut chooser = Replay::new(&open, &[1, 2, 0], None);
        assert_eq!((ask(&mut chooser, 2), ask(&mut chooser, 1)), (1, 0));
        chooser.choose(Choice { point: ChoicePoint::Turn, subject: 4, options: 1, default: 0 });
        assert_eq!(ask(&mut chooser, 2), 0);
        let misfit = chooser.misfit().expect("the question has no answer 2");
        assert_eq!((misfit.nth, misfit.answer, misfit.turn), (2, 2, 4));
        assert_eq!(misfit.asked.map(|choice| choice.subject), Some(7));
        let mut chooser = Replay::new(&open, &[1, 1], None);
        ask(&mut chooser, 2);
        assert_eq!(chooser.misfit().map(|misfit| (misfit.nth, misfit.asked)), Some((2, None)));
        ask(&mut chooser, 2);
        assert_eq!((chooser.misfit(), ask(&mut chooser, 2)), (None, 0));
    }
}
