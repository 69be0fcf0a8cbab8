//! What a recording was made of: release, rule, configuration, requests, and everything that came from outside or that
//! a plan takes over from it. Read in one pass before the comparison.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::Value;

use crate::record::{ReqId, Token};

use super::archive::Recording;
use super::config::{Meta, unknown};
use super::lines::{Line, RecordingError};

const DAMAGED: &str = "the recording is damaged or of another format: record it again";

/// The most tokens of a prompt, and the most outputs of a request.
const TOKENS_MAX: usize = 1 << 24;

/// The last turn that a recording may have.
const TURN_MAX: u32 = 1 << 30;

/// A request as it arrived, and what a partial recording says of its end.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub rid: String,
    pub turn: u32,
    pub prompt: Vec<Token>,
    pub max_new: u32,
    pub stop_token: Option<Token>,
    /// Partial recordings: the request can only end by length.
    pub ignore_eos: Option<bool>,
    /// Partial recordings: how many outputs it has, if it finished without an abort.
    pub outputs: Option<u32>,
    /// Partial recordings: the tokens of its outputs, if the recording has them.
    pub sampled: VecDeque<Token>,
}

/// What the scheduler decided in one turn of the recording.
#[derive(Clone, Debug, Default)]
pub struct TurnPlan {
    /// Waiting requests that were matched, in order.
    pub matched: VecDeque<ReqId>,
    /// Prefill rows: the request and how many tokens.
    pub extends: Vec<(ReqId, u32)>,
    /// A decode step was prepared.
    pub steps: bool,
    /// The rows of that decode step, if the recording gives all of them.
    pub decodes: Option<Vec<ReqId>>,
    /// Requests retracted, in order.
    pub retracts: VecDeque<ReqId>,
    /// Decode rows joined a prefill batch.
    pub mixes: bool,
    /// An assertion cut the turn short: requests may have been admitted and not prepared.
    pub cut: bool,
}

/// Everything that a recording was made of.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Release, rule and configuration.
    pub meta: Meta,
    /// The line of `meta`.
    pub line: u64,
    /// The requests, in order of arrival.
    pub arrivals: Vec<Arrival>,
    /// Aborts: the turn and the request.
    pub aborts: Vec<(u32, ReqId)>,
    /// Retractions: the turn and the request.
    pub retracts: Vec<(u32, ReqId)>,
    /// How many tokens each verify of a request accepted, in order, by request.
    pub accepted: Vec<VecDeque<u32>>,
    /// What was decided in each turn.
    pub plan: BTreeMap<u32, TurnPlan>,
    /// The slots that each call of the allocator gave, in order; `None` if it refused.
    pub allocs: VecDeque<Option<Vec<i64>>>,
    /// The recording has an `end`.
    pub ended: bool,
    /// An assertion ended the recording.
    pub cut_short: bool,
    /// The last turn of the recording.
    pub turns: u32,
    /// Requests of a partial recording that arrived before it began.
    pub earlier_requests: Vec<String>,
    /// Fields of `config` that `config.rs` does not know.
    pub unknown: Vec<String>,
}

/// The fields of an event that the first pass reads.
#[derive(Debug, Deserialize)]
struct InputEvent {
    i: u32,
    ev: String,
    #[serde(default)]
    rid: Option<String>,
    #[serde(default)]
    prompt: Option<Vec<Token>>,
    #[serde(default)]
    max_new_tokens: Option<u32>,
    #[serde(default)]
    stop_token: Option<Token>,
    #[serde(default)]
    accept: Option<u32>,
    #[serde(default)]
    extend_len: Option<u32>,
    #[serde(default)]
    rids: Option<Vec<String>>,
    /// A release may name slot -1, which is no slot.
    #[serde(default)]
    slots: Option<Vec<i64>>,
    #[serde(default)]
    ignore_eos: Option<bool>,
    #[serde(default)]
    rows_left_out: Option<u32>,
    #[serde(default)]
    reqs: Option<Vec<InputRow>>,
}

/// The fields of a row of a result that the first pass reads.
#[derive(Debug, Deserialize)]
struct InputRow {
    rid: String,
    #[serde(default)]
    finished: bool,
    #[serde(default)]
    aborted: bool,
    #[serde(default)]
    output_len: Option<usize>,
    #[serde(default)]
    output_ids: Option<VecDeque<Token>>,
}

impl Inputs {
    /// Reads a whole recording.
    ///
    /// # Errors
    /// A line is not an event, an event lacks a field that it must have, or a complete recording lacks its `end`.
    pub fn read(recording: &Recording) -> Result<Inputs, RecordingError> {
        let mut lines = recording.lines()?;
        let Some(first) = lines.next()? else {
            return Err(RecordingError::at(
                recording.line,
                "the recording is empty: its `meta` event is missing",
                DAMAGED,
            ));
        };
        let mut inputs = Inputs::begin(&first)?;
        let mut ids = BTreeMap::new();
        let mut last = first.number;
        while let Some(line) = lines.next()? {
            last = line.number;
            if !line.is_text {
                return Err(RecordingError::at(line.number, "the line is not UTF-8 text", DAMAGED));
            }
            let event: InputEvent = serde_json::from_str(&line.text).map_err(|error| not_an_event(&line, &error))?;
            if event.ev == "meta" {
                continue;
            }
            if event.i == 0 {
                return Err(RecordingError::at(line.number, "`i` is 0: turns of a recording count from 1", DAMAGED));
            }
            if event.i > TURN_MAX {
                let message = format!("`i` is {}: a recording has at most {TURN_MAX} turns", event.i);
                return Err(RecordingError::at(line.number, message, DAMAGED));
            }
            inputs.turns = inputs.turns.max(event.i - 1);
            inputs.ended |= event.ev == "end";
            if inputs.is_of_earlier_request(&event, &ids) {
                continue;
            }
            inputs.event(&line, event, &mut ids)?;
        }
        if !inputs.ended && !inputs.meta.partial {
            return Err(RecordingError::at(
                last,
                "the recording stops without its `end` event",
                "it was cut off: record it again",
            ));
        }
        Ok(inputs)
    }

    fn begin(line: &Line) -> Result<Inputs, RecordingError> {
        let value: Value = serde_json::from_str(&line.text).map_err(|error| not_an_event(line, &error))?;
        let unknown = unknown(&value);
        let meta: Meta = serde_json::from_value(value).map_err(|error| {
            let message = format!("the `meta` event cannot be used: {error}");
            RecordingError::at(line.number, message, "docs/conformance.md lists what it must have")
        })?;
        Ok(Inputs {
            meta,
            line: line.number,
            arrivals: Vec::new(),
            aborts: Vec::new(),
            retracts: Vec::new(),
            accepted: Vec::new(),
            plan: BTreeMap::new(),
            allocs: VecDeque::new(),
            ended: false,
            cut_short: false,
            turns: 0,
            earlier_requests: Vec::new(),
            unknown,
        })
    }

    /// Takes in an event.
    fn event(
        &mut self,
        line: &Line,
        event: InputEvent,
        ids: &mut BTreeMap<String, ReqId>,
    ) -> Result<(), RecordingError> {
        let turn = event.i - 1;
        let missing = |name: &str| unusable(line, name);
        let find = |rid: &Option<String>| {
            let rid = rid.as_ref().ok_or_else(|| missing("rid"))?;
            let unseen = || {
                RecordingError::at(line.number, format!("request {rid:?} has not arrived before this line"), DAMAGED)
            };
            ids.get(rid).copied().ok_or_else(unseen)
        };
        match event.ev.as_str() {
            "arrive" => self.arrive(line, event, ids)?,
            "abort" => {
                // An abort of a name that no request has has no effect.
                if let Ok(req) = find(&event.rid) {
                    self.aborts.push((turn, req));
                }
            }
            "verify" => {
                let req = find(&event.rid)?;
                let accept = event.accept.filter(|&accept| accept > 0).ok_or_else(|| missing("accept"))?;
                self.accepted[req.index()].push_back(accept);
            }
            "match" => {
                let req = find(&event.rid)?;
                self.turn(turn).matched.push_back(req);
            }
            "prepare_extend" => {
                let req = find(&event.rid)?;
                let len = event.extend_len.filter(|&len| len > 0).ok_or_else(|| missing("extend_len"))?;
                self.turn(turn).extends.push((req, len));
            }
            "prepare_decode" => {
                let rids = event.rids.ok_or_else(|| missing("rids"))?;
                let rows = rids.into_iter().map(|rid| find(&Some(rid))).collect::<Result<_, _>>()?;
                let plan = self.turn(turn);
                plan.steps = true;
                plan.decodes = event.rows_left_out.is_none_or(|left| left == 0).then_some(rows);
            }
            "result" if self.meta.partial => self.finish(line, event, ids)?,
            "mix" => self.turn(turn).mixes = true,
            "assert" => {
                self.cut_short = true;
                self.turn(turn).cut = true;
            }
            "retract" => {
                let req = find(&event.rid)?;
                self.retracts.push((turn, req));
                self.turn(turn).retracts.push_back(req);
            }
            "slot_alloc" => self.allocs.push_back(event.slots),
            _ => {}
        }
        Ok(())
    }

    /// A request arrives.
    fn arrive(
        &mut self,
        line: &Line,
        event: InputEvent,
        ids: &mut BTreeMap<String, ReqId>,
    ) -> Result<(), RecordingError> {
        let turn = event.i - 1;
        let missing = |name: &str| unusable(line, name);
        let rid = event.rid.ok_or_else(|| missing("rid"))?;
        let prompt = event.prompt.filter(|prompt| is_in_range(prompt.len())).ok_or_else(|| missing("prompt"))?;
        let max_new = event.max_new_tokens.filter(|&max| is_in_range(max as usize));
        let max_new = max_new.ok_or_else(|| missing("max_new_tokens"))?;
        let id = ReqId(self.arrivals.len() as u32);
        if ids.insert(rid.clone(), id).is_some() {
            let message = format!("request {rid:?} arrives twice");
            return Err(RecordingError::at(line.number, message, "names of requests must differ"));
        }
        self.accepted.push(VecDeque::new());
        self.arrivals.push(Arrival {
            rid,
            turn,
            prompt,
            max_new,
            stop_token: event.stop_token,
            ignore_eos: event.ignore_eos,
            outputs: None,
            sampled: VecDeque::new(),
        });
        Ok(())
    }

    /// A result of a partial recording: keeps the outputs of requests that finish.
    fn finish(&mut self, line: &Line, event: InputEvent, ids: &BTreeMap<String, ReqId>) -> Result<(), RecordingError> {
        let spec = self.meta.config.spec.is_some();
        for row in event.reqs.unwrap_or_default() {
            let Some(req) = ids.get(&row.rid) else { continue };
            let arrival = &mut self.arrivals[req.index()];
            if let Some(output_ids) = row.output_ids.filter(|_| row.finished) {
                // A verify may accept tokens beyond the stop token.
                let fits = |len: usize| match spec {
                    true => (1..=len).contains(&output_ids.len()),
                    false => output_ids.len() == len,
                };
                if !row.output_len.is_none_or(fits) {
                    return Err(unusable(line, "output_ids"));
                }
                arrival.outputs = (!row.aborted).then_some(output_ids.len() as u32);
                arrival.sampled = output_ids;
            }
        }
        Ok(())
    }

    /// Whether an event is about a request that arrived before a partial recording began. Notes its name.
    fn is_of_earlier_request(&mut self, event: &InputEvent, ids: &BTreeMap<String, ReqId>) -> bool {
        let Some(rid) = event.rid.as_ref().filter(|_| self.meta.partial && event.ev != "arrive") else {
            return false;
        };
        let is_earlier = !ids.contains_key(rid);
        if is_earlier && !self.earlier_requests.contains(rid) {
            self.earlier_requests.push(rid.clone());
        }
        is_earlier
    }

    fn turn(&mut self, turn: u32) -> &mut TurnPlan {
        self.plan.entry(turn).or_default()
    }
}

fn unusable(line: &Line, name: &str) -> RecordingError {
    RecordingError::at(line.number, format!("the event has no usable `{name}`"), DAMAGED)
}

/// Whether a count of tokens is from 1 to `TOKENS_MAX`.
fn is_in_range(tokens: usize) -> bool {
    (1..=TOKENS_MAX).contains(&tokens)
}

fn not_an_event(line: &Line, error: &serde_json::Error) -> RecordingError {
    RecordingError::at(line.number, format!("this line is not an event: {error}"), DAMAGED)
}
