//! The judge: what it is made of, the life of a request before it, and the verdict at the end.
//!
//! Owns the parts and the order in which they hear of a release. Refuses to decide anything but the verdict.

use crate::record::{AssertKind, Lineage, Nothing, Owner, ReqId, SlotId};

use super::account::{Account, req_of};
use super::audit::{self, Offer};
use super::coverage::Coverage;
use super::findings::Findings;
use super::live::Requests;
use super::rows::Rows;
use super::store::Store;
use super::{Checkpoints, Finding, Goal, Goals, Judgement, Kind, Verdict};

/// What the judge is told beside the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Tokens of a page: keys are floored to it.
    pub page_size: u32,
    /// Whether to list every row with a decision or a due boundary.
    pub keep_boundaries: bool,
    /// Whether to say in words why something is wrong: who counts findings by kind alone saves the words.
    pub keep_reasons: bool,
}

/// Judges a run while it happens, or a record afterwards: a [`crate::record::Sink`] that ends in a [`Judgement`].
///
/// Memory grows with the requests alive, the slots and the pages, not with the length of the run.
#[derive(Debug)]
pub struct Judge {
    pub(super) options: Options,
    pub(super) lineage: Lineage,
    pub(super) requests: Requests,
    pub(super) store: Store,
    pub(super) account: Account,
    pub(super) rows: Rows,
    pub(super) counts: Checkpoints,
    pub(super) findings: Findings,
    /// Goals reached, but for those by rows.
    pub(super) goals: Goals,
    pub(super) coverage: Coverage,
    pub(super) turns: u32,
    pub(super) bound: Option<bool>,
    /// Whether a stream was named that is not followed.
    pub(super) overflow: bool,
    /// An assertion ended the modelled process: what it held is nobody's fault.
    pub(super) dead: bool,
    pub(super) pins_missed: Vec<ReqId>,
    pub(super) pins_ended: Vec<ReqId>,
    pub(super) events_unused: Vec<(u32, ReqId)>,
}

clone_in_place!(Judge
    {
        lineage, requests, store, account, rows, findings, coverage, pins_missed, pins_ended, events_unused,
    }
    copied {
        options, counts, goals, turns, bound, overflow, dead,
    }
);

impl Judge {
    /// A judge who has seen nothing.
    pub fn new(options: Options) -> Judge {
        Judge {
            options,
            lineage: Lineage::default(),
            requests: Requests::default(),
            store: Store::new(),
            account: Account::default(),
            rows: Rows::new(options.keep_boundaries),
            counts: Checkpoints::default(),
            findings: Findings::new(options.keep_reasons),
            goals: Goals::NONE,
            coverage: Coverage::new(),
            turns: 0,
            bound: None,
            overflow: false,
            dead: false,
            pins_missed: Vec::new(),
            pins_ended: Vec::new(),
            events_unused: Vec::new(),
        }
    }

    /// The judgement of all that was seen. What is due and not recorded by then is lost, as at [`crate::record::Fact::Done`]; what is
    /// still held is only looked at if the run said that it was done.
    ///
    /// `names` are what requests are called in words, by index; an unnamed one is called by its number.
    pub fn finish(mut self, names: &[String]) -> Judgement {
        self.settle();
        let goals = self.goals();
        let cut = self.is_cut();
        let findings = self.findings.finish(names);
        Judgement {
            verdict: verdict(&findings, cut),
            turns: self.turns,
            decode_results: self.rows.decode_results,
            lookahead: self.rows.lookahead(),
            decisions: self.rows.decisions,
            checkpoints: self.counts,
            mask_reuse: self.rows.mask_reuse,
            findings,
            boundaries: std::mem::take(&mut self.rows.boundaries),
            requests: self.requests.finish(),
            pins_missed: std::mem::take(&mut self.pins_missed),
            pins_ended: std::mem::take(&mut self.pins_ended),
            events_unused: std::mem::take(&mut self.events_unused),
            bound: self.bound,
            overflow: self.is_overflow(),
            goals,
        }
    }

    pub(super) fn slot_move(&mut self, slot: SlotId, from: Owner, to: Owner) {
        self.account.slot_pass(slot, from, Some(to), &mut self.findings);
        // In the tree the history of the donor's writes goes on, and so it does within a request.
        if to != Owner::Tree && (req_of(to).is_none() || req_of(from) != req_of(to)) {
            self.store.begin(slot);
        }
    }

    pub(super) fn hit(&mut self, req: ReqId, source: SlotId, len: u32) {
        if let Some(live) = self.requests.get_or_new(req) {
            let by_decode = self.store.donation(source).and_then(|donation| donation.by_decode);
            audit::hit(req, (source, len), live, &self.lineage, &mut self.store, &mut self.findings);
            let wrong = live.taint.is_some();
            self.started(by_decode, wrong);
        }
    }

    pub(super) fn donate(&mut self, req: ReqId, offer: Offer) {
        self.rows.close(&mut self.requests, &mut self.counts);
        let Some(live) = self.requests.get_or_new(req) else { return };
        audit::donation(req, offer, self.options.page_size, live, &self.lineage, &mut self.store, &mut self.findings);
        let offered = offer.how.finished.then_some(offer.label);
        live.dues.donate(offer.key_len, offered, &mut self.counts);
        self.offered(offer);
        if offer.how.finished {
            self.release(req);
        }
    }

    pub(super) fn no_donate(&mut self, req: ReqId, why: Nothing) {
        self.rows.close(&mut self.requests, &mut self.counts);
        match why {
            Nothing::Retracted => {
                self.retracting(req);
                self.retract(req);
            }
            Nothing::Aborted => {
                self.retract(req);
                self.release(req);
            }
            Nothing::NoSlot => {
                self.counts.skipped += 1;
                self.goals.insert(Goal::DonationNoSlot);
            }
            Nothing::NoCheckpoint => self.release(req),
            Nothing::Declined => {
                self.goals.insert(Goal::DonationDeclined);
                if let Some(live) = self.requests.get_or_new(req) {
                    live.dues.decline(&mut self.counts);
                }
                self.release(req);
            }
        }
    }

    fn release(&mut self, req: ReqId) {
        if let Some(live) = self.requests.get(req) {
            live.dues.release(req, true, &mut self.counts, &mut self.findings);
            live.marks.clear();
        }
        self.requests.release(req);
    }

    pub(super) fn retract(&mut self, req: ReqId) {
        self.rows.close(&mut self.requests, &mut self.counts);
        if let Some(live) = self.requests.get(req) {
            live.dues.retract(&mut self.counts);
            live.marks.clear();
            live.window.forget();
            // It will be prefilled again, and start from whatever it hits then.
            live.taint = None;
            live.hit = None;
        }
    }

    pub(super) fn assertion(&mut self, req: Option<ReqId>, kind: AssertKind) {
        self.dead = true;
        self.findings.add(Kind::Assertion, req, || broken(kind).to_string());
    }

    /// Whatever is due and not recorded now never will be.
    pub(super) fn settle(&mut self) {
        self.rows.close(&mut self.requests, &mut self.counts);
        for (req, live) in self.requests.iter() {
            live.dues.release(req, false, &mut self.counts, &mut self.findings);
        }
    }

    pub(super) fn done(&mut self) {
        self.settle();
        if !self.dead {
            let (cut, requests) = (self.bound.is_some(), &self.requests);
            self.account.close(|req| cut && requests.is_running(req), &mut self.findings);
        }
    }
}

/// The worst of the findings, unless only the bound is to be told.
fn verdict(findings: &[Finding], cut: bool) -> Verdict {
    let worst = findings.iter().map(weight).max().unwrap_or(Verdict::Clean);
    if cut { worst.max(Verdict::Inconclusive) } else { worst }
}

/// What a finding by itself makes of a run. An inherited one adds nothing to its root.
pub fn weight(finding: &Finding) -> Verdict {
    match finding.kind {
        Kind::Inherited if finding.root.is_some() => Verdict::Clean,
        kind => kind.verdict(),
    }
}

fn broken(kind: AssertKind) -> &'static str {
    match kind {
        AssertKind::Lookahead => "assertion: the lookahead is neither 0 nor 1",
        AssertKind::OffGrid => "assertion: a boundary where the committed length is not on the grid",
        AssertKind::CommittedLead => "assertion: the committed length leads the tokens by more than one",
        AssertKind::NoOutput => "assertion: a boundary before any output",
        AssertKind::MissingSnapshot => "assertion: the batch's counter snapshot or masks are missing",
        AssertKind::NoKeptSlot => {
            "the rule keeps a slot that was given back: the release would cache slot -1 under the label"
        }
        AssertKind::OutOfSlots => "assertion: no state slot can be had, not even by eviction",
        AssertKind::OutOfPages => "assertion: no KV page can be had, not even by eviction",
    }
}
