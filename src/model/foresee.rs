//! How many open questions the next turn can ask: seen from the state before it.
//!
//! Owns an upper bound, by which a search knows the last way on before it takes it. Refuses to say which questions come:
//! sites that are hard to foresee have no bound.

use crate::engine::Open;

use super::machine::{Last, World};
use super::request::Stage;
use super::setup::Setup;

/// Open sites whose questions can be foreseen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Foresight {
    unseen: bool,
    live: bool,
    stops: bool,
}

impl Foresight {
    /// Where these sites are open, if all of them can be foreseen.
    pub fn new(open: &Open) -> Option<Foresight> {
        let mut foresight = Foresight::default();
        for &site in &open.0 {
            match site {
                "arrival" => foresight.unseen = true,
                "abort" => foresight.live = true,
                "stop" => foresight.stops = true,
                _ => return None,
            }
        }
        Some(foresight)
    }

    /// Whether the next turn asks nothing before its second half.
    pub fn asks_late(self, world: &World, setup: &Setup) -> bool {
        let may_arrive = self.unseen && world.reqs.iter().any(|it| it.stage == Stage::Unseen);
        let may_abort = self.live && world.unfinished > 0;
        // A launch that waits for the last result processes it in the first half.
        !may_arrive && !may_abort && !setup.engine.disable_consecutive_prefill_overlap
    }

    /// No fewer than the open questions of the next turn, if that can be told.
    pub fn questions_max(self, world: &World, setup: &Setup) -> Option<usize> {
        let unseen = || world.reqs.iter().filter(|it| it.stage == Stage::Unseen).count();
        let arrivals = if self.unseen { unseen() } else { 0 };
        let aborts = if self.live { world.unfinished as usize } else { 0 };
        let stops = if self.stops { stops_max(world, setup)? } else { 0 };
        Some(arrivals + aborts + stops)
    }
}

/// A turn processes one result: with overlap the one that waits, without it that of a batch not yet made.
fn stops_max(world: &World, setup: &Setup) -> Option<usize> {
    if !setup.engine.overlap {
        return setup.engine.spec.is_none().then_some(world.unfinished as usize);
    }
    let Some(pending) = world.queue.first() else {
        return matches!(world.last, Last::None).then_some(0);
    };
    let outputs = |i: usize| pending.accepted.get(i).map_or(1, |&accepted| accepted.max(1) as usize);
    let rows = pending.batch.reqs.iter().enumerate();
    Some(rows.filter(|(_, req)| !world.reqs[req.index()].finished()).map(|(i, _)| outputs(i)).sum())
}
