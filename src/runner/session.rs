//! An interactive run: any position of it, under any rule, with answers that can be changed.
//!
//! Owns the current position and reaches any position fast: the states at some turns are kept, and the turns between
//! them are run again. A position is a list of answers, a turn and a number of facts, the same on every machine.
//! Drawing is left to `tui`.

mod interactive;
mod moves;
mod progress;

use crate::engine::{Chooser, OpenPoints, Seeded};
use crate::judge::{Judge, JudgeOptions, Judgement};
use crate::model::{Ended, Machine, Rule, Setup, World};
use crate::record::{Entry, Fact, Record, RunFact, Sink};
use crate::scene::{JudgedView, Scene, SceneBuilder};
use crate::search::Misfit;

pub use interactive::Question;
pub use moves::{StopPoint, Unit, differs};

use interactive::Interactive;

use super::{Keep, run_with};

/// The most states that are kept. In longer runs they lie further apart.
const KEPT_MAX: usize = 128;

/// A position in a run: a turn, counted from 0, and the number of its facts that have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The number of turns taken before this one. Turn numbers may be higher: they jump where nothing happens.
    pub turn: usize,
    /// Entries of the turn's record that have happened.
    pub fact: usize,
}

/// The machine between two turns.
#[derive(Clone, Debug)]
struct MachineState {
    /// `None` only while a machine runs with it.
    world: Option<Box<World>>,
    durations: Seeded,
    /// The number of questions asked so far.
    asked: usize,
    turns: usize,
    ended: Option<Ended>,
}

/// Machine, judge and live view between two turns.
#[derive(Clone, Debug)]
struct SavedState {
    place: MachineState,
    view: JudgedView,
}

/// The turn of the current position.
#[derive(Debug)]
struct CurrentTurn {
    before: SavedState,
    record: Vec<Entry>,
    questions: Vec<Question>,
    /// The machine after the turn.
    after: Option<MachineState>,
    /// After the first `fact` entries.
    view: JudgedView,
    fact: usize,
}

/// An interactive run.
#[derive(Debug)]
pub struct Session<'a> {
    setup: &'a Setup,
    rule: &'static dyn Rule,
    open: OpenPoints,
    seed: u64,
    answers: Vec<u32>,
    judgement: Judgement,
    /// The numbers of all turns.
    numbers: Vec<u32>,
    /// The turns in which something was open, counted from 0.
    asking: Vec<usize>,
    /// The first of the given answers that did not fit in the last full run.
    misfit: Option<Misfit>,
    /// By finding: the turn in which it was found, counted from 0. Findings at the end of the run have none.
    found: Vec<usize>,
    /// By turns taken, the first one before any.
    kept: Vec<SavedState>,
    turn: CurrentTurn,
}

impl<'a> Session<'a> {
    /// At the beginning of a run of `setup` under `rule`, with durations drawn by `seed`. Questions that are `open` are
    /// answered by `answers`, then as scripted.
    pub fn new(
        setup: &'a Setup,
        rule: &'static dyn Rule,
        open: OpenPoints,
        seed: u64,
        answers: Vec<u32>,
    ) -> Session<'a> {
        let view = JudgedView::new(Judge::new(JudgeOptions {
            page_size: setup.engine.page_size,
            keep_boundaries: false,
            keep_reasons: true,
        }));
        let durations = Seeded::new(seed);
        let place =
            MachineState { world: Some(Box::new(World::new(setup))), durations, asked: 0, turns: 0, ended: None };
        let before = SavedState { place, view: view.clone() };
        let turn = CurrentTurn {
            before: before.clone(),
            record: Vec::new(),
            questions: Vec::new(),
            after: None,
            view,
            fact: 0,
        };
        let judgement =
            Judge::new(JudgeOptions { page_size: 1, keep_boundaries: false, keep_reasons: true }).finish(&[]);
        let (numbers, asking, misfit, found, kept) = (Vec::new(), Vec::new(), None, Vec::new(), vec![before]);
        let mut session =
            Session { setup, rule, open, seed, answers, judgement, numbers, asking, misfit, found, kept, turn };
        session.rerun();
        session.seek(Position::default());
        session
    }

    /// The rule.
    pub fn rule(&self) -> &'static dyn Rule {
        self.rule
    }

    /// The questions that are open.
    pub fn open(&self) -> &OpenPoints {
        &self.open
    }

    /// The seed of drawn durations.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The answers given, up to the last one that is not the script's.
    pub fn answers(&self) -> &[u32] {
        &self.answers
    }

    /// The first of the given answers that did not fit. From there on the script answers.
    pub fn misfit(&self) -> Option<Misfit> {
        self.misfit
    }

    /// The judgement of the whole run.
    pub fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    /// The number of turns of the run.
    pub fn turns(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a turn.
    pub fn number(&self, turn: usize) -> Option<u32> {
        self.numbers.get(turn).copied()
    }

    /// The current position.
    pub fn position(&self) -> Position {
        Position { turn: self.turn.before.place.turns, fact: self.turn.fact }
    }

    /// Judge and live view at the current position.
    pub fn view(&self) -> &JudgedView {
        &self.turn.view
    }

    /// Everything that happens in this turn; the first [`Position::fact`] entries have happened.
    pub fn record(&self) -> &[Entry] {
        &self.turn.record
    }

    /// The open questions of this turn, with the answers that they got.
    pub fn questions(&self) -> &[Question] {
        &self.turn.questions
    }

    /// The scene of this turn and of some turns before it.
    pub fn scene(&self, turns_before: usize) -> Scene {
        let here = self.turn.before.place.turns;
        let SavedState { mut place, view } = self.moment(here.saturating_sub(turns_before));
        let mut builder = SceneBuilder::new(view, None);
        while place.turns <= here && place.ended.is_none() {
            self.take_turn(&mut place, &mut builder);
        }
        builder.finish(&self.judgement)
    }

    /// Goes to a position, or to the nearest that exists.
    pub fn seek(&mut self, to: Position) {
        let turn = to.turn.min(self.turns().saturating_sub(1));
        if turn != self.turn.before.place.turns || self.turn.record.is_empty() {
            let before = self.following(turn).unwrap_or_else(|| self.moment(turn));
            let mut after = before.place.clone();
            let mut record = Record::default();
            let questions = self.take_turn(&mut after, &mut record);
            let view = before.view.clone();
            self.turn = CurrentTurn { before, record: record.entries, questions, after: Some(after), view, fact: 0 };
        }
        let fact = to.fact.min(self.turn.record.len());
        if fact < self.turn.fact {
            self.turn.view.clone_from(&self.turn.before.view);
            self.turn.fact = 0;
        }
        for entry in &self.turn.record[self.turn.fact..fact] {
            give(entry, &mut self.turn.view);
        }
        self.turn.fact = fact;
    }

    /// Changes the rule. The answers are kept as far as they fit, and the position stays the same.
    pub fn set_rule(&mut self, rule: &'static dyn Rule) {
        let stop = self.stop();
        let turn = self.position().turn;
        self.rule = rule;
        self.rerun();
        self.seek(Position { turn, fact: 0 });
        self.seek_stop(stop);
    }

    /// Answers question number `nth` of the run, and goes on as scripted from there. Stays in the same turn.
    pub fn choose(&mut self, nth: usize, answer: u32) {
        let mut answers = self.answers_before(nth);
        answers.push(answer);
        self.set_answers(answers);
    }

    /// Gives other answers, and stays in the same turn.
    pub fn set_answers(&mut self, answers: Vec<u32>) {
        let (turn, stop) = (self.position().turn, self.stop());
        self.answers = answers;
        self.rerun();
        self.seek(Position { turn, fact: 0 });
        self.seek_stop(stop);
    }

    /// Goes back to a history and a point of it.
    pub fn restore(&mut self, rule: &'static dyn Rule, answers: Vec<u32>, position: Position) {
        self.rule = rule;
        self.answers = answers;
        self.rerun();
        self.seek(position);
    }

    /// The answers to the first `nth` questions of the run.
    fn answers_before(&self, nth: usize) -> Vec<u32> {
        let mut place = self.kept[0].place.clone();
        let mut answers = Vec::new();
        while place.ended.is_none() && answers.len() < nth {
            answers.extend(self.take_turn(&mut place, &mut None::<Record>).iter().map(|question| question.answer));
        }
        answers.truncate(nth);
        answers
    }

    /// Judges the whole run and keeps the state at some of its turns.
    fn rerun(&mut self) {
        self.kept.truncate(1);
        self.numbers.clear();
        self.found.clear();
        self.asking.clear();
        self.misfit = None;
        self.turn.record.clear();
        let mut given = Vec::new();
        let mut spacing = 1;
        let mut now = self.kept[0].clone();
        while now.place.ended.is_none() {
            let world = now.place.world.as_ref().expect("between two turns it is here");
            let (number, turn) = (world.turn(), self.numbers.len());
            assert!(self.numbers.last().is_none_or(|&last| last < number), "turns have numbers of their own");
            self.numbers.push(number);
            let questions = self.take_turn(&mut now.place, &mut now.view);
            if !questions.is_empty() {
                self.asking.push(turn);
            }
            self.misfit = self.misfit.or_else(|| misfit(&questions, &self.answers, number));
            given.extend(
                questions.iter().take_while(|it| it.nth < self.answers.len()).map(|it| (it.answer, it.choice.default)),
            );
            self.found.resize(now.view.judge.finding_count(), now.place.turns - 1);
            if now.place.turns.is_multiple_of(spacing) {
                self.kept.push(now.clone());
            }
            if self.kept.len() > KEPT_MAX {
                spacing *= 2;
                self.kept.retain(|moment| moment.place.turns.is_multiple_of(spacing));
            }
        }
        let last = self.numbers.last().copied().unwrap_or(0);
        let left = self.answers.get(given.len());
        let left = left.map(|&answer| Misfit { nth: given.len() + 1, answer, asked: None, turn: last });
        self.misfit = self.misfit.or(left);
        while given.last().is_some_and(|(answer, default)| answer == default) {
            given.pop();
        }
        self.answers = given.into_iter().map(|it| it.0).collect();
        let keep = Keep { boundaries: true, ..Keep::default() };
        let mut person = Interactive::new(&self.open, &self.answers, 0, Seeded::new(self.seed));
        self.judgement = run_with(self.setup, self.rule, &mut person, keep, None).judgement;
    }

    /// The state before the turn after this one, if it is that: nothing needs to be run again.
    fn following(&mut self, turn: usize) -> Option<SavedState> {
        if turn != self.turn.before.place.turns + 1 || self.turn.record.is_empty() {
            return None;
        }
        for entry in &self.turn.record[self.turn.fact..] {
            give(entry, &mut self.turn.view);
        }
        self.turn.fact = self.turn.record.len();
        Some(SavedState { place: self.turn.after.take()?, view: self.turn.view.clone() })
    }

    /// The state before a turn.
    fn moment(&self, turn: usize) -> SavedState {
        let at = self.kept.partition_point(|moment| moment.place.turns <= turn) - 1;
        let mut now = self.kept[at].clone();
        while now.place.turns < turn && now.place.ended.is_none() {
            self.take_turn(&mut now.place, &mut now.view);
        }
        now
    }

    /// Runs one turn, and returns the open questions that it asked.
    fn take_turn(&self, place: &mut MachineState, mut sink: &mut dyn Sink) -> Vec<Question> {
        let world = place.world.take().expect("between two turns it is here");
        let mut person = Interactive::new(&self.open, &self.answers, place.asked, place.durations.clone());
        let mut chooser: &mut dyn Chooser = &mut person;
        let machine = Machine::resume(self.setup, self.rule, &mut chooser, &mut sink, world);
        let mut machine = machine.with_skew(true).with_probe(true);
        place.ended = machine.turn();
        place.world = Some(machine.into_world());
        place.turns += 1;
        if place.ended.is_none() && place.turns >= self.setup.turns_max as usize {
            sink.fact(Fact::Run(RunFact::Bound { stalled: false }));
            place.ended = Some(Ended::TurnsMax);
        }
        let (questions, durations) = person.end();
        place.asked += questions.len();
        place.durations = durations;
        questions
    }
}

/// The first question that got an answer which it does not have.
fn misfit(questions: &[Question], answers: &[u32], turn: u32) -> Option<Misfit> {
    let wrong =
        |question: &&Question| answers.get(question.nth).is_some_and(|&answer| answer >= question.choice.options);
    let question = questions.iter().find(wrong)?;
    let (nth, answer) = (question.nth + 1, answers[question.nth]);
    Some(Misfit { nth, answer, asked: Some(question.choice), turn })
}

/// Gives one entry to a sink.
fn give(entry: &Entry, sink: &mut impl Sink) {
    match entry {
        Entry::Fact(fact) => sink.fact(*fact),
        Entry::Tokens(req, from, tokens) => sink.tokens(*req, *from, tokens),
    }
}
