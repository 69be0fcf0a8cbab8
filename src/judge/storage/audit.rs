//! The state audit: at every donation and every cache hit, the slot must hold the state after exactly the tokens of the
//! key.
//!
//! Owns the findings about wrong states, and the link from each inherited finding to the finding at its root. A content
//! is judged as it is after all launched forwards. Does not judge which request may own a slot: that is `owners`.

use crate::record::{DonationOutcome, Prefix, ReqId, SlotId};

use super::super::findings::Findings;
use super::contents::TreeDonation;
use super::sequence::Tokens;
use super::{Hit, LiveRequest, Storage};
use crate::judge::FindingKind;

/// A state that a request offers to the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfferedState {
    /// The length of the state by the bookkeeping of the request.
    pub label: u32,
    /// The length of the key.
    pub key_len: u32,
    /// The slot.
    pub slot: SlotId,
    /// The circumstances and the result.
    pub how: DonationOutcome,
}

impl Storage {
    /// Audits a donation of `req`. `by_decode` is whether a decode wrote the state, for the goals of later hits.
    /// Returns the index of the finding, if the donation adds one.
    pub fn donate(
        &mut self,
        req: ReqId,
        offer: OfferedState,
        page_size: u32,
        by_decode: bool,
        findings: &mut Findings,
    ) -> Option<usize> {
        let OfferedState { key_len, slot, how, .. } = offer;
        let LiveRequest { tokens, taint, .. } = *self.requests.get_or_new(req)?;
        let content = self.contents.content(slot);
        let (mut root, mut new) = (None, None);
        if !self.is_right(&tokens, slot, key_len) {
            let index = match self.contents.flaw(slot) {
                Some(index) => {
                    // The finding was made at the copy. Its length is known only now.
                    if let Some(finding) = findings.at(index) {
                        finding.label = finding.label.or(Some(key_len));
                    }
                    index
                }
                None => *new.insert(self.wrong_offer(req, offer, page_size, (&tokens, taint), findings)),
            };
            root = taint.or(Some(index));
        }
        if !how.existed {
            self.contents.donate(slot, TreeDonation { req, state: content, root, by_decode: Some(by_decode) });
        }
        new
    }

    /// Adds the finding about a donation whose slot does not hold the tokens of the key.
    fn wrong_offer(
        &self,
        req: ReqId,
        offer: OfferedState,
        page_size: u32,
        (tokens, taint): (&Tokens, Option<usize>),
        findings: &mut Findings,
    ) -> usize {
        let OfferedState { label, key_len, slot, how: _ } = offer;
        let key = if key_len == label {
            format!("label {label}")
        } else if label.checked_rem(page_size).is_some_and(|rest| label - rest == key_len) {
            format!("key {key_len} (label {label} floored to a page of {page_size})")
        } else {
            format!("key {key_len} (label {label})")
        };
        let (kind, reason) = if taint.is_some() {
            (FindingKind::Inherited, format!("{key}, but the request itself started from a wrong state"))
        } else {
            self.fault(req, &key, key_len, slot, tokens)
        };
        let index = findings.add(kind, Some(req), || reason);
        detail(findings, index, key_len, slot, self.contents.content(slot), taint);
        index
    }

    /// Audits a cache hit: `req` will start from `source`, cached under `len` tokens. Returns whether a decode wrote
    /// the state, if that is known, and whether the state is wrong.
    pub fn hit(&mut self, req: ReqId, source: SlotId, len: u32, findings: &mut Findings) -> (Option<bool>, bool) {
        let donated = self.contents.donation(source);
        let by_decode = donated.and_then(|donated| donated.by_decode);
        let Some(&mut LiveRequest { tokens, .. }) = self.requests.get_or_new(req) else { return (by_decode, false) };
        let content = self.contents.content(source);
        let mut taint = None;
        if !self.is_right(&tokens, source, len) {
            let root = donated.and_then(|donated| donated.root);
            let (kind, reason) = match (root, donated) {
                (Some(_), _) => {
                    (FindingKind::Inherited, format!("the state cached under {len} was wrong when it was donated"))
                }
                (None, Some(donated)) if donated.state != content => self.overwritten(len, donated, content, source),
                (None, _) => {
                    let donor = donated.map(|donated| donated.req).or(self.contents.writer(source)).unwrap_or(req);
                    self.fault(donor, &format!("cached under {len}"), len, source, &tokens)
                }
            };
            let index = findings.add(kind, Some(req), || reason);
            detail(findings, index, len, source, content, root);
            taint = root.or(Some(index));
            // The next request that hits this state has the same root.
            let donated = donated.unwrap_or(TreeDonation { req, state: content, root: None, by_decode: None });
            self.contents.donate(source, TreeDonation { root: taint, ..donated });
        }
        if let Some(running) = self.requests.get(req) {
            (running.taint, running.hit) = (taint, Some(Hit { source, len, root: taint }));
        }
        (by_decode, taint.is_some())
    }

    /// Whether a slot holds the first `len` tokens of a request. Tokens that are not in the record are compared by
    /// length, but only in a slot that was written since its owner got it.
    pub(super) fn is_right(&self, tokens: &Tokens, slot: SlotId, len: u32) -> bool {
        let content = self.contents.content(slot);
        match self.contents.writer(slot) {
            Some(_) => tokens.holds(content, len, &self.lineage),
            None => tokens.surely_holds(content, len, &self.lineage),
        }
    }

    /// Whether a slot holds the first `len` tokens of a live request after all launched forwards. `None` if the request
    /// has been released.
    pub fn holds(&self, slot: SlotId, req: ReqId, len: u32) -> Option<bool> {
        let running = self.requests.peek(req)?;
        Some(self.is_right(&running.tokens, slot, len) && self.contents.flaw(slot).is_none())
    }

    /// The kind and the reason of a finding about a slot that does not hold `len` tokens. `req` is the request that
    /// should have written the slot, and did not start from a wrong state.
    fn fault(&self, req: ReqId, key: &str, len: u32, slot: SlotId, tokens: &Tokens) -> (FindingKind, String) {
        let content = self.contents.content(slot);
        let holds = if content.len == len {
            format!("the slot holds {len} tokens of another sequence")
        } else {
            format!("the slot holds {}", content.len)
        };
        let flight = if self.contents.in_flight(slot) { ": the step in flight writes there" } else { "" };
        let now = self.contents.completed_content(slot);
        if now != content && tokens.holds(now, len, &self.lineage) {
            let n = content.len;
            return (
                FindingKind::Aliased,
                format!("{key}: the slot is correct now, but a forward in flight will overwrite it ({len} -> {n})"),
            );
        }
        match self.contents.writer(slot) {
            None => (FindingKind::Unwritten, format!("{key}, but no forward has written the slot")),
            Some(writer) if writer != req => {
                (FindingKind::Foreign, format!("{key}, but {holds}: <{writer}> wrote it last"))
            }
            Some(_) => (FindingKind::Mislabelled, format!("{key}, but {holds}{flight}")),
        }
    }

    /// The kind and the reason of a finding about a cached slot that was correct at its donation and was overwritten
    /// since. The copy of a hit runs on the forward stream, so it is ordered after the write: its content is wrong, not
    /// torn.
    fn overwritten(&self, len: u32, donated: TreeDonation, content: Prefix, slot: SlotId) -> (FindingKind, String) {
        let n = content.len;
        match self.contents.writer(slot) {
            Some(writer) if writer != donated.req => {
                let reason = format!("cached under {len}, overwritten after donation by <{writer}>: it holds {n}");
                (FindingKind::Foreign, reason)
            }
            Some(_) | None => {
                (FindingKind::Mislabelled, format!("cached under {len}, overwritten after donation: it holds {n}"))
            }
        }
    }
}

/// Sets the details of a finding about a slot that should hold `len` tokens and holds `content`.
fn detail(findings: &mut Findings, index: usize, len: u32, slot: SlotId, content: Prefix, root: Option<usize>) {
    if let Some(finding) = findings.at(index) {
        finding.label = Some(len);
        finding.holds = (finding.kind != FindingKind::Unwritten).then_some(content.len);
        finding.slot = Some(slot);
        finding.root = root;
    }
}
