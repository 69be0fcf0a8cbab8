//! Deliberately wrong rules, the right ones that they are made from, and setups on which to run them.

use super::setups::setups;
use overlapsim::judge::FindingKind;
use overlapsim::model::{Action, Keeps, Release, ResultQueue, RowView, Rule, Setup, Strategy, VerifyView, WantsMasks};
use overlapsim::record::{AssertKind, BoundaryCheck};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A rule made of one function. The kept slot is derived from the write index.
pub struct Planted {
    name: &'static str,
    decide: fn(&RowView) -> Result<Action, AssertKind>,
}

/// A lazy rule made of one function of the batch's own arrays. The kept slot is `last_track_idx`.
pub struct PlantedLazy {
    name: &'static str,
    decide: fn(&RowView, Own) -> Action,
}

/// What the forward of this batch wrote for a row, and whether the step in flight overwrites it.
struct Own {
    len: u32,
    idx: u8,
    boundary: bool,
    /// The step in flight writes the kept slot.
    overwrites: bool,
}

impl Rule for PlantedLazy {
    fn name(&self) -> &'static str {
        self.name
    }
    fn wants_masks(&self) -> WantsMasks {
        WantsMasks::MasksAndTrackIdx
    }
    fn keeps(&self) -> Keeps {
        Keeps::Last
    }
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind> {
        let masks = row.masks.ok_or(AssertKind::MissingSnapshot)?;
        let lookahead = row.decode_batch_idx - masks.decode_batch_idx;
        let ahead = lookahead == 1 && masks.mask_next == Some(true);
        let own = Own {
            len: row.kv_committed_len - lookahead,
            idx: masks.track_idx,
            boundary: masks.mask,
            overwrites: ahead && row.next_track_idx == row.last_track_idx,
        };
        Ok((self.decide)(row, own))
    }
    fn on_verify(&self, _: &VerifyView) -> Action {
        none()
    }
}

/// Keeps what the own forward wrote, frees the other slot, and declines a donation that the step in flight overwrites.
fn keep(row: &RowView, own: &Own) -> Action {
    let decline = row.finished && own.overwrites;
    if !own.boundary {
        return Action { decline, ..none() };
    }
    Action {
        record: Some((own.len, Some(own.idx))),
        next_track_idx: Some(own.idx),
        release_idx: Some(1 - own.idx),
        decline,
        ..none()
    }
}

pub const RIGHT_LAZY: PlantedLazy = PlantedLazy { name: "right, lazy", decide: |row, own| keep(row, &own) };

/// Lazy rules, each wrong in one way, with the kinds of findings of which it must show at least one.
pub const WRONG_LAZY: &[(PlantedLazy, &[FindingKind])] = &[
    (PlantedLazy { name: "never keeps", decide: |_, _| none() }, &[FindingKind::Lost]),
    (
        PlantedLazy {
            name: "label of the live committed length",
            decide: |row, own| {
                let kept = keep(row, &own);
                Action { record: kept.record.map(|(_, idx)| (row.kv_committed_len, idx)), ..kept }
            },
        },
        &[FindingKind::Mislabelled],
    ),
    (
        PlantedLazy {
            name: "keeps the other slot",
            decide: |row, own| {
                let kept = keep(row, &own);
                Action { record: kept.record.map(|(len, idx)| (len, idx.map(|idx| 1 - idx))), ..kept }
            },
        },
        &[FindingKind::Unwritten, FindingKind::Mislabelled, FindingKind::Assertion],
    ),
    (
        PlantedLazy {
            name: "gives the slot back that it keeps",
            decide: |row, own| Action { release_idx: own.boundary.then_some(own.idx), ..keep(row, &own) },
        },
        &[FindingKind::Assertion],
    ),
    (
        PlantedLazy {
            name: "records and keeps the slot of before",
            decide: |row, own| {
                let kept = keep(row, &own);
                Action { record: kept.record.map(|(len, _)| (len, None)), ..kept }
            },
        },
        &[FindingKind::Unwritten, FindingKind::Mislabelled, FindingKind::Assertion],
    ),
];

impl Rule for Planted {
    fn name(&self) -> &'static str {
        self.name
    }
    fn wants_masks(&self) -> WantsMasks {
        WantsMasks::No
    }
    fn keeps(&self) -> Keeps {
        Keeps::FromNext
    }
    fn on_result(&self, row: &RowView) -> Result<Action, AssertKind> {
        (self.decide)(row)
    }
    fn on_verify(&self, _: &VerifyView) -> Action {
        none()
    }
}

fn none() -> Action {
    Action::none(BoundaryCheck::Recompute)
}

/// Records a label and flips the write index, as the right rule does.
fn fire(row: &RowView, label: u32) -> Action {
    Action { record: Some((label, None)), next_track_idx: Some(row.policy.other_idx(row.next_track_idx)), ..none() }
}

fn due(row: &RowView) -> bool {
    row.token_len().is_multiple_of(row.grid)
}

fn when(fires: bool, action: Action) -> Result<Action, AssertKind> {
    Ok(if fires { action } else { none() })
}

/// The rule that the planted ones are made from.
pub const RIGHT: Planted = Planted { name: "right", decide: |row| when(due(row), fire(row, row.token_len())) };

/// Rules, each wrong in one way, with the kinds of findings of which it must show at least one.
pub const WRONG: &[(Planted, &[FindingKind])] = &[
    (Planted { name: "never fires", decide: |_| Ok(none()) }, &[FindingKind::Lost]),
    (
        Planted { name: "fires at every step", decide: |row| Ok(fire(row, row.token_len())) },
        &[FindingKind::Unwritten, FindingKind::Mislabelled],
    ),
    (
        Planted { name: "label one too long", decide: |row| when(due(row), fire(row, row.token_len() + 1)) },
        &[FindingKind::Mislabelled],
    ),
    (
        Planted {
            name: "label one grid too short",
            decide: |row| when(due(row), fire(row, row.token_len().saturating_sub(row.grid))),
        },
        &[FindingKind::Mislabelled],
    ),
    (
        Planted {
            name: "forgets to flip",
            decide: |row| when(due(row), Action { next_track_idx: None, ..fire(row, row.token_len()) }),
        },
        &[FindingKind::Unwritten, FindingKind::Mislabelled],
    ),
    (
        Planted {
            name: "flips and forgets to record",
            decide: |row| when(due(row), Action { record: None, ..fire(row, row.token_len()) }),
        },
        &[FindingKind::Lost, FindingKind::Mislabelled],
    ),
    (
        Planted {
            name: "one step early, label of the step in flight",
            decide: |row| when((row.token_len() + 1).is_multiple_of(row.grid), fire(row, row.token_len() + 1)),
        },
        &[FindingKind::Lost, FindingKind::Unwritten],
    ),
    (
        Planted {
            name: "one step late, label of the step before",
            decide: |row| {
                when((row.token_len() - 1).is_multiple_of(row.grid), fire(row, row.token_len().saturating_sub(1)))
            },
        },
        &[FindingKind::Lost],
    ),
    (
        Planted {
            name: "counts outputs only",
            decide: |row| when(row.outputs.is_multiple_of(row.grid), fire(row, row.token_len())),
        },
        &[FindingKind::Lost, FindingKind::Unwritten, FindingKind::Mislabelled],
    ),
    (
        Planted {
            name: "believes the committed length",
            decide: |row| when(row.kv_committed_len.is_multiple_of(row.grid), fire(row, row.kv_committed_len)),
        },
        &[FindingKind::Lost, FindingKind::Unwritten],
    ),
    (
        Planted {
            name: "gives the slot back that it keeps",
            decide: |row| {
                when(due(row), Action { release_idx: Some(row.next_track_idx), ..fire(row, row.token_len()) })
            },
        },
        &[FindingKind::Assertion],
    ),
    (Planted { name: "asserts", decide: |_| Err(AssertKind::OffGrid) }, &[FindingKind::Assertion]),
];

/// Random setups for lazy rules: no second slot is refused, and boundaries do not follow each other.
pub fn lazy_samples() -> Vec<Setup> {
    let mut samples = samples();
    for setup in &mut samples {
        setup.engine.strategy = Strategy::ExtraBufferLazy;
        setup.engine.mamba_slots = 256;
        setup.events.clear();
    }
    samples.retain(|setup| setup.engine.grid_len() > 2);
    samples
}

/// Random setups for rules that are not lazy.
pub fn samples() -> Vec<Setup> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut samples = Vec::new();
    while samples.len() < 200 {
        let mut setup = setups().new_tree(&mut runner).unwrap().current();
        setup.engine.strategy = Strategy::ExtraBuffer;
        setup.engine.overlap = true;
        setup.engine.result_queue = ResultQueue::Copy;
        setup.engine.mamba_slots = 64;
        setup.engine.release = Release::V0_5_17;
        samples.push(setup);
    }
    samples
}
