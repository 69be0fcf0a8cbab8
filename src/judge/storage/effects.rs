//! The effects of forwards and copies on the contents of slots, with a finding if the request may not access a slot.
//!
//! Owns the update of contents for each effect. Does not judge a content: that happens at its donation or hit
//! (`audit`).

use crate::record::{GpuStream, Owner, ReqId, SlotId, StepRow};

use super::super::findings::Findings;
use super::{Storage, req_of};

impl Storage {
    /// A forward clears a slot for a request. A request that clears its active slot no longer runs on a wrong state.
    pub fn clear(&mut self, req: ReqId, slot: SlotId, findings: &mut Findings) {
        let owner = self.owners.owner(slot);
        self.owners.writes(slot, req, findings);
        self.contents.clear(slot, req, owner.and_then(req_of) == Some(req));
        if owner == Some(Owner::Active(req))
            && let Some(running) = self.requests.get(req)
        {
            // It starts from the empty state. After a cache hit, the copy follows the clear.
            running.taint = None;
        }
    }

    /// A state is copied from one slot to another for a request, on the given stream.
    pub fn copy_state(&mut self, req: ReqId, from: SlotId, to: SlotId, stream: GpuStream, findings: &mut Findings) {
        self.owners.reads(from, req, findings);
        if stream == GpuStream::Schedule {
            return self.copy_on_schedule(req, from, to, findings);
        }
        self.owners.writes(to, req, findings);
        self.contents.write(to, self.contents.content(from), req);
        self.contents.read(from, req);
        if self.owners.owner(to) == Some(Owner::Active(req))
            && let Some(running) = self.requests.get(req)
            && let Some(hit) = running.hit.filter(|hit| hit.source == from)
        {
            running.taint = hit.root;
        }
    }

    /// A forward advances a slot over the tokens `from..to` of a request. `second` is a track slot that receives the
    /// state of a length within `from..=to`, and that length.
    #[inline]
    pub fn extend(
        &mut self,
        req: ReqId,
        slot: SlotId,
        (from, to): (u32, u32),
        second: Option<(SlotId, u32)>,
        findings: &mut Findings,
    ) {
        self.owners.advances(slot, req, findings);
        let Some(running) = self.requests.get_or_new(req) else { return };
        let base = self.contents.content(slot);
        self.contents.write(slot, running.tokens.advance(base, from, to, &self.lineage), req);
        let Some((second, len)) = second else { return };
        self.owners.writes(second, req, findings);
        if (from..=to).contains(&len) {
            self.contents.write(second, running.tokens.advance(base, from, len, &self.lineage), req);
        }
    }

    /// A decode forward advances a slot by token `k` of a request, copies the state to the track slot if there is one,
    /// and samples the next token unless an earlier forward sampled it.
    #[inline]
    pub fn step(&mut self, row: StepRow, findings: &mut Findings) {
        let StepRow { req, k, slot, track, sampled } = row;
        self.extend(req, slot, (k.saturating_sub(1), k), track.map(|second| (second, k)), findings);
        if let Some(stream) = sampled {
            self.sampled(req, k, stream);
        }
    }
}
