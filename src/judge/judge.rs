//! The judge: its parts, the life of a request before it, and the verdict at the end.
//!
//! Owns the parts and the order in which they are told of a release. Decides nothing but the verdict.

use educe::Educe;

use crate::record::{AssertKind, NoDonation, ReqId};

use super::coverage::Coverage;
use super::decision::DecisionDiff;
use super::findings::Findings;
use super::outcomes::Outcomes;
use super::storage::{OfferedState, Storage};
use super::{Finding, FindingKind, Goal, Goals, Judgement, Verdict};

/// What the judge is told beside the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeOptions {
    /// Tokens of a page: keys are floored to it.
    pub page_size: u32,
    /// Whether to list every row with a decision or a due boundary.
    pub keep_boundaries: bool,
    /// Whether to say in words why something is wrong: a search that counts findings by kind alone does not need the words.
    pub keep_reasons: bool,
}

/// Judges a run while it happens, or a record afterwards: a [`crate::record::Sink`] that ends in a [`Judgement`].
///
/// Memory grows with requests, admissions, slots and, in a record that never waits for a forward or processes a result, with those in
/// flight; not with the length of a run.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct Judge {
    pub(super) options: JudgeOptions,
    /// What every slot holds and who owns what.
    pub(super) storage: Storage,
    /// What the rule recorded, against what was written.
    pub(super) decisions: DecisionDiff,
    pub(super) outcomes: Outcomes,
    pub(super) findings: Findings,
    /// Goals reached, but for those by rows.
    pub(super) goals: Goals,
    pub(super) coverage: Coverage,
    pub(super) turns: u32,
    pub(super) bound: Option<bool>,
    /// An assertion ended the modelled process: what it held then is no fault.
    pub(super) asserted: bool,
    pub(super) pins_missed: Vec<ReqId>,
    pub(super) pins_ended: Vec<ReqId>,
    pub(super) events_unused: Vec<(u32, ReqId)>,
}

impl Judge {
    /// A judge that has seen nothing.
    pub fn new(options: JudgeOptions) -> Judge {
        Judge {
            options,
            storage: Storage::default(),
            decisions: DecisionDiff::new(options.keep_boundaries),
            outcomes: Outcomes::default(),
            findings: Findings::new(options.keep_reasons),
            goals: Goals::NONE,
            coverage: Coverage::default(),
            turns: 0,
            bound: None,
            asserted: false,
            pins_missed: Vec::new(),
            pins_ended: Vec::new(),
            events_unused: Vec::new(),
        }
    }

    /// The judgement of all that was seen. What is due and not recorded by then is lost, as at [`crate::record::RunFact::Done`]; what is
    /// still held is only looked at if the run said that it was done.
    ///
    /// `names` are what requests are called in words, by index; an unnamed one is called by its number.
    pub fn finish(mut self, names: &[String]) -> Judgement {
        self.decisions.close(&mut self.findings);
        let (goals, cut, overflow) = (self.goals(), self.is_truncated(), self.is_overflow());
        let findings = self.findings.finish(names);
        Judgement {
            verdict: verdict(&findings, cut),
            turns: self.turns,
            decode_results: self.decisions.rows(),
            lookahead: self.decisions.lookahead(),
            decisions: self.decisions.classes,
            checkpoints: self.decisions.counts,
            mask_reuse: self.decisions.mask_reuse,
            findings,
            boundaries: self.decisions.boundaries,
            requests: self.outcomes.finish(),
            pins_missed: self.pins_missed,
            pins_ended: self.pins_ended,
            events_unused: self.events_unused,
            bound: self.bound,
            overflow,
            goals,
        }
    }

    pub(super) fn donate(&mut self, req: ReqId, offer: OfferedState) {
        let OfferedState { label, key_len, slot: _, how } = offer;
        let has_decoded = self.decisions.window(req).is_some_and(|window| window.has_decoded());
        let by_decode = how.finished && has_decoded;
        if let Some(index) = self.storage.donate(req, offer, self.options.page_size, by_decode, &mut self.findings) {
            self.explain(index, req, offer);
        }
        self.decisions.donate(req, key_len, how.finished.then_some(label));
        self.offered(offer);
        if how.finished {
            self.release(req);
        }
    }

    /// Adds to the finding about an offer what the decisions of the request say of it.
    fn explain(&mut self, index: usize, req: ReqId, offer: OfferedState) {
        let OfferedState { label, slot, how, .. } = offer;
        let holds = self.storage.contents.content(slot).len;
        let is_own = self.findings.at(index).is_some_and(|finding| finding.kind != FindingKind::Inherited);
        if let Some(cause) = self.decisions.overwritten(req, label, slot, holds).filter(|_| is_own) {
            self.findings.add_words(index, || cause.words());
            if let Some(finding) = self.findings.at(index) {
                finding.overwritten = Some(cause);
            }
        }
        if how.existed {
            self.findings.add_words(index, || "; not cached, as the node already owned a state".to_owned());
        }
    }

    pub(super) fn no_donate(&mut self, req: ReqId, why: NoDonation) {
        match why {
            NoDonation::Retracted => self.retract(req),
            NoDonation::Aborted => {
                self.forget_kept(req);
                self.release(req);
            }
            NoDonation::NoSlot => {
                self.decisions.counts.skipped += 1;
                self.goals.insert(Goal::DonationNoSlot);
            }
            NoDonation::NoCheckpoint => self.release(req),
            NoDonation::Declined => {
                self.goals.insert(Goal::DonationDeclined);
                self.decisions.decline(req);
                self.release(req);
            }
        }
    }

    /// A request gives its track slots back; if it has finished, nothing more is kept of it. A record that never says that it has keeps its
    /// tokens.
    fn release(&mut self, req: ReqId) {
        self.decisions.release(req, &mut self.findings);
        if self.outcomes.is_over(req) {
            self.decisions.forget(req);
            self.storage.requests.release(req);
        }
    }

    pub(super) fn retract(&mut self, req: ReqId) {
        self.retracting(req);
        self.forget_kept(req);
    }

    fn forget_kept(&mut self, req: ReqId) {
        self.decisions.retract(req);
        self.storage.retract(req);
    }

    pub(super) fn assertion(&mut self, req: Option<ReqId>, kind: AssertKind) {
        self.asserted = true;
        self.findings.add(FindingKind::Assertion, req, || broken(kind).to_string());
    }

    pub(super) fn done(&mut self) {
        self.decisions.close(&mut self.findings);
        if !self.asserted {
            let (cut, outcomes) = (self.bound.is_some(), &self.outcomes);
            self.storage.close(|req| cut && outcomes.is_running(req), &mut self.findings);
        }
    }

    /// Whether a bound ended the run, or it named more than the judge follows.
    pub fn is_truncated(&self) -> bool {
        self.bound.is_some() || self.is_overflow()
    }

    /// Whether the run named more than the judge follows.
    pub fn is_overflow(&self) -> bool {
        self.storage.is_overflow() || self.decisions.is_overflow() || self.outcomes.overflow
    }
}

/// The worst of the findings, unless only the bound is to be told.
fn verdict(findings: &[Finding], cut: bool) -> Verdict {
    let worst = findings.iter().map(finding_verdict).max().unwrap_or(Verdict::Clean);
    if cut { worst.max(Verdict::Inconclusive) } else { worst }
}

/// What a finding by itself makes of a run. An inherited one adds nothing to its root.
pub fn finding_verdict(finding: &Finding) -> Verdict {
    match finding.kind {
        FindingKind::Inherited if finding.root.is_some() => Verdict::Clean,
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
