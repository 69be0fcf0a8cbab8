//! The expectation of a scenario that a run meets, and the verdict that an expectation names.

use crate::judge::{Finding, Judgement, Verdict};
use crate::model::Rule;
use crate::report::name;
use crate::runner::counts;
use crate::scenario::{Expect, ExpectFinding, ExpectVerdict};

/// Verdicts and their spelling in a scenario.
const VERDICTS: [(Verdict, ExpectVerdict); 5] = [
    (Verdict::Clean, ExpectVerdict::Clean),
    (Verdict::Lossy, ExpectVerdict::Lossy),
    (Verdict::Inconclusive, ExpectVerdict::Inconclusive),
    (Verdict::Corrupt, ExpectVerdict::Corrupt),
    (Verdict::Broken, ExpectVerdict::Broken),
];

/// The verdict that is expected.
pub(super) fn verdict(expected: ExpectVerdict) -> Verdict {
    VERDICTS.iter().find(|known| known.1 == expected).expect("every verdict is in the table").0
}

/// The expectation that a run meets.
pub fn expectation(rule: &dyn Rule, judgement: &Judgement, names: &[String]) -> Expect {
    let known = VERDICTS.iter().find(|known| known.0 == judgement.verdict);
    Expect {
        rule: rule.name().to_string(),
        verdict: known.expect("every verdict is in the table").1,
        findings: judgement.findings.iter().filter(|finding| counts(finding)).map(|it| expected(it, names)).collect(),
        requests: Vec::new(),
        evictions: None,
        leaks: None,
    }
}

fn expected(finding: &Finding, names: &[String]) -> ExpectFinding {
    ExpectFinding {
        kind: name::kind(finding.kind).to_string(),
        request: finding.req.map(|req| names[req.index()].clone()),
        label: finding.label,
        holds: finding.holds,
        turn: Some(finding.turn),
        slot: finding.slot.map(|slot| slot.0),
    }
}
