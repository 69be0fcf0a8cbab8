//! The judge: its parts, donations and releases, and the verdict.
//!
//! Owns the parts, and what spans several of them: a donation is audited by `storage` and counted by `decision`, and a
//! release ends a request in both. Makes no findings itself except failed assertions.

use educe::Educe;

use crate::record::{AssertKind, NoDonation, ReqId};

use super::coverage::Coverage;
use super::decision::DecisionDiff;
use super::findings::Findings;
use super::outcomes::Outcomes;
use super::storage::{OfferedState, Storage};
use super::{Finding, FindingKind, Goal, Goals, Judgement, Verdict};

/// The options of a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeOptions {
    /// Tokens in a page. Keys are floored to whole pages.
    pub page_size: u32,
    /// Whether to keep every row with a decision or a due checkpoint in [`Judgement::boundaries`].
    pub keep_boundaries: bool,
    /// Whether findings get a reason in words. A search that counts findings by kind does not need the words.
    pub keep_reasons: bool,
}

/// A [`crate::record::Sink`] that judges a run as it happens, or a record afterwards. Ends in a [`Judgement`].
///
/// Memory grows with the number of requests, admissions, slots and forwards in flight, not with the length of a run.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct Judge {
    pub(super) options: JudgeOptions,
    /// Contents and owners.
    pub(super) storage: Storage,
    /// Decisions compared with writes.
    pub(super) decisions: DecisionDiff,
    pub(super) outcomes: Outcomes,
    pub(super) findings: Findings,
    /// Goals reached, except those by rows.
    pub(super) goals: Goals,
    pub(super) coverage: Coverage,
    /// The number of turns in the record.
    pub(super) turns: u32,
    /// Whether a bound ended the run, and if so whether it was a stall.
    pub(super) bound: Option<bool>,
    /// Whether an assertion ended the modelled process: what it owned then is no finding.
    pub(super) asserted: bool,
    pub(super) pins_missed: Vec<ReqId>,
    pub(super) pins_ended: Vec<ReqId>,
    pub(super) events_unused: Vec<(u32, ReqId)>,
}

impl Judge {
    /// A judge before the first fact.
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

    /// The judgement. Checkpoints that are due and not recorded are lost, as at [`crate::record::RunFact::Done`]; leaks
    /// are found at that fact only.
    ///
    /// `names` are the names of requests in reasons, by index. A request without a name appears as its number.
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

    /// A request donated a state: audits the slot, and ends the request if it has finished.
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

    /// Appends the cause to the reason of a finding about a donation: the step that overwrote the slot after a correct
    /// decision, and whether the state was cached.
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

    /// A release, or the hand-over of a prefill, donated nothing. At a hand-over no checkpoint is due yet; without a
    /// slot for it the request continues as it is.
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

    /// A request has nothing more to donate: checkpoints still due are lost. If the request has finished, the judge
    /// forgets it.
    fn release(&mut self, req: ReqId) {
        self.decisions.release(req, &mut self.findings);
        if self.outcomes.is_over(req) {
            self.decisions.forget(req);
            self.storage.requests.release(req);
        }
    }

    /// A request was retracted.
    pub(super) fn retract(&mut self, req: ReqId) {
        self.retracting(req);
        self.forget_kept(req);
    }

    /// A request lost its slots without a donation.
    fn forget_kept(&mut self, req: ReqId) {
        self.decisions.retract(req);
        self.storage.retract(req);
    }

    /// An assertion of the modelled system failed.
    pub(super) fn assertion(&mut self, req: Option<ReqId>, kind: AssertKind) {
        self.asserted = true;
        self.findings.add(FindingKind::Assertion, req, || assertion_words(kind).to_string());
    }

    /// The run has ended: findings for lost checkpoints and for everything that is still owned. If a bound ended the
    /// run, running requests may own slots and pages.
    pub(super) fn done(&mut self) {
        self.decisions.close(&mut self.findings);
        if !self.asserted {
            let (cut, outcomes) = (self.bound.is_some(), &self.outcomes);
            self.storage.close(|req| cut && outcomes.is_running(req), &mut self.findings);
        }
    }

    /// Whether a bound ended the run, or the record has an index that is not tracked.
    pub fn is_truncated(&self) -> bool {
        self.bound.is_some() || self.is_overflow()
    }

    /// Whether the record has an index that is not tracked.
    pub fn is_overflow(&self) -> bool {
        self.storage.is_overflow() || self.decisions.is_overflow() || self.outcomes.overflow
    }
}

/// The worst verdict of the findings; at least `Inconclusive` if the run is truncated.
fn verdict(findings: &[Finding], cut: bool) -> Verdict {
    let worst = findings.iter().map(finding_verdict).max().unwrap_or(Verdict::Clean);
    if cut { worst.max(Verdict::Inconclusive) } else { worst }
}

/// The verdict of a run with only this finding. An inherited finding adds nothing to the finding at its root.
pub fn finding_verdict(finding: &Finding) -> Verdict {
    match finding.kind {
        FindingKind::Inherited if finding.root.is_some() => Verdict::Clean,
        kind => kind.verdict(),
    }
}

/// The reason of a finding about a failed assertion.
fn assertion_words(kind: AssertKind) -> &'static str {
    match kind {
        AssertKind::Lookahead => "assertion: the lookahead is neither 0 nor 1",
        AssertKind::OffGrid => "assertion: a mask is set although the committed length is not on the grid",
        AssertKind::CommittedLead => "assertion: the committed length is more than one token ahead of the tokens",
        AssertKind::NoOutput => "assertion: a boundary before the first output",
        AssertKind::MissingSnapshot => "assertion: the batch's counter snapshot or masks are missing",
        AssertKind::NoKeptSlot => {
            "the rule keeps a slot that was already freed: the release would cache slot -1 under the label"
        }
        AssertKind::OutOfSlots => "assertion: no state slot is available, not even by eviction",
        AssertKind::OutOfPages => "assertion: no KV page is available, not even by eviction",
    }
}
