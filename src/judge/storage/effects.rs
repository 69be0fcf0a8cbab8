//! The effects of forwards and copies: what each of them does to the contents of slots, and whether its request may.
//!
//! Owns the fold of tokens into slots and the copies between them. Does not find a content wrong before it is used.

use crate::record::{GpuStream, Owner, ReqId, SlotId, StepRow};

use super::super::findings::Findings;
use super::{Storage, req_of};

impl Storage {
    /// A forward clears a slot for a request.
    pub fn clear(&mut self, req: ReqId, slot: SlotId, findings: &mut Findings) {
        let owner = self.owners.owner(slot);
        self.owners.writes(slot, req, findings);
        self.contents.clear(slot, req, owner.and_then(req_of) == Some(req));
        if owner == Some(Owner::Active(req))
            && let Some(running) = self.requests.get(req)
        {
            // Starts again from nothing. If it hits the cache, the copy follows.
            running.taint = None;
        }
    }

    /// A state is copied from slot to slot for a request.
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

    /// A forward advances a slot over the tokens `from..to` of a request, and copies the state at a length on the way to a second slot if
    /// there is one.
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

    /// A forward advances a slot by token `k` of a request, copies the state to a second slot if there is one, and samples the next token
    /// unless that was sampled before.
    #[inline]
    pub fn step(&mut self, row: StepRow, findings: &mut Findings) {
        let StepRow { req, k, slot, track, sampled } = row;
        self.extend(req, slot, (k.saturating_sub(1), k), track.map(|second| (second, k)), findings);
        if let Some(stream) = sampled {
            self.sampled(req, k, stream);
        }
    }
}
