//! The names of verdicts, findings, classes, phases, lanes and spans in all reports.

use crate::judge::{Class, FindingKind, Verdict};
use crate::record::{
    AssertKind, BoundaryCheck, FinishKind, ForwardMode, NoDonation, Phase, ReqId, SharedField, SkipReason,
};
use crate::scene::{Fit, Lane, Span, Work};

/// Every kind of finding, in the order of the enum.
pub const KINDS: [FindingKind; 12] = [
    FindingKind::Mislabelled,
    FindingKind::Unwritten,
    FindingKind::Foreign,
    FindingKind::Aliased,
    FindingKind::Torn,
    FindingKind::Inherited,
    FindingKind::Lost,
    FindingKind::Assertion,
    FindingKind::Leak,
    FindingKind::DoubleFree,
    FindingKind::UseAfterFree,
    FindingKind::Lock,
];

/// The kebab-case name of a verdict.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => "clean",
        Verdict::Lossy => "lossy",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Corrupt => "corrupt",
        Verdict::Broken => "broken",
    }
}

/// The verdict with a name.
pub fn verdict_from_name(text: &str) -> Option<Verdict> {
    let all = [Verdict::Clean, Verdict::Lossy, Verdict::Inconclusive, Verdict::Corrupt, Verdict::Broken];
    all.into_iter().find(|&of| verdict(of) == text)
}

/// The kebab-case name of a kind of finding.
pub fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Mislabelled => "mislabelled",
        FindingKind::Unwritten => "unwritten",
        FindingKind::Foreign => "foreign",
        FindingKind::Aliased => "aliased",
        FindingKind::Torn => "torn",
        FindingKind::Inherited => "inherited",
        FindingKind::Lost => "lost",
        FindingKind::Assertion => "assertion",
        FindingKind::Leak => "leak",
        FindingKind::DoubleFree => "double-free",
        FindingKind::UseAfterFree => "use-after-free",
        FindingKind::Lock => "lock",
    }
}

/// The kind of finding with a kebab-case name.
pub fn kind_from_name(text: &str) -> Option<FindingKind> {
    KINDS.into_iter().find(|&of| kind(of) == text)
}

/// The kebab-case name of a decision class, for text.
pub fn class(class: Class) -> &'static str {
    match class {
        Class::Agree => "agree",
        Class::Settled => "settled",
        Class::Early => "early",
        Class::WrongSlot => "wrong-slot",
        Class::WrongLabel => "wrong-label",
        Class::Missed => "missed",
        Class::Repeat => "repeat",
    }
}

/// The snake_case name of a decision class, for the keys of JSON objects.
pub fn class_key(of: Class) -> &'static str {
    match of {
        Class::WrongSlot => "wrong_slot",
        Class::WrongLabel => "wrong_label",
        Class::Agree | Class::Settled | Class::Early | Class::Missed | Class::Repeat => class(of),
    }
}

/// The name of a CPU phase.
pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Ingest => "ingest",
        Phase::Plan => "plan",
        Phase::Prepare => "prepare",
        Phase::Launch => "launch",
        Phase::Result => "result",
    }
}

/// The name of a shared field in the modelled code.
pub fn field(field: SharedField) -> &'static str {
    match field {
        SharedField::OutputIds => "output_ids",
        SharedField::KvCommittedLen => "kv_committed_len",
        SharedField::DecodeBatchIdx => "decode_batch_idx",
        SharedField::TrackSlots => "track slots",
        SharedField::NextTrackIdx => "next_track_idx",
        SharedField::LastTrackIdx => "last_track_idx",
        SharedField::LastTrackSeqlen => "last_track_seqlen",
    }
}

/// The name of a batch mode.
pub fn mode(mode: ForwardMode) -> &'static str {
    match mode {
        ForwardMode::Extend => "extend",
        ForwardMode::Decode => "decode",
        ForwardMode::Mixed => "mixed",
        ForwardMode::Verify => "verify",
    }
}

/// The name of a lane, for keys and values of JSON.
pub fn lane_key(lane: Lane) -> &'static str {
    match lane {
        Lane::Cpu => "cpu",
        Lane::Schedule => "schedule",
        Lane::Forward => "forward",
        Lane::Copy => "copy",
    }
}

/// The name of a lane, for text.
pub fn lane(lane: Lane) -> &'static str {
    match lane {
        Lane::Cpu => "CPU",
        Lane::Schedule => "schedule stream",
        Lane::Forward => "forward stream",
        Lane::Copy => "copy stream",
    }
}

/// The name of a kind of work.
pub fn work(work: Work) -> &'static str {
    match work {
        Work::Phase(of) => phase(of),
        Work::Cpu => "cpu",
        Work::Wait => "wait",
        Work::StateCopy => "state copy",
        Work::Forward(of) => mode(of),
        Work::ResultCopy => "result copy",
    }
}

/// The title of a span: work and batch on the CPU, batch and work on a GPU stream.
pub fn span(span: &Span) -> String {
    let batch = span.batch.map(|batch| batch.to_string());
    let words = match span.work {
        Work::Phase(_) | Work::Cpu | Work::Wait => [Some(work(span.work).to_owned()), batch],
        Work::Forward(of) => [batch, Some(mode(of).to_owned())],
        Work::StateCopy | Work::ResultCopy => [batch, Some("copy".to_owned())],
    };
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// How a request ended, as `expect` spells it.
pub fn end(finish: Option<FinishKind>) -> &'static str {
    match finish {
        Some(FinishKind::Token) => "Token",
        Some(FinishKind::Length) => "Length",
        Some(FinishKind::Abort) => "Abort",
        None => "Unfinished",
    }
}

/// The name of the way a request finished.
pub fn finish(kind: FinishKind) -> &'static str {
    match kind {
        FinishKind::Token => "token",
        FinishKind::Length => "length",
        FinishKind::Abort => "abort",
    }
}

/// How a rule found its boundary; empty if the rule was not asked.
pub fn check(check: BoundaryCheck) -> &'static str {
    match check {
        BoundaryCheck::None => "",
        BoundaryCheck::Mask => "mask",
        BoundaryCheck::Recompute => "recompute",
        BoundaryCheck::MaskLost => "mask lost",
    }
}

/// Whether label and content of a slot agree; `None` without a label.
pub fn fit(fit: Fit) -> Option<&'static str> {
    match fit {
        Fit::None => None,
        Fit::Right => Some("right"),
        Fit::Exposed => Some("exposed"),
        Fit::Wrong => Some("wrong"),
    }
}

/// The condition that a failed assertion of the modelled system reports.
pub fn assertion(kind: AssertKind) -> &'static str {
    match kind {
        AssertKind::Lookahead => "the lookahead is neither 0 nor 1",
        AssertKind::OffGrid => "a boundary where the committed length is not on the grid",
        AssertKind::CommittedLead => "the committed length leads the tokens by more than one",
        AssertKind::NoOutput => "a boundary before any output",
        AssertKind::MissingSnapshot => "the batch's counter snapshot or masks are missing",
        AssertKind::NoKeptSlot => "the slot to donate is not held",
        AssertKind::OutOfSlots => "no state slot can be allocated",
        AssertKind::OutOfPages => "no KV page can be allocated",
    }
}

/// Why nothing was donated, in words.
pub fn no_donation(why: NoDonation) -> &'static str {
    match why {
        NoDonation::NoCheckpoint => "no checkpoint recorded",
        NoDonation::Declined => "the guard declined",
        NoDonation::Aborted => "aborted",
        NoDonation::NoSlot => "no slot to be had",
        NoDonation::Retracted => "retracted",
    }
}

/// Why a result was skipped, in words.
pub fn skip_reason(why: SkipReason) -> &'static str {
    match why {
        SkipReason::Ended => "the request had ended",
        SkipReason::Retracted => "the request was retracted",
    }
}

/// The id of a request, or its index if it has no id.
pub fn request(names: &[String], req: ReqId) -> String {
    names.get(req.index()).cloned().unwrap_or_else(|| req.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for of in KINDS {
            assert_eq!(kind_from_name(kind(of)), Some(of));
        }
        assert_eq!(kind(FindingKind::UseAfterFree), "use-after-free");
        assert_eq!(kind_from_name("use_after_free"), None);
    }

    #[test]
    fn keys_are_the_text_names_in_snake_case() {
        let all = [
            Class::Agree,
            Class::Settled,
            Class::Early,
            Class::WrongSlot,
            Class::WrongLabel,
            Class::Missed,
            Class::Repeat,
        ];
        for of in all {
            assert_eq!(class_key(of), class(of).replace('-', "_"));
        }
    }

    #[test]
    fn a_request_without_an_id_is_named_by_its_index() {
        let names = ["a".to_owned()];
        assert_eq!(request(&names, ReqId(0)), "a");
        assert_eq!(request(&names, ReqId(7)), "r7");
    }
}
