//! The effects of forwards and copies on the contents of slots, and their events.

use std::ops::Range;

use crate::record::{ForwardMode, GpuStream, ReqId, SlotId, TokenFold};

use super::super::event::EventBody;
use super::EncoderState;

impl EncoderState<'_> {
    /// Checks that a request runs on the state of its first `len` tokens. If not, the request is tainted.
    fn check_active(&mut self, req: ReqId, held: TokenFold, len: u32) {
        if held != self.contents.truth(req, len) {
            self.stats.active_bad += 1;
            self.request(req).tainted = true;
            self.emit(EventBody::ActiveMismatch { rid: self.name(req), seq_len: len, n: held.n });
        }
    }

    fn track_write(&mut self, req: ReqId, slot: SlotId, state: TokenFold) {
        self.emit(EventBody::TrackWrite { rid: self.name(req), slot: slot.0, n: state.n });
    }

    pub(super) fn extend(&mut self, req: ReqId, slot: SlotId, run: Range<u32>, track: Option<(SlotId, u32)>) {
        self.check_active(req, self.contents.get(slot), run.start);
        if let Some(state) = self.contents.fold(req, slot, run, track)
            && let Some((track, _)) = track
        {
            self.track_write(req, track, state);
        }
    }

    pub(super) fn step(&mut self, req: ReqId, slot: SlotId, k: u32, track: Option<SlotId>) {
        let mixed = self.launched.is_some_and(|(_, mode)| mode == ForwardMode::Mixed);
        if mixed {
            self.check_active(req, self.contents.get(slot), k - 1);
        }
        let kept = self.contents.fold(req, slot, k - 1..k, track.map(|track| (track, k)));
        if !mixed {
            self.check_active(req, self.contents.get(slot), k);
        }
        if let (Some(track), Some(state)) = (track, kept) {
            self.track_write(req, track, state);
        }
    }

    pub(super) fn verify(
        &mut self,
        req: ReqId,
        slot: SlotId,
        run: Range<u32>,
        track: Option<(SlotId, u32)>,
        target: Option<SlotId>,
    ) {
        self.check_active(req, self.contents.get(slot), run.start);
        let step = track.map_or(-1, |(_, len)| i64::from(len) - i64::from(run.start) - 1);
        self.emit(EventBody::Verify {
            rid: self.name(req),
            seq_len: run.start,
            accept: run.len() as u32,
            track_step: step,
            slot: target.map_or(-1, |slot| i64::from(slot.0)),
        });
        if let Some(state) = self.contents.fold(req, slot, run, track)
            && let Some((track, _)) = track
        {
            self.track_write(req, track, state);
        }
    }

    pub(super) fn copy_state(&mut self, from: SlotId, to: SlotId, stream: GpuStream) {
        let state = self.contents.get(from);
        self.contents.put(to, state);
        let (src, dst, n) = (from.0, to.0, state.n);
        self.emit(match stream {
            GpuStream::Forward => EventBody::Cow { src, dst, n },
            GpuStream::Schedule => EventBody::Copy { src, dst, n },
        });
    }
}
