//! Choosers that answer from a recording: one for each plan.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::ChoicePoint::{self, *};
use crate::engine::{Choice, Chooser};
use crate::record::{ReqId, Token};

use super::inputs::{Inputs, TurnPlan};

/// The chooser of `--plan own`. Answers only what came from outside: the tokens that verifies accepted, and the
/// switches of the configuration.
#[derive(Clone, Debug)]
pub struct OwnPlanChooser {
    /// The lazy second slot is always refused.
    refuse: bool,
    /// `test_retract`: every so many forwards the least preferred request is retracted.
    retract_every: Option<u32>,
    /// Tokens that each verify accepted, by request.
    accepted: Vec<VecDeque<u32>>,
    /// The tokens that were sampled, by request. Empty unless the recording is partial: the fake model's samples are
    /// known.
    sampled: Vec<VecDeque<Token>>,
}

impl OwnPlanChooser {
    /// A chooser for a recording.
    pub fn new(inputs: &Inputs) -> OwnPlanChooser {
        OwnPlanChooser {
            refuse: inputs.meta.config.lazy_alloc_fail.unwrap_or(false),
            retract_every: inputs.meta.config.test_retract.filter(|&every| every > 0),
            accepted: inputs.accepted.clone(),
            sampled: match inputs.meta.partial {
                true => inputs.arrivals.iter().map(|arrival| arrival.sampled.clone()).collect(),
                false => Vec::new(),
            },
        }
    }
}

impl Chooser for OwnPlanChooser {
    fn choose(&mut self, choice: Choice) -> u32 {
        match (choice.point, self.retract_every) {
            (AllocFailure, _) if self.refuse => 1,
            (Accept, _) => {
                let next = self.accepted.get_mut(choice.subject as usize).and_then(VecDeque::pop_front);
                next.map_or(0, |count| count - 1).min(choice.options - 1)
            }
            (Sample, _) => {
                let next = self.sampled.get_mut(choice.subject as usize).and_then(VecDeque::pop_front);
                next.unwrap_or(choice.default)
            }
            (Retract, Some(every)) => u32::from(choice.subject.is_multiple_of(every)),
            (
                Turn | Arrival | Order | Abort | Stop | Retract | AllocFailure | Admission | Candidate | Admit | Chunk
                | Decode | Row | Short | Retracted | Mix | Slot | Generate,
                _,
            ) => choice.default,
        }
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        match point {
            Retract => self.retract_every.is_some(),
            Sample => !self.sampled.is_empty(),
            Turn | Arrival | Order | Abort | Stop | AllocFailure | Accept | Admission | Candidate | Admit | Chunk
            | Decode | Row | Short | Retracted | Mix | Slot | Generate => false,
        }
    }

    fn duration_ns(&mut self, lo_ns: u64, _: u64) -> u64 {
        lo_ns
    }
}

/// The chooser of `--plan recorded`. Answers which requests are matched, admitted, decoded and retracted, how long
/// chunks are, and which slots are given out. What the recording does not have is left to the scheduler.
#[derive(Clone, Debug)]
pub struct RecordedPlanChooser {
    own: OwnPlanChooser,
    /// The plans of the turns to come.
    plan: BTreeMap<u32, TurnPlan>,
    /// The plan of this turn. Decisions that were taken are removed.
    now: TurnPlan,
    /// The slots that each call of the allocator gave, in order.
    allocs: VecDeque<Option<Vec<i64>>>,
    /// Slots of the call that is being answered.
    giving: VecDeque<i64>,
    /// The recording is partial: a turn without a recorded decode step may have had one.
    partial: bool,
}

impl RecordedPlanChooser {
    /// A chooser for a recording. Takes the plan out of `inputs`.
    pub fn new(inputs: &mut Inputs) -> RecordedPlanChooser {
        RecordedPlanChooser {
            own: OwnPlanChooser { retract_every: None, ..OwnPlanChooser::new(inputs) },
            plan: std::mem::take(&mut inputs.plan),
            now: TurnPlan::default(),
            allocs: std::mem::take(&mut inputs.allocs),
            giving: VecDeque::new(),
            partial: inputs.meta.partial,
        }
    }

    fn slot(&mut self, choice: Choice) -> u32 {
        if self.giving.is_empty() {
            match self.allocs.pop_front() {
                Some(Some(slots)) if slots.len() as u32 == choice.subject => self.giving.extend(slots),
                Some(None) => return 0,
                // The recorded call is another one: the comparison will show it.
                Some(Some(_)) | None => return choice.default,
            }
        }
        let given = self.giving.pop_front().and_then(|slot| u32::try_from(slot).ok());
        given.filter(|&slot| slot < choice.options).unwrap_or(choice.default)
    }

    fn extend_len(&self, req: ReqId) -> u32 {
        self.now.extends.iter().find(|(row, _)| *row == req).map_or(0, |(_, len)| *len)
    }
}

impl Chooser for RecordedPlanChooser {
    fn choose(&mut self, choice: Choice) -> u32 {
        let req = ReqId(choice.subject);
        let yes = u32::from;
        match choice.point {
            Turn => {
                self.now = self.plan.remove(&choice.subject).unwrap_or_default();
                choice.default
            }
            Admission if self.now.matched.is_empty() && self.now.extends.is_empty() => choice.default,
            Admission => 1,
            Admit | Chunk | Candidate if self.now.cut && self.now.extends.is_empty() => choice.default,
            Candidate => {
                let next = self.now.matched.front() == Some(&req);
                if next {
                    self.now.matched.pop_front();
                }
                yes(next)
            }
            Admit | Chunk => self.extend_len(req).min(choice.options - 1),
            Decode if self.partial && !self.now.steps => choice.default,
            Decode => yes(self.now.steps),
            Row => match &self.now.decodes {
                Some(rows) => yes(rows.contains(&req) || self.now.retracts.contains(&req)),
                None => choice.default,
            },
            Short => yes(!self.now.retracts.is_empty()),
            Retracted => {
                let next = self.now.retracts.front() == Some(&req);
                if next {
                    self.now.retracts.pop_front();
                }
                yes(next)
            }
            Mix => yes(self.now.mixes),
            Slot => self.slot(choice),
            Arrival | Order | Abort | Stop | Retract | AllocFailure | Accept | Sample | Generate => {
                self.own.choose(choice)
            }
        }
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        match point {
            Turn | Admission | Candidate | Admit | Chunk | Decode | Row | Short | Retracted | Mix | Slot => true,
            Sample => self.own.is_open(point),
            Arrival | Order | Abort | Stop | Retract | AllocFailure | Accept | Generate => false,
        }
    }

    fn duration_ns(&mut self, lo_ns: u64, _: u64) -> u64 {
        lo_ns
    }
}
