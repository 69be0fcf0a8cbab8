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
    /// One admission in which a request was given pages of its own, in order of admission.
    GrantId, "g"
);

id!(
    /// A token sequence without end, or up to where nobody knows it: see [`super::Streams`].
    StreamId, "q"
);

/// Pages of the KV cache, `page_size` tokens each, named by the request's admission in which they were allocated and by their places in its
/// token sequence: pages `from..to`, page 0 holding its first tokens. A name stays with its page while the page changes owners, and no
/// two allocated pages share one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageRange {
    /// The admission.
    pub grant: GrantId,
    /// The first page.
    pub from: u32,
    /// The page behind the last one.
    pub to: u32,
}

impl PageRange {
    /// How many pages.
    pub fn count(self) -> u32 {
        self.to.saturating_sub(self.from)
    }
}
