//! The forward effects: what each of them does to the contents of slots, and whether its request may.
//!
//! Owns the fold of tokens into slots and the copies between them. Refuses to find a content wrong before it is used.

use crate::record::{BatchId, Owner, ReqId, SlotId, Stream};

use super::account::req_of;
use super::cause::Write;
use super::court::Judge;

impl Judge {
    pub(super) fn clear(&mut self, req: ReqId, slot: SlotId) {
        let holder = self.account.holder(slot);
        self.account.writes(slot, req, &mut self.findings);
        self.store.clear(slot, req, holder.and_then(req_of) == Some(req));
        if holder == Some(Owner::Active(req))
            && let Some(live) = self.requests.get(req)
        {
            // Starts again from nothing. If it hits the cache, the copy follows.
            live.taint = None;
        }
    }

    pub(super) fn copy_state(&mut self, req: ReqId, from: SlotId, to: SlotId, stream: Stream) {
        self.account.reads(from, req, &mut self.findings);
        if stream == Stream::Schedule {
            return self.copy_now(req, from, to);
        }
        self.account.writes(to, req, &mut self.findings);
        self.store.write(to, self.store.content(from), req);
        self.store.read(from, req);
        if self.account.holder(to) == Some(Owner::Active(req))
            && let Some(live) = self.requests.get(req)
            && let Some(hit) = live.hit.filter(|hit| hit.source == from)
        {
            live.taint = hit.root;
        }
    }

    pub(super) fn extend(
        &mut self,
        batch: BatchId,
        req: ReqId,
        slot: SlotId,
        (from, to): (u32, u32),
        track: Option<(SlotId, u32)>,
    ) {
        self.account.advances(slot, req, &mut self.findings);
        let Some(live) = self.requests.get_or_new(req) else { return };
        let base = self.store.content(slot);
        self.store.write(slot, live.truth.advance(base, from, to, &self.lineage), req);
        let Some((kept, len)) = track else { return };
        self.account.writes(kept, req, &mut self.findings);
        if (from..=to).contains(&len) {
            self.store.write(kept, live.truth.advance(base, from, len, &self.lineage), req);
            live.marks.trail.wrote(Write { slot: kept, len, batch, turn: self.findings.turn });
        }
    }

    #[inline]
    pub(super) fn step(&mut self, batch: BatchId, req: ReqId, slot: SlotId, k: u32, track: Option<SlotId>) {
        self.account.advances(slot, req, &mut self.findings);
        let Some(live) = self.requests.get_or_new(req) else { return };
        live.window.launch(batch, k, track);
        let state = live.truth.advance(self.store.content(slot), k.saturating_sub(1), k, &self.lineage);
        self.store.write(slot, state, req);
        if let Some(kept) = track {
            self.account.writes(kept, req, &mut self.findings);
            self.store.write(kept, state, req);
            live.marks.trail.wrote(Write { slot: kept, len: k, batch, turn: self.findings.turn });
            self.coverage.boundary(req);
        }
    }
}
