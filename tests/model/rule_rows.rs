//! Single rows under single rules: what a rule answers where two of the values that it reads disagree.

use overlapsim::model::{Action, RowMasks, RowView, Strategy, TrackPolicy, VerifyView};
use overlapsim::record::BoundaryCheck;
use overlapsim::runner;

/// A row whose second slot prepare took. Grid 4; the result of the step prepared last.
fn lazy_row(mask: bool, kv_committed_len: u32) -> RowView {
    RowView {
        grid: 4,
        policy: TrackPolicy::new(Strategy::ExtraBufferLazy, true),
        prompt_len: 3,
        outputs: kv_committed_len - 2,
        finished: false,
        kv_committed_len,
        decode_batch_idx: 6,
        next_track_idx: 1,
        last_track_idx: 0,
        held: [true, true],
        untracked_ahead: false,
        masks: Some(RowMasks { mask, mask_next: Some(false), decode_batch_idx: 6, track_idx: 1 }),
    }
}

#[test]
fn completed_mask_records_a_row_that_mask_and_length_both_call_a_boundary() {
    let rule = runner::rule("completed-mask").unwrap();
    let nothing = Action::none(BoundaryCheck::Mask);
    let kept = Action { record: Some((8, Some(1))), next_track_idx: Some(1), release_idx: Some(0), ..nothing };
    for (mask, len, action) in [(true, 8, kept), (true, 9, nothing), (false, 8, nothing), (false, 9, nothing)] {
        assert_eq!(rule.on_result(&lazy_row(mask, len)), Ok(action), "mask {mask}, length {len}");
    }
}

/// The result of a verify that ends a request. Grid 4, 9 tokens; the kept slot is that of index 0.
fn last_verify(accepted: u32, planned_idx: Option<u8>, holds_both: bool, boundary_in_reach: bool) -> VerifyView {
    VerifyView {
        grid: 4,
        policy: TrackPolicy::new(Strategy::ExtraBufferLazy, true),
        prompt_len: 3,
        outputs: 7,
        accepted,
        finished: true,
        next_track_idx: 0,
        held: [true, holds_both],
        planned_idx,
        boundary_in_reach,
    }
}

#[test]
fn a_request_that_a_verify_ends_donates_unless_its_kept_slot_was_or_may_be_written() {
    // Accepted tokens (2 cross a boundary, 1 does not), the planned index, whether both slots are held, whether the
    // step in flight may cross a boundary; whether the rule declines.
    let rows = [
        (1, Some(0), false, false, false),
        (2, Some(1), true, false, false),
        (2, Some(1), true, true, false),
        (2, Some(0), false, false, true),
        (1, Some(0), false, true, true),
        (1, None, true, false, true),
    ];
    for (accepted, planned_idx, holds_both, in_reach, declines) in rows {
        let row = last_verify(accepted, planned_idx, holds_both, in_reach);
        for name in runner::rule_names() {
            assert_eq!(runner::rule(name).unwrap().on_verify(&row).decline, declines, "{name}: {row:?}");
        }
    }
}
