//! Short words for the panes, and lines for each fact.

use ratatui::text::Span;

use crate::record::{
    BatchFact, CacheFact, Decision, DecisionFact, Entry, Fact, ForwardFact, GpuStream, KeptState, Owner, ProbeFact,
    RequestFact, RunFact, ScriptFact, SlotFact,
};
use crate::report::name;
use crate::scene::{Fit, RequestStatus, SlotView};

/// A text cut or padded to so many columns. A character may take two columns.
pub(super) fn cell(text: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let width = Span::raw(c.to_string()).width();
        if used + width > columns {
            break;
        }
        out.push(c);
        used += width;
    }
    out + &" ".repeat(columns - used)
}

pub(super) fn status_word(status: RequestStatus) -> &'static str {
    match status {
        RequestStatus::Unseen => "unseen",
        RequestStatus::Waiting => "waiting",
        RequestStatus::Prefill => "prefill",
        RequestStatus::Decode => "decode",
        RequestStatus::Finished => "finished",
    }
}

pub(super) fn fit_word(fit: Fit) -> &'static str {
    match fit {
        Fit::None => "",
        Fit::Right => "right",
        Fit::Exposed => "exposed",
        Fit::Wrong => "WRONG",
    }
}

pub(super) fn owner_words(owner: Option<Owner>, names: &[String]) -> String {
    match owner {
        None => "free".to_owned(),
        Some(Owner::Spare) => "spare".to_owned(),
        Some(Owner::Tree) => "tree".to_owned(),
        Some(Owner::Active(req)) => format!("{} active", name::request(names, req)),
        Some(Owner::Track(req, idx)) => format!("{} track{idx}", name::request(names, req)),
        Some(Owner::Request(req)) => name::request(names, req),
    }
}

/// The content of a slot: its length and the request that wrote it.
pub(super) fn held_words(now: &SlotView, names: &[String]) -> String {
    match (now.holds, now.writer) {
        (Some(len), Some(writer)) => format!("{len} of {}", name::request(names, writer)),
        (Some(len), None) => len.to_string(),
        (None, _) => "-".to_owned(),
    }
}

/// A label and its slot, as in `4@s3`.
pub(super) fn kept_words(kept: KeptState) -> String {
    match (kept.label, kept.slot) {
        (None, _) => "-".to_owned(),
        (Some(label), None) => format!("{label}@none"),
        (Some(label), Some(slot)) => format!("{label}@{slot}"),
    }
}

/// Lines for an entry of the record; `None` if other lines say the same.
pub(super) fn entry_words(entry: &Entry, names: &[String]) -> Option<String> {
    let Entry::Fact(fact) = entry else { return None };
    match *fact {
        Fact::Run(fact) => run_words(fact, names),
        Fact::Request(fact) => request_words(fact, names),
        Fact::Slot(fact) => slot_words(fact, names),
        Fact::Cache(fact) => cache_words(fact, names),
        Fact::Batch(fact) => batch_words(fact, names),
        Fact::Forward(fact) => forward_words(fact, names),
        Fact::Decision(fact) => decision_words(fact, names),
        Fact::Probe(fact) => probe_words(fact, names),
        Fact::Script(fact) => script_words(fact, names),
        Fact::Page(_) => None,
    }
}

fn run_words(fact: RunFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        RunFact::Turn { turn, at } => format!("turn {turn} at {at}"),
        RunFact::Begin { phase, batch, at } => {
            let batch = batch.map_or(String::new(), |batch| format!(" {batch}"));
            format!("{}{batch} at {at}", name::phase(phase).to_uppercase())
        }
        RunFact::End { at } => format!("until {at}"),
        RunFact::Wait { batch, at } => format!("waited for {batch} until {at}"),
        RunFact::Assert { req, kind } => {
            format!("ASSERTION of {}: {}", req.map_or("the engine".to_owned(), id), name::assertion(kind))
        }
        RunFact::Bound { stalled: true } => "ENDED: stalled, no event can ever happen".to_owned(),
        RunFact::Bound { stalled: false } => "ENDED: the run reached turns_max".to_owned(),
        RunFact::Done { at } => format!("DONE at {at}"),
    })
}

fn request_words(fact: RequestFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        RequestFact::Prompt { req, prompt } => format!("prompt of {}: {} tokens", id(req), prompt.len),
        RequestFact::Arrive { req, at, max_new } => {
            format!("{} seen, arrived {at}, at most {max_new} outputs", id(req))
        }
        RequestFact::Admit { req } => format!("{} admitted", id(req)),
        RequestFact::MiddleChunk { req, .. } => format!("{}: a middle chunk, no output", id(req)),
        RequestFact::Skip { batch, req, why } => {
            format!("{batch} {}: skipped, {}", id(req), name::skip_reason(why))
        }
        RequestFact::Output { batch, req, outputs, .. } => {
            format!("{batch} {}: outputs now {outputs}", id(req))
        }
        RequestFact::Finish { req, kind, outputs } => {
            format!("{} ends by {} after {outputs}", id(req), name::finish(kind))
        }
        RequestFact::Retract { req, outputs } => format!("{} retracted with {outputs} outputs", id(req)),
        RequestFact::Abort { req, taken: true, .. } => format!("{} aborted", id(req)),
        RequestFact::Abort { taken: false, .. } => return None,
    })
}

fn slot_words(fact: SlotFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        SlotFact::Alloc { slot, owner, .. } => format!("{slot} to {}", owner_words(Some(owner), names)),
        SlotFact::Refused { req, count } => {
            format!("{} got no slot ({count} asked for)", req.map_or("the queue".to_owned(), id))
        }
        SlotFact::Move { slot, from, to } => {
            format!("{slot} from {} to {}", owner_words(Some(from), names), owner_words(Some(to), names))
        }
        SlotFact::Free { slot, owner, .. } => {
            format!("{slot} freed by {}", owner_words(Some(owner), names))
        }
    })
}

fn cache_words(fact: CacheFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        CacheFact::Match { req, state_len, kv_len, .. } => {
            format!("{} matches {state_len} with a state, {kv_len} of KV", id(req))
        }
        CacheFact::Hit { req, source, len } => format!("{} hits {source}, cached under {len}", id(req)),
        CacheFact::Donate { req, label, key_len, slot, how } => {
            let key = if key_len == label { String::new() } else { format!(", key {key_len}") };
            let existed = if how.existed { "; the node had a state already" } else { "" };
            format!("{} donates {slot} under {label}{key}{existed}", id(req))
        }
        CacheFact::NoDonate { req, why, .. } => {
            format!("{} donates nothing: {}", id(req), name::no_donation(why))
        }
        CacheFact::Lock { .. } | CacheFact::Unlock { .. } => return None,
    })
}

fn batch_words(fact: BatchFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        BatchFact::PrepareExtend { batch, req, prefix_len, seq_len, kv_committed_len, track, .. } => {
            let track = track.map_or(String::new(), |(slot, len)| format!(", track {len} in {slot}"));
            format!("{batch} {}: tokens {prefix_len}..{seq_len}, C {kv_committed_len}{track}", id(req))
        }
        BatchFact::PrepareDecode { batch, req, k, kv_committed_len, track, next_track_idx, .. } => {
            let track = track.map_or(String::new(), |slot| format!(", track in {slot}"));
            let next = next_track_idx.map_or(String::new(), |next| format!(", next {next}"));
            format!("{batch} {}: k {k}, C {kv_committed_len}{next}{track}", id(req))
        }
        BatchFact::HostMasks { batch, bytes } => format!("masks of {batch}: {bytes} bytes"),
        BatchFact::MasksDropped { batch } => format!("the live {batch} drops its masks"),
        BatchFact::Mix { batch, decode, rows } => format!("{rows} rows of {decode} ride along in {batch}"),
        BatchFact::TrackRefused { req, k, in_place } => {
            let what = if in_place { "writes in place" } else { "writes nothing" };
            format!("{} gets no track slot at k {k}: {what}", id(req))
        }
    })
}

fn forward_words(fact: ForwardFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        ForwardFact::Launch { batch, mode, start, end, .. } => {
            format!("launch {batch} {}, {start} .. {end}", name::mode(mode))
        }
        ForwardFact::Clear { req, slot } => format!("{} will clear {slot}", id(req)),
        ForwardFact::CopyState { req, from, to, stream } => {
            let stream = match stream {
                GpuStream::Schedule => "schedule",
                GpuStream::Forward => "forward",
            };
            format!("{} copies {from} to {to}, {stream} stream", id(req))
        }
        ForwardFact::Extend { req, slot, to, track, .. } => {
            let track = track.map_or(String::new(), |(slot, len)| format!(", {len} to {slot}"));
            format!("{} will write {to} to {slot}{track}", id(req))
        }
        ForwardFact::Step { req, slot, k, track, .. } => {
            let track = track.map_or(String::new(), |slot| format!(" and to {slot}: boundary"));
            format!("{} will write {k} to {slot}{track}", id(req))
        }
        ForwardFact::Verify { req, slot, from, to, track, .. } => {
            let track = track.map_or(String::new(), |(slot, len)| format!(", {len} to {slot}: boundary"));
            format!("{} will accept {from}..{to} in {slot}{track}", id(req))
        }
        ForwardFact::Stream { .. } | ForwardFact::Sampled { .. } => return None,
    })
}

fn decision_words(fact: DecisionFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        DecisionFact::Row { req, lookahead, kv_committed_len, check, decision, .. } => {
            let check = name::check(check);
            let by = if check.is_empty() { String::new() } else { format!(", by {check}") };
            let fires = decision.map_or(String::new(), |Decision { before, after }| {
                format!("\n{} FIRES: {} -> {}", id(req), kept_words(before), kept_words(after))
            });
            format!("{} L {lookahead}, C {kv_committed_len}{by}{fires}", id(req))
        }
        DecisionFact::Flip { req, next_track_idx, .. } => {
            format!("{} next_track_idx -> {next_track_idx}", id(req))
        }
    })
}

fn probe_words(fact: ProbeFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        ProbeFact::Read { req, field, newer: true, changed, .. } => {
            let decides = if changed { ": it changes the decision" } else { "" };
            format!("{} reads newer {}{decides}", id(req), name::field(field))
        }
        ProbeFact::Latched { req } => {
            format!("{} waits: the running batch is still marked full", id(req))
        }
        ProbeFact::Fields { .. } | ProbeFact::Arrays { .. } | ProbeFact::Read { newer: false, .. } => return None,
    })
}

fn script_words(fact: ScriptFact, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    Some(match fact {
        ScriptFact::PinMissed { req } => format!("{} misses the turn that it is pinned to", id(req)),
        ScriptFact::PinEnded { req } => format!("{} arrives: the request that it is pinned to has ended", id(req)),
        ScriptFact::EventUnused { turn, req } => {
            format!("the event of turn {turn} for {} had no effect", id(req))
        }
    })
}
