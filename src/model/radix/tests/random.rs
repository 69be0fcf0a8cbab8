//! Random operations on the tree and on the naive model: equal answers, equal contents, equal
//! orders, and a clean check, after every one.

use super::super::{Freed, Lock, NodeId, RadixConfig, TombstoneLock};
use super::Tree;
use super::naive::{Entry, Naive, TokenList};
use crate::record::{GrantId, SlotId, Token};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Op {
    Insert {
        tokens: Vec<Token>,
    },
    Match {
        tokens: Vec<Token>,
        lock: bool,
    },
    /// Locks some node, with or without a state.
    Lock {
        pick: usize,
    },
    Unlock {
        pick: usize,
    },
    ReleaseState {
        pick: usize,
    },
    Evict {
        kv: u32,
        states: u32,
    },
}

/// Two tokens and short keys, so that prefixes are shared and nodes split often.
fn op() -> impl Strategy<Value = Op> {
    let tokens = || prop::collection::vec(0..2_u32, 0..14);
    prop_oneof![
        4 => tokens().prop_map(|tokens| Op::Insert { tokens }),
        4 => (tokens(), any::<bool>()).prop_map(|(tokens, lock)| Op::Match { tokens, lock }),
        1 => any::<usize>().prop_map(|pick| Op::Lock { pick }),
        2 => any::<usize>().prop_map(|pick| Op::Unlock { pick }),
        1 => any::<usize>().prop_map(|pick| Op::ReleaseState { pick }),
        1 => (0..4_u32, 0..3_u32).prop_map(|(kv, states)| Op::Evict { kv, states }),
    ]
}

fn config() -> impl Strategy<Value = RadixConfig> {
    let tombstone_lock = prop_oneof![Just(TombstoneLock::Steal), Just(TombstoneLock::Skip), Just(TombstoneLock::Count)];
    (1..4_u32, 1..5_u32, any::<bool>(), any::<bool>(), tombstone_lock).prop_map(
        |(page_size, state_chunk, beyond, refreshes, tombstone_lock)| RadixConfig {
            page_size,
            state_chunk,
            branching_beyond_state: beyond,
            split_refreshes_state: refreshes,
            tombstone_lock,
        },
    )
}

struct Pair {
    tree: Tree,
    naive: Naive,
    locks: Vec<(Lock, TokenList, bool)>,
    next_id: u32,
}

impl Pair {
    fn fresh(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }

    /// The whole prefix of every node.
    fn prefixes(&self) -> BTreeMap<NodeId, TokenList> {
        self.tree.walk().map(|view| (view.id, self.tree.streams.tokens(view.prefix))).collect()
    }

    fn prefix(&self, node: NodeId) -> TokenList {
        self.prefixes().remove(&node).expect("a live node")
    }

    fn take_lock(&mut self, node: NodeId) {
        let prefix = self.prefix(node);
        let skip = self.naive.lock(&prefix);
        self.locks.push((self.tree.lock(node), prefix, skip));
    }

    fn apply(&mut self, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Insert { tokens } => self.insert(tokens),
            Op::Match { tokens, lock } => self.lookup(&tokens, lock),
            Op::Lock { pick } => {
                let nodes: Vec<NodeId> = self.tree.walk().map(|view| view.id).collect();
                self.take_lock(nodes[pick % nodes.len()]);
                Ok(())
            }
            Op::Unlock { pick } if !self.locks.is_empty() => {
                let (lock, prefix, skip) = self.locks.swap_remove(pick % self.locks.len());
                if !skip {
                    self.naive.release_state(&prefix);
                }
                self.naive.unlock_kv(&prefix);
                self.tree.unlock(lock);
                Ok(())
            }
            Op::ReleaseState { pick } if !self.locks.is_empty() => {
                let at = pick % self.locks.len();
                let (lock, prefix, skip) = &mut self.locks[at];
                if !std::mem::replace(skip, true) {
                    self.naive.release_state(prefix);
                }
                self.tree.release_state(lock);
                Ok(())
            }
            Op::Unlock { .. } | Op::ReleaseState { .. } => Ok(()),
            Op::Evict { kv, states } => self.evict(kv, states),
        }
    }

    fn insert(&mut self, mut tokens: Vec<Token>) -> Result<(), TestCaseError> {
        let page_size = self.tree.config().page_size as usize;
        tokens.truncate(tokens.len() / page_size * page_size);
        let (grant, state) = (self.fresh(), SlotId(self.fresh()));
        let done = self.tree.insert(&tokens, grant, Some(state));
        let wanted = self.naive.insert(&tokens, GrantId(grant), state);
        prop_assert_eq!((done.prefix_len as usize, done.state_existed), wanted);
        prop_assert_eq!(self.prefix(done.node), tokens);
        Ok(())
    }

    fn lookup(&mut self, tokens: &[Token], lock: bool) -> Result<(), TestCaseError> {
        let found = self.tree.match_prefix(tokens);
        let (state_len, kv_len, state) = self.naive.lookup(tokens);
        prop_assert_eq!(found.state_len as usize, state_len);
        prop_assert_eq!((found.kv_len as usize, found.state), (kv_len, state));
        prop_assert_eq!(self.prefix(found.node), &tokens[..state_len]);
        let grid = self.tree.config().state_chunk;
        if let Some(branching) = found.branching {
            prop_assert!(branching % grid == 0 && branching > 0 && branching <= found.kv_len);
        }
        if lock {
            self.take_lock(found.node);
        }
        Ok(())
    }

    fn evict(&mut self, kv: u32, states: u32) -> Result<(), TestCaseError> {
        let (mut freed, mut expected) = (Freed::default(), Freed::default());
        let gone = self.tree.evict(kv, states, &mut freed);
        let wanted = self.naive.evict(kv as usize, states as usize, &mut expected);
        prop_assert_eq!((gone.kv_tokens as usize, gone.states as usize), wanted);
        prop_assert_eq!(freed, expected);
        Ok(())
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        self.tree.check().map_err(TestCaseError::fail)?;
        let prefixes = self.prefixes();
        let mut nodes = BTreeMap::new();
        for view in self.tree.walk().skip(1) {
            let entry =
                Entry { pages: view.pages, state: view.state, kv_lock: view.kv_lock, state_lock: view.state_lock };
            nodes.insert(prefixes[&view.id].clone(), entry);
        }
        prop_assert_eq!(&nodes, &self.naive.nodes);
        let kv_order: Vec<&TokenList> = self.tree.nodes_by_age().iter().map(|id| &prefixes[id]).collect();
        prop_assert_eq!(kv_order, self.naive.kv_order.iter().collect::<Vec<_>>());
        let state_order: Vec<&TokenList> = self.tree.states_by_age().map(|id| &prefixes[&id]).collect();
        prop_assert_eq!(state_order, self.naive.state_order.iter().collect::<Vec<_>>());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tree_is_the_naive_model(config in config(), ops in prop::collection::vec(op(), 1..100)) {
        let (tree, naive) = (Tree::new(config), Naive::new(config));
        let mut pair = Pair { tree, naive, locks: Vec::new(), next_id: 1 };
        for op in ops {
            pair.apply(op)?;
            pair.compare()?;
        }
    }
}
