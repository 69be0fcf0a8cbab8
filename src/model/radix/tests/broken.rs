//! `Radix::check` refuses a tree with one broken invariant, whichever it is.

use super::*;
use crate::record::StreamId;

/// The nodes of the tree that is broken: an inner node without a state, and its children, both with a state. The last
/// one is locked.
type Nodes = [NodeId; 3];

/// Breaks one invariant.
type Break = fn(&mut Radix, Nodes);

fn whole() -> (Tree, Nodes) {
    let mut tree = Tree::new(config(2, 2));
    let leaf = put(&mut tree, &[1, 2, 3, 4], 1, 1);
    let locked = put(&mut tree, &[1, 2, 5, 6], 2, 2);
    let _held = tree.lock(locked);
    let inner = tree.node(leaf).parent;
    (tree, [inner, leaf, locked])
}

/// What `check` says, and a way to make it say so.
const BROKEN: [(&str, Break); 24] = [
    ("is reached twice", |tree, _| {
        tree.children.insert((NodeId::ROOT, StreamId::ROOT), NodeId::ROOT);
        tree.node_mut(NodeId::ROOT).child_count += 1;
    }),
    ("nodes reached", |tree, [inner, ..]| tree.nodes.push(Some(*tree.node(inner)))),
    ("no whole pages", |tree, [_, leaf, _]| tree.node_mut(leaf).prefix.len -= 1),
    ("key of the wrong length", |tree, [_, leaf, _]| tree.node_mut(leaf).prefix.len = 2),
    ("the root is locked", |tree, _| tree.node_mut(NodeId::ROOT).state = Some(slot(1))),
    ("the root is locked", |tree, _| tree.node_mut(NodeId::ROOT).kv_lock = 1),
    ("the root is locked", |tree, _| tree.node_mut(NodeId::ROOT).state_lock = 1),
    ("over KV lock", |tree, [_, _, locked]| tree.node_mut(locked).state_lock = 2),
    ("marked false", |tree, [_, leaf, _]| tree.node_mut(leaf).is_leaf = false),
    ("marked true", |tree, [inner, ..]| tree.node_mut(inner).is_leaf = true),
    ("filed false", |tree, _| tree.leaves.clear()),
    ("does not know its parent", |tree, [_, leaf, locked]| tree.node_mut(leaf).parent = locked),
    ("under another page", |tree, [_, leaf, locked]| tree.node_mut(leaf).key = tree.node(locked).key),
    ("does not begin where", |tree, [_, leaf, _]| tree.node_mut(leaf).start = 0),
    ("counts others", |tree, [inner, ..]| tree.node_mut(inner).child_count += 1),
    ("on its children", |tree, [inner, ..]| tree.node_mut(inner).kv_lock = 0),
    ("listed without a state", |tree, [_, leaf, _]| tree.node_mut(leaf).state = None),
    ("does not know its older", |tree, [_, _, locked]| tree.node_mut(locked).older = NodeId::ROOT),
    ("1 states listed, 2 owned", |tree, [_, _, locked]| {
        tree.node_mut(NodeId::ROOT).newer = locked;
        tree.node_mut(locked).older = NodeId::ROOT;
    }),
    ("2 states listed, 2 owned", |tree, [_, leaf, _]| tree.node_mut(NodeId::ROOT).older = leaf),
    ("a leaf is filed twice", |tree, [_, leaf, _]| {
        tree.leaves.insert((1000, leaf));
    }),
    ("one stamp", |tree, [inner, _, locked]| tree.node_mut(inner).accessed = tree.node(locked).accessed),
    ("counted as", |tree, _| tree.kv_protected += 1),
    ("counted as", |tree, _| tree.state_evictable += 1),
];

#[test]
fn a_tree_with_one_broken_invariant_is_refused() {
    let (tree, _) = whole();
    tree.check().unwrap();
    for (at, (words, breaks)) in BROKEN.into_iter().enumerate() {
        let (mut tree, nodes) = whole();
        breaks(&mut tree, nodes);
        let found = tree.check().expect_err(words);
        assert!(found.contains(words), "{at}: {found}, not {words}");
    }
}
