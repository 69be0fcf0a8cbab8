//! Reads recordings of the real system, turns them into setups, and compares slots and donations event by event.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use overlapsim::engine::{Choice, Chooser};
use overlapsim::judge::{Judge, Kind, Options as JudgeOptions};
use overlapsim::model::{
    Accept, Arrive, Costs, Engine, Event, Machine, Prompt, Release, RequestSpec, Rule, Setup, Spec, Stop, Strategy,
};
use overlapsim::record::{Donated, Entry, Fact, Record, ReqId, SlotId, State, Token};
use overlapsim::rule::{CommittedLen, CompletedMask, MaskLookahead, TokenLen};
use serde_json::Value;

pub struct Recording {
    pub name: String,
    pub config: Value,
    pub events: Vec<Value>,
}

pub enum Outcome {
    Agrees,
    Differs(String),
}

pub fn read_case(path: &Path) -> Recording {
    let text = std::fs::read_to_string(path).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let name = path.file_name().unwrap().to_string_lossy().to_string();
    Recording { name, config: events[0]["config"].clone(), events }
}

pub fn read_archive(path: &Path) -> Vec<Recording> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let mut all: Vec<Recording> = Vec::new();
    let file = path.file_name().unwrap().to_string_lossy().to_string();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        if value.get("scenario").is_some() {
            let name = format!("{file}#{}", all.len());
            all.push(Recording { name, config: value["scenario"]["config"].clone(), events: Vec::new() });
        } else {
            all.last_mut().unwrap().events.push(value);
        }
    }
    all
}

fn int(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

/// The setup that a recording was made of, with every arrival pinned to its turn.
pub fn setup(recording: &Recording) -> Setup {
    let config = &recording.config;
    let meta = &recording.events[0];
    let mut engine = Engine::preset(match meta["version"].as_str().unwrap() {
        "0.5.16" => Release::V0_5_16,
        "0.5.17" => Release::V0_5_17,
        "0.5.18" => Release::V0_5_18,
        "0.5.23" => Release::V0_5_23,
        other => panic!("unknown version {other}"),
    });
    engine.strategy = match config["strategy"].as_str().unwrap() {
        "no_buffer" => Strategy::NoBuffer,
        "extra_buffer" => Strategy::ExtraBuffer,
        "extra_buffer_lazy" => Strategy::ExtraBufferLazy,
        other => panic!("unknown strategy {other}"),
    };
    engine.overlap = config["overlap"].as_bool().unwrap();
    engine.track_interval = int(&config["track_interval"]);
    engine.mamba_chunk = int(&config["mamba_chunk"]);
    engine.page_size = int(&config["page_size"]);
    engine.mamba_slots = int(&config["mamba_pool"]);
    engine.kv_tokens = int(&config["kv_tokens"]);
    engine.max_running = int(&config["max_running"]);
    engine.max_prefill_tokens = 4096;
    engine.chunked_prefill_size = Some(int(&config["chunk_size"]));
    engine.mixed_chunk = config["mixed_chunk"].as_bool().unwrap_or(false);
    engine.conservativeness = config["conservativeness"].as_f64().unwrap_or(1.0);
    if let Some(spec) = config.get("spec").filter(|spec| !spec.is_null()) {
        let draft = int(&spec["draft_tokens"]) - 1;
        engine.spec = Some(Spec { draft, accept: Accept::Fixed(vec![1]) });
    }
    let mut requests = Vec::new();
    let mut names = Vec::new();
    for event in recording.events.iter().filter(|event| event["ev"] == "arrive") {
        let prompt: Vec<Token> = event["prompt"].as_array().unwrap().iter().map(int).collect();
        let max_new = int(&event["max_new_tokens"]);
        let stop = event["stop_token"].as_u64().map(|token| stop_at(&prompt, token as Token, max_new));
        requests.push(RequestSpec {
            arrive: Arrive::Turn(int(&event["i"]) - 1),
            prompt: Prompt::Tokens(prompt.into()),
            stop: stop.flatten().map_or(Stop::Length, Stop::Token),
            max_new,
        });
        names.push(event["rid"].as_str().unwrap().to_string());
    }
    let id = |rid: &Value| ReqId(names.iter().position(|name| name == rid.as_str().unwrap()).unwrap() as u32);
    let events = (recording.events.iter().filter(|event| event["ev"] == "abort"))
        .map(|event| Event::Abort { turn: int(&event["i"]) - 1, req: id(&event["rid"]) })
        .collect();
    Setup { engine, costs: Costs::default(), requests, names, events, turns_max: 5000 }
}

/// Which output is the stop token first.
fn stop_at(prompt: &[Token], token: Token, max_new: u32) -> Option<u32> {
    let mut state = State::ZERO.fold_all(prompt);
    for n in 1..=max_new {
        let sampled = state.sample();
        if sampled == token {
            return Some(n);
        }
        state = state.fold(sampled);
    }
    None
}

struct Recorded {
    refuse: bool,
    /// The release's own switch: every so many forwards the least preferred request is retracted.
    retract_every: Option<u32>,
    /// What the verifies of each request accepted, in order.
    accepted: Vec<std::collections::VecDeque<u32>>,
}

impl Chooser for Recorded {
    fn choose(&mut self, choice: Choice) -> u32 {
        match (choice.site, self.retract_every) {
            ("alloc_failure", _) => u32::from(self.refuse),
            ("accept", _) => self.accepted[choice.subject as usize].pop_front().map_or(0, |count| count - 1),
            ("retract", Some(every)) => u32::from(choice.subject.is_multiple_of(every)),
            _ => choice.default,
        }
    }
    fn is_open(&self, site: &'static str) -> bool {
        site == "retract" && self.retract_every.is_some()
    }
    fn duration_ns(&mut self, lo_ns: u64, _: u64) -> u64 {
        lo_ns
    }
}

pub fn rule(recording: &Recording) -> Arc<dyn Rule> {
    let newer = !matches!(recording.events[0]["version"].as_str().unwrap(), "0.5.16" | "0.5.17");
    match recording.events[0]["policy"].as_str().unwrap() {
        "committed" => Arc::new(CommittedLen),
        "tokens" => Arc::new(TokenLen),
        "mask-lookahead" => Arc::new(MaskLookahead),
        "native" if newer => Arc::new(CompletedMask),
        "native" => Arc::new(CommittedLen),
        other => panic!("unknown policy {other}"),
    }
}

/// Where the judge's word on a donation differs from the recording's own content check.
fn verdicts(setup: &Setup, recording: &Recording, record: &Record) -> Option<String> {
    let options = JudgeOptions { page_size: setup.engine.page_size, keep_boundaries: false };
    let mut judge = Judge::new(options);
    record.replay(&mut judge);
    let judgement = judge.finish(&setup.names);
    for event in recording.events.iter().filter(|event| event["ev"] == "donate") {
        let at = (int(&event["i"]) - 1, event["rid"].as_str().unwrap(), int(&event["slot"]), int(&event["label"]));
        let found = judgement.findings.iter().find(|finding| {
            let name = finding.req.map_or("", |req| setup.name(req));
            (finding.turn, name, finding.slot.map_or(0, |slot| slot.0), finding.label.unwrap_or(0)) == at
                && !matches!(finding.kind, Kind::Lost)
        });
        let fits = match found.map(|finding| finding.kind) {
            None => event["ok"] == true,
            Some(Kind::Inherited) => event["ok"] == false && event["tainted"] == true,
            Some(Kind::Mislabelled | Kind::Unwritten | Kind::Foreign | Kind::Aliased) => {
                event["ok"] == false && event["tainted"] == false
            }
            Some(_) => false,
        };
        if !fits {
            return Some(format!("{}: {event} but the judge says {found:?}", recording.name));
        }
    }
    let broken = |kind| matches!(kind, Kind::Leak | Kind::DoubleFree | Kind::UseAfterFree | Kind::Lock);
    judgement.findings.iter().find(|finding| broken(finding.kind)).map(|f| format!("{}: {f:?}", recording.name))
}

pub fn run(recording: &Recording) -> (Setup, Record) {
    let setup = setup(recording);
    let mut record = Record::default();
    let mut accepted = vec![std::collections::VecDeque::new(); setup.requests.len()];
    for event in recording.events.iter().filter(|event| event["ev"] == "verify") {
        let req = setup.names.iter().position(|name| name == event["rid"].as_str().unwrap()).unwrap();
        accepted[req].push_back(int(&event["accept"]));
    }
    let mut chooser = Recorded {
        accepted,
        refuse: recording.config["lazy_alloc_fail"].as_bool().unwrap_or(false),
        retract_every: recording.config["test_retract"].as_u64().map(|every| every as u32),
    };
    let rule = rule(recording);
    Machine::new(&setup, &*rule, &mut chooser, &mut record).run();
    (setup, record)
}

/// Compares slot allocation, frees, masks, lookahead, results and donations, in order.
pub fn compare(recording: &Recording) -> Outcome {
    let (setup, record) = run(recording);
    let modelled = modelled_lines(&setup, &record);
    let recorded = recorded_lines(recording);
    for (i, pair) in recorded.iter().zip(&modelled).enumerate() {
        if pair.0 != pair.1 {
            let around = modelled[i.saturating_sub(3)..i].join("\n    ");
            return Outcome::Differs(format!(
                "{} event {i}:\n    {around}\n  recorded {}\n  modelled {}",
                recording.name, pair.0, pair.1
            ));
        }
    }
    if recorded.len() != modelled.len() {
        let next = recorded.get(modelled.len()).or(modelled.get(recorded.len()));
        return Outcome::Differs(format!(
            "{}: {} recorded, {} modelled, next {next:?}",
            recording.name,
            recorded.len(),
            modelled.len()
        ));
    }
    verdicts(&setup, recording, &record).map_or(Outcome::Agrees, Outcome::Differs)
}

fn recorded_lines(recording: &Recording) -> Vec<String> {
    let mut lines = Vec::new();
    for event in &recording.events {
        let i = int(&event["i"]).saturating_sub(1);
        let rid = event["rid"].as_str().unwrap_or("");
        match event["ev"].as_str().unwrap() {
            "slot_alloc" if event["slots"].is_array() => lines.push(format!("{i} alloc {}", event["slots"])),
            "slot_free" if event["slots"] != Value::Array(vec![]) => lines.push(format!("{i} free {}", event["slots"])),
            "match" => {
                let null = Value::Null;
                lines.push(format!(
                    "{i} match {rid} {} branching {}",
                    event["prefix_len"],
                    event.get("branching").unwrap_or(&null)
                ));
            }
            "prepare_decode" => lines.push(format!(
                "{i} decode {} {} {}",
                list(&event["rids"]),
                event["seq_lens"],
                event["kv_committed"]
            )),
            "track_write" => lines.push(format!("{i} track {rid} {} {}", event["slot"], event["n"])),
            "verify" => lines.push(format!("{i} verify {rid} from {} accept {}", event["seq_len"], event["accept"])),
            "cow" => lines.push(format!("{i} cow {} {} {}", event["src"], event["dst"], event["n"])),
            "retract" => lines.push(format!("{i} retract {rid}")),
            "donate" => lines.push(format!(
                "{i} donate {rid} {} slot {} holds {} {} finished {} existed {}",
                event["label"],
                event["slot"],
                event["n"],
                event["hash"].as_str().unwrap(),
                event["reason"] == "finished",
                event["already_in_tree"]
            )),
            "result" if event["mode"] == "decode" => {
                for row in event["reqs"].as_array().unwrap() {
                    if row["retracted"] == true {
                        continue;
                    }
                    lines.push(format!(
                        "{i} row {} k {} L {} C {} out {} finished {}",
                        row["rid"].as_str().unwrap(),
                        row["seq_len"],
                        row["lookahead"],
                        row["kv_committed"],
                        row["output_len"],
                        row["finished"]
                    ));
                }
            }
            "assert" => lines.push(format!("{i} assert")),
            _ => {}
        }
    }
    lines
}

fn list(value: &Value) -> String {
    let rids: Vec<&str> = value.as_array().unwrap().iter().map(|rid| rid.as_str().unwrap()).collect();
    rids.join(",")
}

/// The rows of a decode batch while it is prepared.
#[derive(Default)]
struct Rows {
    rids: Vec<String>,
    ks: Vec<u32>,
    cs: Vec<u32>,
}

/// The same lines from the facts of the model, with slot contents emulated here.
fn modelled_lines(setup: &Setup, record: &Record) -> Vec<String> {
    let mut model = Emulated { store: Vec::new(), tokens: vec![Vec::new(); setup.requests.len()] };
    let name = |req: ReqId| setup.name(req);
    let mut lines = Vec::new();
    let mut turn = 0;
    let mut group: Vec<u32> = Vec::new();
    let mut decode: Option<Rows> = None;
    let mut rows: Vec<String> = Vec::new();
    let mut outputs = vec![(0, false); setup.requests.len()];
    let mut k_of = std::collections::BTreeMap::new();
    let mut mixed = std::collections::BTreeSet::new();
    let flush = |lines: &mut Vec<String>, decode: &mut Option<Rows>, turn: u32| {
        if let Some(Rows { rids, ks, cs }) = decode.take() {
            lines.push(format!("{turn} decode {} {} {}", rids.join(","), json(&ks), json(&cs)));
        }
    };
    for entry in &record.entries {
        let fact = match entry {
            Entry::Prompt(req, tokens) => {
                model.tokens[req.index()] = tokens.clone();
                continue;
            }
            Entry::Fact(fact) => *fact,
        };
        match fact {
            Fact::Turn { turn: now, .. } => turn = now,
            Fact::SlotAlloc { slot, last, .. } => {
                group.push(slot.0);
                if last {
                    lines.push(format!("{turn} alloc {}", json(&group)));
                    group.clear();
                }
            }
            Fact::SlotFree { slot, last, .. } => {
                group.push(slot.0);
                if last {
                    lines.push(format!("{turn} free {}", json(&group)));
                    group.clear();
                }
            }
            Fact::Match { req, state_len, branching, .. } => {
                let branching = branching.map_or("null".to_string(), |at| at.to_string());
                lines.push(format!("{turn} match {} {state_len} branching {branching}", name(req)));
            }
            Fact::PrepareDecode { batch, req, k, kv_committed_len, .. } => {
                let open = decode.get_or_insert_with(Rows::default);
                open.rids.push(name(req).to_string());
                open.ks.push(k);
                open.cs.push(kv_committed_len);
                k_of.insert((batch, req), k);
            }
            Fact::End { .. } => {
                flush(&mut lines, &mut decode, turn);
                lines.append(&mut rows);
            }
            Fact::Clear { slot, .. } => model.put(slot, State::ZERO),
            Fact::CopyState { from, to, stream, .. } => {
                let state = model.get(from);
                model.put(to, state);
                if stream == overlapsim::record::Stream::Forward {
                    lines.push(format!("{turn} cow {} {} {}", from.0, to.0, state.n));
                }
            }
            Fact::Extend { req, slot, from, to, track, .. } => {
                lines.extend(model.fold_run(turn, name(req), (req, slot), from..to, track));
            }
            Fact::Verify { req, slot, from, to, track, .. } => {
                lines.push(format!("{turn} verify {} from {from} accept {}", name(req), to - from));
                lines.extend(model.fold_run(turn, name(req), (req, slot), from..to, track));
            }
            Fact::Step { req, slot, k, track, .. } => {
                let state = model.get(slot).fold(model.tokens[req.index()][k as usize - 1]);
                model.put(slot, state);
                if let Some(track) = track {
                    model.put(track, state);
                    lines.push(format!("{turn} track {} {} {}", name(req), track.0, state.n));
                }
            }
            Fact::Sampled { req, token, .. } => model.tokens[req.index()].push(token),
            Fact::Output { req, outputs: n, .. } => outputs[req.index()] = (n, false),
            Fact::Finish { req, .. } => outputs[req.index()].1 = true,
            Fact::Row { batch, req, lookahead, kv_committed_len, .. } if !mixed.contains(&batch) => {
                let (n, finished) = outputs[req.index()];
                let k = if setup.engine.spec.is_some() { setup_len(setup, req, n) } else { k_of[&(batch, req)] };
                rows.push(format!(
                    "{turn} row {} k {k} L {lookahead} C {kv_committed_len} out {n} finished {finished}",
                    name(req)
                ));
            }
            Fact::Mix { batch, .. } => {
                mixed.insert(batch);
            }
            Fact::Retract { req, .. } => rows.push(format!("{turn} retract {}", name(req))),
            Fact::Donate { req, key_len, slot, how: Donated { finished, existed }, .. } => {
                let State { n, h } = model.get(slot);
                lines.push(format!(
                    "{turn} donate {} {key_len} slot {} holds {n} {h:016x} finished {finished} existed {existed}",
                    name(req),
                    slot.0
                ));
            }
            Fact::Assert { .. } => {
                lines.append(&mut rows);
                lines.push(format!("{turn} assert"));
            }
            _ => {}
        }
    }
    lines
}

/// The length that a request's known outputs reach, less the last token.
fn setup_len(setup: &Setup, req: ReqId, outputs: u32) -> u32 {
    let Prompt::Tokens(prompt) = &setup.requests[req.index()].prompt else { unreachable!() };
    prompt.len() as u32 + outputs - 1
}

fn json(list: &[u32]) -> String {
    let parts: Vec<String> = list.iter().map(u32::to_string).collect();
    format!("[{}]", parts.join(","))
}

struct Emulated {
    store: Vec<State>,
    tokens: Vec<Vec<Token>>,
}

impl Emulated {
    fn get(&self, slot: SlotId) -> State {
        self.store.get(slot.index()).copied().unwrap_or(State::ZERO)
    }

    /// Folds tokens into a slot, and keeps the state of a length on the way. Returns the line that says so.
    fn fold_run(
        &mut self,
        turn: u32,
        name: &str,
        (req, slot): (ReqId, SlotId),
        run: std::ops::Range<u32>,
        track: Option<(SlotId, u32)>,
    ) -> Option<String> {
        let mut line = None;
        let mut state = self.get(slot);
        for at in run {
            state = state.fold(self.tokens[req.index()][at as usize]);
            if let Some((track, len)) = track
                && len == at + 1
            {
                self.put(track, state);
                line = Some(format!("{turn} track {name} {} {}", track.0, state.n));
            }
        }
        self.put(slot, state);
        line
    }

    fn put(&mut self, slot: SlotId, state: State) {
        if self.store.len() <= slot.index() {
            self.store.resize(slot.index() + 1, State::ZERO);
        }
        self.store[slot.index()] = state;
    }
}
