//! Bookmarks: points of a run kept for comparison, with their requests, slots and counts.

use crate::record::SlotId;
use crate::report::name;
use crate::runner::{Position, Session};
use crate::scene::{RequestView, SlotView};

use super::words::{fit_word, held_words, kept_words, owner_words, status_word};

/// A marked point: position, requests, slots and counts.
#[derive(Clone, Debug)]
pub(super) struct Bookmark {
    rule: &'static str,
    position: Position,
    number: u32,
    answers: Vec<u32>,
    time: String,
    reqs: Vec<RequestView>,
    slots: Vec<(SlotId, SlotView)>,
    boundaries: usize,
    findings: usize,
    verdict: &'static str,
}

impl Bookmark {
    pub(super) fn new(session: &Session) -> Bookmark {
        let view = session.view();
        let position = session.position();
        Bookmark {
            rule: session.rule().name(),
            position,
            number: session.number(position.turn).unwrap_or(0),
            answers: session.answers().to_vec(),
            time: view.live_view.now.to_string(),
            reqs: view.live_view.reqs().to_vec(),
            slots: view.live_view.slot_ids().map(|slot| (slot, view.slot(slot))).collect(),
            boundaries: session.boundaries().0.len(),
            findings: session.findings().len(),
            verdict: name::verdict(session.judgement().verdict),
        }
    }

    /// The position in words.
    pub(super) fn place(&self) -> String {
        format!("turn {}, entry {}, under {}", self.number, self.position.fact, self.rule)
    }
}

/// The differences between two points, a line each.
pub(super) fn differences(a: &Bookmark, b: &Bookmark, names: &[String]) -> String {
    let mut lines = vec![format!("A: {}", a.place()), format!("B: {}", b.place())];
    let mut pair = |what: &str, a: String, b: String| {
        if a != b {
            lines.push(format!("{what}: {a} | {b}"));
        }
    };
    pair("answers", words(&a.answers), words(&b.answers));
    pair("time", a.time.clone(), b.time.clone());
    pair("verdict at the end", a.verdict.to_owned(), b.verdict.to_owned());
    pair("boundaries so far", a.boundaries.to_string(), b.boundaries.to_string());
    pair("findings so far", a.findings.to_string(), b.findings.to_string());
    for at in 0..a.reqs.len().max(b.reqs.len()) {
        let of = |bookmark: &Bookmark| bookmark.reqs.get(at).copied().unwrap_or_default();
        let id = name::request(names, crate::record::ReqId(at as u32));
        let (a, b) = (of(a), of(b));
        pair(&format!("{id} status"), status_word(a.status).to_owned(), status_word(b.status).to_owned());
        let numbers = |it: &RequestView| {
            [
                ("k", Some(i64::from(it.k))),
                ("outputs", Some(i64::from(it.outputs))),
                ("L", it.lookahead),
                ("kv_committed_len", Some(i64::from(it.fields.kv_committed_len))),
                ("next_track_idx", it.fields.next_track_idx.map(i64::from)),
                ("last_track_idx", it.fields.last_track_idx.map(i64::from)),
            ]
        };
        for ((what, a), (_, b)) in numbers(&a).into_iter().zip(numbers(&b)) {
            pair(&format!("{id} {what}"), number(a), number(b));
        }
        pair(&format!("{id} keeps"), kept_words(a.kept()), kept_words(b.kept()));
    }
    for at in 0..a.slots.len().max(b.slots.len()) {
        let of = |bookmark: &Bookmark| bookmark.slots.get(at).map_or(String::new(), |(_, now)| slot_words(now, names));
        pair(&format!("s{at}"), of(a), of(b));
    }
    if lines.len() == 2 {
        lines.push("no difference".to_owned());
    }
    lines.join("\n")
}

fn slot_words(now: &SlotView, names: &[String]) -> String {
    if now.owner.is_none() {
        return "free".to_owned();
    }
    let label = now.label.map_or(String::new(), |label| format!(", label {label} {}", fit_word(now.fit)));
    format!("{} {}{label}", owner_words(now.owner, names), held_words(now, names))
}

fn words(answers: &[u32]) -> String {
    if answers.is_empty() { "-".to_owned() } else { answers.iter().map(u32::to_string).collect::<Vec<_>>().join(".") }
}

fn number(of: Option<i64>) -> String {
    of.map_or("-".to_owned(), |of| of.to_string())
}
