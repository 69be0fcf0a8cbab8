//! The threads of a search: each takes a block from the desk, expands it, and takes in what is due. One of them is the one that asked.
//!
//! Owns the lock on the desk, and who waits for whom. Refuses to decide in which order anything is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::engine::Open;

use super::desk::Desk;
use super::expand::Worker;
use super::explore::{Bound, Explored, Order};
use super::system::System;

/// Looks at the bell before a thread lets others run, and before it goes to sleep. What it waits for is nearly always some microseconds
/// of work, and who falls asleep at once is woken where the others are, and takes turns with them.
const LOOKS: [usize; 2] = [100, 120];
/// How long it waits between two looks.
const PAUSES: usize = 16;

/// What all threads have in common.
pub(super) struct Shared<'a, S: System> {
    system: &'a S,
    open: &'a Open,
    /// Whether threads go on from states where nothing is asked. In the order of the frontier they do not: the first way to a state would
    /// not be the shortest.
    follows: bool,
    desk: Mutex<Desk<S::State, S::Kind>>,
    /// Whether to stop, given the number of unique states.
    stop: &'a (dyn Fn(u64) -> bool + Sync),
    /// A thread was told to stop.
    stopped: AtomicBool,
    /// Rung when there is something to do, or nothing any more.
    bell: Condvar,
    /// Whether there is.
    rung: AtomicBool,
}

impl<'a, S: System> Shared<'a, S> {
    /// Before the first block.
    pub fn new(
        system: &'a S,
        open: &'a Open,
        stop: &'a (dyn Fn(u64) -> bool + Sync),
        desk: Desk<S::State, S::Kind>,
    ) -> Self {
        let follows = desk.order() == Order::Dfs;
        let (desk, bell, rung) = (Mutex::new(desk), Condvar::new(), AtomicBool::new(true));
        Shared { system, open, follows, desk, stop, stopped: AtomicBool::new(false), bell, rung }
    }

    /// Whether to stop. Once a thread was told to, all are.
    fn is_stopped(&self, unique: u64) -> bool {
        let stopped = self.stopped.load(Ordering::Relaxed) || (self.stop)(unique);
        if stopped {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stopped
    }

    fn lock(&self) -> MutexGuard<'_, Desk<S::State, S::Kind>> {
        self.desk.lock().expect("no thread panicked at the desk")
    }

    /// Tells the others, if there is something to do for them or nothing any more.
    fn ring(&self, desk: &Desk<S::State, S::Kind>) {
        if !desk.is_over() && !desk.has_block() {
            return;
        }
        self.rung.store(true, Ordering::Relaxed);
        if desk.is_over() {
            self.bell.notify_all();
        } else if desk.waiting > 0 {
            self.bell.notify_one();
        }
    }

    /// Waits for the bell, awake and not for long. Says whether it was heard.
    fn listen(&self) -> bool {
        (0..LOOKS[1]).any(|look| {
            if look < LOOKS[0] {
                (0..PAUSES).for_each(|_| std::hint::spin_loop());
            } else {
                std::thread::yield_now();
            }
            self.rung.load(Ordering::Relaxed)
        })
    }

    /// What the search saw.
    pub fn finish(self) -> Explored<S::Kind> {
        self.desk.into_inner().expect("no thread panicked at the desk").finish()
    }
}

/// Sends the others home when a thread panics: they would wait for its block for ever.
struct Alarm<'a, 's, S: System>(&'a Shared<'s, S>);

impl<S: System> Drop for Alarm<'_, '_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut desk = self.0.desk.lock().unwrap_or_else(PoisonError::into_inner);
            desk.end(Some(Bound::Stopped));
            self.0.ring(&desk);
        }
    }
}

/// Works until the search is over. A thread that is told to stop in the middle of a block hands in the part that it has expanded.
pub(super) fn work<S: System>(shared: &Shared<'_, S>, thread: usize) {
    let _alarm = Alarm(shared);
    let mut worker = Worker::new(shared.system, shared.open);
    let mut desk = shared.lock();
    while !desk.is_over() {
        let Some(mut block) = desk.next(thread) else {
            shared.rung.store(false, Ordering::Relaxed);
            drop(desk);
            let rung = shared.listen();
            desk = shared.lock();
            if !rung && !desk.is_over() && !desk.has_block() {
                desk.waiting += 1;
                desk = shared.bell.wait(desk).expect("no thread panicked at the desk");
                desk.waiting -= 1;
            }
            continue;
        };
        let unique = desk.unique();
        drop(desk);
        let stop = || shared.is_stopped(unique);
        worker.expand(&mut block.work, |successors, spare| shared.lock().sift(successors, spare), stop);
        if shared.follows {
            worker.follow(&mut block.work, |successors, spare| shared.lock().sift(successors, spare), stop);
        }
        desk = shared.lock();
        desk.hand_in(thread, block);
        // Before a part of a block is taken in: it must not pass for the whole.
        if shared.is_stopped(unique) {
            desk.end(Some(Bound::Stopped));
        }
        desk.take_in(&mut worker.spare);
        shared.ring(&desk);
    }
}
