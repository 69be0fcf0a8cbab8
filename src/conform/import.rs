//! Makes a setup of a recording that replays it without a chooser of its own: events from outside, and the effects of
//! the switches of its configuration, become events of the setup and lists of accepted tokens.

use crate::engine::{Choice, ChoicePoint, Chooser, Scripted};
use crate::judge::Judgement;
use crate::model::{Event, Machine, Rule, Setup, Stop};
use crate::record::{Fact, ReqId, RequestFact, RunFact, Sink};

use super::cursor::RecordingCursor;
use super::plan::OwnPlanChooser;
use super::{Divergence, Options, Prepared, Recording, RecordingError, prepare, run};

/// A recording as a setup, and its replay.
pub struct Imported {
    /// The setup.
    pub setup: Setup,
    /// The rule that was recorded.
    pub rule: &'static dyn Rule,
    /// The version that was recorded.
    pub version: String,
    /// The judgement of the replay.
    pub judgement: Judgement,
    /// Events of the recording that the replay repeats.
    pub events: u64,
    /// The first difference between the replay and the recording.
    pub leaves: Option<Divergence>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Makes a setup of a recording, replays the setup by script, and compares the replay with the recording.
///
/// # Errors
/// The recording is damaged, or its configuration is not modelled.
pub fn import(recording: &Recording, options: &Options<'_>) -> Result<Imported, RecordingError> {
    let Prepared { inputs, mut setup, rule, mut notes } = prepare(recording, options)?;
    let mut switches =
        SwitchChooser { own: OwnPlanChooser::new(&inputs), turn: 0, refused: Vec::new(), forced: Vec::new() };
    let mut happened = AbortsAndRetracts::default();
    let (mut chooser, mut sink): (&mut dyn Chooser, &mut dyn Sink) = (&mut switches, &mut happened);
    Machine::new(&setup, rule, &mut chooser, &mut sink).run();
    let mut events = happened.aborts;
    events.extend(setup.events.iter().filter(|event| !matches!(event, Event::Abort { .. })));
    events.extend(switches.refused.iter().map(|&(turn, req)| Event::FailAlloc { turn, req }));
    for &turn in &switches.forced {
        let first = happened.retracts.iter().find(|(at, _)| *at == turn);
        events.extend(first.map(|&(turn, req)| Event::Retract { turn, req }));
    }
    if inputs.meta.partial {
        // A partial recording does not tell which retractions were forced: those that the model does not make by
        // itself.
        let forced = inputs.retracts.iter().filter(|retract| !happened.retracts.contains(retract));
        events.extend(forced.map(|&(turn, req)| Event::Retract { turn, req }));
    }
    events.sort_by_key(|event| event.at().0);
    setup.events = events;
    for (spec, accepted) in setup.requests.iter_mut().zip(&inputs.accepted) {
        spec.accept = accepted.iter().copied().collect();
        if matches!(spec.stop, Stop::Token(nth) if nth > spec.max_new) {
            spec.stop = Stop::Length;
        }
    }
    let mut cursor = RecordingCursor::new(recording.lines()?);
    let judge = run(&setup, rule, &inputs, &mut Scripted, &mut cursor, recording);
    if let Some(error) = cursor.error {
        return Err(error);
    }
    notes.append(&mut cursor.take_notes());
    Ok(Imported {
        judgement: judge.finish(&setup.names),
        setup,
        rule,
        version: inputs.meta.version,
        events: cursor.compared.values().sum(),
        leaves: cursor.divergence.or(cursor.first_observed),
        notes,
    })
}

/// Answers as the switches of the recording do, and keeps each answer that a script would not give.
struct SwitchChooser {
    own: OwnPlanChooser,
    turn: u32,
    refused: Vec<(u32, ReqId)>,
    forced: Vec<u32>,
}

impl Chooser for SwitchChooser {
    fn choose(&mut self, choice: Choice) -> u32 {
        use ChoicePoint::*;
        if choice.point == Turn {
            self.turn = choice.subject;
            return choice.default;
        }
        let answer = self.own.choose(choice);
        match choice.point {
            AllocFailure if answer != choice.default => self.refused.push((self.turn, ReqId(choice.subject))),
            Retract if answer != choice.default => self.forced.push(self.turn),
            // Other answers are in the facts or in the recording.
            Turn | Arrival | Order | Abort | Stop | Retract | AllocFailure | Accept | Admission | Candidate | Admit
            | Chunk | Decode | Row | Short | Retracted | Mix | Sample | Slot | Generate => {}
        }
        answer
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        point == ChoicePoint::Turn || self.own.is_open(point)
    }

    fn duration_ns(&mut self, lo_ns: u64, hi_ns: u64) -> u64 {
        self.own.duration_ns(lo_ns, hi_ns)
    }
}

/// A sink that keeps the retractions and the aborts that took effect.
#[derive(Default)]
struct AbortsAndRetracts {
    turn: u32,
    aborts: Vec<Event>,
    retracts: Vec<(u32, ReqId)>,
}

impl Sink for AbortsAndRetracts {
    fn fact(&mut self, fact: Fact) {
        if let Fact::Run(RunFact::Turn { turn, .. }) = fact {
            self.turn = turn;
        } else if let Fact::Request(RequestFact::Abort { req, taken: true, .. }) = fact {
            self.aborts.push(Event::Abort { turn: self.turn, req });
        } else if let Fact::Request(RequestFact::Retract { req, .. }) = fact {
            self.retracts.push((self.turn, req));
        }
    }
}
