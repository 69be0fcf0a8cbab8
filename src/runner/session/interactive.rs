//! The chooser of a session: answers from a list, then by the script, and notes what it was asked.

use crate::engine::{Choice, ChoicePoint, Chooser, OpenPoints, Seeded};

/// An open question, and the answer that it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// What was asked.
    pub choice: Choice,
    /// The answer.
    pub answer: u32,
    /// Which question of the run it is, from 0: its place in the list of answers.
    pub nth: usize,
}

/// Answers open questions from the list of a session, then by the script. Durations are drawn.
#[derive(Clone, Debug)]
pub(super) struct Interactive<'a> {
    open: &'a OpenPoints,
    answers: &'a [u32],
    next: usize,
    durations: Seeded,
    questions: Vec<Question>,
}

impl<'a> Interactive<'a> {
    /// Goes on after `asked` questions.
    pub fn new(open: &'a OpenPoints, answers: &'a [u32], asked: usize, durations: Seeded) -> Self {
        Interactive { open, answers, next: asked, durations, questions: Vec::new() }
    }

    /// The questions that were asked, and the random state of the durations.
    pub fn end(self) -> (Vec<Question>, Seeded) {
        (self.questions, self.durations)
    }
}

impl Chooser for Interactive<'_> {
    fn choose(&mut self, choice: Choice) -> u32 {
        if choice.options < 2 || !self.open.has(choice.point) {
            return choice.default;
        }
        let given = self.answers.get(self.next).copied().filter(|&answer| answer < choice.options);
        let answer = given.unwrap_or(choice.default);
        self.questions.push(Question { choice, answer, nth: self.next });
        self.next += 1;
        answer
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        self.open.has(point)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.durations.duration_ns(lo_ns, hi_ns)
    }
}
