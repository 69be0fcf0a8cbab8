//! Data races: copies on the schedule stream that are not ordered after an access of a forward in flight.
//!
//! Owns the findings about such copies, and the content that they leave. A forward is ordered after everything that the
//! schedule stream did before its launch, so only copies on the schedule stream can race. Virtual times are ignored: a
//! copy is a race even if it runs late enough in this run.

use crate::record::{Owner, ReqId, SlotId};

use super::super::findings::{AccountingFault, Findings};
use super::Storage;
use super::contents::PendingAccess;
use crate::judge::FindingKind;

impl Storage {
    /// The schedule stream copies a state for `req` without waiting for a forward: a finding if a forward in flight
    /// writes `from`, or reads or writes `to`.
    pub(super) fn copy_on_schedule(&mut self, req: ReqId, from: SlotId, to: SlotId, findings: &mut Findings) {
        self.owners.writes_copy(to, req, findings);
        let hit = self.requests.get(req).and_then(|running| running.hit).filter(|hit| hit.source == from);
        let hit = hit.filter(|_| self.owners.owner(to) == Some(Owner::Active(req)));
        let (state, torn) = if self.contents.in_flight(from) {
            let state = self.contents.torn(from);
            let reason = || {
                format!(
                    "slot {from} is copied to {to} on the schedule stream without waiting for the forward that writes it"
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
        // A copy that is no hit takes over the writer of its source: copying a slot that is unwritten, or that another
        // request wrote, is not a write by this request.
        let writer = if hit.is_some() { Some(req) } else { self.contents.writer(from) };
        self.contents.write_on_schedule(to, state, writer, torn);
        if let Some(hit) = hit
            && let Some(running) = self.requests.get(req)
        {
            running.taint = hit.root.or(torn).or(clash);
        }
    }

    /// A copy for `req` writes a slot that a forward in flight accesses: always a finding. Returns it if the forward
    /// writes the slot, so that the content of the copy is in doubt.
    fn clash(&self, req: ReqId, slot: SlotId, pending: PendingAccess, findings: &mut Findings) -> Option<usize> {
        let PendingAccess { req: user, writes, inherited } = pending;
        let does = if writes { "writes" } else { "reads" };
        let index = if !inherited && user == Some(req) {
            let reason = || {
                format!(
                    "slot {slot} is overwritten on the schedule stream without waiting for the forward that {does} it"
                )
            };
            let index = findings.add(FindingKind::Torn, Some(req), reason);
            if let Some(finding) = findings.at(index) {
                finding.slot = Some(slot);
            }
            Some(index)
        } else {
            let fault = if writes { AccountingFault::RacesWrite } else { AccountingFault::RacesRead };
            let reason = || {
                let user = user.map_or("another request".to_string(), |user| format!("<{user}>"));
                if inherited && writes {
                    format!(
                        "slot {slot} was freed by {user} and given to <{req}> while the step in flight still writes it"
                    )
                } else {
                    format!("slot {slot} was given to <{req}> while the step in flight of {user} still {does} it")
                }
            };
            findings.add_accounting(fault, 1, Some(req), Some(slot), reason)
        };
        index.filter(|_| pending.writes)
    }
}
