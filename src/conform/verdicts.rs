//! Compares the judge's findings about donations with the recording's own content checks.

use serde_json::Value;

use crate::judge::{Finding, FindingKind, Judgement};
use crate::record::Phase;

use super::cursor::RecordedDonation;
use super::divergence::Divergence;

/// The result of the recording's check of a donation.
fn recorded_result(donation: &RecordedDonation) -> &'static str {
    match (donation.ok, donation.tainted) {
        (true, _) => "ok",
        (false, Some(true)) => "inherited",
        (false, Some(false) | None) => "wrong",
    }
}

/// The judge's result, in the same words.
fn judged_result(found: Option<&Finding>) -> &'static str {
    match found.map(|finding| finding.kind) {
        None => "ok",
        Some(FindingKind::Inherited) => "inherited",
        Some(FindingKind::Mislabelled | FindingKind::Unwritten | FindingKind::Foreign | FindingKind::Aliased) => {
            "wrong"
        }
        Some(_) => "of another kind",
    }
}

/// The first donation with different results; without one, the judge's first finding about the accounting of slots,
/// pages and locks.
pub(super) fn first_divergence(
    judgement: &Judgement,
    names: &[String],
    donations: &[RecordedDonation],
) -> Option<Divergence> {
    let name = |finding: &Finding| finding.req.map_or("", |req| names[req.index()].as_str());
    let mut by_donation: std::collections::BTreeMap<(u32, &str, i64, u32), &Finding> = Default::default();
    for finding in judgement.findings.iter().filter(|finding| finding.kind != FindingKind::Lost) {
        let slot = finding.slot.map_or(0, |slot| i64::from(slot.0));
        by_donation.entry((finding.turn, name(finding), slot, finding.label.unwrap_or(0))).or_insert(finding);
    }
    for donation in donations {
        let found = by_donation.get(&(donation.turn, donation.rid.as_str(), donation.slot, donation.label)).copied();
        let (recorded, judged) = (recorded_result(donation), judged_result(found));
        // Older recordings do not have `tainted`: their `wrong` includes `inherited`.
        let is_comparable = donation.tainted.is_some() || judged != "inherited" || recorded != "wrong";
        if recorded != judged && is_comparable {
            return Some(Divergence {
                line: donation.line,
                turn: donation.turn,
                phase: Some(Phase::Result),
                event: "donate".to_string(),
                request: Some(donation.rid.clone()),
                field: "verdict".to_string(),
                recorded: recorded.into(),
                modelled: judged.into(),
                modelled_event: found.map(|finding| finding.reason.clone()),
                around: vec![donation.text.clone()],
            });
        }
    }
    let broken = |kind| {
        matches!(kind, FindingKind::Leak | FindingKind::DoubleFree | FindingKind::UseAfterFree | FindingKind::Lock)
    };
    judgement.findings.iter().find(|finding| broken(finding.kind)).map(|finding| Divergence {
        line: 0,
        turn: finding.turn,
        phase: Some(finding.phase),
        event: "end".to_string(),
        request: finding.req.map(|req| names[req.index()].clone()),
        field: "accounting".to_string(),
        recorded: Value::Null,
        modelled: format!("{:?}", finding.kind).into(),
        modelled_event: Some(finding.reason.clone()),
        around: Vec::new(),
    })
}
