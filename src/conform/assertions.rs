//! Assertions of the recorded code by their subject. The message of an assertion changes between releases. The function
//! that raised it does not, and neither does a word of the message that tells the assertions of one function apart.

use serde_json::{Map, Value};

use crate::record::AssertKind;

/// The function, a word of the message (empty for any message), and the subject.
const RAISED: [(&str, &str, AssertKind); 16] = [
    ("_alloc_mamba_slot", "", AssertKind::OutOfSlots),
    ("_alloc_ping_pong_buffer", "", AssertKind::OutOfSlots),
    ("finalize_match_result", "", AssertKind::OutOfSlots),
    ("finalize_match_result_in_cache", "", AssertKind::OutOfSlots),
    ("alloc", "mamba", AssertKind::OutOfSlots),
    ("alloc_token_slots", "", AssertKind::OutOfPages),
    ("alloc_paged_token_slots_extend", "", AssertKind::OutOfPages),
    ("alloc_paged_token_slots_decode", "", AssertKind::OutOfPages),
    ("donate_mamba_ping_pong_slot", "", AssertKind::NoKeptSlot),
    ("_handle_finish_state_updated_req", "lookahead", AssertKind::Lookahead),
    ("_handle_finish_state_updated_req", "NoneType", AssertKind::MissingSnapshot),
    ("_mamba_assert_committed_len_lookahead", "output_ids is", AssertKind::NoOutput),
    ("_mamba_assert_committed_len_lookahead", "", AssertKind::CommittedLead),
    ("_mamba_prefix_cache_update", "", AssertKind::OffGrid),
    // A rule that no release has, as recordings patch it into a release.
    ("update", "lookahead", AssertKind::Lookahead),
    ("update", "committed leads", AssertKind::CommittedLead),
];

/// Replaces `message` and `where` of an assertion by its subject, `assertion`. An unknown assertion keeps both, so that
/// it differs from every assertion of the model.
pub(super) fn replace_message(fields: &mut Map<String, Value>) {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or("").to_string();
    let (message, place, kind) = (text("message"), text("where"), text("kind"));
    let subject = match kind.as_str() {
        "stall" => Some("stall"),
        _ => {
            let function = place.rsplit(':').next().unwrap_or("");
            let raised = RAISED.iter().find(|(name, word, _)| *name == function && message.contains(word));
            raised.map(|(_, _, kind)| name(*kind))
        }
    };
    if let Some(subject) = subject {
        fields.remove("message");
        fields.remove("where");
        fields.insert("assertion".into(), subject.into());
    }
}

/// The name of an assertion's subject.
pub(super) fn name(kind: AssertKind) -> &'static str {
    match kind {
        AssertKind::Lookahead => "lookahead",
        AssertKind::OffGrid => "off-grid",
        AssertKind::CommittedLead => "committed-lead",
        AssertKind::NoOutput => "no-output",
        AssertKind::MissingSnapshot => "missing-snapshot",
        AssertKind::OutOfSlots => "out-of-slots",
        AssertKind::OutOfPages => "out-of-pages",
        AssertKind::NoKeptSlot => "no-kept-slot",
    }
}
