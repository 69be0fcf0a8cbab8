//! The canonical encoding of what a slot holds.
//!
//! Owns which fields of a slot can matter for a later finding. [`super::super::super::encoding`] encodes the rest of the judge.

use crate::record::{ContentNames, Encoding, NAME_KINDS, Prefix, ReqId, SlotId};

use super::{Contents, Slot, TreeDonation};

/// Says of the words for a slot that no forward in flight has to do with it. Who has a slot takes nine bits.
const IDLE: u32 = 1 << 31;

impl Contents {
    /// Whether a slot holds this state, was donated as that, and nothing else is to be told of it: who donated it, and
    /// whether that is who wrote it last.
    #[inline]
    pub fn intact_donation(&self, slot: SlotId, state: Prefix) -> Option<(ReqId, bool)> {
        let held = self.get(slot);
        if !self.is_idle(held) {
            return None;
        }
        let TreeDonation { req, state: donated, root, by_decode: _ } = held.donation.as_ref()?;
        let plain = held.now.content == state && *donated == state && root.is_none() && self.flaw_in(slot).is_none();
        plain.then_some((*req, held.writer == Some(*req)))
    }

    /// What a slot holds, if no forward in flight reads or writes it.
    #[inline]
    pub fn idle_content(&self, slot: SlotId) -> Option<Prefix> {
        let slot = self.get(slot);
        self.is_idle(slot).then_some(slot.now.content)
    }

    #[inline]
    fn is_idle(&self, slot: &Slot) -> bool {
        self.clock.has_completed(slot.now.launch.max(slot.read.0))
    }

    /// Writes what a slot holds, and what forwards in flight do to it, behind the words for who has it. One word says which
    /// of the others follow.
    #[inline]
    pub fn encode(&self, slot: SlotId, [kind, holder]: [u32; 2], names: &impl ContentNames, out: &mut Encoding) {
        // Of the contents as a whole: slots without a label and their flaws are out of reach, the clock is told by how many launches are in
        // flight, in which order, and a run that names too much is cut short at once.
        // What launches in flight overwrote is encoded with each slot.
        let Contents { slots: _, overwritten: _, flaws: _, clock: _, overflow: _ } = self;
        let held = self.get(slot);
        if self.is_idle(held) {
            self.encode_idle(slot, [holder, kind], names.owner(held.now.content, out), names, out);
        } else {
            self.encode_in_flight(slot, [kind, holder], names, out);
            encode_donation(held, out);
        }
    }

    /// Writes what a slot holds that no forward in flight has to do with, behind a word that is known, and with who has it. What it holds
    /// is the prefix of `owner`, if it is that of a live request.
    #[inline]
    pub fn encode_idle(
        &self,
        slot: SlotId,
        [first, kind]: [u32; 2],
        owner: Option<ReqId>,
        names: &impl ContentNames,
        out: &mut Encoding,
    ) {
        let flaw = self.flaw_in(slot);
        let slot = self.get(slot);
        let Slot {
            now,
            writer,
            donation,
            // They tell of writes and reads in flight, and there are none: those to come are later than `since`.
            earlier: _,
            since: _,
            read: _,
        } = slot;
        let content = now.content;
        // Which finding says so is for reports.
        let flawed = flaw.is_some_and(|flaw| flaw.0 == content);
        // Nobody, a request that is over, or one that follows.
        let wrote = writer.map_or(0, |writer| if out.is_live(writer) { 2 } else { 1 });
        let bits = wrote << 2 | u32::from(donation.is_some()) << 1 | u32::from(flawed);
        let [how, len, holder] = out.content_name(content, owner);
        out.put([first, IDLE | (bits * NAME_KINDS + how) << 9 | kind, len, holder]);
        out.put_name_rest([how, len, holder], content, names);
        if wrote == 2 {
            out.word(out.label_if_live(*writer));
        }
        encode_donation(slot, out);
    }

    #[inline(never)]
    fn encode_in_flight(&self, slot: SlotId, [kind, holder]: [u32; 2], names: &impl ContentNames, out: &mut Encoding) {
        let flaw = self.flaw_in(slot);
        let unknown = self.overwritten.iter().filter(|(other, _)| *other == slot).map(|(_, before)| before);
        let slot = self.get(slot);
        let Slot {
            now,
            writer,
            since,
            read: (read, reader),
            donation,
            earlier: _, // Told with `last_writer`, as nobody looks at it otherwise.
        } = slot;
        let ago = |launch: u32| self.clock.launched() - launch;
        let (writes, reads) = (!self.clock.has_completed(now.launch), !self.clock.has_completed(*read));
        let flawed = flaw.is_some_and(|flaw| flaw.0 == now.content);
        let flags = [writer.is_some(), writes, reads, donation.is_some(), flawed];
        let bits = flags.iter().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        out.put([holder, kind, bits, unknown.clone().count() as u32, out.label_if_live(*writer)]);
        out.put_content(now.content, names);
        for before in unknown {
            out.word(ago(before.launch));
            out.put_content(before.content, names);
        }
        if writes {
            let last = slot.last_writer();
            let flags = u32::from(slot.is_its_owners()) << 1 | u32::from(last.is_some());
            out.put([ago(now.launch), flags, out.label_if_live(last)]);
        }
        if reads {
            out.put([ago(*read), u32::from(read > since), out.label_if_live(Some(*reader))]);
        }
    }
}

/// Writes where a cached state came from.
#[inline]
fn encode_donation(slot: &Slot, out: &mut Encoding) {
    // What left the state is for goals.
    if let Some(TreeDonation { req, state, root, by_decode: _ }) = &slot.donation {
        let flags = [slot.writer == Some(*req), *state == slot.now.content, root.is_some()];
        let bits = flags.iter().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        out.put([out.label_if_live(Some(*req)), bits]);
    }
}
