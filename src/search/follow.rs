//! A block goes on from states where nothing is asked: there is one way on, and who has such a state at hand takes it.
//!
//! Owns which states those are, and how far it goes. Refuses to decide which are new: what was followed from a state that turns out to
//! have been seen before counts for nothing.

use crate::record::Spare;

use super::block::{Next, Parent, Successor, Work};
use super::expand::{Origin, Worker};
use super::system::System;

/// Most steps without a question, one after another: a run that waits for ever comes to no end of its own.
const STEPS_MAX: usize = 16;

impl<S: System> Worker<'_, S> {
    /// Takes the steps in which nothing is asked, from what the steps of a block have led to so far, or those before `stop` said so. `sift`
    /// drops states that were seen.
    pub fn follow(
        &mut self,
        work: &mut Work<S::State, S::Kind>,
        sift: impl Fn(&mut [Successor<S::State, S::Kind>], &mut Spare<S::State>),
        stop: impl Fn() -> bool,
    ) {
        let mut start = 0;
        for _ in 0..STEPS_MAX {
            let end = work.successors.len();
            if start == end || stop() {
                return;
            }
            sift(&mut work.successors[start..], &mut self.spare);
            let mut origins = std::mem::take(&mut self.origins);
            for (at, successor) in (start as u32..).zip(&mut work.successors[start..]) {
                if stop() {
                    break;
                }
                // A state that two steps led to is followed twice, and the second time counts for nothing: that is rare, and to look for it is not
                // worth it.
                if self.has_one_way(&successor.next)
                    && let Some(mut state) = successor.next.pass()
                {
                    self.chooser.begin();
                    let half = self.system.first_half(&mut state, &mut self.chooser);
                    origins.push(Origin { parent: Parent::Step(at), questions_max: 0, half: Some(half), state });
                }
            }
            for Origin { parent, half, state, questions_max: _ } in origins.drain(..) {
                if stop() {
                    break;
                }
                self.chooser.begin();
                self.step(parent, half, state, work);
                assert!(!self.chooser.has_asked(), "a step asks no more questions than was foreseen");
            }
            self.origins = origins;
            self.name(&mut work.successors[end..], &stop);
            start = end;
        }
    }

    /// Whether the next step asks nothing.
    fn has_one_way(&self, next: &Next<S::State>) -> bool {
        match next {
            Next::State(_, state) => self.system.questions_max(state) == Some(0),
            Next::Nothing | Next::Passed(_) => false,
        }
    }
}
