//! The comparison of the judge with the second judge, in the report of a random search.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::check::whereabouts;
use super::layout::{row, wrap};
use super::style;

/// The verdict of runs on which the judges disagree.
pub const DISAGREEMENT: &str = "disagreement";

/// How both judges agree on the uses of states in the runs of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondJudgement {
    /// The number of uses, by how both agree.
    pub agreements: Agreements,
    /// The first run on which they disagree.
    pub disagreement: Option<FuzzDisagreement>,
}

/// The number of uses of states, by how both judges agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreements {
    /// Judged right, and right by numbers in every order.
    pub right: u64,
    /// Judged wrong, and wrong by numbers.
    pub wrong: u64,
    /// Judged wrong for a race, and wrong by numbers in another order.
    pub wrong_in_another_order: u64,
    /// Wrong by numbers after a hit that was judged wrong.
    pub after_wrong_hit: u64,
    /// Wrong by numbers after a donation that was judged wrong.
    pub after_wrong_donation: u64,
    /// Wrong by numbers in a run with a torn copy.
    pub after_torn_copy: u64,
    /// Wrong by numbers in a run with a use after free.
    pub after_use_after_free: u64,
}

/// The first use on which the judges disagree, in the run of the least seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuzzDisagreement {
    /// The use in words: what was used, where, and when; or the verdict of the run.
    pub what: String,
    /// What the judge says.
    pub judge: String,
    /// What the numbers say.
    pub numbers: String,
    /// The choices of the run.
    pub choices: String,
    /// Runs on which they disagree.
    pub runs: u64,
    /// The least seed of them.
    pub seed: u64,
    /// The command that shows it again.
    pub replay: String,
}

impl Agreements {
    /// The counts with their words.
    pub(super) fn all(&self) -> [(u64, &'static str); 7] {
        let Agreements {
            right,
            wrong,
            wrong_in_another_order,
            after_wrong_hit,
            after_wrong_donation,
            after_torn_copy,
            after_use_after_free,
        } = *self;
        [
            (right, "right"),
            (wrong, "wrong"),
            (wrong_in_another_order, "wrong in another order"),
            (after_wrong_hit, "after a wrong hit"),
            (after_wrong_donation, "after a wrong donation"),
            (after_torn_copy, "after a torn copy"),
            (after_use_after_free, "after a use after free"),
        ]
    }

    fn absorb(&mut self, other: &Agreements) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.wrong_in_another_order += other.wrong_in_another_order;
        self.after_wrong_hit += other.after_wrong_hit;
        self.after_wrong_donation += other.after_wrong_donation;
        self.after_torn_copy += other.after_torn_copy;
        self.after_use_after_free += other.after_use_after_free;
    }
}

impl SecondJudgement {
    /// Adds other runs.
    pub(super) fn absorb(&mut self, other: &SecondJudgement) {
        self.agreements.absorb(&other.agreements);
        match (&mut self.disagreement, &other.disagreement) {
            (Some(known), Some(other)) => {
                let runs = known.runs + other.runs;
                if other.seed < known.seed {
                    known.clone_from(other);
                }
                known.runs = runs;
            }
            (None, Some(_)) => self.disagreement.clone_from(&other.disagreement),
            (Some(_) | None, None) => {}
        }
    }

    /// Appends the lines of the text report.
    pub(super) fn text(&self, out: &mut String) {
        let words: Vec<String> = self
            .agreements
            .all()
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let words = if words.is_empty() { "no state was used".to_string() } else { words.join(", ") };
        let disagree = if self.disagreement.is_some() { "DISAGREEMENT" } else { "no disagreement" };
        row(out, "2nd judge", &format!("{disagree}; uses of states: {words}"));
        let Some(FuzzDisagreement { what, judge, numbers, choices: _, runs, seed, replay }) = &self.disagreement else {
            return;
        };
        out.push('\n');
        wrap(
            out,
            2,
            &format!("{} {what}: the judge says {judge}, the numbers are {numbers}", style::bad(DISAGREEMENT)),
        );
        let runs = if *runs == 1 { "1 run".to_string() } else { format!("{runs} runs") };
        let _ = writeln!(out, "  in {runs}, first with seed {seed}. This is a fault of overlapsim: please report it");
        whereabouts(out, replay, None);
        out.push('\n');
    }
}
