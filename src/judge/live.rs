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
/// Most outputs for which room is made in advance.
const RESERVE_MAX: u32 = 4096;

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
    /// The lengths recorded in its track slots.
    pub marks: Marks,
    /// The lengths due and not recorded.
    pub dues: Dues,
    /// The finding that it started from, if it runs on a wrong state.
    pub taint: Option<usize>,
    /// Its last cache hit.
    pub hit: Option<Hit>,
    matched: u32,
    admitted: bool,
}

clone_in_place!(Live { truth, window, marks, dues, taint, hit, matched, admitted });

/// All requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    live: Vec<Option<Box<Live>>>,
    /// The token memory of released requests, emptied, for the next ones.
    spare: Spare<Truth>,
    outcomes: Vec<Outcome>,
    /// Whether a request was named that is not followed.
    pub overflow: bool,
}

clone_in_place!(Requests { live, spare, outcomes, overflow });

impl Live {
    fn new(truth: Truth) -> Live {
        Live {
            truth,
            window: Window::new(),
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

    /// A request, made up if it was never seen.
    #[inline]
    pub fn get_or_new(&mut self, req: ReqId) -> Option<&mut Live> {
        if self.live.get(req.index()).is_some_and(Option::is_some) { self.get(req) } else { self.make(req) }
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
        Some(live.get_or_insert_with(|| Box::new(Live::new(self.spare.take().unwrap_or_default()))))
    }

    /// The request was seen by the scheduler.
    pub fn arrive(&mut self, req: ReqId, max_new: u32) {
        if let Some(live) = self.get_or_new(req) {
            live.truth.reserve(max_new.min(RESERVE_MAX) as usize);
        }
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
            let Some(mut live) = self.live.get_mut(req.index()).and_then(Option::take) else { return };
            live.truth.prompt(&[]);
            self.spare.keep(live.truth);
        }
    }

    /// Whether it arrived and has not finished, so that it may hold something when a bound ends the run.
    pub fn is_running(&self, req: ReqId) -> bool {
        self.outcomes.get(req.index()).is_some_and(|outcome| outcome.arrived && outcome.finish.is_none())
    }

    /// Everyone alive, by index.
    pub fn iter(&mut self) -> impl Iterator<Item = (ReqId, &mut Live)> {
        let live = self.live.iter_mut().enumerate();
        live.filter_map(|(index, live)| Some((ReqId(index as u32), live.as_deref_mut()?)))
    }

    /// What became of each request, by index.
    pub fn finish(self) -> Vec<Outcome> {
        self.outcomes
    }
}
