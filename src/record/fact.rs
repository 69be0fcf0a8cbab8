//! The facts: one small value for each thing that happened.

use crate::engine::Time;

use super::{BatchId, PageRange, Prefix, ReqId, SlotId, StreamId};

/// A phase of the scheduler's CPU work within a loop turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Arrivals are taken in.
    #[default]
    Ingest,
    /// The next batch is planned: filter, merge, admission, retraction.
    Plan,
    /// The batch is prepared: slots, pages, lengths, masks.
    Prepare,
    /// The forward is queued on the GPU stream.
    Launch,
    /// The result of a batch is processed, after waiting for its completion event.
    Result,
}

/// What kind of forward a batch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Prefill: each row folds a run of prompt tokens.
    Extend,
    /// Decode: each row folds one token.
    Decode,
    /// Prefill rows, then decode rows that ride along.
    Mixed,
    /// Speculative decode: each row folds the run of tokens that it accepts.
    Verify,
}

/// The stream on which a copy of a state runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// The scheduler's own stream.
    Schedule,
    /// The stream of the forwards.
    Forward,
}

/// Who holds a slot or a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Taken in advance for the waiting queue, not yet given to a request.
    #[default]
    Spare,
    /// The active state of a request.
    Active(ReqId),
    /// A track slot of a request, by its index in the ping-pong pair.
    Track(ReqId, u8),
    /// The KV pages of a request.
    Request(ReqId),
    /// A node of the radix tree.
    Tree,
}

/// How a rule found out whether a result is a boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// It was not asked: the strategy keeps no track slots.
    #[default]
    None,
    /// From the batch's host masks.
    Mask,
    /// By computing the remainder again for this request.
    Recompute,
    /// By computing it again because the masks were gone.
    MaskLost,
}

impl Check {
    /// Every way, in the order of their numbers.
    pub const ALL: [Check; 4] = [Check::None, Check::Mask, Check::Recompute, Check::MaskLost];
}

/// A field of the request object that batches share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Output tokens and finish state.
    OutputIds,
    /// `kv_committed_len`.
    KvCommittedLen,
    /// `decode_batch_idx`.
    DecodeBatchIdx,
    /// The track slots.
    TrackSlots,
    /// `next_track_idx`.
    NextTrackIdx,
    /// `last_track_idx`.
    LastTrackIdx,
    /// `last_track_seqlen`: the label.
    LastTrackSeqlen,
}

impl Field {
    /// All of them, in the order in which they are written up.
    pub const ALL: [Field; 7] = [
        Field::OutputIds,
        Field::KvCommittedLen,
        Field::DecodeBatchIdx,
        Field::TrackSlots,
        Field::NextTrackIdx,
        Field::LastTrackIdx,
        Field::LastTrackSeqlen,
    ];
}

/// A state that could be donated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offered {
    /// The label, in tokens.
    pub label: u32,
    /// The length of the key that it would be cached under: no more than is committed, in whole pages.
    pub key_len: u32,
    /// The slot.
    pub slot: SlotId,
}

/// The fields of a request that the bookkeeping lives on, as they are at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fields {
    /// `next_track_idx`, if it has track slots.
    pub next_track_idx: Option<u8>,
    /// `last_track_idx`, if it has track slots.
    pub last_track_idx: Option<u8>,
    /// `last_track_seqlen`: the label, in tokens.
    pub last_track_seqlen: Option<u32>,
    /// The track slot that the label belongs to.
    pub kept: Option<SlotId>,
    /// What a donation would hand over, if it came now.
    pub offer: Option<Offered>,
    /// `kv_committed_len`, in tokens.
    pub kv_committed_len: u32,
    /// Tokens of KV reserved: beyond the committed length with speculative decoding only.
    pub kv_allocated_len: u32,
    /// Where its prefill should leave a state for others.
    pub branching: Option<u32>,
    /// Chunks launched whose results emit nothing are still to come.
    pub in_chunks: bool,
}

/// What the arrays of a batch say of one of its rows after prepare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowArrays {
    /// `mamba_track_mask` and `mamba_track_indices`, if the batch has them.
    pub track: Option<(bool, SlotId)>,
    /// `mamba_track_seqlens` of a prefill row that is tracked, in tokens.
    pub track_end: Option<u32>,
    /// Host mask of the step after this one, if the batch has it.
    pub mask_next: Option<bool>,
    /// Speculative decoding, lazy: the track index planned.
    pub plan: Option<u8>,
}

/// What an abort meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The request waits.
    Waiting,
    /// It is being prefilled in chunks.
    Chunk,
    /// Its prefill has been launched and not processed.
    Prefill,
    /// It decodes.
    Decode,
    /// It has finished.
    Finished,
    /// It was dropped without having finished, or was never seen.
    Gone,
}

/// A label and the slot kept under it: what a donation would hand over now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kept {
    /// `last_track_seqlen`, in tokens.
    pub label: Option<u32>,
    /// The physical slot that a donation would take.
    pub slot: Option<SlotId>,
}

/// A firing of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decision {
    /// Label and kept slot before it.
    pub before: Kept,
    /// Label and kept slot after it.
    pub after: Kept,
}

/// Why a request finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FinishKind {
    /// A stop token was sampled.
    Token,
    /// `max_new` outputs were reached.
    Length,
    /// It was aborted.
    Abort,
}

/// Why a row was passed over at result processing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Passed {
    /// Its request had ended.
    Ended,
    /// Its request was retracted after the launch.
    Retracted,
}

/// When a state was offered to the radix tree, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Donated {
    /// Whether the request had finished; otherwise it goes on running.
    pub finished: bool,
    /// Whether the node already owned a state, so that the offered slot was freed again.
    pub existed: bool,
}

/// Why no state was offered to the radix tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nothing {
    /// No checkpoint is recorded, or none of at least one page.
    NoCheckpoint,
    /// A guard declined because the kept slot may have been or may still be overwritten.
    Declined,
    /// The request was retracted.
    Retracted,
    /// The request was aborted in the middle of its prefill.
    Aborted,
    /// No slot could be had for the donation, and the engine skips it.
    NoSlot,
}

/// An assertion of the modelled system that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AssertKind {
    /// The lookahead is neither 0 nor 1.
    Lookahead,
    /// A mask says boundary where the committed length is not on the grid.
    OffGrid,
    /// The committed length leads the tokens by more than one.
    CommittedLead,
    /// A boundary before any output.
    NoOutput,
    /// The batch's counter snapshot or masks are missing where the code subtracts from them.
    MissingSnapshot,
    /// No state slot can be had, not even by eviction.
    OutOfSlots,
    /// No KV page can be had, not even by eviction.
    OutOfPages,
    /// A request that ends would donate a track slot that it does not hold. The releases have no check here: they cache
    /// slot -1 under the label, and a hit on it copies whatever the pool's last row holds.
    NoKeptSlot,
}

/// One thing that happened. Slots and pages are physical, lengths are in tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fact {
    /// A loop turn begins. Turns count from 0 and may jump over idle ones.
    Turn {
        /// Its number.
        turn: u32,
        /// When it begins.
        at: Time,
    },
    /// A CPU phase begins.
    Begin {
        /// Which.
        phase: Phase,
        /// The batch it works on, if it has one.
        batch: Option<BatchId>,
        /// When it begins.
        at: Time,
    },
    /// The CPU phase ends.
    End {
        /// When it ends.
        at: Time,
    },
    /// A request is seen for the first time (its prompt came before).
    Arrive {
        /// Which.
        req: ReqId,
        /// When it arrived; the ingest that saw it may be later.
        at: Time,
        /// The most outputs it may have.
        max_new: u32,
    },
    /// The prefix of a request was matched for admission.
    Match {
        /// Which request.
        req: ReqId,
        /// Length of the longest prefix whose node owns a state.
        state_len: u32,
        /// Length of the longest prefix whose KV is cached.
        kv_len: u32,
        /// Where this prefill should leave a state behind for others, if anywhere.
        branching: Option<u32>,
        /// The slot of the state matched: what a hit will copy.
        source: Option<SlotId>,
    },
    /// A cached state will be copied into the active slot of a request: a cache hit.
    Hit {
        /// The request that starts from it.
        req: ReqId,
        /// The slot of the tree node.
        source: SlotId,
        /// The depth of the node: the length that the state is cached under.
        len: u32,
    },
    /// A request was admitted into a prefill batch.
    Admit {
        /// Which.
        req: ReqId,
    },
    /// A slot got its owner.
    SlotAlloc {
        /// Which slot.
        slot: SlotId,
        /// Who holds it now.
        owner: Owner,
        /// Whether this is the last slot of one call of the allocator.
        last: bool,
    },
    /// The allocator had no slots to give.
    SlotRefused {
        /// Who asked, if it was for a request.
        req: Option<ReqId>,
        /// How many were asked for.
        count: u32,
    },
    /// A slot went from one owner to another without being freed.
    SlotMove {
        /// Which slot.
        slot: SlotId,
        /// Who held it.
        from: Owner,
        /// Who holds it now.
        to: Owner,
    },
    /// A slot was freed.
    SlotFree {
        /// Which slot.
        slot: SlotId,
        /// Who held it.
        owner: Owner,
        /// Whether this is the last slot of one call of the allocator.
        last: bool,
    },
    /// Pages of the KV cache were allocated.
    PageAlloc {
        /// The pages.
        pages: PageRange,
        /// The owner now.
        owner: Owner,
    },
    /// Pages went from one owner to another.
    PageMove {
        /// The pages.
        pages: PageRange,
        /// The owner before.
        from: Owner,
        /// The owner now.
        to: Owner,
    },
    /// Pages were freed.
    PageFree {
        /// The pages.
        pages: PageRange,
        /// The owner before.
        owner: Owner,
    },
    /// A request locked its prefix in the tree.
    Lock {
        /// Which request.
        req: ReqId,
        /// The tree node, by its index.
        node: u32,
    },
    /// A request gave its lock back.
    Unlock {
        /// Which request.
        req: ReqId,
        /// The tree node, by its index.
        node: u32,
    },
    /// A prefill row was prepared.
    PrepareExtend {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// Tokens already cached: where this forward begins.
        prefix_len: u32,
        /// Tokens that exist once this forward has run.
        seq_len: u32,
        /// `kv_committed_len` after prepare.
        kv_committed_len: u32,
        /// The active slot.
        active: SlotId,
        /// Where a state is to be kept, and at which length, if this extend is tracked.
        track: Option<(SlotId, u32)>,
        /// `next_track_idx` after prepare, if the strategy has track slots.
        next_track_idx: Option<u8>,
    },
    /// A decode row was prepared.
    PrepareDecode {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// `seq_lens[i]`: the length k that this step reaches; with speculation the length that the last step began with.
        k: u32,
        /// `decode_batch_idx` after prepare.
        decode_batch_idx: u32,
        /// `kv_committed_len` after prepare.
        kv_committed_len: u32,
        /// The active slot.
        active: SlotId,
        /// Whether the forward will keep this step's state, and where.
        track: Option<SlotId>,
        /// `next_track_idx` after prepare, if the strategy has track slots.
        next_track_idx: Option<u8>,
    },
    /// The host masks of a decode batch were built.
    HostMasks {
        /// The batch.
        batch: BatchId,
        /// Bytes of the arrays.
        bytes: u64,
    },
    /// A filter or a merge dropped the host masks of a live batch.
    MasksDropped {
        /// The batch that they were built for.
        batch: BatchId,
    },
    /// Decode rows joined a prefill batch; they were prepared in a batch of their own just before.
    Mix {
        /// The prefill batch.
        batch: BatchId,
        /// The decode batch.
        decode: BatchId,
        /// How many rows joined.
        rows: u32,
    },
    /// A forward was queued on the GPU stream; its effects follow, in stream order.
    Launch {
        /// The batch.
        batch: BatchId,
        /// Its mode.
        mode: Mode,
        /// How many rows.
        rows: u32,
        /// When the forward starts on the GPU.
        start: Time,
        /// When it ends there.
        end: Time,
        /// When its result has been copied to the host.
        copied: Time,
    },
    /// Forward effect: a slot was cleared.
    Clear {
        /// The request it is cleared for.
        req: ReqId,
        /// The slot.
        slot: SlotId,
    },
    /// A state was copied from slot to slot.
    CopyState {
        /// For which request.
        req: ReqId,
        /// The slot read.
        from: SlotId,
        /// The slot written.
        to: SlotId,
        /// On which stream.
        stream: Stream,
    },
    /// Forward effect: an active slot was advanced over the tokens `from..to` of its request.
    Extend {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The slot.
        slot: SlotId,
        /// First token folded, from 0.
        from: u32,
        /// End of the run: the length reached.
        to: u32,
        /// A second slot that receives the state as it is at this length on the way.
        track: Option<(SlotId, u32)>,
    },
    /// Forward effect: an active slot was advanced by token k (1-based) of its request.
    Step {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The slot.
        slot: SlotId,
        /// The length reached.
        k: u32,
        /// A second slot that receives the state afterwards.
        track: Option<SlotId>,
    },
    /// Forward effect: an active slot was advanced over the tokens `from..to` that a verify accepted; what it rejected
    /// leaves no trace.
    Verify {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The slot.
        slot: SlotId,
        /// The length before.
        from: u32,
        /// The length reached.
        to: u32,
        /// A second slot that receives the state as it is at this length on the way.
        track: Option<(SlotId, u32)>,
        /// The slot that receives it if the accepted run crosses a boundary, whether it does or not.
        target: Option<SlotId>,
    },
    /// The model sampled a new token of a request: token `len + 1` (1-based).
    Sampled {
        /// The request.
        req: ReqId,
        /// How many tokens the request had before.
        len: u32,
        /// The stream that its tokens lie on with the new one.
        stream: StreamId,
    },
    /// A stream of tokens goes on from a prefix. Told before anything lies on it.
    Stream {
        /// The stream.
        stream: StreamId,
        /// The prefix.
        parent: Prefix,
    },
    /// The prompt of a request, told before it arrives.
    Prompt {
        /// The request.
        req: ReqId,
        /// Its tokens.
        prompt: Prefix,
    },
    /// The CPU has waited for the completion event of a forward: all that it wrote is there.
    Wait {
        /// The batch.
        batch: BatchId,
        /// When the wait was over.
        at: Time,
    },
    /// The result of a chunk that does not end its prompt: nothing is emitted.
    MiddleChunk {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
    },
    /// A row was passed over at result processing.
    Skip {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// Why.
        why: Passed,
    },
    /// Outputs were appended to a request at result processing: one, or all that a verify accepted.
    Output {
        /// The batch whose result it is.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// How many outputs it has now. Those behind its end are among them: [`Fact::Finish`], which follows, says how many it
        /// delivers.
        outputs: u32,
        /// When.
        at: Time,
    },
    /// A request finished.
    Finish {
        /// The request.
        req: ReqId,
        /// Why.
        kind: FinishKind,
        /// How many outputs it delivers.
        outputs: u32,
    },
    /// The rule was run for a decode row of a processed result.
    Row {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// Live `decode_batch_idx` minus the value at this batch's prepare.
        lookahead: i64,
        /// Live `kv_committed_len`.
        kv_committed_len: u32,
        /// How it found out.
        check: Check,
        /// What it recorded: the label and the kept slot (perhaps what they were before). Nothing if the rule did not fire.
        decision: Option<Decision>,
    },
    /// The fields of a request at a moment of note: after a prepare, before and after a result; told only on demand.
    Fields {
        /// The request.
        req: ReqId,
        /// Their values.
        fields: Fields,
    },
    /// What the arrays of a batch say of a row after its prepare; told only on demand.
    Arrays {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// What they say.
        arrays: RowArrays,
    },
    /// A result read a shared field; told only on demand.
    Read {
        /// The batch whose result it is.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// The field.
        field: Field,
        /// Whether the value is newer than the one that the batch's prepare saw.
        newer: bool,
        /// Whether the rule would have done something else with the older one.
        changed: bool,
    },
    /// `next_track_idx` was flipped at a result.
    Flip {
        /// The batch.
        batch: BatchId,
        /// The request.
        req: ReqId,
        /// Its value now.
        next_track_idx: u8,
    },
    /// A state was offered to the radix tree.
    Donate {
        /// The request that offers it.
        req: ReqId,
        /// `last_track_seqlen`: the length that the request believes the slot holds.
        label: u32,
        /// The length of the key it is cached under.
        key_len: u32,
        /// The slot.
        slot: SlotId,
        /// When it was offered and what became of it.
        how: Donated,
    },
    /// No state was offered to the radix tree at a release.
    NoDonate {
        /// The request.
        req: ReqId,
        /// Why.
        why: Nothing,
        /// The slot that would have been offered, where it came to choosing one.
        slot: Option<SlotId>,
    },
    /// The slot that a boundary step asked for was refused.
    TrackRefused {
        /// The request.
        req: ReqId,
        /// The length of the boundary step.
        k: u32,
        /// Whether its forward writes in place instead; otherwise it writes nothing.
        in_place: bool,
    },
    /// A request was retracted: it lost its slots and pages and waits again.
    Retract {
        /// The request.
        req: ReqId,
        /// How many outputs it keeps.
        outputs: u32,
    },
    /// An assertion of the modelled system failed; the run ends.
    Assert {
        /// The request it was about, if any.
        req: Option<ReqId>,
        /// Which.
        kind: AssertKind,
    },
    /// A request pinned before a step was not admitted in the turn that it was pinned to.
    PinMissed {
        /// The request.
        req: ReqId,
    },
    /// The request that another one was pinned to ended before the step.
    PinEnded {
        /// The request that was pinned.
        req: ReqId,
    },
    /// An abort of a request was taken in.
    Abort {
        /// The request.
        req: ReqId,
        /// What it met.
        place: Place,
        /// Whether there was anything left to abort.
        taken: bool,
    },
    /// The first waiting request is not looked at in this turn because the running batch is marked full, although admission would take
    /// it in: rows, slots and KV for it are there. Told only on demand.
    Latched {
        /// The request.
        req: ReqId,
    },
    /// A scripted event found nothing to do.
    EventUnused {
        /// The turn that it was scripted for.
        turn: u32,
        /// The request.
        req: ReqId,
    },
    /// The run was ended by its bound on turns, or because nothing can ever happen again.
    Bound {
        /// Whether requests wait that can never be admitted; otherwise the bound on turns was hit.
        stalled: bool,
    },
    /// The run is over: everything that is not in the tree must be free.
    Done {
        /// When.
        at: Time,
    },
}
