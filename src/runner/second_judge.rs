//! Compares the judge with the second judge, use by use: every donation, hit, copy on the schedule stream, start of a
//! forward, and cached state. A disagreement is a fault of this program.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::engine::Chooser;
use crate::judge::{Finding, FindingKind, Judge, JudgeOptions, Judgement, Verdict};
use crate::model::{Machine, Rule, Setup};
use crate::numeric::{NumericOpinion, NumericState, Place, SecondJudge, StatePlace};
use crate::record::{CacheFact, Fact, ForwardFact, GpuStream, ReqId, RowFacts, Sink, SlotId, Token};

/// How both judges agree on one use of a state. Every way has its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// Judged right, and the numbers are right in every order that the streams allow.
    Right,
    /// Judged wrong, and the numbers are wrong in the order of the record.
    Wrong,
    /// Judged wrong for a race that the order of the record does not show: the numbers were computed in another order
    /// that the streams allow, and are wrong.
    WrongInAnotherOrder,
    /// No finding of its own, but the request started from a state that was judged wrong.
    AfterWrongHit,
    /// No finding of its own, but the donation of the slot was judged wrong.
    AfterWrongDonation,
    /// No finding of its own, but the run has a torn copy, which left the wrong numbers.
    AfterTornCopy,
    /// No finding of its own, but the run has a use of a slot by a request that does not hold it.
    AfterUseAfterFree,
}

impl Agreement {
    /// All of them, in declaration order.
    pub const ALL: [Agreement; 7] = [
        Agreement::Right,
        Agreement::Wrong,
        Agreement::WrongInAnotherOrder,
        Agreement::AfterWrongHit,
        Agreement::AfterWrongDonation,
        Agreement::AfterTornCopy,
        Agreement::AfterUseAfterFree,
    ];
}

/// A use of a state on which the judges disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The use; `None` if the judges agree on every use, but the verdict does not follow.
    pub place: Option<StatePlace>,
    /// The judge: the kind of its finding, if there is one.
    pub judge: Option<FindingKind>,
    /// The second judge.
    pub numbers: NumericOpinion,
    /// The verdict of the run.
    pub verdict: Verdict,
}

/// The comparison of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The number of uses by agreement.
    pub agreements: BTreeMap<Agreement, u64>,
    /// In the order of the record.
    pub disagreements: Vec<Disagreement>,
}

/// A sink that feeds both judges, and notes what the judge found at each use of a state.
#[derive(Debug)]
pub struct BothJudges {
    judge: Judge,
    second: SecondJudge,
    /// For each donation, hit, and copy on the schedule stream.
    judged: Vec<JudgedUse>,
}

/// What the judge said at one use.
#[derive(Clone, Debug)]
struct JudgedUse {
    /// The findings that this use added: their indices.
    findings: Range<usize>,
    /// The judge takes the state for wrong, whether or not the finding was made before.
    wrong: bool,
}

impl BothJudges {
    /// Both judges before the first fact.
    pub fn new(setup: &Setup) -> BothJudges {
        let page_size = setup.engine.page_size;
        let judge = Judge::new(JudgeOptions { page_size, keep_boundaries: false, keep_reasons: false });
        BothJudges { judge, second: SecondJudge::default(), judged: Vec::new() }
    }

    /// For a use that the judge judges: whether it takes the state for wrong; `None` for any other fact.
    fn is_judged(&self, fact: Fact) -> Option<bool> {
        let is_wrong = |slot, req, len| Some(self.judge.holds(slot, req, len) == Some(false));
        if let Fact::Cache(CacheFact::Donate { req, key_len, slot, .. }) = fact {
            is_wrong(slot, req, key_len)
        } else if let Fact::Cache(CacheFact::Hit { req, source, len }) = fact {
            is_wrong(source, req, len)
        } else if let Fact::Forward(ForwardFact::CopyState { stream: GpuStream::Schedule, .. }) = fact {
            Some(false)
        } else {
            None
        }
    }

    /// The judgement, and how the second judge agrees with it.
    pub fn finish(self, names: &[String]) -> (Judgement, Comparison) {
        let judgement = self.judge.finish(names);
        // The judge does not track slots beyond its limits, and says so.
        if judgement.overflow {
            return (judgement, Comparison::default());
        }
        let comparison = compare(&judgement, &self.judged, &self.second.finish());
        (judgement, comparison)
    }
}

impl Sink for BothJudges {
    fn fact(&mut self, fact: Fact) {
        let wrong = self.is_judged(fact);
        let before = self.judge.finding_count();
        self.judge.fact(fact);
        if let Some(wrong) = wrong {
            self.judged.push(JudgedUse { findings: before..self.judge.finding_count(), wrong });
        }
        self.second.fact(fact);
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        self.second.tokens(req, from, tokens);
    }

    // No slice has a fact that is noted.
    fn rows(&mut self, rows: RowFacts<'_>) {
        self.judge.rows(rows);
        self.second.rows(rows);
    }
}

/// Runs `setup` under `rule` before both judges.
pub fn judged_twice(setup: &Setup, rule: &dyn Rule, mut chooser: &mut dyn Chooser) -> (Judgement, Comparison) {
    let mut both = BothJudges::new(setup);
    let _ = Machine::new(setup, rule, &mut chooser, &mut both).run_on();
    both.finish(&setup.names)
}

/// The findings that explain wrong numbers of uses that the judge does not judge by themselves.
struct Causes<'a> {
    judgement: &'a Judgement,
    /// By request: whether its last hit was judged wrong.
    wrong_hits: BTreeMap<ReqId, bool>,
    /// By slot: whether its last donation was judged wrong.
    wrong_donations: BTreeMap<SlotId, bool>,
}

fn compare(judgement: &Judgement, judged: &[JudgedUse], states: &[NumericState]) -> Comparison {
    let mut causes = Causes { judgement, wrong_hits: BTreeMap::new(), wrong_donations: BTreeMap::new() };
    let mut comparison = Comparison::default();
    let mut judged = judged.iter();
    for state in states {
        let found = match state.place.at {
            Place::Donation | Place::Hit | Place::Copy { .. } => {
                causes.finding(state.place, judged.next().expect("both judges get the same facts"))
            }
            // A request that starts without a hit has no wrong hit behind it.
            Place::Start if state.place.len == 0 => {
                causes.wrong_hits.remove(&state.place.req);
                None
            }
            Place::Start | Place::Cached => None,
        };
        match causes.agreement(state, found) {
            Some(agreement) => *comparison.agreements.entry(agreement).or_default() += 1,
            None => comparison.disagreements.push(Disagreement {
                place: Some(state.place),
                judge: found,
                numbers: state.opinion,
                verdict: judgement.verdict,
            }),
        }
    }
    let numbers = states.iter().map(|state| state.opinion).max().unwrap_or(NumericOpinion::Right);
    let fits = match judgement.verdict {
        Verdict::Clean | Verdict::Lossy | Verdict::Inconclusive => numbers == NumericOpinion::Right,
        Verdict::Corrupt => numbers != NumericOpinion::Right,
        // Owners and assertions do not follow from numbers.
        Verdict::Broken => true,
    };
    if !fits && comparison.disagreements.is_empty() {
        comparison.disagreements.push(Disagreement { place: None, judge: None, numbers, verdict: judgement.verdict });
    }
    comparison
}

impl Causes<'_> {
    /// The kind of the finding about a use that the judge judges, if it made one.
    fn finding(&mut self, place: StatePlace, judged: &JudgedUse) -> Option<FindingKind> {
        let kinds = self.judgement.findings[judged.findings.clone()].iter().map(|finding| finding.kind);
        let of_states = |kind: &FindingKind| kind.verdict() == Verdict::Corrupt;
        // The finding about a torn copy is made at the copy, and not again when the copy is offered.
        let is_torn = |finding: &&Finding| {
            finding.kind == FindingKind::Torn && finding.req == Some(place.req) && finding.label == Some(place.len)
        };
        let at_copy = self.judgement.findings.iter().find(is_torn).filter(|_| judged.wrong).map(|torn| torn.kind);
        let found = kinds.rev().find(of_states).or(at_copy);
        match place.at {
            Place::Hit => _ = self.wrong_hits.insert(place.req, found.is_some()),
            Place::Donation => _ = self.wrong_donations.insert(place.slot, found.is_some()),
            Place::Copy { .. } | Place::Start | Place::Cached => {}
        }
        found
    }

    /// How both judges agree on a use; `None` if they do not.
    fn agreement(&self, state: &NumericState, found: Option<FindingKind>) -> Option<Agreement> {
        match (found, state.opinion) {
            (_, NumericOpinion::Unknown) | (Some(_), NumericOpinion::Right) => None,
            (None, NumericOpinion::Right) => Some(Agreement::Right),
            (Some(_), NumericOpinion::Wrong) => Some(Agreement::Wrong),
            (Some(_), NumericOpinion::WrongInAnotherOrder) => Some(Agreement::WrongInAnotherOrder),
            (None, opinion) => self.cause(state.place, opinion),
        }
    }

    /// The finding that explains wrong numbers of a use without a finding of its own.
    fn cause(&self, place: StatePlace, opinion: NumericOpinion) -> Option<Agreement> {
        let is_race = opinion == NumericOpinion::WrongInAnotherOrder;
        let torn = self.has(FindingKind::Torn, place, is_race).then_some(Agreement::AfterTornCopy);
        let used = self.has(FindingKind::UseAfterFree, place, is_race).then_some(Agreement::AfterUseAfterFree);
        match place.at {
            // The judge judges these in the order of the record: only another order may go without a finding here.
            Place::Donation | Place::Hit => torn.or(used).filter(|_| is_race),
            Place::Copy { .. } => used,
            Place::Start => {
                let hit = self.wrong_hits.get(&place.req) == Some(&true);
                hit.then_some(Agreement::AfterWrongHit).or(torn).or(used)
            }
            Place::Cached => {
                let donation = self.wrong_donations.get(&place.slot) == Some(&true);
                donation.then_some(Agreement::AfterWrongDonation).or(torn).or(used)
            }
        }
    }

    /// Whether there is a finding of this kind before the use or in its turn; of a race it may come later, as the copy in
    /// the record does. The finding need not be about this slot: a wrong state spreads with hits and forwards.
    fn has(&self, kind: FindingKind, place: StatePlace, is_race: bool) -> bool {
        let findings = &self.judgement.findings;
        findings.iter().any(|finding| finding.kind == kind && (is_race || finding.turn <= place.turn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: StatePlace = StatePlace { at: Place::Donation, turn: 3, req: ReqId(0), slot: SlotId(5), len: 8 };

    /// A judgement with one finding of each of these kinds, in this order.
    fn judgement(kinds: &[FindingKind]) -> Judgement {
        let mut judgement =
            Judge::new(JudgeOptions { page_size: 1, keep_boundaries: false, keep_reasons: false }).finish(&[]);
        judgement.findings = kinds.iter().map(|&kind| finding(kind)).collect();
        judgement.verdict = kinds.iter().map(|kind| kind.verdict()).max().unwrap_or(Verdict::Clean);
        judgement
    }

    fn finding(kind: FindingKind) -> Finding {
        let (req, label, holds, slot, root, overwritten) = Default::default();
        let (turn, phase) = (3, crate::record::Phase::Result);
        Finding { kind, req, turn, phase, label, holds, slot, reason: String::new(), root, overwritten }
    }

    /// One use. `found` is whether the finding of the judgement was made there.
    fn compared(kinds: &[FindingKind], found: bool, at: Place, opinion: NumericOpinion) -> Comparison {
        let judged = [JudgedUse { findings: if found { 0..kinds.len() } else { 0..0 }, wrong: false }];
        let judged = if matches!(at, Place::Start | Place::Cached) { &[][..] } else { &judged };
        compare(&judgement(kinds), judged, &[NumericState { place: StatePlace { at, ..PLACE }, opinion }])
    }

    #[test]
    fn each_judge_alone_is_a_disagreement() {
        use NumericOpinion::{Right, Unknown, Wrong, WrongInAnotherOrder};
        for at in [Place::Donation, Place::Hit] {
            for opinion in [Wrong, WrongInAnotherOrder, Unknown] {
                assert_eq!(
                    compared(&[], false, at, opinion).disagreements.len(),
                    1,
                    "{at:?} {opinion:?}: judged clean"
                );
                let lost = compared(&[FindingKind::Lost], true, at, opinion);
                assert_eq!(lost.disagreements.len(), 1, "a loss is no finding about a state");
            }
            let kind = FindingKind::Mislabelled;
            let alone = compared(&[kind], true, at, Right);
            assert_eq!(alone.disagreements[0].judge, Some(kind));
            assert_eq!(alone.disagreements[0].place, Some(StatePlace { at, ..PLACE }));
        }
        for at in [Place::Start, Place::Cached, Place::Copy { to: SlotId(9) }] {
            assert_eq!(compared(&[], false, at, WrongInAnotherOrder).disagreements.len(), 1, "{at:?}");
        }
        // A finding elsewhere explains no donation that is wrong in the order of the record.
        for kind in [FindingKind::Torn, FindingKind::UseAfterFree, FindingKind::Mislabelled] {
            assert_eq!(compared(&[kind], false, Place::Donation, Wrong).disagreements.len(), 1, "{kind:?}");
        }
    }

    #[test]
    fn a_verdict_that_does_not_follow_is_a_disagreement() {
        let state = NumericState { place: PLACE, opinion: NumericOpinion::Right };
        let judged = [JudgedUse { findings: 0..0, wrong: false }];
        let mut wrong = judgement(&[]);
        assert!(compare(&wrong, &judged, &[state]).disagreements.is_empty());
        wrong.verdict = Verdict::Corrupt;
        assert_eq!(compare(&wrong, &judged, &[state]).disagreements[0].place, None);
        let mut clean = judgement(&[FindingKind::Foreign]);
        clean.verdict = Verdict::Clean;
        let (state, judged) =
            (NumericState { opinion: NumericOpinion::Wrong, ..state }, [JudgedUse { findings: 0..1, wrong: true }]);
        assert_eq!(compare(&clean, &judged, &[state]).disagreements[0].place, None);
    }

    #[test]
    fn agreements_have_their_names() {
        use NumericOpinion::{Right, Wrong, WrongInAnotherOrder};
        let of = |kinds: &[FindingKind], found, at, opinion| {
            let comparison = compared(kinds, found, at, opinion);
            assert!(comparison.disagreements.is_empty(), "{comparison:?}");
            comparison.agreements.into_keys().next().expect("one use")
        };
        let copy = Place::Copy { to: SlotId(9) };
        assert_eq!(of(&[], false, Place::Hit, Right), Agreement::Right);
        assert_eq!(of(&[FindingKind::Aliased], true, Place::Donation, Wrong), Agreement::Wrong);
        assert_eq!(of(&[FindingKind::Torn], true, copy, WrongInAnotherOrder), Agreement::WrongInAnotherOrder);
        assert_eq!(of(&[FindingKind::Torn], false, Place::Start, Wrong), Agreement::AfterTornCopy);
        assert_eq!(of(&[FindingKind::UseAfterFree], false, copy, WrongInAnotherOrder), Agreement::AfterUseAfterFree);
    }
}
