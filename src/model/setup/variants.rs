//! The types of engine fields: enums whose values are words of a scenario file, and speculative decoding.

use serde::Deserialize;

use super::super::radix::TombstoneLock;

/// The value of an engine field, whatever its type.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// A word, spelled as the variant of the enum.
    Word(&'static str),
    /// On or off.
    Switch(bool),
    /// A size, if one is set.
    Size(Option<u32>),
    /// A factor.
    Factor(f64),
    /// Speculative decoding, if on.
    Spec(Option<Spec>),
}

/// A type that an engine field may have.
pub(super) trait FieldType {
    /// Values as a scenario file spells them: every word of an enum, one sample of another type.
    const SAMPLES: &'static [&'static str];

    /// The value.
    fn value(&self) -> FieldValue;

    /// The field as a switch, if it is one.
    fn switch(&mut self) -> Option<&mut bool> {
        None
    }
}

/// A size that may be left unset.
pub type OptionalSize = Option<u32>;
/// Speculative decoding, if on.
pub type OptionalSpec = Option<Spec>;

impl FieldType for bool {
    const SAMPLES: &'static [&'static str] = &["true"];

    fn value(&self) -> FieldValue {
        FieldValue::Switch(*self)
    }

    fn switch(&mut self) -> Option<&mut bool> {
        Some(self)
    }
}

impl FieldType for u32 {
    const SAMPLES: &'static [&'static str] = &["64"];

    fn value(&self) -> FieldValue {
        FieldValue::Size(Some(*self))
    }
}

impl FieldType for OptionalSize {
    const SAMPLES: &'static [&'static str] = &["64"];

    fn value(&self) -> FieldValue {
        FieldValue::Size(*self)
    }
}

impl FieldType for f64 {
    const SAMPLES: &'static [&'static str] = &["1.0"];

    fn value(&self) -> FieldValue {
        FieldValue::Factor(*self)
    }
}

impl FieldType for OptionalSpec {
    const SAMPLES: &'static [&'static str] = &["(draft: 3, accept: Fixed([1, 4, 2]))"];

    fn value(&self) -> FieldValue {
        FieldValue::Spec(self.clone())
    }
}

/// Makes an enum a type of engine fields.
macro_rules! word_field {
    ($name:ident { $($word:ident),+ }) => {
        impl FieldType for $name {
            const SAMPLES: &'static [&'static str] = &[$(stringify!($word)),+];

            fn value(&self) -> FieldValue {
                FieldValue::Word(match self { $($name::$word => stringify!($word)),+ })
            }
        }
    };
}

/// Declares enums that are types of engine fields.
macro_rules! words {
    ($($(#[$about:meta])+ $name:ident { $($(#[$doc:meta])+ $word:ident,)+ })+) => { $(
        $(#[$about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        pub enum $name {
            $($(#[$doc])+ $word),+
        }

        word_field!($name { $($word),+ });
    )+ };
}

word_field!(TombstoneLock { Steal, Skip, Count });

words! {
    /// Where the recurrent states of a request live beside its active one.
    Strategy {
        /// None: the active slot itself is donated. Needs overlap off and page size 1.
        NoBuffer,
        /// A ping-pong pair of track slots; a single one with overlap off.
        ExtraBuffer,
        /// One track slot, a second one taken on demand at a boundary. Needs overlap on.
        ExtraBufferLazy,
    }

    /// The length multiple at which decode states are checkpointed.
    Grid {
        /// `track_interval` alone.
        Interval,
        /// Least common multiple of `mamba_chunk`, `page_size` and `track_interval`.
        Lcm,
    }

    /// What the result queue holds.
    ResultQueue {
        /// A copy of the batch, with its own host masks.
        Copy,
        /// The live batch, whose host masks a filter or merge drops before the result is processed.
        Alias,
    }

    /// How much KV an allocation evicts when the pool is short.
    KvEviction {
        /// The whole amount of the allocation, whatever is free.
        Whole,
        /// Only what is missing.
        Shortfall,
    }

    /// Which of two reasons to finish is looked at first.
    FinishOrder {
        /// Length, then stop token.
        LengthFirst,
        /// Stop token, then length.
        TokenFirst,
    }

    /// What happens to the track fields of a prefill batch when decode rows join it.
    MixedTracking {
        /// They are dropped: the forward keeps no state, although the requests have set their labels.
        Dropped,
        /// Those of the prefill rows are kept; decode rows are untracked, and a lazy second slot is given back.
        Kept,
    }

    /// What happens when no state slot is free for a donation or an admission that could do without.
    Exhaustion {
        /// The donation is skipped, the admission waits.
        Skip,
        /// An assertion of the modelled system fails, as in the releases.
        Assert,
    }

    /// How the state of an unfinished request gets into the tree.
    Snapshot {
        /// The kept slot itself is handed over, and a fresh one takes its place.
        HandOver,
        /// A fresh slot receives a copy on the schedule stream, which waits for no forward.
        Copy,
    }

    /// When the state of a cache hit is copied into the active slot.
    CopyOnWrite {
        /// At the start of the prefill forward, on the forward stream.
        Deferred,
        /// At the match, on the schedule stream, which waits for no forward.
        Immediate,
    }

    /// When the slots of a finished request are free for others.
    SlotFree {
        /// At the result that finishes the request, although a step in flight may still write them.
        AtResult,
        /// When the result of the last forward that names the request has been processed.
        Deferred,
        /// At the result that finishes the request. Its rows in a forward launched later run on the padding slot.
        Masked,
    }

    /// How many state slots admission makes free by eviction before it takes any.
    SlotHeadroom {
        /// Three for each request, two with the lazy strategy.
        PerRequest,
        /// Exactly the slots that the batch will take.
        Exact,
    }
}

/// How many tokens a verify step accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accept {
    /// These numbers in turn, starting over at the end. Each request has its own place in the list.
    Fixed(Vec<u32>),
    /// Each draft token in order with this probability in millionths, until one is rejected; and one more token.
    Seeded(u32),
}

/// Speculative decoding: a linear draft, verified in one forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Draft tokens a step; a verify accepts 1 to `draft + 1` tokens.
    pub draft: u32,
    /// How many tokens a verify accepts, by script.
    pub accept: Accept,
}

impl Spec {
    /// Most tokens that a verify accepts.
    pub fn accept_max(&self) -> u32 {
        self.draft + 1
    }

    /// KV that a step reserves beyond the committed length: twice what it may accept, since the committed length is
    /// one verify behind (`get_alloc_reserve_per_decode`).
    pub fn reserve(&self) -> u32 {
        2 * self.accept_max()
    }
}
