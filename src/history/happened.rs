//! Observers of one history: a chooser that notes its answers, and a sink that notes facts.

use std::collections::BTreeMap;

use crate::engine::{Choice, ChoicePoint, Chooser};
use crate::model::Event;
use crate::record::{Fact, FinishKind, ReqId, RequestFact, RunFact, Sink, Token};

/// Forwards every question, and notes the answers that no fact reports.
pub(super) struct Noting<'a> {
    chooser: &'a mut dyn Chooser,
    turn: u32,
    /// Second slots that were refused by choice or by script, as events.
    pub refused: Vec<Event>,
    /// Turns in which a retraction was forced.
    pub forced: Vec<u32>,
    /// What the verifies of each request accepted, in order.
    pub accepted: BTreeMap<ReqId, Vec<u32>>,
}

impl<'a> Noting<'a> {
    pub fn new(chooser: &'a mut dyn Chooser) -> Self {
        Noting { chooser, turn: 0, refused: Vec::new(), forced: Vec::new(), accepted: BTreeMap::new() }
    }
}

impl Chooser for Noting<'_> {
    fn choose(&mut self, choice: Choice) -> u32 {
        use ChoicePoint::*;
        if choice.point == Turn {
            self.turn = choice.subject;
            return if self.chooser.is_open(Turn) { self.chooser.choose(choice) } else { choice.default };
        }
        let answer = self.chooser.choose(choice);
        let (turn, req) = (self.turn, ReqId(choice.subject));
        match choice.point {
            AllocFailure if answer == 1 => self.refused.push(Event::FailAlloc { turn, req }),
            Retract if answer > 0 => self.forced.push(turn),
            Accept => self.accepted.entry(req).or_default().push(answer + 1),
            // The facts of the run show the other answers.
            Turn | Arrival | Order | Abort | Stop | Retract | AllocFailure | Admission | Candidate | Admit | Chunk
            | Decode | Row | Short | Retracted | Mix | Sample | Slot | Generate => {}
        }
        answer
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        point == ChoicePoint::Turn || self.chooser.is_open(point)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.chooser.duration_ns(lo_ns, hi_ns)
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotedEnd {
    pub turn: u32,
    pub kind: FinishKind,
    pub outputs: u32,
}

/// What happened in a run.
#[derive(Default)]
pub(super) struct NotedRun {
    turn: u32,
    /// Requests in the order in which they were seen, with the turn.
    pub seen: Vec<(ReqId, u32)>,
    /// Their prompts.
    pub prompts: BTreeMap<ReqId, Vec<Token>>,
    /// How they ended.
    pub ends: BTreeMap<ReqId, NotedEnd>,
    /// Aborts that took effect.
    pub aborts: Vec<Event>,
    /// Retractions with their turns, forced or not.
    pub retracts: Vec<(u32, ReqId)>,
    /// Every fact, with its turn.
    pub facts: Vec<(u32, Fact)>,
}

impl Sink for NotedRun {
    fn fact(&mut self, fact: Fact) {
        let turn = self.turn;
        self.facts.push((turn, fact));
        if let Fact::Run(RunFact::Turn { turn, .. }) = fact {
            self.turn = turn;
        } else if let Fact::Request(RequestFact::Arrive { req, .. }) = fact {
            self.seen.push((req, turn));
        } else if let Fact::Request(RequestFact::Finish { req, kind, outputs }) = fact {
            self.ends.insert(req, NotedEnd { turn, kind, outputs });
        } else if let Fact::Request(RequestFact::Abort { req, taken: true, .. }) = fact {
            self.aborts.push(Event::Abort { turn, req });
        } else if let Fact::Request(RequestFact::Retract { req, .. }) = fact {
            self.retracts.push((turn, req));
        }
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        if from == 0 {
            self.prompts.insert(req, tokens.to_vec());
        }
    }
}
