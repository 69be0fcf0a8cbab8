//! Identifiers: indices given in order of first use, never hashes or addresses.

use std::fmt;

/// A vocabulary index. Sampled tokens are below 1000, fresh prompt tokens are 1000 and up.
pub type Token = u32;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in an arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&format!(concat!($letter, "{}"), self.0))
            }
        }
    };
}

id!(
    /// A request, by its position in the setup.
    ReqId, "r"
);
id!(
    /// A batch, counted from 1 in order of preparation.
    BatchId, "b"
);
id!(
    /// A physical slot for one recurrent state, counted from 1; slot 0 is the dummy target of padding and never given out.
    SlotId, "s"
);
id!(
    /// A physical page of the KV cache, `page_size` tokens.
    PageId, "p"
);

id!(
    /// A token sequence without end, or up to where nobody knows it: see [`super::Streams`].
    StreamId, "q"
);

/// Whether two lists name the same requests: long ones without a way out before the end, so that several can be compared at a
/// time.
#[inline]
pub fn same_reqs(one: &[ReqId], other: &[ReqId]) -> bool {
    if one.len() < 16 {
        return one == other;
    }
    one.len() == other.len() && one.iter().zip(other).fold(0, |differ, (one, other)| differ | (one.0 ^ other.0)) == 0
}
