//! Names of token sequences: a tree of streams, in which each stream goes on from a prefix of its parent.
//!
//! Owns the canonical name of a sequence, and which prefix two sequences have in common. Does not know the tokens: that is
//! [`super::Streams`].

use std::sync::Arc;

use super::StreamId;

/// The first `len` tokens of a stream. Canonical if no ancestor of the stream has them all; those of a [`Streams`] are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    /// The stream.
    pub stream: StreamId,
    /// How many tokens.
    pub len: u32,
}

impl Prefix {
    /// No tokens.
    pub const EMPTY: Prefix = Prefix { stream: StreamId::ROOT, len: 0 };
}

impl StreamId {
    /// The stream without tokens, which all others go on from.
    pub const ROOT: StreamId = StreamId(0);
}

/// What each stream goes on from: all that it takes to compare names.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// Shared by all copies until one of them is given another stream.
    parents: Arc<Vec<Prefix>>,
}

impl Default for Lineage {
    fn default() -> Self {
        Lineage { parents: Arc::new(vec![Prefix::EMPTY]) }
    }
}

impl Lineage {
    /// What a stream goes on from; nothing if it was never set.
    #[inline]
    pub fn parent(&self, stream: StreamId) -> Prefix {
        self.parents.get(stream.index()).copied().unwrap_or_default()
    }

    /// Lets a stream go on from a prefix. Refuses to make a stream its own ancestor, and to change the root.
    pub fn set(&mut self, stream: StreamId, parent: Prefix) {
        let mut ancestor = parent.stream;
        while ancestor != stream && ancestor != StreamId::ROOT {
            ancestor = self.parent(ancestor).stream;
        }
        if ancestor == stream {
            return;
        }
        let parents = Arc::make_mut(&mut self.parents);
        if stream.index() >= parents.len() {
            parents.resize(stream.index() + 1, Prefix::EMPTY);
        }
        parents[stream.index()] = parent;
    }

    /// How many streams there are, with the root.
    pub fn count(&self) -> u32 {
        self.parents.len() as u32
    }

    /// The canonical name of the first `len` tokens of a stream.
    #[inline]
    pub fn prefix(&self, stream: StreamId, len: u32) -> Prefix {
        if len == 0 {
            return Prefix::EMPTY;
        }
        let mut at = stream;
        loop {
            let parent = self.parent(at);
            if at == StreamId::ROOT || len > parent.len {
                return Prefix { stream: at, len };
            }
            at = parent.stream;
        }
    }

    /// How many tokens two sequences have in common at their front.
    pub fn common_len(&self, one: Prefix, other: Prefix) -> u32 {
        let (mut one, mut other) = (one, other);
        while one.stream != other.stream {
            if one.len == 0 || other.len == 0 {
                return 0;
            }
            // An ancestor begins before its descendants: the one that begins later is none.
            let (of_one, of_other) = (self.parent(one.stream), self.parent(other.stream));
            let lifts_one =
                other.stream == StreamId::ROOT || one.stream != StreamId::ROOT && of_one.len >= of_other.len;
            let (lifted, parent) = if lifts_one { (&mut one, of_one) } else { (&mut other, of_other) };
            *lifted = Prefix { len: lifted.len.min(parent.len), ..parent };
        }
        one.len.min(other.len)
    }
}
