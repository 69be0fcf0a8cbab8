//! Checkpoints that were due in a recording and were lost. A checkpoint is due when the result of a boundary step is
//! processed. The terms are those of the judge (docs/judge.md), derived from the recording's own events.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::super::config::Config;
use super::{int, text};

/// A checkpoint that was lost.
#[derive(Debug)]
pub(super) struct LostCheckpoint {
    /// The line of the result at which it was due.
    pub line: u64,
    /// What was lost, for the user.
    pub reason: String,
}

/// The checkpoints of a request.
#[derive(Debug, Default)]
struct RequestCheckpoints {
    prompt_len: i64,
    max_new: i64,
    /// It may end by a stop token.
    stops: bool,
    /// Lengths that its label was set to since it got its track slots.
    recorded: BTreeSet<i64>,
    /// Lengths that are due and not recorded, with the line of the result.
    open: BTreeMap<i64, u64>,
    /// The longest length that was due and recorded, with the line of its result.
    best: (i64, u64),
    /// The value of `best` when the slot of a later boundary was refused, so that its step overwrote the kept state.
    overwritten: i64,
    /// The label under which it offered a state at its end.
    offered: i64,
    /// A guard declined to offer a state at its end.
    declined: bool,
}

/// All requests of a recording.
#[derive(Debug)]
pub(super) struct DueCheckpoints {
    /// `prepare_decode` tells which rows are at a boundary. With speculation, `verify` does.
    planned: bool,
    lazy: bool,
    /// Every lazy second slot is refused.
    refuses_all: bool,
    /// Scripted refusals: the request and the iteration.
    refused: Vec<(String, u32)>,
    requests: BTreeMap<String, RequestCheckpoints>,
    /// Decode batches in flight: the boundary length of each row that wrote one.
    batches: BTreeMap<i64, BTreeMap<String, i64>>,
    /// The batch launched last.
    launched: i64,
    /// The iteration of the last event.
    iteration: u32,
    /// Slots given out in this iteration.
    given: BTreeSet<i64>,
    /// A call of the slot allocator was refused in this iteration.
    was_refused: bool,
}

impl DueCheckpoints {
    pub(super) fn new(config: &Config) -> DueCheckpoints {
        let scripted = config.script.iter().filter(|it| it.act == "fail_alloc");
        DueCheckpoints {
            planned: config.strategy != "no_buffer" && config.spec.is_none(),
            lazy: config.strategy == "extra_buffer_lazy",
            refuses_all: config.lazy_alloc_fail.unwrap_or(false),
            refused: scripted.map(|it| (it.rid.clone(), it.at)).collect(),
            requests: BTreeMap::new(),
            batches: BTreeMap::new(),
            launched: 0,
            iteration: 0,
            given: BTreeSet::new(),
            was_refused: false,
        }
    }

    /// Takes in an event of iteration `i`. Returns the checkpoints that it shows to be lost.
    pub(super) fn event(&mut self, i: u32, kind: &str, line: u64, event: &Map<String, Value>) -> Vec<LostCheckpoint> {
        if i != self.iteration {
            (self.iteration, self.was_refused) = (i, false);
            self.given.clear();
        }
        let rid = text(event, "rid");
        match kind {
            "arrive" => {
                let prompt_len = event.get("prompt").and_then(Value::as_array).map_or(0, |prompt| prompt.len() as i64);
                let (max_new, stops) =
                    (int(event, "max_new_tokens"), event.get("stop_token").is_some_and(|it| !it.is_null()));
                self.requests.insert(
                    rid.to_string(),
                    RequestCheckpoints { prompt_len, max_new, stops, ..RequestCheckpoints::default() },
                );
            }
            "slot_alloc" => match event.get("slots").and_then(Value::as_array) {
                Some(slots) => self.given.extend(slots.iter().filter_map(Value::as_i64)),
                None => self.was_refused = true,
            },
            "prepare_decode" if self.planned => self.prepare(event),
            "launch" => self.launched = int(event, "batch"),
            "verify" if int(event, "track_step") >= 0 => {
                let k = int(event, "seq_len") + int(event, "track_step") + 1;
                self.batches.entry(self.launched).or_default().insert(rid.to_string(), k);
                self.overwrite(rid, int(event, "slot"));
            }
            "retract" => {
                if let Some(request) = self.requests.get_mut(rid) {
                    request.give_up();
                }
            }
            "donate" if text(event, "reason") == "finished" => {
                if let Some(request) = self.requests.get_mut(rid) {
                    request.offered = int(event, "label");
                }
            }
            "no_insert" if text(event, "reason") == "finished" => {
                let chose = event.contains_key("label") || event.get("prepared").is_some_and(|it| !it.is_null());
                if let Some(request) = self.requests.get_mut(rid) {
                    request.declined = !chose;
                }
            }
            "result" => return self.result(line, event),
            _ => {}
        }
        Vec::new()
    }

    /// Keeps which rows of a decode batch are at a boundary: the forward keeps their states.
    fn prepare(&mut self, event: &Map<String, Value>) {
        let list = |name: &str| event.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let (rids, masks, lens) = (list("rids"), list("mask"), list("seq_lens"));
        let slots = list("track_slots");
        for (j, rid) in rids.iter().enumerate() {
            let (Some(rid), Some(Value::Bool(true))) = (rid.as_str(), masks.get(j)) else { continue };
            let Some(k) = lens.get(j).and_then(Value::as_i64) else { continue };
            self.batches.entry(int(event, "batch")).or_default().insert(rid.to_string(), k);
            let slot = slots.get(j).and_then(Value::as_i64).unwrap_or(-1);
            self.overwrite(rid, slot);
        }
    }

    /// A boundary step writes a slot. It overwrites the kept state if the second slot was refused.
    fn overwrite(&mut self, rid: &str, slot: i64) {
        let scripted = || self.refused.iter().any(|(name, at)| name == rid && *at == self.iteration);
        let in_place = self.lazy && !self.given.contains(&slot);
        if in_place
            && (self.was_refused || self.refuses_all || scripted())
            && let Some(request) = self.requests.get_mut(rid)
        {
            request.overwritten = request.best.0;
        }
    }

    fn result(&mut self, line: u64, event: &Map<String, Value>) -> Vec<LostCheckpoint> {
        let wrote = self.batches.remove(&int(event, "batch")).unwrap_or_default();
        let is_decode = text(event, "mode") == "decode";
        let mut lost = Vec::new();
        for row in event.get("reqs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice) {
            let Some(row) = row.as_object() else { continue };
            let rid = text(row, "rid");
            let Some(request) = self.requests.get_mut(rid) else { continue };
            if is_decode {
                request.decide(row, wrote.get(rid).copied(), line);
            }
            if row.get("finished").and_then(Value::as_bool) == Some(true)
                && let Some(request) = self.requests.remove(rid)
            {
                lost.extend(request.finish(rid, row));
            }
        }
        lost
    }
}

impl RequestCheckpoints {
    /// A decode result was processed. `wrote` is the length whose state its forward kept.
    fn decide(&mut self, row: &Map<String, Value>, wrote: Option<i64>, line: u64) {
        if let Some(label) = row.get("last_track_seqlen").and_then(Value::as_i64) {
            self.recorded.insert(label);
            if let Some(line) = self.open.remove(&label) {
                self.best = self.best.max((label, line));
            }
        }
        match wrote {
            Some(k) if self.recorded.contains(&k) => self.best = self.best.max((k, line)),
            Some(k) => {
                self.open.insert(k, line);
            }
            None => {}
        }
    }

    /// The request was retracted: its checkpoints are given up, which is no loss.
    fn give_up(&mut self) {
        let RequestCheckpoints { prompt_len, max_new, stops, .. } = *self;
        *self = RequestCheckpoints { prompt_len, max_new, stops, ..RequestCheckpoints::default() };
    }

    /// The request ends. Lengths that were due and not recorded are lost. So is the longest recorded length, if the
    /// request offers less, no guard declined, and no later step had to overwrite it.
    fn finish(self, rid: &str, row: &Map<String, Value>) -> Vec<LostCheckpoint> {
        let mut lost = Vec::new();
        let (best, line) = self.best;
        let outputs = int(row, "output_len");
        // The last verify may accept tokens beyond the stop token. The recording does not tell how many.
        let beyond_stop_max = if self.stops { int(row, "accept") - 1 } else { 0 };
        let reach = self.prompt_len + (outputs - beyond_stop_max.max(0)).min(self.max_new);
        if best > self.offered && !self.declined && best > self.overwritten && best <= reach {
            let offered = self.offered;
            let reason = format!("request {rid} recorded length {best} and offers {offered} at its end");
            lost.push(LostCheckpoint { line, reason });
        }
        for (k, line) in self.open {
            lost.push(LostCheckpoint {
                line,
                reason: format!("length {k} of request {rid} was due and is never recorded"),
            });
        }
        lost
    }
}
