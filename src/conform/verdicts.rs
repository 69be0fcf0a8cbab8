//! The judge's word on every donation beside the recording's own content check.

use serde_json::Value;

use crate::judge::{Finding, Judgement, Kind};
use crate::record::Phase;

use super::cursor::RecordedDonation;
use super::divergence::Divergence;

/// What a recording says of a donation, in one word.
fn recorded_word(donation: &RecordedDonation) -> &'static str {
    match (donation.ok, donation.tainted) {
        (true, _) => "ok",
        (false, Some(true)) => "inherited",
        (false, Some(false) | None) => "wrong",
    }
}

/// What the judge says, in the same words.
fn judged_word(found: Option<&Finding>) -> &'static str {
    match found.map(|finding| finding.kind) {
        None => "ok",
        Some(Kind::Inherited) => "inherited",
        Some(Kind::Mislabelled | Kind::Unwritten | Kind::Foreign | Kind::Aliased) => "wrong",
        Some(_) => "of another kind",
    }
}

/// The first donation of which the two say different things, or trouble with slots, pages and locks that the model got
/// into by itself.
pub(super) fn differ(judgement: &Judgement, names: &[String], donations: &[RecordedDonation]) -> Option<Divergence> {
    let name = |finding: &Finding| finding.req.map_or("", |req| names[req.index()].as_str());
    let mut by_place: std::collections::BTreeMap<(u32, &str, i64, u32), &Finding> = Default::default();
    for finding in judgement.findings.iter().filter(|finding| finding.kind != Kind::Lost) {
        let slot = finding.slot.map_or(0, |slot| i64::from(slot.0));
        by_place.entry((finding.turn, name(finding), slot, finding.label.unwrap_or(0))).or_insert(finding);
    }
    for donation in donations {
        let found = by_place.get(&(donation.turn, donation.rid.as_str(), donation.slot, donation.label)).copied();
        let (recorded, judged) = (recorded_word(donation), judged_word(found));
        // Older recordings do not say who had started from a wrong state.
        let told_apart = donation.tainted.is_some() || judged != "inherited" || recorded != "wrong";
        if recorded != judged && told_apart {
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
    let broken = |kind| matches!(kind, Kind::Leak | Kind::DoubleFree | Kind::UseAfterFree | Kind::Lock);
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
