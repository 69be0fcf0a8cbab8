//! Identifiers: indices in order of first use, never hashes or addresses.

use std::fmt;

/// A vocabulary index. Sampled tokens are below 1000, fresh prompt tokens are 1000 and up.
pub type Token = u32;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The index in a list of all of them.
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
    /// A physical slot for one recurrent state, counted from 1. Slot 0 is the dummy target of padding and is never
    /// allocated.
    SlotId, "s"
);
id!(
    /// An admission that allocated pages for a request, in order of admission.
    GrantId, "g"
);

id!(
    /// A token sequence that continues a prefix of another stream: see [`super::Streams`].
    StreamId, "q"
);

/// Pages `from..to` of the KV cache, `page_size` tokens each.
///
/// A page is named by the admission that allocated it and by its index in the token sequence of that request; page 0
/// holds the first tokens. The name stays with the page when the page changes its owner. Two allocated pages never have
/// the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageRange {
    /// The admission.
    pub grant: GrantId,
    /// The first page.
    pub from: u32,
    /// The index after the last page.
    pub to: u32,
}

impl PageRange {
    /// The number of pages.
    pub fn count(self) -> u32 {
        self.to.saturating_sub(self.from)
    }
}
