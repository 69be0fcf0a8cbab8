//! Names of token sequences: a tree of streams, in which each stream continues a prefix of its parent.
//!
//! Owns the canonical name of a sequence, and which prefix two sequences have in common. Does not know the tokens: that
//! is [`super::Streams`].

use std::sync::Arc;

use super::StreamId;

/// The first `len` tokens of a stream. The name is canonical if no ancestor of the stream has all of these tokens;
/// every prefix that [`super::Streams`] returns is canonical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    /// The stream.
    pub stream: StreamId,
    /// The number of tokens.
    pub len: u32,
}

impl Prefix {
    /// The empty sequence.
    pub const EMPTY: Prefix = Prefix { stream: StreamId::ROOT, len: 0 };
}

impl StreamId {
    /// The stream without tokens, the root of all streams.
    pub const ROOT: StreamId = StreamId(0);
}

/// The parent prefix of each stream. Names can be compared by the lineage alone, without the tokens.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// By stream. Shared by all clones until a stream is added to one of them.
    parents: Arc<Vec<Prefix>>,
}

impl Default for Lineage {
    fn default() -> Self {
        Lineage { parents: Arc::new(vec![Prefix::EMPTY]) }
    }
}

impl Lineage {
    /// The prefix that a stream continues; empty if it was never set.
    #[inline]
    pub fn parent(&self, stream: StreamId) -> Prefix {
        self.parents.get(stream.index()).copied().unwrap_or_default()
    }

    /// Sets the prefix that a stream continues. Does nothing if the stream would become its own ancestor, or is the
    /// root.
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

    /// The number of streams, including the root.
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

    /// The length of the longest common prefix of two sequences. Costs the depth of the tree, not the length.
    pub fn common_len(&self, one: Prefix, other: Prefix) -> u32 {
        let (mut one, mut other) = (one, other);
        while one.stream != other.stream {
            if one.len == 0 || other.len == 0 {
                return 0;
            }
            // An ancestor begins before its descendants, so the stream that begins later is not an ancestor of the
            // other one and can be replaced by its parent.
            let (of_one, of_other) = (self.parent(one.stream), self.parent(other.stream));
            let lifts_one =
                other.stream == StreamId::ROOT || one.stream != StreamId::ROOT && of_one.len >= of_other.len;
            let (lifted, parent) = if lifts_one { (&mut one, of_one) } else { (&mut other, of_other) };
            *lifted = Prefix { len: lifted.len.min(parent.len), ..parent };
        }
        one.len.min(other.len)
    }
}
