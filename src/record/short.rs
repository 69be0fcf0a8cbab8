//! A list that is nearly always short: its first items need no memory of their own, and a copy of it is a copy of bytes.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A list of small values, of which `N` fit inside.
pub struct Short<T, const N: usize>(Items<T, N>);

/// Once outside, a list stays there: it has the memory.
enum Items<T, const N: usize> {
    /// How many, and behind them whatever was there.
    Inside(u8, [T; N]),
    Outside(Vec<T>),
}

impl<T: Copy + Default, const N: usize> Short<T, N> {
    /// No items.
    #[inline]
    pub fn new() -> Self {
        const { assert!(N <= u8::MAX as usize, "the count of what is inside is a byte") };
        Short(Items::Inside(0, [T::default(); N]))
    }

    /// No items, and room for so many.
    pub fn with_capacity(count: usize) -> Self {
        if count <= N { Short::new() } else { Short(Items::Outside(Vec::with_capacity(count))) }
    }

    /// The items.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Items::Inside(len, _) => usize::from(*len),
            Items::Outside(items) => items.len(),
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items fit without more memory.
    pub fn capacity(&self) -> usize {
        match &self.0 {
            Items::Inside(..) => N,
            Items::Outside(items) => items.capacity(),
        }
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        match &mut self.0 {
            Items::Inside(len, _) if usize::from(*len) + more <= N => {}
            Items::Inside(..) => self.move_out(more),
            Items::Outside(items) => items.reserve(more),
        }
    }

    /// Adds an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            Items::Inside(len, items) if usize::from(*len) < N => {
                items[usize::from(*len)] = item;
                *len += 1;
            }
            Items::Inside(..) => {
                self.move_out(N.max(1));
                self.push(item);
            }
            Items::Outside(items) => items.push(item),
        }
    }

    /// Adds several items.
    #[inline]
    pub fn extend_from_slice(&mut self, more: &[T]) {
        match &mut self.0 {
            Items::Inside(len, items) if usize::from(*len) + more.len() <= N => {
                let from = usize::from(*len);
                items[from..from + more.len()].copy_from_slice(more);
                *len += more.len() as u8;
            }
            Items::Inside(..) => {
                self.move_out(more.len());
                self.extend_from_slice(more);
            }
            Items::Outside(items) => items.extend_from_slice(more),
        }
    }

    /// Other items, in the memory of these.
    #[inline]
    pub fn copy_from(&mut self, items: &[T]) {
        match &mut self.0 {
            // Mostly as many as before: then there is nothing to make room for.
            Items::Outside(own) if own.len() == items.len() => own.copy_from_slice(items),
            Items::Outside(_) | Items::Inside(..) => {
                self.clear();
                self.extend_from_slice(items);
            }
        }
    }

    /// Puts an item before the one at a place.
    pub fn insert(&mut self, at: usize, item: T) {
        self.push(item);
        self[at..].rotate_right(1);
    }

    /// Takes the item at a place out.
    pub fn remove(&mut self, at: usize) -> T {
        let item = self[at];
        self[at..].rotate_left(1);
        self.truncate(self.len() - 1);
        item
    }

    /// Drops what stands behind the first so many items.
    #[inline]
    pub fn truncate(&mut self, count: usize) {
        match &mut self.0 {
            Items::Inside(len, _) => *len = (*len).min(count.min(N) as u8),
            Items::Outside(items) => items.truncate(count),
        }
    }

    /// Drops all items.
    #[inline]
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// So many items: those there are, and copies of `item` behind them.
    #[inline]
    pub fn resize(&mut self, count: usize, item: T) {
        match &mut self.0 {
            Items::Inside(len, items) if count <= N => {
                if let Some(new) = items.get_mut(usize::from(*len)..count) {
                    new.fill(item);
                }
                *len = count as u8;
            }
            // Mostly as many as before.
            Items::Outside(items) if items.len() == count => {}
            Items::Inside(len, _) => {
                let more = count - usize::from(*len);
                self.move_out(more);
                self.resize(count, item);
            }
            Items::Outside(items) => items.resize(count, item),
        }
    }

    /// Keeps the items for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let mut kept = 0;
        for at in 0..self.len() {
            let item = self[at];
            if keep(&item) {
                self[kept] = item;
                kept += 1;
            }
        }
        self.truncate(kept);
    }

    /// Drops the first so many items.
    pub fn drop_front(&mut self, count: usize) {
        self[..].rotate_left(count);
        self.truncate(self.len() - count);
    }

    /// So many items, to be overwritten: whatever was there, and where that is not enough, `item`.
    #[inline]
    pub fn room(&mut self, count: usize, item: T) -> &mut [T] {
        if self.len() < count {
            self.make_room(count, item);
        }
        &mut self[..count]
    }

    #[cold]
    fn make_room(&mut self, count: usize, item: T) {
        self.resize(count, item);
    }

    #[cold]
    fn move_out(&mut self, more: usize) {
        self.0 = Items::Outside(roomy(self, self.len() + more, N));
    }
}

/// A copy of items with room for `count`, and for some that may follow.
fn roomy<T: Copy>(items: &[T], count: usize, inside: usize) -> Vec<T> {
    let mut copy = Vec::with_capacity((count + 1).next_multiple_of(2 * inside.max(1)));
    copy.extend_from_slice(items);
    copy
}

impl<T: Copy + Default, const N: usize> Default for Short<T, N> {
    fn default() -> Self {
        Short::new()
    }
}

impl<T: Copy + Default, const N: usize> Clone for Short<T, N> {
    #[inline]
    fn clone(&self) -> Self {
        match &self.0 {
            Items::Inside(len, items) => Short(Items::Inside(*len, *items)),
            Items::Outside(items) if items.len() <= N => items.as_slice().into(),
            Items::Outside(items) => Short(Items::Outside(roomy(items, items.len(), N))),
        }
    }

    #[inline]
    fn clone_from(&mut self, from: &Self) {
        match (&mut self.0, &from.0) {
            (Items::Inside(to_len, to), Items::Inside(len, items)) => (*to_len, *to) = (*len, *items),
            (Items::Outside(_), _) => self.copy_from(from),
            (Items::Inside(..), Items::Outside(_)) => *self = from.clone(),
        }
    }
}

impl<T, const N: usize> Deref for Short<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Items::Inside(len, items) => &items[..usize::from(*len)],
            Items::Outside(items) => items,
        }
    }
}

impl<T, const N: usize> DerefMut for Short<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Items::Inside(len, items) => &mut items[..usize::from(*len)],
            Items::Outside(items) => items,
        }
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Short<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Short<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq, const N: usize> Eq for Short<T, N> {}

impl<T: Copy + Default, const N: usize> From<&[T]> for Short<T, N> {
    #[inline]
    fn from(items: &[T]) -> Self {
        let mut short = Short::new();
        short.extend_from_slice(items);
        short
    }
}

impl<T: Copy + Default, const N: usize> From<Vec<T>> for Short<T, N> {
    fn from(items: Vec<T>) -> Self {
        if items.len() <= N { items.as_slice().into() } else { Short(Items::Outside(items)) }
    }
}

impl<T: Copy + Default, const N: usize> Extend<T> for Short<T, N> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        self.reserve(items.size_hint().0);
        items.for_each(|item| self.push(item));
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Short<T, N> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut short = Short::new();
        short.extend(items);
        short
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a Short<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T, const N: usize> IntoIterator for &'a mut Short<T, N> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_list_that_a_vector_is(steps in proptest::collection::vec((0..10u8, 0..9usize), 0..40)) {
            let (mut short, mut list) = (Short::<u32, 4>::new(), Vec::new());
            for (nth, (step, count)) in (0u32..).zip(steps) {
                let at = count.min(list.len());
                match step {
                    0 | 1 => { short.push(nth); list.push(nth) }
                    2 => { short.extend_from_slice(&vec![nth; count]); list.extend(vec![nth; count]) }
                    3 => { short.truncate(count); list.truncate(count) }
                    4 => { short.resize(count, nth); list.resize(count, nth) }
                    5 => { short.insert(at, nth); list.insert(at, nth) }
                    6 if at < list.len() => prop_assert_eq!(short.remove(at), list.remove(at)),
                    6 => { short.reserve(count); list.reserve(count) }
                    7 => { short.retain(|item| item % 2 == 0); list.retain(|item| item % 2 == 0) }
                    8 => { short.drop_front(at); list.drain(..at); }
                    _ => { short.extend(0..count as u32); list.extend(0..count as u32) }
                }
                prop_assert_eq!(&short[..], &list[..]);
                for old in [Short::new(), (0..9).collect(), (0..2).collect()] {
                    let mut copy = old;
                    copy.clone_from(&short);
                    prop_assert!(copy == short && short.clone() == copy);
                }
            }
        }
    }
}
