//! A list that is nearly always short: its first items need no memory of their own, and a copy of it is a copy of bytes.

use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

/// A list of small values, of which `N` fit inside.
#[derive(Debug, PartialEq, Eq)]
pub struct Short<T: Copy, const N: usize>(SmallVec<[T; N]>);

impl<T: Copy, const N: usize> Short<T, N> {
    /// No items.
    pub fn new() -> Self {
        Short(SmallVec::new())
    }

    /// The first `count` items, to be overwritten; where there are fewer, `item` is put behind them.
    #[inline]
    pub fn room(&mut self, count: usize, item: T) -> &mut [T] {
        if self.0.len() < count {
            self.0.resize(count, item);
        }
        &mut self.0[..count]
    }

    /// Other items, in the memory of these.
    #[inline]
    pub fn copy_from(&mut self, items: &[T]) {
        // Mostly as many as before: then there is nothing to make room for.
        if self.0.len() == items.len() {
            self.0.copy_from_slice(items);
        } else {
            self.0.clear();
            self.0.extend_from_slice(items);
        }
    }

    /// As many items as asked for: the last ones go, or `item` is put behind them.
    #[inline]
    pub fn resize(&mut self, count: usize, item: T) {
        if self.0.len() != count {
            self.0.resize(count, item);
        }
    }

    /// No items, and room for so many.
    pub fn with_capacity(count: usize) -> Self {
        Short(SmallVec::with_capacity(count))
    }
}

impl<T: Copy, const N: usize> Default for Short<T, N> {
    fn default() -> Self {
        Short::new()
    }
}

impl<T: Copy, const N: usize> Clone for Short<T, N> {
    #[inline]
    fn clone(&self) -> Self {
        Short(SmallVec::from_slice(&self.0))
    }

    #[inline]
    fn clone_from(&mut self, from: &Self) {
        self.copy_from(&from.0);
    }
}

impl<T: Copy, const N: usize> Deref for Short<T, N> {
    type Target = SmallVec<[T; N]>;

    #[inline]
    fn deref(&self) -> &SmallVec<[T; N]> {
        &self.0
    }
}

impl<T: Copy, const N: usize> DerefMut for Short<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut SmallVec<[T; N]> {
        &mut self.0
    }
}

impl<T: Copy, const N: usize> From<&[T]> for Short<T, N> {
    fn from(items: &[T]) -> Self {
        Short(SmallVec::from_slice(items))
    }
}

impl<T: Copy, const N: usize> From<Vec<T>> for Short<T, N> {
    fn from(items: Vec<T>) -> Self {
        if items.len() <= N { Short(SmallVec::from_slice(&items)) } else { Short(SmallVec::from_vec(items)) }
    }
}

impl<T: Copy, const N: usize> FromIterator<T> for Short<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Short(items.into_iter().collect())
    }
}

impl<T: Copy, const N: usize> IntoIterator for Short<T, N> {
    type Item = T;
    type IntoIter = smallvec::IntoIter<[T; N]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T: Copy, const N: usize> IntoIterator for &'a Short<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T: Copy, const N: usize> IntoIterator for &'a mut Short<T, N> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}
