//! The track policy: the facts of a strategy, as a value.
//!
//! Owns how many track slots a request holds and when, how `next_track_idx` moves, and which slot a donation takes
//! under rules that derive it (`Keeps::FromNext`). Machine, rules and generators ask for these facts. A [`Strategy`] is
//! only the word for one row of the table in [`TrackPolicy::new`].

use super::setup::{Engine, Strategy};

/// What holds for the track slots of every request of a run (`mamba_ping_pong_track_buffer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackPolicy {
    /// Track slots that a request takes at admission: 0 to 2. Without any, the active slot is what a donation takes,
    /// and no rule is asked.
    pub track_slots_at_admission: u8,
    /// Prepare takes a second slot for a step on a boundary and moves `next_track_idx` to it
    /// (`mamba_lazy_prealloc_at_boundary`). The rule gives the older slot back at the result. A verify only plans to
    /// write the second slot; its result moves the index.
    pub second_slot_on_demand: bool,
    /// The rule flips `next_track_idx` at the result of a boundary. If not, prepare has moved it.
    pub flips_at_result: bool,
    /// A new label moves the old one to `prev_track_seqlen`.
    pub keeps_previous_label: bool,
    /// A finished request asks whether to donate at all (`mamba_lazy_is_insert`).
    pub may_decline: bool,
    /// A donation that finds no free slot may unlock the state that its request started from, so that the state can be
    /// evicted (`handover_unlocks_state`).
    pub may_unlock_source: bool,
    /// Slots that admission makes free for each request, where it does not count what each one lacks
    /// (`SlotHeadroom::PerRequest`).
    pub headroom_per_request: u8,
}

impl TrackPolicy {
    /// The policy of a strategy, with overlap on or off.
    pub fn new(strategy: Strategy, overlap: bool) -> TrackPolicy {
        match strategy {
            Strategy::NoBuffer => TrackPolicy {
                track_slots_at_admission: 0,
                second_slot_on_demand: false,
                flips_at_result: false,
                keeps_previous_label: false,
                may_decline: false,
                may_unlock_source: false,
                headroom_per_request: 3,
            },
            Strategy::ExtraBuffer => TrackPolicy {
                track_slots_at_admission: if overlap { 2 } else { 1 },
                second_slot_on_demand: false,
                flips_at_result: true,
                keeps_previous_label: true,
                may_decline: false,
                may_unlock_source: false,
                headroom_per_request: 3,
            },
            Strategy::ExtraBufferLazy => TrackPolicy {
                track_slots_at_admission: 1,
                second_slot_on_demand: true,
                flips_at_result: false,
                keeps_previous_label: false,
                may_decline: true,
                may_unlock_source: true,
                headroom_per_request: 2,
            },
        }
    }

    /// Slots that a request takes at admission: the active one and its first track slots.
    pub fn slots_at_admission(self) -> u32 {
        1 + u32::from(self.track_slots_at_admission)
    }

    /// Whether requests have track slots.
    pub fn has_track_slots(self) -> bool {
        self.track_slots_at_admission > 0
    }

    /// Whether a request holds both track slots from its admission on (a ping-pong pair). Prefill tracking then flips
    /// `next_track_idx`, and the other slot still holds the checkpoint before the newest one.
    pub fn is_ping_pong(self) -> bool {
        self.track_slots_at_admission == 2
    }

    /// The other index of the two track slots; the same index if a request never has a second slot.
    pub fn other_idx(self, idx: u8) -> u8 {
        if self.is_ping_pong() || self.second_slot_on_demand { 1 - idx } else { idx }
    }

    /// `last_track_idx` of a request that has written no checkpoint: the last slot that admission gave it.
    pub fn first_last_track_idx(self) -> u8 {
        self.track_slots_at_admission.saturating_sub(1)
    }

    /// The index of the newest checkpoint, derived from `next_track_idx` (`get_mamba_ping_pong_keep_idx`).
    pub fn keep_idx(self, next_track_idx: u8) -> u8 {
        if self.is_ping_pong() { 1 - next_track_idx } else { next_track_idx }
    }
}

impl Engine {
    /// The track policy of the strategy.
    pub fn track_policy(&self) -> TrackPolicy {
        TrackPolicy::new(self.strategy, self.overlap)
    }
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 3] = [Strategy::NoBuffer, Strategy::ExtraBuffer, Strategy::ExtraBufferLazy];

    /// The name that SGLang gives it.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::NoBuffer => "no_buffer",
            Strategy::ExtraBuffer => "extra_buffer",
            Strategy::ExtraBufferLazy => "extra_buffer_lazy",
        }
    }

    /// The strategy of this name.
    pub fn of_name(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

    /// Whether it runs with overlap on, or off.
    pub fn allows_overlap(self, overlap: bool) -> bool {
        match self {
            Strategy::NoBuffer => !overlap,
            Strategy::ExtraBuffer => true,
            Strategy::ExtraBufferLazy => overlap,
        }
    }

    /// Whether it runs with pages of more than one token.
    pub fn allows_pages(self) -> bool {
        match self {
            Strategy::NoBuffer => false,
            Strategy::ExtraBuffer | Strategy::ExtraBufferLazy => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_donation_takes_the_slot_that_the_next_boundary_does_not_write_if_there_are_two() {
        let pair = TrackPolicy::new(Strategy::ExtraBuffer, true);
        assert_eq!((pair.keep_idx(0), pair.other_idx(0), pair.first_last_track_idx()), (1, 1, 1));
        let single = TrackPolicy::new(Strategy::ExtraBuffer, false);
        assert_eq!((single.keep_idx(0), single.other_idx(0), single.first_last_track_idx()), (0, 0, 0));
        let lazy = TrackPolicy::new(Strategy::ExtraBufferLazy, true);
        assert_eq!((lazy.keep_idx(0), lazy.other_idx(0), lazy.first_last_track_idx()), (0, 1, 0));
    }

    #[test]
    fn a_name_stands_for_one_strategy() {
        for strategy in Strategy::ALL {
            assert_eq!(Strategy::of_name(strategy.name()), Some(strategy));
        }
        assert_eq!(Strategy::of_name("auto"), None);
    }
}
