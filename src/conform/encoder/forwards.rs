//! The effects of forwards and copies on the slots, and the events that show them.

use std::ops::Range;

use crate::record::{ForwardMode, GpuStream, ReqId, SlotId, TokenFold};

use super::Scribe;

impl Scribe<'_> {
    /// Notes that a request runs on a state that is not that of its first `len` tokens.
    fn check_active(&mut self, req: ReqId, held: TokenFold, len: u32) {
        if held != self.content.truth(req, len) {
            self.totals.active_bad += 1;
            self.request(req).tainted = true;
            self.say("active_mismatch", vec![("rid", self.name(req)), ("seq_len", len.into()), ("n", held.n.into())]);
        }
    }

    fn wrote(&mut self, req: ReqId, slot: SlotId, state: TokenFold) {
        self.say("track_write", vec![("rid", self.name(req)), ("slot", slot.0.into()), ("n", state.n.into())]);
    }

    pub(super) fn extend(&mut self, req: ReqId, slot: SlotId, run: Range<u32>, track: Option<(SlotId, u32)>) {
        self.check_active(req, self.content.get(slot), run.start);
        if let Some(state) = self.content.fold(req, slot, run, track)
            && let Some((track, _)) = track
        {
            self.wrote(req, track, state);
        }
    }

    pub(super) fn step(&mut self, req: ReqId, slot: SlotId, k: u32, track: Option<SlotId>) {
        let mixed = self.launched.is_some_and(|(_, mode)| mode == ForwardMode::Mixed);
        if mixed {
            self.check_active(req, self.content.get(slot), k - 1);
        }
        let kept = self.content.fold(req, slot, k - 1..k, track.map(|track| (track, k)));
        if !mixed {
            self.check_active(req, self.content.get(slot), k);
        }
        if let (Some(track), Some(state)) = (track, kept) {
            self.wrote(req, track, state);
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
        self.check_active(req, self.content.get(slot), run.start);
        let step = track.map_or(-1, |(_, len)| i64::from(len) - i64::from(run.start) - 1);
        self.say(
            "verify",
            vec![
                ("rid", self.name(req)),
                ("seq_len", run.start.into()),
                ("accept", run.len().into()),
                ("track_step", step.into()),
                ("slot", target.map_or(-1, |slot| i64::from(slot.0)).into()),
            ],
        );
        if let Some(state) = self.content.fold(req, slot, run, track)
            && let Some((track, _)) = track
        {
            self.wrote(req, track, state);
        }
    }

    pub(super) fn copy_state(&mut self, from: SlotId, to: SlotId, stream: GpuStream) {
        let state = self.content.get(from);
        self.content.put(to, state);
        let mut fields = vec![("src", from.0.into()), ("dst", to.0.into()), ("n", state.n.into())];
        match stream {
            GpuStream::Forward => self.say("cow", fields),
            GpuStream::Schedule => {
                fields.push(("stream", "schedule".into()));
                self.say("copy", fields);
            }
        }
    }
}
