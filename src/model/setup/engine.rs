//! The modelled engine: one table of its fields with their types and the values that each release has.
//!
//! The table gives the struct, the presets and [`Engine::FIELDS`], the list for code that treats all fields alike. The
//! scenario format makes the `engine` block of a file from the same table. `docs/releases.md` has the source of each
//! value.

use super::super::radix::TombstoneLock;
use super::release::Release;
use super::variants::{
    Accept, CopyOnWrite, Exhaustion, FieldType, FieldValue, FinishOrder, Grid, KvEviction, MixedTracking, OptionalSize,
    OptionalSpec, ResultQueue, SlotFree, SlotHeadroom, Snapshot, Spec, Strategy,
};

/// The table of engine fields. `engine_fields!(consumer)` expands to `consumer! { rows }`.
///
/// A row is a comment, a name, a type, and the value of the presets: one value for all releases, or a list with a
/// column for each release. The order is that of files and listings.
macro_rules! engine_fields {
    ($consumer:ident) => {
        $consumer! {
            /// Where track slots come from.
            strategy: Strategy = ExtraBuffer;
            /// Whether the next batch is launched before the last result is processed.
            overlap: bool = true;
            /// Tokens between decode checkpoints.
            track_interval: u32 = 256;
            /// Tokens to which prefill tracking aligns, relative to the cached prefix.
            mamba_chunk: u32 = 64;
            /// Tokens in a KV page.
            page_size: u32 = 1;
            //                                                0.5.16     0.5.17     0.5.18     0.5.23
            /// What the decode grid is made of.
            grid: Grid =                                      [Interval,  Interval,  Interval,  Lcm];
            /// State slots in the pool.
            mamba_slots: u32 = 256;
            /// Tokens in the KV pool, a multiple of the page.
            kv_tokens: u32 = 65536;
            /// Most requests running at once.
            max_running: u32 = 64;
            /// Most prompt tokens in one prefill batch. The first request is taken even if it is longer.
            max_prefill_tokens: u32 = 16384;
            /// `schedule_conservativeness`: scales the share of outputs that admission reserves KV for.
            conservativeness: f64 = 1.0;
            /// Most new prompt tokens in one prefill batch. A longer prompt is prefilled in chunks, one request at a
            /// time. Without it there is no limit.
            chunked_prefill_size: OptionalSize = None;
            /// Decode rows ride along in prefill batches.
            mixed_chunk: bool = false;
            /// What riding along does to the track fields of the batch.
            mixed_tracking: MixedTracking =                   [Dropped,   Dropped,   Dropped,   Kept];
            /// Speculative decoding, if on.
            spec: OptionalSpec = None;
            /// What a lack of state slots leads to.
            exhaustion: Exhaustion = Assert;
            /// How the state of an unfinished request gets into the tree.
            snapshot: Snapshot = HandOver;
            /// When a cached state is copied after a hit.
            copy_on_write: CopyOnWrite = Deferred;
            /// When the slots of a finished request are free.
            slot_free: SlotFree = AtResult;
            /// What the result queue holds.
            result_queue: ResultQueue = Copy;
            /// Process the last prefill before another prefill is launched.
            disable_consecutive_prefill_overlap: bool = false;
            //                                                0.5.16     0.5.17     0.5.18     0.5.23
            /// Leave a request out of the next decode batch when the result in flight will end it by length.
            skip_finishing_decode: bool =                     [false,     false,     false,     true];
            /// Filter finished requests out of the running batch before admission, not only before decode. Five more
            /// changes of 0.5.23 are part of this switch:
            /// an empty running batch is never marked as full;
            /// a refusal for want of KV marks the batch as full only if a request runs or was admitted;
            /// a spent prompt limit or chunk ends admission before the next candidate;
            /// an admitted request that already holds a row does not count against the rows left;
            /// decode rows ride along in a prefill batch only if there is KV for their step.
            filter_before_prefill: bool =                     [false,     false,     false,     true];
            /// The lazy second slot may evict a cached state.
            lazy_prealloc_evicts: bool =                      [true,      false,     false,     false];
            /// A refused lazy second slot clears the label, since the write goes in place.
            refused_prealloc_clears_label: bool =             [false,     false,     false,     true];
            /// How much an allocation evicts.
            kv_eviction: KvEviction =                         [Whole,     Shortfall, Shortfall, Shortfall];
            /// Which reason to finish comes first.
            finish_order: FinishOrder =                       [LengthFirst, LengthFirst, TokenFirst, TokenFirst];
            /// Slots made free before admission.
            slot_headroom: SlotHeadroom =                     [PerRequest, PerRequest, PerRequest, Exact];
            /// At the end of a request only the tokens up to its stop are cached, not all that a verify accepted.
            caches_through_stop: bool =                       [false,     false,     false,     true];
            /// A label beyond what is cached falls back to the checkpoint before, in the other slot.
            previous_checkpoint: bool =                       [false,     false,     false,     true];
            /// A branching point is reported only if it lies beyond the state match.
            branching_beyond_state: bool =                    [false,     true,      true,      true];
            /// Splitting a tree node makes the state of its lower half the most recent one.
            split_refreshes_state: bool =                     [true,      true,      true,      false];
            /// What locking a tree node without a state means for its state lock.
            tombstone_lock: TombstoneLock =                   [Steal,     Skip,      Skip,      Count];
            /// Admission forgets that its node had no state when it was locked.
            admission_forgets_skip: bool =                    [true,      true,      true,      false];
            /// Admission reserves KV for every output of a running request that can only end by length.
            fixed_length_reserves_all: bool =                 [false,     false,     false,     true];
            /// Every 32nd admission refreshes the cached prefixes of the waiting requests.
            waiting_prefix_refresh: bool =                    [false,     false,     false,     true];
            /// After an insert the prefix is matched again, which refreshes it once more.
            rematch_after_insert: bool =                      [true,      true,      true,      false];
            /// Lazy: a donation that finds no free slot unlocks the state it started from before it evicts.
            handover_unlocks_state: bool =                    [false,     false,     false,     true];
        }
    };
}
pub(crate) use engine_fields;

/// One field of an engine, for code that treats all fields alike.
#[derive(Debug)]
pub struct EngineField {
    /// Its name, in files and listings.
    pub name: &'static str,
    /// Values as a scenario file spells them: every word of an enum, one sample of another type.
    pub samples: &'static [&'static str],
    /// The value that an engine has.
    pub value: fn(&Engine) -> FieldValue,
    /// Copies the value of the second engine into the first one.
    pub copy: fn(&mut Engine, &Engine),
    /// The field of an engine as a switch, if it is one.
    pub switch: fn(&mut Engine) -> Option<&mut bool>,
}

impl EngineField {
    /// Whether two engines have the same value.
    pub fn is_same(&self, a: &Engine, b: &Engine) -> bool {
        (self.value)(a) == (self.value)(b)
    }

    /// Whether the presets of two releases have different values.
    pub fn differs_by_release(&self) -> bool {
        let oldest = Engine::preset(Release::ALL[0]);
        Release::ALL.iter().any(|&release| !self.is_same(&Engine::preset(release), &oldest))
    }
}

/// One value of the table as a Rust expression: a word is a variant of the type of its row.
macro_rules! value {
    ($type:ident, true) => {
        true
    };
    ($type:ident, false) => {
        false
    };
    ($type:ident, $word:ident) => {
        $type::$word
    };
    ($type:ident, $number:literal) => {
        $number
    };
}

/// The value of a row under a release.
macro_rules! preset {
    ($release:ident, $type:ident, [$($value:ident),+]) => {{
        let by_release: [$type; Release::COUNT] = [$(value!($type, $value)),+];
        by_release[$release as usize]
    }};
    ($release:ident, $type:ident, $value:tt) => { value!($type, $value) };
}

/// Makes the struct, its presets and the list of its fields.
macro_rules! engine {
    ($($(#[$doc:meta])+ $name:ident: $type:ident = $preset:tt;)+) => {
        /// The modelled engine: strategy, sizes, and the variants in which releases differ (`docs/releases.md`).
        #[derive(Clone, Debug, PartialEq)]
        pub struct Engine {
            /// The release whose preset filled the fields that were not set.
            pub release: Release,
            $($(#[$doc])+ pub $name: $type,)+
        }

        impl Engine {
            /// Every field but `release`, in the order of the table.
            pub const FIELDS: &[EngineField] = &[$(EngineField {
                name: stringify!($name),
                samples: <$type as FieldType>::SAMPLES,
                value: |engine| engine.$name.value(),
                copy: |to, from| to.$name.clone_from(&from.$name),
                switch: |engine| engine.$name.switch(),
            }),+];

            /// The preset of a release, with the documented defaults for everything that is not a release difference.
            pub fn preset(release: Release) -> Engine {
                Engine { release, $($name: preset!(release, $type, $preset)),+ }
            }
        }
    };
}

engine_fields!(engine);

impl Engine {
    /// Every field but `release`, in the order of the table, but for those in `moved`: each of them comes right behind
    /// the field that is named with it.
    pub fn fields_moved(moved: &[(&str, &str)]) -> Vec<&'static EngineField> {
        let mut fields: Vec<&EngineField> = Engine::FIELDS.iter().collect();
        for (name, behind) in moved {
            let place = |fields: &[&EngineField], name: &str| {
                fields.iter().position(|field| field.name == name).expect("a name of the table")
            };
            let field = fields.remove(place(&fields, name));
            fields.insert(place(&fields, behind) + 1, field);
        }
        fields
    }

    /// G: the decode checkpoint grid in tokens.
    pub fn grid_len(&self) -> u32 {
        match self.grid {
            Grid::Interval => self.track_interval,
            Grid::Lcm => grid_len(self.prefill_grid_len(), self.track_interval),
        }
    }

    /// c: the grid of prefill checkpoints in tokens, relative to the cached prefix.
    pub fn prefill_grid_len(&self) -> u32 {
        grid_len(self.mamba_chunk, self.page_size)
    }

    /// Tokens beyond the committed length for which speculative decoding reserves KV; 0 without it.
    pub fn spec_reserve(&self) -> u32 {
        self.spec.as_ref().map_or(0, Spec::reserve)
    }

    /// Whether the script draws how many tokens a verify accepts. Shares of 0 and 1 leave nothing to a draw.
    pub fn draws_accepts(&self) -> bool {
        let spec = self.spec.as_ref();
        spec.is_some_and(|spec| matches!(spec.accept, Accept::Seeded(share) if 0 < share && share < 1_000_000))
    }
}

/// The grid of the places that lie on two grids. Validation of a setup keeps it below 2^31.
fn grid_len(a: u32, b: u32) -> u32 {
    u32::try_from(lcm(a.into(), b.into())).expect("grids of a setup are below 2^31")
}

/// The least common multiple of two lengths that are not 0; `u64::MAX` if it is larger than that.
pub(crate) fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}
