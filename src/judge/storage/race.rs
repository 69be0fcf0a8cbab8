//! Accesses of the schedule stream that no path orders after those of a forward in flight.
//!
//! Owns what such an access is called and what it leaves behind. A forward never races with what the schedule stream did
//! before its launch, so only copies on the schedule stream are looked at. Virtual times play no part: a read that comes
//! late enough on this machine is torn all the same.

use crate::record::{Owner, ReqId, SlotId};

use super::super::findings::{AccountingFault, Findings};
use super::Storage;
use super::contents::PendingAccess;
use crate::judge::FindingKind;

impl Storage {
    /// The schedule stream copies a state from slot to slot, and waits for no forward.
    pub(super) fn copy_on_schedule(&mut self, req: ReqId, from: SlotId, to: SlotId, findings: &mut Findings) {
        self.owners.writes_copy(to, req, findings);
        let hit = self.requests.get(req).and_then(|running| running.hit).filter(|hit| hit.source == from);
        let hit = hit.filter(|_| self.owners.owner(to) == Some(Owner::Active(req)));
        let (state, torn) = if self.contents.in_flight(from) {
            let state = self.contents.torn(from);
            let reason = || {
                format!(
                    "slot {from} is copied to {to} on the schedule stream, but the forward that writes it is not waited for"
                )
            };
            let index = findings.add(FindingKind::Torn, Some(req), reason);
            if let Some(finding) = findings.at(index) {
                (finding.label, finding.holds, finding.slot) = (hit.map(|hit| hit.len), Some(state.len), Some(from));
            }
            (state, Some(index))
        } else {
            (self.contents.content(from), None)
        };
        let clash = self.contents.pending(to).and_then(|pending| self.clash(req, to, pending, findings));
        // In a snapshot, what nobody wrote, or somebody else, does not become a write of this request by being copied.
        let writer = if hit.is_some() { Some(req) } else { self.contents.writer(from) };
        self.contents.write_on_schedule(to, state, writer, torn);
        if let Some(hit) = hit
            && let Some(running) = self.requests.get(req)
        {
            running.taint = hit.root.or(torn).or(clash);
        }
    }

    /// A copy for `req` writes a slot that a forward in flight uses. Returns the finding if its content suffers.
    fn clash(&self, req: ReqId, slot: SlotId, pending: PendingAccess, findings: &mut Findings) -> Option<usize> {
        let PendingAccess { req: user, writes, inherited } = pending;
        let does = if writes { "writes" } else { "reads" };
        let index = if !inherited && user == Some(req) {
            let reason = || format!("slot {slot} is overwritten, but the forward that {does} it is not waited for");
            let index = findings.add(FindingKind::Torn, Some(req), reason);
            if let Some(finding) = findings.at(index) {
                finding.slot = Some(slot);
            }
            Some(index)
        } else {
            let trouble = if writes { AccountingFault::RacesWrite } else { AccountingFault::RacesRead };
            let reason = || {
                let user = user.map_or("another".to_string(), |user| format!("<{user}>"));
                if inherited && writes {
                    format!(
                        "slot {slot} was freed by {user} and given to <{req}> while the step in flight still writes it"
                    )
                } else {
                    format!("slot {slot} was given to <{req}> while the step in flight of {user} still {does} it")
                }
            };
            findings.add_accounting(trouble, 1, Some(req), Some(slot), reason)
        };
        index.filter(|_| pending.writes)
    }
}
