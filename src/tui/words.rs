//! The short words of the panes, and a line for each fact.

use ratatui::text::Span;

use crate::record::{Decision, Entry, Fact, Kept, Owner, Stream};
use crate::report::name;
use crate::scene::{Fit, SlotNow, Stage};

/// A text in so many columns: cut or filled up. A character may take two.
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

pub(super) fn stage_word(stage: Stage) -> &'static str {
    match stage {
        Stage::Unseen => "unseen",
        Stage::Waiting => "waiting",
        Stage::Prefill => "prefill",
        Stage::Decode => "decode",
        Stage::Finished => "finished",
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

/// What a slot holds.
pub(super) fn held_words(now: &SlotNow, names: &[String]) -> String {
    match (now.holds, now.writer) {
        (Some(len), Some(writer)) => format!("{len} of {}", name::request(names, writer)),
        (Some(len), None) => len.to_string(),
        (None, _) => "-".to_owned(),
    }
}

/// A label and its slot, as in `4@s3`.
pub(super) fn kept_words(kept: Kept) -> String {
    match (kept.label, kept.slot) {
        (None, _) => "-".to_owned(),
        (Some(label), None) => format!("{label}@none"),
        (Some(label), Some(slot)) => format!("{label}@{slot}"),
    }
}

/// Lines for an entry of the record; nothing for what only repeats what others say.
pub(super) fn entry_words(entry: &Entry, names: &[String]) -> Option<String> {
    let id = |req| name::request(names, req);
    let fact = match entry {
        Entry::Tokens(..) => return None,
        Entry::Fact(fact) => *fact,
    };
    Some(match fact {
        Fact::Turn { turn, at } => format!("turn {turn} at {at}"),
        Fact::Prompt { req, prompt } => format!("prompt of {}: {} tokens", id(req), prompt.len),
        Fact::Begin { phase, batch, at } => {
            let batch = batch.map_or(String::new(), |batch| format!(" {batch}"));
            format!("{}{batch} at {at}", name::phase(phase).to_uppercase())
        }
        Fact::End { at } => format!("until {at}"),
        Fact::Arrive { req, at, max_new } => format!("{} seen, arrived {at}, at most {max_new} outputs", id(req)),
        Fact::Match { req, state_len, kv_len, .. } => {
            format!("{} matches {state_len} with a state, {kv_len} of KV", id(req))
        }
        Fact::Hit { req, source, len } => format!("{} hits {source}, cached under {len}", id(req)),
        Fact::Admit { req } => format!("{} admitted", id(req)),
        Fact::SlotAlloc { slot, owner, .. } => format!("{slot} to {}", owner_words(Some(owner), names)),
        Fact::SlotRefused { req, count } => {
            format!("{} refused {count} slots", req.map_or("the queue".to_owned(), id))
        }
        Fact::SlotMove { slot, from, to } => {
            format!("{slot} from {} to {}", owner_words(Some(from), names), owner_words(Some(to), names))
        }
        Fact::SlotFree { slot, owner, .. } => format!("{slot} freed by {}", owner_words(Some(owner), names)),
        Fact::PrepareExtend { batch, req, prefix_len, seq_len, kv_committed_len, track, .. } => {
            let track = track.map_or(String::new(), |(slot, len)| format!(", track {len} in {slot}"));
            format!("{batch} {}: tokens {prefix_len}..{seq_len}, C {kv_committed_len}{track}", id(req))
        }
        Fact::PrepareDecode { batch, req, k, kv_committed_len, track, next_track_idx, .. } => {
            let track = track.map_or(String::new(), |slot| format!(", track in {slot}"));
            let next = next_track_idx.map_or(String::new(), |next| format!(", next {next}"));
            format!("{batch} {}: k {k}, C {kv_committed_len}{next}{track}", id(req))
        }
        Fact::HostMasks { batch, bytes } => format!("masks of {batch}: {bytes} bytes"),
        Fact::MasksDropped { batch } => format!("the live {batch} drops its masks"),
        Fact::Mix { batch, decode, rows } => format!("{rows} rows of {decode} ride along in {batch}"),
        Fact::Launch { batch, mode, start, end, .. } => {
            format!("launch {batch} {}, {start} .. {end}", name::mode(mode))
        }
        Fact::Clear { req, slot } => format!("{} will clear {slot}", id(req)),
        Fact::CopyState { req, from, to, stream } => {
            let stream = match stream {
                Stream::Schedule => "schedule",
                Stream::Forward => "forward",
            };
            format!("{} copies {from} to {to}, {stream} stream", id(req))
        }
        Fact::Extend { req, slot, to, track, .. } => {
            let track = track.map_or(String::new(), |(slot, len)| format!(", {len} to {slot}"));
            format!("{} will write {to} to {slot}{track}", id(req))
        }
        Fact::Step { req, slot, k, track, .. } => {
            let track = track.map_or(String::new(), |slot| format!(" and to {slot}: boundary"));
            format!("{} will write {k} to {slot}{track}", id(req))
        }
        Fact::Verify { req, slot, from, to, track, .. } => {
            let track = track.map_or(String::new(), |(slot, len)| format!(", {len} to {slot}: boundary"));
            format!("{} will accept {from}..{to} in {slot}{track}", id(req))
        }
        Fact::Wait { batch, at } => format!("waited for {batch} until {at}"),
        Fact::MiddleChunk { req, .. } => format!("{}: a chunk in the middle, no output", id(req)),
        Fact::Skip { batch, req, why } => format!("{batch} {}: passed over, {}", id(req), name::passed(why)),
        Fact::Output { batch, req, outputs, .. } => format!("{batch} {}: outputs now {outputs}", id(req)),
        Fact::Finish { req, kind, outputs } => format!("{} ends by {} after {outputs}", id(req), name::finish(kind)),
        Fact::Row { req, lookahead, kv_committed_len, check, decision, .. } => {
            let check = name::check(check);
            let by = if check.is_empty() { String::new() } else { format!(", by {check}") };
            let fires = decision.map_or(String::new(), |Decision { before, after }| {
                format!("\n{} FIRES: {} -> {}", id(req), kept_words(before), kept_words(after))
            });
            format!("{} L {lookahead}, C {kv_committed_len}{by}{fires}", id(req))
        }
        Fact::Read { req, field, newer: true, changed, .. } => {
            let decides = if changed { ": that decides" } else { "" };
            format!("{} sees newer {}{decides}", id(req), name::field(field))
        }
        Fact::Flip { req, next_track_idx, .. } => format!("{} next_track_idx -> {next_track_idx}", id(req)),
        Fact::Donate { req, label, key_len, slot, how } => {
            let key = if key_len == label { String::new() } else { format!(", key {key_len}") };
            let existed = if how.existed { ", there was one" } else { "" };
            format!("{} donates {slot} under {label}{key}{existed}", id(req))
        }
        Fact::NoDonate { req, why, .. } => format!("{} donates nothing: {}", id(req), name::nothing(why)),
        Fact::TrackRefused { req, k, in_place } => {
            let what = if in_place { "writes in place" } else { "writes nothing" };
            format!("{} gets no track slot at k {k}: {what}", id(req))
        }
        Fact::Retract { req, outputs } => format!("{} retracted with {outputs} outputs", id(req)),
        Fact::Assert { req, kind } => {
            format!("ASSERTION of {}: {}", req.map_or("the engine".to_owned(), id), name::assertion(kind))
        }
        Fact::Latched { req } => format!("{} waits, though only the mark of a full batch keeps it out", id(req)),
        Fact::PinMissed { req } => format!("{} misses the turn it is pinned to", id(req)),
        Fact::PinEnded { req } => format!("{} comes: its pin has ended", id(req)),
        Fact::Abort { req, taken: true, .. } => format!("{} aborted", id(req)),
        Fact::EventUnused { turn, req } => format!("the event of turn {turn} for {} did nothing", id(req)),
        Fact::Bound { stalled: true } => "ENDED: nothing can ever happen again".to_owned(),
        Fact::Bound { stalled: false } => "ENDED: the bound on turns".to_owned(),
        Fact::Done { at } => format!("DONE at {at}"),
        Fact::PageAlloc { .. }
        | Fact::PageMove { .. }
        | Fact::PageFree { .. }
        | Fact::Lock { .. }
        | Fact::Unlock { .. }
        | Fact::Stream { .. }
        | Fact::Sampled { .. }
        | Fact::Fields { .. }
        | Fact::Arrays { .. }
        | Fact::Read { newer: false, .. }
        | Fact::Abort { taken: false, .. } => return None,
    })
}
