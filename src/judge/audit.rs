//! The state audit: at every donation and every cache hit, the slot must hold exactly the tokens of the key.
//!
//! Owns the words of the findings and the trail from a finding to those who started from it. Contents are judged
//! after all launched forwards. Refuses to judge who may hold a slot (that is `account`).

use crate::record::{Donated, Lineage, Prefix, ReqId, SlotId};

use super::Kind;
use super::findings::Findings;
use super::live::{Hit, Live};
use super::store::{Donation, Store};
use super::truth::Truth;

/// A state offered to the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// The length that the request believes the slot holds.
    pub label: u32,
    /// The length of the key.
    pub key_len: u32,
    /// The slot.
    pub slot: SlotId,
    /// What became of it.
    pub how: Donated,
}

/// Audits a donation of `req`.
pub(super) fn donation(
    req: ReqId,
    offer: Offer,
    page_size: u32,
    live: &Live,
    lineage: &Lineage,
    store: &mut Store,
    findings: &mut Findings,
) {
    let Offer { key_len, slot, how, .. } = offer;
    let content = store.content(slot);
    let mut root = None;
    if !right((&live.truth, lineage), store, slot, content, key_len) {
        let index = match store.flaw(slot) {
            Some(index) => {
                // Found when it was copied; the length is known only now.
                if let Some(finding) = findings.at(index) {
                    finding.label = finding.label.or(Some(key_len));
                }
                index
            }
            None => wrong_offer(req, offer, page_size, (live, lineage), store, findings),
        };
        root = live.taint.or(Some(index));
    }
    if !how.existed {
        let by_decode = Some(how.finished && live.window.has_decoded());
        store.donate(slot, Donation { req, state: content, root, by_decode });
    }
}

/// The finding for a donation of something else than its key says.
fn wrong_offer(
    req: ReqId,
    offer: Offer,
    page_size: u32,
    (live, lineage): (&Live, &Lineage),
    store: &Store,
    findings: &mut Findings,
) -> usize {
    let Offer { label, key_len, slot, how } = offer;
    let key = if key_len == label {
        format!("label {label}")
    } else if label.checked_rem(page_size).is_some_and(|rest| label - rest == key_len) {
        format!("key {key_len} (label {label} floored to a page of {page_size})")
    } else {
        format!("key {key_len} (label {label})")
    };
    let mut overwritten = None;
    let (kind, mut reason) = if live.taint.is_some() {
        (Kind::Inherited, format!("{key}, but the request itself started from a wrong state"))
    } else {
        overwritten = live.marks.trail.overwritten(label, slot, store.content(slot).len);
        fault(req, &key, key_len, slot, (live, lineage), store)
    };
    if let Some(overwritten) = overwritten {
        reason.push_str(&overwritten.words());
    }
    if how.existed {
        reason.push_str("; not cached, as the node already owned a state");
    }
    let index = findings.add(kind, Some(req), || reason);
    detail(findings, index, key_len, slot, store.content(slot), live.taint);
    if let Some(finding) = findings.at(index) {
        finding.overwritten = overwritten;
    }
    index
}

/// Audits a cache hit: `req` will start from `source`, cached under `len` tokens.
pub(super) fn hit(
    req: ReqId,
    (source, len): (SlotId, u32),
    live: &mut Live,
    lineage: &Lineage,
    store: &mut Store,
    findings: &mut Findings,
) {
    let content = store.content(source);
    let donated = store.donation(source);
    live.taint = None;
    if !right((&live.truth, lineage), store, source, content, len) {
        let root = donated.and_then(|donated| donated.root);
        let (kind, reason) = match (root, donated) {
            (Some(_), _) => (Kind::Inherited, format!("the state cached under {len} was wrong when it was donated")),
            (None, Some(donated)) if donated.state != content => overwritten(len, donated, content, source, store),
            (None, _) => {
                let donor = donated.map(|donated| donated.req).or(store.writer(source)).unwrap_or(req);
                fault(donor, &format!("cached under {len}"), len, source, (live, lineage), store)
            }
        };
        let index = findings.add(kind, Some(req), || reason);
        detail(findings, index, len, source, content, root);
        live.taint = root.or(Some(index));
        // Whoever hits it next has this root.
        let donated = donated.unwrap_or(Donation { req, state: content, root: None, by_decode: None });
        store.donate(source, Donation { root: live.taint, ..donated });
    }
    live.hit = Some(Hit { source, len, root: live.taint });
}

/// Whether a slot holds the first `len` tokens of a request. Where the record does not tell the tokens, the length
/// must do, but only for a slot that somebody wrote.
pub(super) fn right(
    (truth, lineage): (&Truth, &Lineage),
    store: &Store,
    slot: SlotId,
    content: Prefix,
    len: u32,
) -> bool {
    match store.writer(slot) {
        Some(_) => truth.holds(content, len, lineage),
        None => truth.surely_holds(content, len, lineage),
    }
}

/// The kind and the words for a slot that holds something else, by a request that started right. `req` is who was to
/// write it.
fn fault(
    req: ReqId,
    key: &str,
    len: u32,
    slot: SlotId,
    (live, lineage): (&Live, &Lineage),
    store: &Store,
) -> (Kind, String) {
    let content = store.content(slot);
    let holds = if content.len == len {
        format!("the slot holds {len} tokens of another sequence")
    } else {
        format!("the slot holds {}", content.len)
    };
    let flight = if store.in_flight(slot) { ": the step in flight writes there" } else { "" };
    let now = store.right_now(slot);
    if now != content && live.truth.holds(now, len, lineage) {
        let n = content.len;
        return (Kind::Aliased, format!("{key} is right now, but a launched forward will leave {n} in the slot"));
    }
    match store.writer(slot) {
        None => (Kind::Unwritten, format!("{key}, but nobody has written the slot")),
        Some(writer) if writer != req => (Kind::Foreign, format!("{key}, but {holds}: <{writer}> wrote it last")),
        Some(_) => (Kind::Mislabelled, format!("{key}, but {holds}{flight}")),
    }
}

/// The kind and the words for a cached slot that was right when it was donated. The copy of a hit runs on the stream
/// of the forwards, so it is ordered after their writes: what it reads is wrong, not torn.
fn overwritten(len: u32, donated: Donation, content: Prefix, slot: SlotId, store: &Store) -> (Kind, String) {
    let n = content.len;
    match store.writer(slot) {
        Some(writer) if writer != donated.req => {
            (Kind::Foreign, format!("cached under {len}, overwritten after donation by <{writer}>: it holds {n}"))
        }
        Some(_) | None => (Kind::Mislabelled, format!("cached under {len}, overwritten after donation: it holds {n}")),
    }
}

fn detail(findings: &mut Findings, index: usize, len: u32, slot: SlotId, content: Prefix, root: Option<usize>) {
    if let Some(finding) = findings.at(index) {
        finding.label = Some(len);
        finding.holds = (finding.kind != Kind::Unwritten).then_some(content.len);
        finding.slot = Some(slot);
        finding.root = root;
    }
}
