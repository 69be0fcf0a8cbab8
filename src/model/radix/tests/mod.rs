//! Tests of the tree: lookup, insert and the two orders here, eviction and locks in `held`, trees with a broken
//! invariant in `broken`, random operations against a naive model in `random`.

mod broken;
mod held;
mod naive;
mod random;

use std::ops::{Deref, DerefMut};

use super::{Evicted, Freed, Inserted, Match, NodeId, Radix, RadixConfig, TombstoneLock};
use crate::record::{GrantId, PageRange, Prefix, SlotId, Streams, Token};

/// A tree with keys given as lists of tokens.
#[derive(Clone)]
struct Tree {
    radix: Radix,
    streams: Streams,
}

impl Tree {
    fn new(config: RadixConfig) -> Tree {
        Tree { radix: Radix::new(config), streams: Streams::new() }
    }

    fn match_prefix(&mut self, tokens: &[Token]) -> Match {
        let key = self.streams.listed(Prefix::EMPTY, tokens);
        self.radix.match_prefix(&self.streams, key)
    }

    fn insert(&mut self, tokens: &[Token], grant: u32, state: Option<SlotId>) -> Inserted {
        let key = self.streams.listed(Prefix::EMPTY, tokens);
        self.radix.insert(&self.streams, key, GrantId(grant), state)
    }
}

impl Deref for Tree {
    type Target = Radix;

    fn deref(&self) -> &Radix {
        &self.radix
    }
}

impl DerefMut for Tree {
    fn deref_mut(&mut self) -> &mut Radix {
        &mut self.radix
    }
}

/// The behaviour of 0.5.17.
fn config(page_size: u32, state_chunk: u32) -> RadixConfig {
    RadixConfig {
        page_size,
        state_chunk,
        branching_beyond_state: true,
        split_refreshes_state: true,
        tombstone_lock: TombstoneLock::Skip,
    }
}

fn slot(number: u32) -> SlotId {
    SlotId(number)
}

fn pages(grant: u32, range: std::ops::Range<u32>) -> PageRange {
    PageRange { grant: GrantId(grant), from: range.start, to: range.end }
}

/// Inserts a key with the pages of a grant, and returns its node.
fn put(tree: &mut Tree, tokens: &[Token], grant: u32, state: u32) -> NodeId {
    let done = tree.insert(tokens, grant, Some(slot(state)));
    tree.check().unwrap();
    done.node
}

/// The pages of every node, in the order of the walk.
fn all_pages(tree: &Tree) -> Vec<PageRange> {
    tree.walk().skip(1).map(|view| view.pages).collect()
}

fn evict(tree: &mut Tree, kv_tokens: u32, states: u32) -> (Evicted, Freed) {
    let mut freed = Freed::default();
    let gone = tree.evict(kv_tokens, states, &mut freed);
    tree.check().unwrap();
    (gone, freed)
}

#[test]
fn match_inside_a_node_splits_it_and_finds_no_state() {
    let mut tree = Tree::new(config(1, 2));
    let long = put(&mut tree, &[1, 2, 3, 4, 5], 10, 1);
    let found = tree.match_prefix(&[1, 2, 3, 9]);
    tree.check().unwrap();
    assert_eq!((found.node, found.state_len, found.kv_len), (NodeId::ROOT, 0, 3));
    assert_eq!((found.state, found.branching), (None, Some(2)));
    assert_eq!(tree.node_count(), 2);
    assert_eq!(tree.state(long), Some(slot(1)));

    assert_eq!(all_pages(&tree), [pages(10, 0..3), pages(10, 3..5)]);
    let ends: Vec<u32> = tree.walk().map(|view| view.prefix.len).collect();
    assert_eq!(ends, [0, 3, 5]);
}

#[test]
fn splits_fall_on_pages() {
    let mut tree = Tree::new(config(4, 4));
    let _ = put(&mut tree, &[1, 2, 3, 4, 5, 6, 7, 8], 10, 1);
    let found = tree.match_prefix(&[1, 2, 3, 4, 5, 6, 9, 9, 9]);
    assert_eq!((found.kv_len, tree.node_count()), (4, 2));
    assert_eq!(tree.match_prefix(&[1, 2, 3]).kv_len, 0);
    assert_eq!(tree.match_prefix(&[1, 2, 3, 9]).kv_len, 0);
    tree.check().unwrap();
}

#[test]
fn an_insert_takes_the_pages_behind_those_that_are_cached() {
    let mut tree = Tree::new(config(2, 2));
    put(&mut tree, &[1, 1, 2, 2], 10, 1);
    let done = tree.insert(&[1, 1, 2, 2, 3, 3], 20, Some(slot(2)));
    assert_eq!((done.prefix_len, done.state_existed), (4, false));
    assert_eq!(all_pages(&tree), [pages(10, 0..2), pages(20, 2..3)]);
    assert_eq!((tree.kv_evictable(), tree.state_evictable()), (6, 2));
}

#[test]
fn a_second_state_for_a_prefix_stays_with_the_caller() {
    let mut tree = Tree::new(config(1, 1));
    let node = put(&mut tree, &[1, 2], 10, 1);
    let done = tree.insert(&[1, 2], 20, Some(slot(2)));
    assert!(done.state_existed && done.node == node);
    assert_eq!((tree.state(node), all_pages(&tree)), (Some(slot(1)), vec![pages(10, 0..2)]));

    let empty = tree.insert(&[], 30, Some(slot(3)));
    assert!(empty.state_existed && empty.node == NodeId::ROOT);
}

#[test]
fn branching_before_the_state_is_reported_only_by_the_old_release() {
    let build = |branching_beyond_state| {
        let mut tree = Tree::new(RadixConfig { branching_beyond_state, ..config(1, 4) });
        put(&mut tree, &[1, 2, 3, 4, 5], 10, 1);
        put(&mut tree, &[1, 2, 3, 4, 5, 6, 7, 8, 9], 20, 2);
        tree
    };
    // KV 7, state 5, grid 4: the last point on the grid within the KV is 4.
    let query = [1, 2, 3, 4, 5, 6, 7, 0];
    assert_eq!(build(true).match_prefix(&query).branching, None);
    assert_eq!(build(false).match_prefix(&query).branching, Some(4));
    let whole = [1, 2, 3, 4, 5];
    assert_eq!(build(false).match_prefix(&whole).branching, None);
    let beyond = [1, 2, 3, 4, 5, 6, 7, 8, 0];
    assert_eq!(build(true).match_prefix(&beyond).branching, Some(8));
}

#[test]
fn a_match_refreshes_its_path_but_not_the_kv_beyond_the_state() {
    let mut tree = Tree::new(config(1, 1));
    let short = put(&mut tree, &[1], 10, 1);
    let long = put(&mut tree, &[1, 2], 20, 2);
    let other = put(&mut tree, &[5], 30, 3);
    tree.match_prefix(&[1]);
    assert_eq!(tree.nodes_by_age(), [long, other, short]);
    assert_eq!(tree.states_by_age().collect::<Vec<_>>(), [long, other, short]);
    tree.match_prefix(&[1, 2]);
    assert_eq!(tree.nodes_by_age(), [other, short, long]);
    assert_eq!(tree.states_by_age().collect::<Vec<_>>(), [other, short, long]);
}

#[test]
fn a_split_refreshes_the_lower_state_until_0_5_18() {
    let order = |split_refreshes_state| {
        let mut tree = Tree::new(RadixConfig { split_refreshes_state, ..config(1, 1) });
        let first = put(&mut tree, &[1, 2], 10, 1);
        let second = put(&mut tree, &[5], 20, 2);
        tree.match_prefix(&[1, 9]);
        tree.check().unwrap();
        let states: Vec<NodeId> = tree.states_by_age().collect();
        states == [second, first]
    };
    assert!(order(true));
    assert!(!order(false));
}

#[test]
fn a_clone_is_independent() {
    let mut tree = Tree::new(config(1, 1));
    put(&mut tree, &[1, 2, 3], 10, 1);
    let copy = tree.clone();
    evict(&mut tree, 9, 9);
    assert_eq!((tree.node_count(), copy.node_count()), (0, 1));
    copy.check().unwrap();
}
