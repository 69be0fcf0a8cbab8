//! The naive model: nodes keyed by their whole prefix, the two orders as plain lists, every lookup a scan of all nodes.
//! It shares no code with the tree.

use super::super::{Freed, RadixConfig, TombstoneLock};
use crate::record::{GrantId, PageRange, SlotId, Token};
use std::collections::BTreeMap;

pub(super) type TokenList = Vec<Token>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) pages: PageRange,
    pub(super) state: Option<SlotId>,
    pub(super) kv_lock: u32,
    pub(super) state_lock: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Naive {
    pub(super) config: RadixConfig,
    /// A node is the prefix at which it ends; its pages are those after its parent's end.
    pub(super) nodes: BTreeMap<TokenList, Entry>,
    /// Oldest first.
    pub(super) kv_order: Vec<TokenList>,
    pub(super) state_order: Vec<TokenList>,
}

fn to_end(order: &mut Vec<TokenList>, prefix: &TokenList) {
    order.retain(|other| other != prefix);
    order.push(prefix.clone());
}

impl Naive {
    pub(super) fn new(config: RadixConfig) -> Self {
        let (nodes, kv_order, state_order) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { config, nodes, kv_order, state_order }
    }

    fn page(&self) -> usize {
        self.config.page_size as usize
    }

    /// Ends of the nodes on the path of `tokens`, shortest first.
    fn path(&self, tokens: &[Token]) -> Vec<TokenList> {
        let mut ends: Vec<TokenList> = self.nodes.keys().filter(|end| tokens.starts_with(end)).cloned().collect();
        ends.sort_by_key(Vec::len);
        ends
    }

    /// Whole-page length of the longest prefix that `tokens` shares with any node.
    fn kv_len(&self, tokens: &[Token]) -> usize {
        let shared = |end: &TokenList| end.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        let longest = self.nodes.keys().map(shared).max().unwrap_or(0);
        longest / self.page() * self.page()
    }

    /// Makes `tokens[..len]` the end of a node, if it lies inside one.
    fn cut(&mut self, tokens: &[Token], len: usize) {
        let upper = tokens[..len].to_vec();
        if len == 0 || self.nodes.contains_key(&upper) {
            return;
        }
        let inside = self.nodes.keys().filter(|end| end.starts_with(&upper)).min_by_key(|e| e.len());
        let lower = inside.expect("the KV match ends in some node").clone();
        let entry = self.nodes.get_mut(&lower).unwrap();
        let cut = (len / self.config.page_size as usize) as u32;
        let pages = PageRange { to: cut, ..entry.pages };
        entry.pages.from = cut;
        let (kv_lock, has_state) = (entry.kv_lock, entry.state.is_some());
        self.nodes.insert(upper.clone(), Entry { pages, kv_lock, ..Entry::default() });
        to_end(&mut self.kv_order, &upper);
        to_end(&mut self.kv_order, &lower);
        if has_state && self.config.split_refreshes_state {
            to_end(&mut self.state_order, &lower);
        }
    }

    /// State length, KV length, state.
    pub(super) fn lookup(&mut self, tokens: &[Token]) -> (usize, usize, Option<SlotId>) {
        let tokens = &tokens[..tokens.len() / self.page() * self.page()];
        let kv_len = self.kv_len(tokens);
        self.cut(tokens, kv_len);
        let path = self.path(tokens);
        let best = path.iter().rfind(|end| self.nodes[*end].state.is_some()).cloned();
        let Some(best) = best else {
            return (0, kv_len, None);
        };
        to_end(&mut self.state_order, &best);
        for end in path.iter().filter(|end| end.len() <= best.len()) {
            to_end(&mut self.kv_order, end);
        }
        (best.len(), kv_len, self.nodes[&best].state)
    }

    /// Length found before, and whether the state existed.
    pub(super) fn insert(&mut self, tokens: &[Token], grant: GrantId, state: SlotId) -> (usize, bool) {
        if tokens.is_empty() {
            return (0, true);
        }
        let kv_len = self.kv_len(tokens);
        for end in self.path(tokens) {
            to_end(&mut self.kv_order, &end);
        }
        self.cut(tokens, kv_len);
        let key = tokens.to_vec();
        if kv_len < tokens.len() {
            let [from, to] = [kv_len, tokens.len()].map(|len| (len / self.page()) as u32);
            let pages = PageRange { grant, from, to };
            self.nodes.insert(key.clone(), Entry { pages, ..Entry::default() });
        }
        to_end(&mut self.kv_order, &key);
        to_end(&mut self.state_order, &key);
        let entry = self.nodes.get_mut(&key).unwrap();
        let existed = entry.state.is_some();
        entry.state.get_or_insert(state);
        (kv_len, existed)
    }

    /// Whether the lock, when released, leaves the state lock alone.
    pub(super) fn lock(&mut self, at: &TokenList) -> bool {
        for end in self.path(at) {
            self.nodes.get_mut(&end).unwrap().kv_lock += 1;
        }
        let Some(entry) = self.nodes.get_mut(at) else {
            return true;
        };
        let tombstone = entry.state.is_none();
        if !tombstone || self.config.tombstone_lock == TombstoneLock::Count {
            entry.state_lock += 1;
        }
        tombstone && self.config.tombstone_lock == TombstoneLock::Skip
    }

    pub(super) fn release_state(&mut self, at: &TokenList) {
        if let Some(entry) = self.nodes.get_mut(at) {
            entry.state_lock = entry.state_lock.saturating_sub(1);
        }
    }

    pub(super) fn unlock_kv(&mut self, at: &TokenList) {
        for end in self.path(at) {
            self.nodes.get_mut(&end).unwrap().kv_lock -= 1;
        }
    }

    fn may_go_whole(&self, end: &TokenList) -> bool {
        let entry = &self.nodes[end];
        let below = self.nodes.keys().filter(|other| other.starts_with(end)).count();
        below == 1 && entry.kv_lock == 0 && entry.state_lock == 0
    }

    /// Tokens of KV and states removed.
    fn drop_leaf(&mut self, end: &TokenList, out: &mut Freed) -> (usize, usize) {
        let entry = self.nodes.remove(end).unwrap();
        self.kv_order.retain(|other| other != end);
        self.state_order.retain(|other| other != end);
        out.pages.push(entry.pages);
        out.slots.extend(entry.state);
        (entry.pages.count() as usize * self.page(), usize::from(entry.state.is_some()))
    }

    pub(super) fn evict(&mut self, kv: usize, states: usize, out: &mut Freed) -> (usize, usize) {
        let (mut kv_gone, mut states_gone) = (0, 0);
        while kv_gone < kv {
            let oldest = self.kv_order.iter().find(|end| self.may_go_whole(end)).cloned();
            let Some(end) = oldest else { break };
            let (tokens, count) = self.drop_leaf(&end, out);
            kv_gone += tokens;
            states_gone += count;
        }
        while states_gone < states {
            let free = |end: &&TokenList| self.nodes[*end].state_lock == 0;
            let Some(end) = self.state_order.iter().find(free).cloned() else {
                break;
            };
            if self.may_go_whole(&end) {
                kv_gone += self.drop_leaf(&end, out).0;
            } else {
                out.slots.extend(self.nodes.get_mut(&end).unwrap().state.take());
                self.state_order.retain(|other| *other != end);
            }
            states_gone += 1;
        }
        (kv_gone, states_gone)
    }
}
