//! Which run of a scenario: seed, answers, open questions.

use crate::engine::OpenPoints;
use crate::model::{Rule, Vary};
use crate::report::question::question;
use crate::scenario::Scenario;
use crate::search::{Misfit, Replay};

use super::line::choices_word;
use super::output::Failure;
use super::values::Answers;

/// All that a run depends on beside scenario and rule: the seed of its durations, and the answers to open questions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReplaySpec<'a> {
    /// The seed; the scenario's own if not given.
    pub seed: Option<u64>,
    /// The answers; without them no question is open.
    pub choices: Option<&'a [u32]>,
    /// The open questions, in place of the scenario's `vary`.
    pub vary: Option<Vary>,
}

impl<'a> ReplaySpec<'a> {
    /// The run that a command line names.
    pub fn of_options(seed: Option<u64>, answers: &'a Answers) -> ReplaySpec<'a> {
        ReplaySpec { seed, choices: answers.choices.as_ref().map(|choices| &choices.0[..]), vary: answers.vary }
    }
}

impl ReplaySpec<'_> {
    /// The run in words: its seed or its choices, and how durations are drawn.
    pub fn words(&self, scenario: &Scenario) -> String {
        match (self.choices, self.seed) {
            (Some(choices), None) => format!("choices {}, the shortest durations", choices_word(choices)),
            (Some(choices), Some(seed)) => format!("choices {}, durations by seed {seed}", choices_word(choices)),
            (None, seed) => format!("seed {}", seed.unwrap_or(scenario.seed)),
        }
    }

    /// The questions that are open.
    pub fn open(&self, scenario: &Scenario) -> OpenPoints {
        if self.choices.is_some() { self.vary.unwrap_or(scenario.vary).open() } else { OpenPoints::default() }
    }

    /// The chooser that replays this run. Choices without a seed come from an exhaustive search, in which every
    /// duration is the shortest.
    pub fn chooser<'a>(&'a self, scenario: &Scenario, open: &'a OpenPoints) -> Replay<'a> {
        let seed = match self.choices {
            Some(_) => self.seed,
            None => Some(self.seed.unwrap_or(scenario.seed)),
        };
        Replay::new(open, self.choices.unwrap_or_default(), seed)
    }
}

/// The error for a list of choices that does not fit a scenario: which choice, and why.
pub(super) fn does_not_fit(scenario: &Scenario, rule: &dyn Rule, misfit: Misfit) -> Failure {
    let Misfit { nth, answer, asked, turn } = misfit;
    let rule = rule.name();
    let (why, help) = match asked {
        Some(choice) => {
            let most = choice.options - 1;
            let what = question(&scenario.setup.names, choice);
            (
                format!("the question in turn {turn} is {what}, with answers 0 to {most}"),
                "give one of these".to_string(),
            )
        }
        None if scenario.vary.is_nothing() => (
            "the scenario leaves nothing open".to_string(),
            "say what is open in the scenario, as in `vary: (arrivals: true)`, or leave out --choices".to_string(),
        ),
        None => (
            format!("the run is over after {} choices, in turn {turn}", nth - 1),
            "shorten the list, or check whether the scenario or the rule has changed".to_string(),
        ),
    };
    Failure(format!("error: choice {nth} is {answer}, which does not fit under {rule}: {why}\nhelp: {help}\n"))
}
