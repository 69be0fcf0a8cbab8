//! A state of a run written out in canonical words, and its fingerprint: two states with the same words have the same
//! future, but for the names of slots, batches and interchangeable requests.
//!
//! Owns the renaming: by order of first use. Who writes a state out decides what can matter later; this only makes sure
//! that numbers given by chance do not.

use super::{BatchId, PageRange, Prefix, ReqId, SlotId};

/// The label of a request that is not alive.
const GONE: u32 = u32::MAX;
/// The label of nothing.
const NONE: u32 = u32::MAX - 1;

/// Labels of slots from here on are places of the free list.
const PLACES: u32 = 1 << 30;

/// Ways to name a content.
pub const NAME_KINDS: u32 = 4;

/// Room for words in the beginning.
const ROOM: usize = 1024;

/// What the contents of slots and nodes are called: by whoever knows the tokens of the requests.
pub trait ContentNames {
    /// The live request whose first tokens these are, if there is one.
    fn owner(&self, content: Prefix, encoding: &Encoding) -> Option<ReqId>;

    /// Writes all that a sequence of no live request depends on: its stream, and where each ancestor of that goes on.
    fn put_sequence(&self, content: Prefix, out: &mut Encoding);

    /// Writes a slot at a place of the free list, but for one that is like one that was never used: no forward in flight uses it, and
    /// what it holds is the prefix of no request.
    fn put_free_slot(&self, slot: SlotId, place: u32, out: &mut Encoding);

    /// Whether a slot is the tree's and holds what it was donated as, which is this, and no forward in flight or
    /// earlier fault has to do with it. Who donated it, and whether that is who wrote it last, is all that is left to say.
    fn intact_donation(&self, slot: SlotId, content: Prefix) -> Option<(ReqId, bool)>;

    /// Writes whether a request owns these pages and no others, and if not, which.
    fn put_pages(&self, pages: PageRange, req: ReqId, out: &mut Encoding);
}

/// Words under way, with the labels given so far. One value serves many states: [`Encoding::begin`] clears it.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// Little-endian words, the first `len` of it: all else is room.
    words: Vec<[u8; 4]>,
    len: usize,
    /// By request: the first member of its class of interchangeable requests, itself if it has none.
    classes: Vec<u32>,
    /// Whether a state that no live request has a prefix of can still be of use: prompts are made of others' tokens.
    shares: bool,
    /// By class: how many members have a label.
    used: Vec<u32>,
    /// By class: members without a label, unseen and over.
    counts: Vec<[u32; 2]>,
    /// The classes that there are.
    heads: Vec<u32>,
    /// By request: its label.
    reqs: Vec<u32>,
    /// Requests in the order of their labels.
    req_order: Vec<ReqId>,
    /// By slot: the round in which it got its label, and the label.
    slots: Vec<(u32, u32)>,
    slot_order: Vec<SlotId>,
    round: u32,
    batches: Vec<BatchId>,
    /// Room for a list to be sorted: by key, two numbers of whoever sorts.
    pub sorted: Vec<(u128, [u32; 2])>,
    /// Room for the places in such a list.
    pub ranks: Vec<u32>,
}

impl Encoding {
    /// For runs of requests with these classes of interchangeable ones.
    pub fn new(classes: Vec<u32>, shares: bool) -> Encoding {
        let count = classes.len();
        let heads = (0..).zip(&classes).filter(|&(index, &class)| index == class).map(|(_, &class)| class).collect();
        Encoding {
            words: vec![[0; 4]; ROOM],
            len: 0,
            classes,
            shares,
            used: vec![0; count],
            counts: vec![[0; 2]; count],
            heads,
            reqs: vec![GONE; count],
            req_order: Vec::with_capacity(count),
            slots: Vec::new(),
            slot_order: Vec::new(),
            round: 0,
            batches: Vec::new(),
            sorted: Vec::new(),
            ranks: Vec::new(),
        }
    }

    /// Forgets words and labels.
    pub fn begin(&mut self) {
        self.len = 0;
        self.used.fill(0);
        self.reqs.fill(GONE);
        self.req_order.clear();
        self.slot_order.clear();
        self.batches.clear();
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            // A label of a round that comes again would be taken for one of now.
            self.slots.clear();
            1
        });
    }

    /// A number.
    #[inline]
    pub fn word(&mut self, word: u32) {
        self.put([word]);
    }

    /// Some numbers.
    #[inline]
    pub fn put<const N: usize>(&mut self, words: [u32; N]) {
        match self.words.get_mut(self.len..).and_then(<[_]>::first_chunk_mut::<N>) {
            Some(place) => {
                *place = words.map(u32::to_le_bytes);
                self.len += N;
            }
            None => self.put_and_grow(&words),
        }
    }

    /// A yes or no.
    #[inline]
    pub fn flag(&mut self, flag: bool) {
        self.word(u32::from(flag));
    }

    /// A long number.
    #[inline]
    pub fn long(&mut self, long: u64) {
        self.put([long as u32, (long >> 32) as u32]);
    }

    /// A number or nothing.
    #[inline]
    pub fn optional(&mut self, word: Option<u32>) {
        self.word(or_none(word));
    }

    /// Whether contents that no live request has a prefix of can still be of use.
    pub fn shares(&self) -> bool {
        self.shares
    }

    /// Gives a live request its label, if it has none, and writes that.
    #[inline]
    pub fn put_req(&mut self, req: ReqId) {
        let label = self.label_req(req);
        self.word(label);
    }

    /// Gives a live request its label, if it has none.
    #[inline]
    pub fn label_req(&mut self, req: ReqId) -> u32 {
        let index = req.index();
        if self.reqs[index] == GONE {
            let class = self.classes[index];
            let nth = self.used[class as usize];
            self.used[class as usize] += 1;
            self.reqs[index] = class | nth << 16;
            self.req_order.push(req);
        }
        self.reqs[index]
    }

    /// Writes the label of a request that may not be alive.
    #[inline]
    pub fn put_req_if_live(&mut self, req: Option<ReqId>) {
        self.word(self.label_if_live(req));
    }

    /// The label of a request that may not be alive.
    #[inline]
    pub fn label_if_live(&self, req: Option<ReqId>) -> u32 {
        req.map_or(NONE, |req| self.reqs[req.index()])
    }

    /// The label of a live request.
    pub fn label(&self, req: ReqId) -> u32 {
        self.reqs[req.index()]
    }

    /// Whether a request has a label.
    #[inline]
    pub fn is_live(&self, req: ReqId) -> bool {
        self.reqs.get(req.index()).is_some_and(|&label| label != GONE)
    }

    /// Whether no two requests are interchangeable.
    pub fn are_all_unlike(&self) -> bool {
        self.heads.len() == self.classes.len()
    }

    /// The class of a request.
    pub fn class(&self, req: ReqId) -> u32 {
        self.classes[req.index()]
    }

    /// Counts a member of a class that has no label: 0 for one that was not seen, 1 for one that is over.
    pub fn count(&mut self, class: u32, kind: usize) {
        self.counts[class as usize][kind] += 1;
    }

    /// Writes the counts of every class.
    pub fn put_counts(&mut self) {
        for at in 0..self.heads.len() {
            let [unseen, over] = std::mem::take(&mut self.counts[self.heads[at] as usize]);
            self.put([unseen << 16 | over]);
        }
    }

    /// The requests that have labels, in their order.
    pub fn reqs(&self) -> &[ReqId] {
        &self.req_order
    }

    /// Gives a slot its label, if it has none, and writes that.
    #[inline]
    pub fn put_slot(&mut self, slot: Option<SlotId>) {
        let label = self.label_slot(slot);
        self.word(label);
    }

    /// Gives a slot its label, if it has none.
    #[inline]
    pub fn label_slot(&mut self, slot: Option<SlotId>) -> u32 {
        let Some(slot) = slot else { return NONE };
        let (now, next) = (self.round, self.slot_order.len() as u32);
        let (round, label) = self.slot_label(slot);
        if *round == now {
            return *label;
        }
        (*round, *label) = (now, next);
        self.slot_order.push(slot);
        next
    }

    /// Calls a slot that has no label by its place in the free list: whoever asks writes all about it at once, and it is none of those
    /// that are left to be written. Otherwise returns its label.
    #[inline]
    pub fn label_free(&mut self, slot: SlotId, place: u32) -> Option<u32> {
        if place >= PLACES {
            return Some(self.label_slot(Some(slot)));
        }
        let now = self.round;
        let (round, label) = self.slot_label(slot);
        if *round == now {
            return Some(*label);
        }
        (*round, *label) = (now, PLACES | place);
        None
    }

    #[inline]
    fn slot_label(&mut self, slot: SlotId) -> &mut (u32, u32) {
        if slot.index() >= self.slots.len() {
            self.slots.resize(slot.index() + 1, (0, 0));
        }
        &mut self.slots[slot.index()]
    }

    /// The slots that have labels, in their order, but for those called by a place.
    pub fn slots(&self) -> &[SlotId] {
        &self.slot_order
    }

    /// Writes the label of a batch.
    #[inline]
    pub fn put_batch(&mut self, batch: BatchId) {
        let label = self.label_batch(batch);
        self.word(label);
    }

    /// The label of a batch.
    #[inline]
    pub fn label_batch(&mut self, batch: BatchId) -> u32 {
        let label = self.batches.iter().position(|&known| known == batch).unwrap_or_else(|| {
            self.batches.push(batch);
            self.batches.len() - 1
        });
        label as u32
    }

    /// Writes a content by its name.
    #[inline]
    pub fn put_content(&mut self, content: Prefix, names: &impl ContentNames) {
        let owner = names.owner(content, self);
        let name = self.content_name(content, owner);
        self.put(name);
        self.put_name_rest(name, content, names);
    }

    /// The name of a content of which it is known whether it is the prefix of a live request: that; otherwise, if it can be of
    /// use, how long it is, and if it cannot, that it is nothing. The first word, below [`NAME_KINDS`], tells which.
    /// [`Encoding::put_name_rest`] writes the rest of the name.
    #[inline]
    pub fn content_name(&self, content: Prefix, owner: Option<ReqId>) -> [u32; 3] {
        if content == Prefix::EMPTY {
            // Nothing folded: what is folded on may become right yet.
            [0; 3]
        } else if let Some(owner) = owner {
            [1, content.len, self.reqs[owner.index()]]
        } else if self.shares {
            [2, content.len, 0]
        } else {
            [3, 0, 0]
        }
    }

    /// Writes what the words of a name leave out.
    #[inline]
    pub fn put_name_rest(&mut self, name: [u32; 3], content: Prefix, names: &impl ContentNames) {
        if name[0] == 2 {
            names.put_sequence(content, self);
        }
    }

    /// The words so far, little-endian.
    pub fn words(&self) -> &[u8] {
        self.words[..self.len].as_flattened()
    }

    /// The fingerprint of the words: 128 bits, of which equal ones are taken for equal words.
    pub fn fingerprint(&self) -> u128 {
        fingerprint(self.words())
    }

    #[cold]
    fn put_and_grow(&mut self, words: &[u32]) {
        let end = self.len + words.len();
        self.words.resize(2 * end, [0; 4]);
        for (place, word) in self.words[self.len..end].iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        self.len = end;
    }
}

/// What stands for a number or nothing.
#[inline]
pub fn or_none(word: Option<u32>) -> u32 {
    word.unwrap_or(NONE)
}

/// A 128-bit fingerprint of some bytes.
pub fn fingerprint(bytes: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(write: impl Fn(&mut Encoding)) -> Vec<u8> {
        let mut encoding = Encoding::new(vec![0, 0, 2], false);
        encoding.begin();
        write(&mut encoding);
        encoding.words().to_vec()
    }

    #[test]
    fn slots_batches_and_interchangeable_requests_are_named_by_first_use() {
        let some = words(|encoding| {
            encoding.put_slot(Some(SlotId(7)));
            encoding.put_slot(Some(SlotId(3)));
            encoding.put_slot(Some(SlotId(7)));
            encoding.put_batch(BatchId(9));
            encoding.put_req(ReqId(1));
            encoding.put_req(ReqId(0));
        });
        let same = words(|encoding| {
            encoding.put_slot(Some(SlotId(1)));
            encoding.put_slot(Some(SlotId(2)));
            encoding.put_slot(Some(SlotId(1)));
            encoding.put_batch(BatchId(4));
            encoding.put_req(ReqId(0));
            encoding.put_req(ReqId(1));
        });
        assert_eq!(some, same);
        assert_ne!(words(|encoding| encoding.put_req(ReqId(2))), words(|encoding| encoding.put_req(ReqId(0))));
    }

    #[test]
    fn a_round_that_comes_again_knows_no_labels_of_before() {
        let mut encoding = Encoding::new(vec![0], false);
        encoding.begin();
        (0..3).for_each(|slot| encoding.put_slot(Some(SlotId(slot))));
        encoding.round = u32::MAX;
        encoding.begin();
        encoding.put_slot(Some(SlotId(2)));
        let mut fresh = Encoding::new(vec![0], false);
        fresh.begin();
        fresh.put_slot(Some(SlotId(2)));
        assert_eq!((encoding.words(), encoding.round), (fresh.words(), 1));
    }
}
