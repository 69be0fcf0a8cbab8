//! Requests in canonical words: the live ones by their fields, the others by how many there are of each kind.

use crate::record::{ContentNames, Encoding, ReqId, or_none};

use crate::model::pages::ReqPages;
use crate::model::request::{Req, ReqStage};
use crate::model::setup::Setup;
use crate::model::world::World;

impl World {
    /// Writes the fields of a live request.
    pub(super) fn encode_req(&self, setup: &Setup, req: ReqId, names: &impl ContentNames, out: &mut Encoding) {
        // The pattern names every field, so that a new field does not compile until it is written or left out here.
        let Req {
            kv_committed_len,
            decode_batch_idx,
            outputs,
            prompt_len: _, // Written by `encode_identity`.
            middle_chunks,
            untracked_idx,
            to_abort,
            retracted,
            has_track,
            next_track_idx,
            last_track_idx,
            stage,
            active,
            track,
            pages,
            stream: _, // Written by `encode_identity`.
            known,
            device_len,
            kv_allocated_len,
            verifies: _, // Written by `encode_identity`.
            needs_clear,
            cow_source,
            last_track_seqlen,
            prev_track_seqlen,
            decline,
            prefix_len,
            extend_end,
            cache_protected_len,
            branching,
            lock,
            holds_row,
            // Fixed by the setup: where the script ends it.
            ends_at: _,
            // The fold of the tokens, for sinks that want tokens by value.
            tip: _,
            // Set only when a request is over: a live request has the first values.
            finish: _,
            finished_len: _,
            dropped: _,
            // The node of `lock`. Before the lock is taken, the node is looked up anew.
            last_node: _,
        } = &self.reqs[req.index()];
        let stage_bits = *stage as u32 | u32::from(*retracted) << 2 | u32::from(*to_abort) << 3;
        out.put([stage_bits, *outputs, *known]);
        self.encode_identity(setup, req, names, out);
        if *stage == ReqStage::Waiting {
            // A waiting request matches its prefix again at the next admission, and a retraction resets all other
            // fields.
            let holds = active.is_some() || *has_track || lock.is_some() || *holds_row || pages.count > 0;
            assert!(!holds && *middle_chunks == 0, "a request that waits holds nothing");
            return;
        }
        // `Radix::encode` writes `lock` where it matters.
        out.put([*kv_committed_len, *device_len, *kv_allocated_len, *prefix_len, *extend_end, *cache_protected_len]);
        let [active, source] = [out.label_slot(*active), out.label_slot(*cow_source)];
        let tracks = [out.label_slot(track[0]), out.label_slot(track[1])];
        out.put([active, source, tracks[0], tracks[1]]);
        let flags = [*needs_clear, *has_track, *decline, *holds_row];
        let bits = flags.iter().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        let bits = bits << 2 | u32::from(*next_track_idx) << 1 | u32::from(*last_track_idx);
        let [last, before, branching] = [*last_track_seqlen, *prev_track_seqlen, *branching].map(or_none);
        // Only differences of `decode_batch_idx` matter; those to the batches are written with the batches.
        let untracked = u32::from(*untracked_idx == Some(*decode_batch_idx));
        // The grant is a name.
        let ReqPages { grant: _, count } = *pages;
        out.put([bits, last, before, branching, *middle_chunks, untracked, count]);
        names.put_pages(pages.range(cache_protected_len / setup.engine.page_size, count), req, out);
    }

    /// Writes which tokens a live request has, and how many verifies it has had.
    fn encode_identity(&self, setup: &Setup, req: ReqId, names: &impl ContentNames, out: &mut Encoding) {
        let it = &self.reqs[req.index()];
        // If no prompt takes tokens of another request, tokens are a name, and the class fixes the length of the
        // prompt.
        if out.shares() {
            out.word(it.prompt_len);
            names.put_sequence(self.streams.prefix(it.stream, it.known), out);
        }
        if setup.engine.spec.is_some() {
            out.word(it.verifies);
        }
    }

    /// Writes how many requests of each class are unseen and over, and the tokens of requests that are over and that a
    /// prompt may still take.
    pub(super) fn encode_over(&self, setup: &Setup, names: &impl ContentNames, out: &mut Encoding) {
        if out.are_all_unlike() {
            return self.encode_each_over(setup, names, out);
        }
        for (index, it) in self.reqs.iter().enumerate() {
            let class = out.class(ReqId(index as u32));
            match it.stage {
                ReqStage::Unseen => out.count(class, 0),
                ReqStage::Waiting | ReqStage::Running => {}
                ReqStage::Finished => {
                    out.count(class, 1);
                    self.encode_tokens(setup, index, names, out);
                }
            }
        }
        out.put_counts();
    }

    /// As [`World::encode_over`] where no two requests are interchangeable: two bits for each request, sixteen requests
    /// to a word.
    fn encode_each_over(&self, setup: &Setup, names: &impl ContentNames, out: &mut Encoding) {
        for (some, first) in self.reqs.chunks(16).zip((0..).step_by(16)) {
            let bits = |(at, it): (usize, &Req)| match it.stage {
                ReqStage::Waiting | ReqStage::Running => 0,
                ReqStage::Unseen => 1,
                ReqStage::Finished if !self.is_needed(setup, first + at) => 2,
                ReqStage::Finished => 3,
            };
            out.word(some.iter().enumerate().fold(0, |word, it| word << 2 | bits(it)));
            let over = some.iter().enumerate().filter(|(_, it)| it.stage == ReqStage::Finished);
            over.for_each(|(at, _)| self.encode_tokens(setup, first + at, names, out));
        }
    }

    /// Writes the tokens of a request that is over, if a prompt may still take them.
    fn encode_tokens(&self, setup: &Setup, index: usize, names: &impl ContentNames, out: &mut Encoding) {
        if self.is_needed(setup, index) {
            let it = &self.reqs[index];
            out.put([it.known, it.known_len()]);
            names.put_sequence(self.streams.prefix(it.stream, it.known), out);
        }
    }
}
