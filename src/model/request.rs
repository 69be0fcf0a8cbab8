//! The request object. Every batch and batch copy with the request shares it by index.

use crate::record::{FinishKind, SlotId, StreamId, TokenFold};

use super::pages::ReqPages;
use super::radix::{Lock, NodeId};

/// The stage of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReqStage {
    /// Not seen yet.
    Unseen,
    /// In the waiting queue.
    Waiting,
    /// In a prefill or decode batch.
    Running,
    /// Finished and released.
    Finished,
}

/// The live fields of a request (`Req` of the modelled system).
#[derive(Clone, Debug)]
pub struct Req {
    /// Fold of all known tokens, where tokens are spelled out.
    pub tip: TokenFold,
    /// Tokens whose KV and state are computed once all batches prepared so far have run.
    pub kv_committed_len: u32,
    /// Number of decode batches prepared for it.
    pub decode_batch_idx: u32,
    /// Outputs appended at result processing.
    pub outputs: u32,
    /// Number of outputs at which the script ends it, by length or by stop token.
    pub ends_at: u32,
    /// Tokens of the prompt.
    pub prompt_len: u32,
    /// Launched chunks whose results are pending and produce no output.
    pub middle_chunks: u32,
    /// `decode_batch_idx` of the last boundary step that rode along untracked in a mixed batch.
    pub untracked_idx: Option<u32>,
    /// Whether it finished, and how.
    pub finish: Option<FinishKind>,
    /// The next result ends it (`to_finish`).
    pub to_abort: bool,
    /// Whether it was retracted and has not been prepared since.
    pub retracted: bool,
    /// Whether it has been given track slots.
    pub has_track: bool,
    /// The track slot that the next tracked forward writes.
    pub next_track_idx: u8,
    /// The track slot of the newest checkpoint, for rules that set it.
    pub last_track_idx: u8,
    /// Its stage.
    pub stage: ReqStage,
    /// Whether an abort dropped it without a result that finished it.
    pub dropped: bool,
    /// The slot of its active state.
    pub active: Option<SlotId>,
    /// Track slots by index.
    pub track: [Option<SlotId>; 2],
    /// Its KV pages. The pages of its prefix, which are the tree's, come first.
    pub pages: ReqPages,
    /// The stream of its tokens.
    pub stream: StreamId,
    /// Number of its tokens: prompt, outputs, and tokens sampled by steps in flight.
    pub known: u32,
    /// Speculative decoding: the length that the launched forwards reach. `kv_committed_len` follows at the results.
    pub device_len: u32,
    /// Speculative decoding: tokens of KV allocated. Without it, the end of the last extend.
    pub kv_allocated_len: u32,
    /// Speculative decoding: verifies launched.
    pub verifies: u32,
    /// Number of outputs up to the stop, if it finished.
    pub finished_len: Option<u32>,
    /// The active slot must be cleared by the next prefill forward.
    pub needs_clear: bool,
    /// The slot that the next prefill forward copies into the active one.
    pub cow_source: Option<SlotId>,
    /// The label: the length under which the kept state will be cached.
    pub last_track_seqlen: Option<u32>,
    /// The previous label. The other slot still holds its state.
    pub prev_track_seqlen: Option<u32>,
    /// Donate nothing at release (`mamba_lazy_is_insert` false).
    pub decline: bool,
    /// Cached tokens before its prefill.
    pub prefix_len: u32,
    /// The length that its prefill, or its current chunk, reaches.
    pub extend_end: u32,
    /// Tokens of its prefix whose pages are the tree's.
    pub cache_protected_len: u32,
    /// The branching point: the length at which its prefill should leave a state for other requests.
    pub branching: Option<u32>,
    /// The tree node at the end of its prefix.
    pub last_node: NodeId,
    /// Its lock on that node.
    pub lock: Option<Lock>,
    /// Whether it holds a row of the request pool.
    pub holds_row: bool,
}

impl Req {
    /// A request that has not been seen.
    pub fn unseen() -> Self {
        Req {
            stage: ReqStage::Unseen,
            stream: StreamId::ROOT,
            known: 0,
            tip: TokenFold::ZERO,
            prompt_len: 0,
            outputs: 0,
            ends_at: 0,
            finish: None,
            dropped: false,
            to_abort: false,
            retracted: false,
            kv_committed_len: 0,
            device_len: 0,
            kv_allocated_len: 0,
            verifies: 0,
            finished_len: None,
            decode_batch_idx: 0,
            active: None,
            needs_clear: false,
            cow_source: None,
            track: [None; 2],
            has_track: false,
            next_track_idx: 0,
            last_track_idx: 0,
            last_track_seqlen: None,
            prev_track_seqlen: None,
            decline: false,
            prefix_len: 0,
            extend_end: 0,
            middle_chunks: 0,
            untracked_idx: None,
            cache_protected_len: 0,
            branching: None,
            last_node: NodeId::ROOT,
            lock: None,
            pages: ReqPages::default(),
            holds_row: false,
        }
    }

    /// Whether it has finished.
    pub fn finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Prompt and processed outputs.
    pub fn known_len(&self) -> u32 {
        self.prompt_len + self.outputs
    }

    /// Resets every field but its tokens, a pending abort, and its number of verifies, which selects what the next
    /// verify accepts (`reset_for_retract`, which leaves `to_finish` as it is). Slots, pages and the lock must have
    /// been given back.
    pub fn reset_for_retract(&mut self) {
        assert!(self.active.is_none() && !self.has_track && self.lock.is_none() && self.pages.count == 0);
        *self = Req {
            stage: ReqStage::Waiting,
            stream: self.stream,
            known: self.known,
            tip: self.tip,
            prompt_len: self.prompt_len,
            outputs: self.outputs,
            ends_at: self.ends_at,
            verifies: self.verifies,
            to_abort: self.to_abort,
            retracted: true,
            ..Req::unseen()
        };
    }
}
