//! A priority queue in total order: by time, then by order of insertion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Time;

/// Events keyed by `(Time, sequence number)`, so that equal times pop in the order they were pushed.
#[derive(Debug)]
pub struct EventQueue<T: Ord> {
    heap: BinaryHeap<Reverse<(Time, u64, T)>>,
    pushed: u64,
}

impl<T: Ord + Clone> Clone for EventQueue<T> {
    fn clone(&self) -> Self {
        let EventQueue { heap, pushed } = self;
        EventQueue { heap: heap.clone(), pushed: *pushed }
    }

    fn clone_from(&mut self, from: &Self) {
        let EventQueue { heap, pushed } = from;
        self.heap.clone_from(heap);
        self.pushed = *pushed;
    }
}

impl<T: Ord> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue { heap: BinaryHeap::new(), pushed: 0 }
    }
}

impl<T: Ord> EventQueue<T> {
    /// Adds an event at `at`.
    pub fn push(&mut self, at: Time, event: T) {
        self.heap.push(Reverse((at, self.pushed, event)));
        self.pushed += 1;
    }

    /// The time of the earliest event.
    pub fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Removes and returns the earliest event if its time is at or before `now`.
    pub fn pop_due(&mut self, now: Time) -> Option<(Time, T)> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }

    /// The number of events in the queue.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_keep_the_order_of_insertion() {
        let mut queue = EventQueue::default();
        for (at, event) in [(5, 'c'), (3, 'b'), (5, 'a'), (3, 'z')] {
            queue.push(Time(at), event);
        }
        let mut seen = String::new();
        while let Some((_, event)) = queue.pop_due(Time(5)) {
            seen.push(event);
        }
        assert_eq!(seen, "bzca");
        queue.push(Time(9), 'x');
        assert!(queue.pop_due(Time(8)).is_none());
    }
}
