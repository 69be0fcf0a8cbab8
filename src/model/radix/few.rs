//! An ordered set that is nearly always small: a short sorted list as long as it is, a tree once it is not.
//!
//! A tree of its own for every node would have to be copied, piece by piece, with every snapshot.

use std::collections::BTreeSet;

use crate::record::Short;

/// Items of a list; with more it becomes a tree, and stays one.
const FEW: usize = 8;
/// Items that fit inside.
const INSIDE: usize = 2;

/// A set of small values, in order.
#[derive(Debug)]
pub(super) enum Few<T: Copy + Default + Ord> {
    Short(Short<T, INSIDE>),
    Many(BTreeSet<T>),
}

impl<T: Copy + Default + Ord> Few<T> {
    /// Empty.
    pub fn new() -> Self {
        Few::Short(Short::new())
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Few::Short(list) => list.is_empty(),
            Few::Many(tree) => tree.is_empty(),
        }
    }

    /// The items in order, as long as they are few.
    pub fn as_list(&self) -> Option<&[T]> {
        match self {
            Few::Short(list) => Some(list),
            Few::Many(_) => None,
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Few::Short(list) => list.len(),
            Few::Many(tree) => tree.len(),
        }
    }

    /// Whether an item is there.
    pub fn contains(&self, item: &T) -> bool {
        match self {
            Few::Short(list) => list.binary_search(item).is_ok(),
            Few::Many(tree) => tree.contains(item),
        }
    }

    /// The least item.
    pub fn first(&self) -> Option<&T> {
        match self {
            Few::Short(list) => list.first(),
            Few::Many(tree) => tree.first(),
        }
    }

    /// Adds an item. Says whether it is new.
    pub fn insert(&mut self, item: T) -> bool {
        match self {
            Few::Short(list) => match list.binary_search(&item) {
                Ok(_) => false,
                Err(at) if list.len() < FEW => {
                    list.insert(at, item);
                    true
                }
                Err(_) => {
                    *self = Few::Many(list.iter().copied().chain([item]).collect());
                    true
                }
            },
            Few::Many(tree) => tree.insert(item),
        }
    }

    /// Takes an item out. Says whether it was there.
    pub fn remove(&mut self, item: &T) -> bool {
        match self {
            Few::Short(list) => match list.binary_search(item) {
                Ok(at) => {
                    list.remove(at);
                    true
                }
                Err(_) => false,
            },
            Few::Many(tree) => tree.remove(item),
        }
    }

    /// The items from `from` on, in order.
    pub fn from(&self, from: T) -> impl Iterator<Item = T> + '_ {
        let (list, tree) = match self {
            Few::Short(list) => (Some(&list[list.partition_point(|item| *item < from)..]), None),
            Few::Many(tree) => (None, Some(tree.range(from..))),
        };
        list.into_iter().flatten().chain(tree.into_iter().flatten()).copied()
    }

    /// All items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + '_ {
        let (list, tree) = match self {
            Few::Short(list) => (Some(&list[..]), None),
            Few::Many(tree) => (None, Some(tree)),
        };
        list.into_iter().flatten().chain(tree.into_iter().flatten()).copied()
    }
}

impl<T: Copy + Default + Ord> Clone for Few<T> {
    fn clone(&self) -> Self {
        match self {
            Few::Short(list) => Few::Short(list.clone()),
            Few::Many(tree) => Few::Many(tree.clone()),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        match (&mut *self, from) {
            (Few::Short(list), Few::Short(from)) => list.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_set_that_a_tree_is(steps in proptest::collection::vec((any::<bool>(), 0..24u32), 0..80)) {
            let (mut few, mut tree) = (Few::new(), BTreeSet::new());
            for (adds, item) in steps {
                if adds {
                    prop_assert_eq!(few.insert(item), tree.insert(item));
                } else {
                    prop_assert_eq!(few.remove(&item), tree.remove(&item));
                }
                prop_assert_eq!((few.first(), few.is_empty()), (tree.first(), tree.is_empty()));
                prop_assert!(few.iter().eq(tree.iter().copied()));
                prop_assert!(few.from(item).eq(tree.range(item..).copied()));
                let mut copy = Few::new();
                copy.clone_from(&few);
                prop_assert!(copy.iter().eq(tree.iter().copied()));
            }
        }
    }
}
