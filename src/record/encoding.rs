//! The canonical encoding of a state of a run, and its fingerprint. Two states with the same encoding have the same
//! future, up to the names of slots, batches and interchangeable requests.
//!
//! Owns the labels that replace these names: numbers in order of first use. Does not know which fields of a state must
//! be encoded: machine, tree and judge each encode their own.

use super::{BatchId, PageRange, Prefix, ReqId, SlotId};

/// The label of a request that is not alive.
const GONE: u32 = u32::MAX;
/// The word for `None`.
const NONE: u32 = u32::MAX - 1;

/// Slot labels from here on are positions in the free list.
const FREE_POSITIONS: u32 = 1 << 30;

/// The number of values of the first word of a content's name: see [`Encoding::content_name`].
pub const NAME_KINDS: u32 = 4;

/// The initial capacity, in words.
const WORDS_INITIAL: usize = 1024;

/// Names for the contents of slots and tree nodes. The judge implements it, since it knows the tokens of the requests
/// and the contents of the slots.
pub trait ContentNames {
    /// The first live request, in the order of labels, of whose tokens this content is a prefix.
    fn owner(&self, content: Prefix, encoding: &Encoding) -> Option<ReqId>;

    /// Writes the identity of a sequence that is no prefix of a live request: its stream, and the length at which each
    /// ancestor of the stream continues.
    fn put_sequence(&self, content: Prefix, out: &mut Encoding);

    /// Writes a slot of the free list and its position there. Writes nothing for a slot that is equivalent to one never
    /// used: no forward in flight uses it, and its content is not a prefix of any live request.
    fn put_free_slot(&self, slot: SlotId, position: u32, out: &mut Encoding);

    /// The donor of a slot of the tree, and whether the donor also wrote the slot last. `None` unless the slot was
    /// donated with this content and still holds it, no forward in flight uses it, and no finding is about it: then
    /// these two values encode the slot completely.
    fn intact_donation(&self, slot: SlotId, content: Prefix) -> Option<(ReqId, bool)>;

    /// Writes whether a request owns exactly these pages; if not, also the pages that it owns.
    fn put_pages(&self, pages: PageRange, req: ReqId, out: &mut Encoding);
}

/// An encoding in progress: the words so far and the labels assigned so far. One value is reused for many states:
/// [`Encoding::begin`] clears it.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// Little-endian words. The first `len` are the encoding; the rest is unused capacity.
    words: Vec<[u8; 4]>,
    len: usize,
    /// By request: the first member of its class of interchangeable requests; the request itself if it is alone.
    classes: Vec<u32>,
    /// Whether a content that is no prefix of a live request can still be matched later: some prompt contains tokens of
    /// another request.
    shares: bool,
    /// By class: the number of members with a label.
    used: Vec<u32>,
    /// By class: the numbers of members without a label that have not arrived, and that have ended.
    counts: Vec<[u32; 2]>,
    /// All classes.
    heads: Vec<u32>,
    /// By request: its label, or [`GONE`].
    reqs: Vec<u32>,
    /// Requests in the order of their labels.
    req_order: Vec<ReqId>,
    /// By slot: the round in which the label was assigned, and the label. Labels of earlier rounds are invalid.
    slots: Vec<(u32, u32)>,
    slot_order: Vec<SlotId>,
    round: u32,
    batches: Vec<BatchId>,
    /// Scratch memory of callers: a list to sort by key, with two numbers for each entry.
    pub sorted: Vec<(u128, [u32; 2])>,
    /// Scratch memory of callers: positions in the sorted list.
    pub ranks: Vec<u32>,
}

impl Encoding {
    /// An empty encoding, for runs whose requests have these classes and this value of [`Encoding::shares`].
    pub fn new(classes: Vec<u32>, shares: bool) -> Encoding {
        let count = classes.len();
        let heads = (0..).zip(&classes).filter(|&(index, &class)| index == class).map(|(_, &class)| class).collect();
        Encoding {
            words: vec![[0; 4]; WORDS_INITIAL],
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

    /// Clears words and labels.
    pub fn begin(&mut self) {
        self.len = 0;
        self.used.fill(0);
        self.reqs.fill(GONE);
        self.req_order.clear();
        self.slot_order.clear();
        self.batches.clear();
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            // After a wrap, labels of an old round would look valid.
            self.slots.clear();
            1
        });
    }

    /// Writes a number.
    #[inline]
    pub fn word(&mut self, word: u32) {
        self.put([word]);
    }

    /// Writes several numbers.
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

    /// Writes a boolean.
    #[inline]
    pub fn flag(&mut self, flag: bool) {
        self.word(u32::from(flag));
    }

    /// Writes a 64-bit number.
    #[inline]
    pub fn long(&mut self, long: u64) {
        self.put([long as u32, (long >> 32) as u32]);
    }

    /// Writes a number or `None`.
    #[inline]
    pub fn optional(&mut self, word: Option<u32>) {
        self.word(or_none(word));
    }

    /// Whether a content that is no prefix of a live request can still be matched later.
    pub fn shares(&self) -> bool {
        self.shares
    }

    /// Writes the label of a live request; assigns it if there is none.
    #[inline]
    pub fn put_req(&mut self, req: ReqId) {
        let label = self.label_req(req);
        self.word(label);
    }

    /// Returns the label of a live request; assigns it if there is none.
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

    /// Writes the label of a request, a fixed word if it is not alive, or `None`.
    #[inline]
    pub fn put_req_if_live(&mut self, req: Option<ReqId>) {
        self.word(self.label_if_live(req));
    }

    /// The label of a request, a fixed word if it is not alive, or the word for `None`.
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

    /// Whether every request is alone in its class.
    pub fn are_all_unlike(&self) -> bool {
        self.heads.len() == self.classes.len()
    }

    /// The class of a request.
    pub fn class(&self, req: ReqId) -> u32 {
        self.classes[req.index()]
    }

    /// Counts a member of a class without a label: `kind` 0 if it has not arrived, 1 if it has ended.
    pub fn count(&mut self, class: u32, kind: usize) {
        self.counts[class as usize][kind] += 1;
    }

    /// Writes the counts of every class, and resets them.
    pub fn put_counts(&mut self) {
        for at in 0..self.heads.len() {
            let [unseen, over] = std::mem::take(&mut self.counts[self.heads[at] as usize]);
            self.put([unseen << 16 | over]);
        }
    }

    /// The requests with labels, in the order of the labels.
    pub fn reqs(&self) -> &[ReqId] {
        &self.req_order
    }

    /// Writes the label of a slot, or `None`; assigns the label if there is none.
    #[inline]
    pub fn put_slot(&mut self, slot: Option<SlotId>) {
        let label = self.label_slot(slot);
        self.word(label);
    }

    /// Returns the label of a slot, or the word for `None`; assigns the label if there is none.
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

    /// Labels an unlabelled free slot by its position in the free list, and returns `None`: the caller must encode the
    /// slot now, since [`Encoding::slots`] does not list it. Returns the label of a slot that has one.
    #[inline]
    pub fn label_free(&mut self, slot: SlotId, position: u32) -> Option<u32> {
        if position >= FREE_POSITIONS {
            return Some(self.label_slot(Some(slot)));
        }
        let now = self.round;
        let (round, label) = self.slot_label(slot);
        if *round == now {
            return Some(*label);
        }
        (*round, *label) = (now, FREE_POSITIONS | position);
        None
    }

    /// The entry of a slot in the list of labels.
    #[inline]
    fn slot_label(&mut self, slot: SlotId) -> &mut (u32, u32) {
        if slot.index() >= self.slots.len() {
            self.slots.resize(slot.index() + 1, (0, 0));
        }
        &mut self.slots[slot.index()]
    }

    /// The slots with labels, in the order of the labels, without those of [`Encoding::label_free`].
    pub fn slots(&self) -> &[SlotId] {
        &self.slot_order
    }

    /// Writes the label of a batch; assigns it if there is none.
    #[inline]
    pub fn put_batch(&mut self, batch: BatchId) {
        let label = self.label_batch(batch);
        self.word(label);
    }

    /// Returns the label of a batch; assigns it if there is none.
    #[inline]
    pub fn label_batch(&mut self, batch: BatchId) -> u32 {
        let label = self.batches.iter().position(|&known| known == batch).unwrap_or_else(|| {
            self.batches.push(batch);
            self.batches.len() - 1
        });
        label as u32
    }

    /// Writes the name of a content.
    #[inline]
    pub fn put_content(&mut self, content: Prefix, names: &impl ContentNames) {
        let owner = names.owner(content, self);
        let name = self.content_name(content, owner);
        self.put(name);
        self.put_name_rest(name, content, names);
    }

    /// The first words of the name of a content. `owner` is [`ContentNames::owner`] of the content.
    ///
    /// The first word, below [`NAME_KINDS`], is the kind of name: 0 for the empty content; 1 for a prefix of a live
    /// request, with length and label; 2 for any other content that can still be matched, with its length, completed by
    /// [`Encoding::put_name_rest`]; 3 for a content that can never be matched again.
    #[inline]
    pub fn content_name(&self, content: Prefix, owner: Option<ReqId>) -> [u32; 3] {
        if content == Prefix::EMPTY {
            // Distinct from kind 3: a state that is extended from the empty content can become correct.
            [0; 3]
        } else if let Some(owner) = owner {
            [1, content.len, self.reqs[owner.index()]]
        } else if self.shares {
            [2, content.len, 0]
        } else {
            [3, 0, 0]
        }
    }

    /// Writes the part of a name that is not in the words of [`Encoding::content_name`].
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

    /// The 128-bit fingerprint of the words. Equal fingerprints are taken for equal words.
    pub fn fingerprint(&self) -> u128 {
        fingerprint(self.words())
    }

    /// Writes several numbers after growing the list.
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

/// The word for a number or `None`.
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
