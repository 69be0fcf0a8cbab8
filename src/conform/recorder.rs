//! What the recorder writes under each release, where releases differ in it.

use crate::model::Release;

/// How recordings of a release are written. Nothing here changes what the scheduler decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecorderFormat {
    /// Requests have the field `last_track_idx`.
    pub has_last_track_idx: bool,
    /// A decode result sets the label where the recorder looks for a firing. A verify does so in every release.
    pub label_shows_firing: bool,
    /// The offer of a finished request without a checkpoint reaches the tree, which turns it down.
    pub tree_gets_empty_offers: bool,
    /// A request that gave its only track slot to the tree frees an empty list of slots.
    pub frees_empty_list: bool,
    /// A released request keeps its label.
    pub released_keeps_label: bool,
}

impl RecorderFormat {
    /// The format of a release.
    pub fn of(release: Release) -> RecorderFormat {
        let up_to_0_5_17 = RecorderFormat {
            has_last_track_idx: false,
            label_shows_firing: true,
            tree_gets_empty_offers: true,
            frees_empty_list: true,
            released_keeps_label: true,
        };
        let of_0_5_18 = RecorderFormat { has_last_track_idx: true, label_shows_firing: false, ..up_to_0_5_17 };
        match release {
            Release::V0_5_16 | Release::V0_5_17 => up_to_0_5_17,
            Release::V0_5_18 => of_0_5_18,
            Release::V0_5_23 => RecorderFormat {
                tree_gets_empty_offers: false,
                frees_empty_list: false,
                released_keeps_label: false,
                ..of_0_5_18
            },
        }
    }
}
