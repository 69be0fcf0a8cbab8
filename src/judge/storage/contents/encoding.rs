//! The canonical encoding of what a slot holds.
//!
//! Owns the choice of the fields that can matter for a later finding. Does not encode owners and requests: that is
//! `judge/encoding.rs`.

use crate::record::{ContentNames, Encoding, NAME_KINDS, Prefix, ReqId, SlotId};

use super::{Contents, Slot, TreeDonation};

/// The bit that marks the words of an idle slot: no forward in flight reads or writes it. The kind of owner takes the
/// lowest nine bits of the word.
const IDLE: u32 = 1 << 31;

impl Contents {
    /// The donor of an idle slot, and whether the donor also wrote it last. `None` unless the slot was donated with
    /// this content, still holds it, and no finding is about it.
    #[inline]
    pub fn intact_donation(&self, slot: SlotId, state: Prefix) -> Option<(ReqId, bool)> {
        let held = self.get(slot);
        if !self.is_idle(held) {
            return None;
        }
        let TreeDonation { req, state: donated, root, by_decode: _ } = held.donation.as_ref()?;
        let intact = held.now.content == state && *donated == state && root.is_none() && self.flaw_in(slot).is_none();
        intact.then_some((*req, held.writer == Some(*req)))
    }

    /// The content of a slot, if no forward in flight reads or writes the slot.
    #[inline]
    pub fn idle_content(&self, slot: SlotId) -> Option<Prefix> {
        let slot = self.get(slot);
        self.is_idle(slot).then_some(slot.now.content)
    }

    /// Whether no forward in flight reads or writes the slot.
    #[inline]
    fn is_idle(&self, slot: &Slot) -> bool {
        self.clock.has_completed(slot.now.launch.max(slot.read.0))
    }

    /// Writes the kind and label of the owner, the content of a slot, and the accesses of forwards in flight. One word
    /// has flags for the words that follow.
    #[inline]
    pub fn encode(&self, slot: SlotId, [kind, holder]: [u32; 2], names: &impl ContentNames, out: &mut Encoding) {
        // Slots without a label, and their flaws, cannot be reached any more. The clock is encoded by the number of
        // launches in flight. A run that overflows ends at once. Overwritten contents are encoded with their slots.
        let Contents { slots: _, overwritten: _, flaws: _, clock: _, overflow: _ } = self;
        let held = self.get(slot);
        if self.is_idle(held) {
            self.encode_idle(slot, [holder, kind], names.owner(held.now.content, out), names, out);
        } else {
            self.encode_in_flight(slot, [kind, holder], names, out);
            encode_donation(held, out);
        }
    }

    /// Writes an idle slot: `first`, the kind of owner, and the content. `owner` is [`ContentNames::owner`] of the
    /// content.
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
            // They concern writes and reads in flight. There are none, and later ones have a number above `since`.
            earlier: _,
            since: _,
            read: _,
        } = slot;
        let content = now.content;
        // The index of the finding is for reports only.
        let flawed = flaw.is_some_and(|flaw| flaw.0 == content);
        // 0: no writer. 1: a writer that is not alive. 2: a live writer, whose label follows.
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

    /// Writes a slot that a forward in flight reads or writes. Launches are encoded by their distance from the last
    /// launch.
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
            earlier: _, // Encoded as part of `last_writer`, its only use.
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

/// Writes the donation of a cached state.
#[inline]
fn encode_donation(slot: &Slot, out: &mut Encoding) {
    // `by_decode` is for coverage goals only.
    if let Some(TreeDonation { req, state, root, by_decode: _ }) = &slot.donation {
        let flags = [slot.writer == Some(*req), *state == slot.now.content, root.is_some()];
        let bits = flags.iter().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        out.put([out.label_if_live(Some(*req)), bits]);
    }
}
