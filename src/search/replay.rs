//! The chooser that answers from a list, and goes on by the script where the list ends.

use crate::engine::{Choice, ChoicePoint, Chooser, OpenPoints, Seeded};

/// A place where a list of choices does not fit the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Which choice of the list, from 1.
    pub nth: usize,
    /// The answer that the list gives.
    pub answer: u32,
    /// The question, or nothing if the run ended before it.
    pub asked: Option<Choice>,
    /// The turn.
    pub turn: u32,
}

/// Answers open questions from a list, then by the script. Draws durations by seed, or gives the shortest, as the exhaustive
/// search does.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    open: &'a OpenPoints,
    list: &'a [u32],
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

    /// The first choice that did not fit, if any did not: an answer that the question does not have, or one left over at
    /// the end. Asked when the run is over.
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
    fn a_list_that_does_not_fit_says_where() {
        let open = OpenPoints(vec![ChoicePoint::Arrival]);
        let ask = |chooser: &mut Replay, options| {
            chooser.choose(Choice { point: ChoicePoint::Arrival, subject: 7, options, default: 0 })
        };
        let mut chooser = Replay::new(&open, &[1, 2, 0], None);
        assert_eq!((ask(&mut chooser, 2), ask(&mut chooser, 1)), (1, 0));
        chooser.choose(Choice { point: ChoicePoint::Turn, subject: 4, options: 1, default: 0 });
        assert_eq!(ask(&mut chooser, 2), 0);
        let misfit = chooser.misfit().expect("there is no answer 2 of 2");
        assert_eq!((misfit.nth, misfit.answer, misfit.turn), (2, 2, 4));
        assert_eq!(misfit.asked.map(|choice| choice.subject), Some(7));
        let mut chooser = Replay::new(&open, &[1, 1], None);
        ask(&mut chooser, 2);
        assert_eq!(chooser.misfit().map(|misfit| (misfit.nth, misfit.asked)), Some((2, None)));
        ask(&mut chooser, 2);
        assert_eq!((chooser.misfit(), ask(&mut chooser, 2)), (None, 0));
    }
}
