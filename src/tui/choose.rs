//! The popup of open choices: the questions of a turn, and the answer that the user selects.

use crate::runner::Question;

use super::keys::Key;

/// A choice under way: the selected question and its selected answer.
#[derive(Clone, Debug)]
pub(super) struct Choosing {
    questions: Vec<Question>,
    at: usize,
    answer: u32,
}

impl Choosing {
    /// Selects the first question with its present answer.
    pub(super) fn new(questions: &[Question]) -> Choosing {
        let answer = questions.first().map_or(0, |question| question.answer);
        Choosing { questions: questions.to_vec(), at: 0, answer }
    }

    /// The questions, the index of the selected question, and the selected answer.
    pub(super) fn state(&self) -> (&[Question], usize, u32) {
        (&self.questions, self.at, self.answer)
    }

    /// Moves the selection between questions and answers.
    pub(super) fn press(&mut self, key: Key) {
        let options = self.questions[self.at].choice.options;
        match key {
            Key::Down | Key::Char('j') => self.move_to((self.at + 1).min(self.questions.len() - 1)),
            Key::Up | Key::Char('k') => self.move_to(self.at.saturating_sub(1)),
            Key::Right | Key::Char('l' | ' ') => self.answer = (self.answer + 1) % options,
            Key::Left | Key::Char('h') => self.answer = (self.answer + options - 1) % options,
            Key::Char(c) => {
                if let Some(answer) = c.to_digit(10).filter(|&answer| answer < options) {
                    self.answer = answer;
                }
            }
            Key::PageUp | Key::PageDown | Key::Tab | Key::Enter | Key::Esc => {}
        }
    }

    fn move_to(&mut self, at: usize) {
        self.at = at;
        self.answer = self.questions[at].answer;
    }

    /// The number of the question and its new answer; `None` if the answer has not changed.
    pub(super) fn chosen(&self) -> Option<(usize, u32)> {
        let question = self.questions[self.at];
        (self.answer != question.answer).then_some((question.nth, self.answer))
    }
}
