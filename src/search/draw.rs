//! The chooser of random search: draws answers by seed, in one of several styles, and keeps them as a list.

use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::engine::{Choice, ChoicePoint, Chooser, OpenPoints, Seeded};

/// Keeps the draws of choices apart from those of durations, which are as in a plain run with the same seed.
const CHOICES: u64 = 0x6368_6F69_6365_7321;

/// How answers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Every answer is as likely as any other.
    Uniform,
    /// By choice point: the probability of a yes to its yes/no questions, in thousandths; other questions are uniform.
    Weighted(&'static [(ChoicePoint, u32)]),
    /// After the schedules of probabilistic concurrency testing: what would happen by itself is held back, or not, from
    /// the start, and at a few questions spread over the run what is asked about changes sides for good. A question of
    /// more than yes and no gets another answer than the script's at a change only. Behind them it is the script.
    Pct {
        /// Questions at which something changes.
        changes: u32,
        /// Questions over which they are spread.
        span: u32,
    },
}

/// Draws answers to open questions.
#[derive(Clone, Debug)]
pub struct Draw<'a> {
    open: &'a OpenPoints,
    style: Style,
    rng: ChaCha8Rng,
    durations: Seeded,
    /// The questions at which something changes, in order.
    changes: Vec<u32>,
    /// What was asked about, by choice point and subject, and whether its answers are turned over.
    turned: Vec<(ChoicePoint, u32, bool)>,
    answers: Vec<u32>,
}

impl<'a> Draw<'a> {
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
        Draw { open, style, rng, durations: Seeded::new(seed), changes, turned: Vec::new(), answers: Vec::new() }
    }

    /// The answers so far, as a list that [`super::Replay`] takes.
    pub fn answers(&self) -> &[u32] {
        &self.answers
    }

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
            Style::Pct { .. } => self.by_sides(choice),
        }
    }

    fn by_sides(&mut self, Choice { point, subject, options, default }: Choice) -> u32 {
        let changes = self.changes.binary_search(&(self.answers.len() as u32)).is_ok();
        if options > 2 {
            return if changes { (default + 1 + self.rng.random_range(0..options - 1)) % options } else { default };
        }
        let known = self.turned.iter().position(|known| (known.0, known.1) == (point, subject));
        let at = known.unwrap_or_else(|| {
            let held = default == 1 && self.rng.random_range(0..2) == 1;
            self.turned.push((point, subject, held));
            self.turned.len() - 1
        });
        let turned = &mut self.turned[at].2;
        *turned ^= changes;
        default ^ u32::from(*turned)
    }
}

impl Chooser for Draw<'_> {
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
        let mut draw = Draw::new(&open, style, seed);
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
        // One thing is asked about, and it changes sides at most three times.
        let sides = drawn(pct, 1);
        assert!((1..=3).contains(&sides.windows(2).filter(|pair| pair[0] != pair[1]).count()), "{sides:?}");
        let rare: u32 =
            (0..50).map(|seed| drawn(Style::Weighted(&[(ChoicePoint::Arrival, 100)]), seed).iter().sum::<u32>()).sum();
        assert!((200..450).contains(&rare), "{rare} of 3200");
    }
}
