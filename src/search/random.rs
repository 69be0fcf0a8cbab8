//! The chooser of random search: draws answers by seed, in one of several styles, and records them as a list for
//! replay.

use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::engine::{Choice, ChoicePoint, Chooser, OpenPoints, Seeded};

/// Separates the random stream of answers from that of durations. Durations are those of a plain run with the same
/// seed.
const CHOICES: u64 = 0x6368_6F69_6365_7321;

/// How answers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// All answers have the same probability.
    Uniform,
    /// By choice point: the probability of a yes to its yes/no questions, in thousandths; other questions are uniform.
    Weighted(&'static [(ChoicePoint, u32)]),
    /// After probabilistic concurrency testing (PCT): few deviations from the default, at random places.
    ///
    /// A yes/no question is keyed by choice point and subject. A key whose first default is yes is inverted from the
    /// start with probability 1/2: its answers are the opposite of the default. At a change point the key of the
    /// question is inverted, or inverted back, from then on. A question with more than two answers deviates at change
    /// points only. After `span` questions all answers are the default.
    Pct {
        /// The number of change points.
        changes: u32,
        /// The number of open questions, from the first, over which change points are drawn.
        span: u32,
    },
}

/// Draws answers to open questions.
#[derive(Clone, Debug)]
pub struct RandomChooser<'a> {
    open: &'a OpenPoints,
    style: Style,
    rng: ChaCha8Rng,
    durations: Seeded,
    /// The change points: numbers of open questions, ascending.
    changes: Vec<u32>,
    /// The keys of the yes/no questions so far, choice point and subject, and whether their answers are inverted.
    inverted: Vec<(ChoicePoint, u32, bool)>,
    answers: Vec<u32>,
}

impl<'a> RandomChooser<'a> {
    /// A chooser whose draws are a function of `seed` alone.
    pub fn new(open: &'a OpenPoints, style: Style, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ CHOICES);
        let changes = match style {
            Style::Uniform | Style::Weighted(_) => Vec::new(),
            Style::Pct { changes, span } => {
                let mut drawn: Vec<u32> = (0..changes).map(|_| rng.random_range(0..span.max(1))).collect();
                drawn.sort_unstable();
                drawn
            }
        };
        RandomChooser {
            open,
            style,
            rng,
            durations: Seeded::new(seed),
            changes,
            inverted: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// The answers so far, as a list that [`super::Replay`] takes.
    pub fn answers(&self) -> &[u32] {
        &self.answers
    }

    /// The answer to an open question with more than one answer.
    fn answer(&mut self, choice: Choice) -> u32 {
        let Choice { point, options, .. } = choice;
        match self.style {
            Style::Uniform => self.rng.random_range(0..options),
            Style::Weighted(points) => {
                let yes = points.iter().find(|known| known.0 == point).filter(|_| options == 2);
                match yes {
                    Some(&(_, thousandths)) => u32::from(self.rng.random_range(0..1000) < thousandths),
                    None => self.rng.random_range(0..options),
                }
            }
            Style::Pct { span, .. } if self.answers.len() as u32 >= span => choice.default,
            Style::Pct { .. } => self.pct_answer(choice),
        }
    }

    /// The answer of [`Style::Pct`] to one of the first `span` questions.
    fn pct_answer(&mut self, Choice { point, subject, options, default }: Choice) -> u32 {
        let changes = self.changes.binary_search(&(self.answers.len() as u32)).is_ok();
        if options > 2 {
            return if changes { (default + 1 + self.rng.random_range(0..options - 1)) % options } else { default };
        }
        let known = self.inverted.iter().position(|known| (known.0, known.1) == (point, subject));
        let at = known.unwrap_or_else(|| {
            let invert = default == 1 && self.rng.random_range(0..2) == 1;
            self.inverted.push((point, subject, invert));
            self.inverted.len() - 1
        });
        let inverted = &mut self.inverted[at].2;
        *inverted ^= changes;
        default ^ u32::from(*inverted)
    }
}

impl Chooser for RandomChooser<'_> {
    fn choose(&mut self, choice: Choice) -> u32 {
        if choice.options < 2 || !self.open.has(choice.point) {
            return choice.default;
        }
        let answer = self.answer(choice);
        self.answers.push(answer);
        answer
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        self.open.has(point)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.durations.duration_ns(lo_ns, hi_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(style: Style, seed: u64) -> Vec<u32> {
        let open = OpenPoints(vec![ChoicePoint::Arrival]);
        let mut draw = RandomChooser::new(&open, style, seed);
        for _ in 0..64 {
            draw.choose(Choice { point: ChoicePoint::Arrival, subject: 0, options: 2, default: 0 });
            assert_eq!(draw.choose(Choice { point: ChoicePoint::Stop, subject: 0, options: 2, default: 1 }), 1);
        }
        draw.answers().to_vec()
    }

    #[test]
    fn draws_are_a_function_of_the_seed_and_the_style() {
        let pct = Style::Pct { changes: 3, span: 64 };
        for style in [Style::Uniform, Style::Weighted(&[(ChoicePoint::Arrival, 150)]), pct] {
            assert_eq!(drawn(style, 5), drawn(style, 5));
            assert_ne!(drawn(style, 5), drawn(style, 6));
        }
        // All questions have one key, which is inverted at most three times.
        let sides = drawn(pct, 1);
        assert!((1..=3).contains(&sides.windows(2).filter(|pair| pair[0] != pair[1]).count()), "{sides:?}");
        let rare: u32 =
            (0..50).map(|seed| drawn(Style::Weighted(&[(ChoicePoint::Arrival, 100)]), seed).iter().sum::<u32>()).sum();
        assert!((200..450).contains(&rare), "{rare} of 3200");
    }
}
