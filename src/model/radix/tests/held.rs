//! Eviction and locks: the order of victims, nodes that stay, and tombstones (nodes without a state).

use super::super::{Freed, Lock, NodeId, RadixConfig, TombstoneLock};
use super::{Tree, config, evict, pages, put, slot};

fn lock(tree: &mut Tree, node: NodeId) -> Lock {
    let lock = tree.lock(node);
    tree.check().unwrap();
    lock
}

fn unlock(tree: &mut Tree, lock: Lock) {
    tree.unlock(lock);
    tree.check().unwrap();
}

#[test]
fn state_eviction_leaves_tombstones_on_inner_nodes_and_takes_leaves_whole() {
    let mut tree = Tree::new(config(1, 1));
    let inner = put(&mut tree, &[1, 2], 10, 1);
    let leaf = put(&mut tree, &[1, 2, 3], 20, 2);
    let (gone, freed) = evict(&mut tree, 0, 1);
    assert_eq!((gone.kv_tokens, gone.states), (0, 1));
    assert_eq!(freed, Freed { slots: vec![slot(1)], pages: vec![] });
    assert_eq!((tree.state(inner), tree.state(leaf)), (None, Some(slot(2))));

    let (gone, freed) = evict(&mut tree, 0, 5);
    assert_eq!((gone.kv_tokens, gone.states), (1, 1));
    assert_eq!(freed, Freed { slots: vec![slot(2)], pages: vec![pages(20, 2..3)] });
    // The tombstone became a leaf and stays: only a lack of KV evicts it.
    assert_eq!((tree.node_count(), tree.match_prefix(&[1, 2]).kv_len), (1, 2));
    let (gone, freed) = evict(&mut tree, 1, 0);
    assert_eq!((gone.kv_tokens, freed.pages), (2, vec![pages(10, 0..2)]));
}

#[test]
fn kv_eviction_takes_the_oldest_leaf_and_then_its_parent_if_that_is_older() {
    let mut tree = Tree::new(config(1, 1));
    put(&mut tree, &[1], 10, 1);
    put(&mut tree, &[1, 2], 20, 2);
    put(&mut tree, &[5], 30, 3);
    let (gone, freed) = evict(&mut tree, 2, 0);
    assert_eq!((gone.kv_tokens, gone.states), (2, 2));
    assert_eq!(freed.slots, [slot(2), slot(1)]);
    assert_eq!(freed.pages, [pages(20, 1..2), pages(10, 0..1)]);
}

#[test]
fn locks_protect_the_path_and_one_state() {
    let mut tree = Tree::new(config(1, 1));
    let inner = put(&mut tree, &[1, 2], 10, 1);
    let leaf = put(&mut tree, &[1, 2, 3], 20, 2);
    let held = lock(&mut tree, leaf);
    assert_eq!((tree.kv_protected(), tree.kv_evictable()), (3, 0));
    assert_eq!((tree.state_protected(), tree.state_evictable()), (1, 1));
    let (gone, _) = evict(&mut tree, 9, 9);
    assert_eq!((gone.kv_tokens, gone.states), (0, 1));
    assert_eq!(tree.state(inner), None);

    // A split under the lock gives the upper half the KV lock and no state lock.
    tree.match_prefix(&[1]);
    tree.check().unwrap();
    unlock(&mut tree, held);
    assert_eq!((tree.kv_protected(), tree.state_protected()), (0, 0));
    let (gone, _) = evict(&mut tree, 9, 0);
    assert_eq!((gone.kv_tokens, tree.node_count()), (3, 0));
}

#[test]
fn a_kv_locked_leaf_may_lose_its_state_once_that_part_is_released() {
    let mut tree = Tree::new(RadixConfig { tombstone_lock: TombstoneLock::Count, ..config(1, 1) });
    let leaf = put(&mut tree, &[1, 2], 10, 1);
    let mut held = lock(&mut tree, leaf);
    assert_eq!(evict(&mut tree, 0, 1).0.states, 0);
    tree.release_state(&mut held);
    tree.release_state(&mut held);
    tree.check().unwrap();
    let (gone, freed) = evict(&mut tree, 9, 1);
    assert_eq!((gone.kv_tokens, gone.states, freed.slots), (0, 1, vec![slot(1)]));
    unlock(&mut tree, held);
    assert_eq!(tree.kv_evictable(), 2);
}

/// A tombstone is locked, then gets a state that a second request locks. Then the first request unlocks it.
fn protected_after_first_release(tombstone_lock: TombstoneLock, forget: bool) -> (u32, u32) {
    let mut tree = Tree::new(RadixConfig { tombstone_lock, ..config(1, 1) });
    let inner = put(&mut tree, &[1], 10, 1);
    put(&mut tree, &[1, 2], 20, 2);
    evict(&mut tree, 0, 1);
    let mut first = lock(&mut tree, inner);
    put(&mut tree, &[1], 30, 3);
    let before = tree.state_protected();
    let _second = lock(&mut tree, inner);
    if forget {
        first.forget_skip();
    }
    unlock(&mut tree, first);
    (before, tree.state_protected())
}

#[test]
fn releases_differ_on_the_lock_of_a_tombstone() {
    assert_eq!(protected_after_first_release(TombstoneLock::Steal, false), (0, 0));
    assert_eq!(protected_after_first_release(TombstoneLock::Skip, false), (0, 1));
    assert_eq!(protected_after_first_release(TombstoneLock::Skip, true), (0, 0));
    assert_eq!(protected_after_first_release(TombstoneLock::Count, false), (1, 1));
}
