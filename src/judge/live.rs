//! What is kept of each request: everything while it lives, its outcome for good.
//!
//! Owns the table. Refuses to keep tokens and bookkeeping of a request that has been released.

use crate::record::{FinishKind, ReqId, SlotId, Spare};

use super::Outcome;
use super::decide::Marks;
use super::loss::Dues;
use super::truth::Truth;
use super::window::Window;

/// Requests beyond this index are not followed; the run is then at best inconclusive.
const REQS_MAX: usize = 1 << 22;

/// A cache hit that a request starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// The slot copied from.
    pub source: SlotId,
    /// The length that it is cached under.
    pub len: u32,
    /// The finding, if that was wrong.
    pub root: Option<usize>,
}

/// A request that has not been released.
#[derive(Debug)]
// What every step looks at stands first, in as few cache lines as may be.
#[repr(C, align(64))]
pub(super) struct Live {
    /// Its decode steps in flight.
    pub window: Window,
    /// Its tokens.
    pub truth: Truth,
    /// The lengths due and not recorded.
    pub dues: Dues,
    /// The lengths recorded in its track slots.
    pub marks: Marks,
    /// The finding that it started from, if it runs on a wrong state.
    pub taint: Option<usize>,
    /// Its last cache hit.
    pub hit: Option<Hit>,
    pub matched: u32,
    pub admitted: bool,
}

clone_in_place!(Live { window, marks, dues } copied { truth, taint, hit, matched, admitted });

/// All requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    live: Vec<Option<Box<Live>>>,
    /// The memory of released requests, for the next ones.
    spare: Spare<Box<Live>>,
    outcomes: Vec<Outcome>,
    /// Whether a request was named that is not followed.
    pub overflow: bool,
}

impl Clone for Requests {
    fn clone(&self) -> Self {
        let Requests { live, spare, outcomes, overflow } = self;
        Requests { live: live.clone(), spare: spare.clone(), outcomes: outcomes.clone(), overflow: *overflow }
    }

    /// In place, and what lives on one side only goes to the memory that is spare, or comes from there.
    fn clone_from(&mut self, from: &Self) {
        let Requests { live, spare: _, outcomes, overflow } = from;
        self.outcomes.clone_from(outcomes);
        self.overflow = *overflow;
        self.live.resize_with(live.len(), || None);
        for (to, from) in self.live.iter_mut().zip(live) {
            match (&mut *to, from) {
                (Some(to), Some(from)) => to.clone_from(from),
                (None, Some(from)) => *to = Some(self.spare.copy_of(from)),
                (Some(_), None) => to.take().into_iter().for_each(|old| self.spare.keep(old)),
                (None, None) => {}
            }
        }
    }
}

impl Live {
    fn new() -> Live {
        Live {
            truth: Truth::default(),
            window: Window::default(),
            marks: Marks::default(),
            dues: Dues::default(),
            taint: None,
            hit: None,
            matched: 0,
            admitted: false,
        }
    }
}

impl Requests {
    /// A request, if it is alive and was seen before.
    #[inline]
    pub fn get(&mut self, req: ReqId) -> Option<&mut Live> {
        self.live.get_mut(req.index())?.as_deref_mut()
    }

    /// A request, to look at.
    #[inline]
    pub fn peek(&self, req: ReqId) -> Option<&Live> {
        self.live.get(req.index())?.as_deref()
    }

    /// Whether a request is alive and was seen before.
    #[inline]
    pub fn is_alive(&self, req: ReqId) -> bool {
        self.live.get(req.index()).is_some_and(Option::is_some)
    }

    /// A request, made up if it was never seen.
    #[inline]
    pub fn get_or_new(&mut self, req: ReqId) -> Option<&mut Live> {
        if self.is_alive(req) { self.get(req) } else { self.make(req) }
    }

    #[inline(never)]
    fn make(&mut self, req: ReqId) -> Option<&mut Live> {
        if req.index() >= self.live.len() {
            if req.index() >= REQS_MAX {
                self.overflow = true;
                return None;
            }
            self.live.resize_with(req.index() + 1, || None);
            self.outcomes.resize(req.index() + 1, Outcome::default());
        }
        let live = self.live.get_mut(req.index())?;
        let spare = &mut self.spare;
        Some(live.get_or_insert_with(|| match spare.take() {
            Some(mut old) => {
                (*old).clone_from(&Live::new());
                old
            }
            None => Box::new(Live::new()),
        }))
    }

    /// The request was seen by the scheduler.
    pub fn arrive(&mut self, req: ReqId) {
        self.get_or_new(req);
        if let Some(outcome) = self.outcomes.get_mut(req.index()) {
            outcome.arrived = true;
        }
    }

    /// A prefix of this length has a state for it in the cache.
    pub fn matched(&mut self, req: ReqId, state_len: u32) {
        if let Some(live) = self.get_or_new(req) {
            live.matched = state_len;
        }
    }

    /// It was admitted with what was matched last.
    pub fn admit(&mut self, req: ReqId) {
        let Some(live) = self.get_or_new(req) else { return };
        let (matched, first) = (live.matched, !live.admitted);
        live.dues.admit(matched);
        live.admitted = true;
        if first && let Some(outcome) = self.outcomes.get_mut(req.index()) {
            outcome.prefix_hit = matched;
        }
    }

    /// It has this many outputs.
    #[inline]
    pub fn output(&mut self, req: ReqId, outputs: u32) {
        if let Some(outcome) = self.outcomes.get_mut(req.index()) {
            outcome.outputs = outputs;
        } else if self.get_or_new(req).is_some() {
            self.output(req, outputs);
        }
    }

    /// It has this many outputs; the request itself, if it is alive.
    #[inline]
    pub fn output_of(&mut self, req: ReqId, outputs: u32) -> Option<&mut Live> {
        self.output(req, outputs);
        self.get(req)
    }

    /// It finished.
    pub fn end(&mut self, req: ReqId, kind: FinishKind, outputs: u32) {
        self.output(req, outputs);
        if let Some(outcome) = self.outcomes.get_mut(req.index()) {
            outcome.finish = Some(kind);
        }
    }

    /// It was released: forgets it if it has finished. A record that never says so keeps its tokens.
    pub fn release(&mut self, req: ReqId) {
        if self.outcomes.get(req.index()).is_some_and(|outcome| outcome.finish.is_some()) {
            let Some(live) = self.live.get_mut(req.index()).and_then(Option::take) else { return };
            self.spare.keep(live);
        }
    }

    /// Whether it arrived and has not finished, so that it may hold something when a bound ends the run.
    pub fn is_running(&self, req: ReqId) -> bool {
        self.outcomes.get(req.index()).is_some_and(|outcome| outcome.arrived && outcome.finish.is_none())
    }

    /// Everyone alive, by index.
    pub fn iter(&mut self) -> impl Iterator<Item = (ReqId, &mut Live)> {
        let live = self.live.iter_mut().enumerate();
        live.filter_map(|(index, live)| {
            let live = live.as_deref_mut()?;
            Some((ReqId(index as u32), live))
        })
    }

    /// Keeps what can be looked at alone.
    #[cfg(test)]
    pub fn forget_memory(&mut self) {
        self.spare = Spare::default();
        self.iter().for_each(|(_, live)| live.window = live.window.normal());
    }

    /// What became of each request, by index.
    pub fn finish(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_over_other_requests_is_a_copy() {
        let (mut some, mut other) = (Requests::default(), Requests::default());
        some.arrive(ReqId(0));
        some.arrive(ReqId(2));
        other.arrive(ReqId(1));
        other.end(ReqId(1), FinishKind::Length, 3);
        other.release(ReqId(1));
        other.matched(ReqId(2), 5);
        for (mut to, from) in [(some.clone(), other.clone()), (other.clone(), some.clone())] {
            to.clone_from(&from);
            to.spare = Spare::default();
            assert_eq!(format!("{to:?}"), format!("{from:?}"));
        }
    }
}
