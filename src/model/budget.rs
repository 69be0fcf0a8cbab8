//! The admission budget: the tokens that a prefill batch may take, and the share of outputs for which it reserves KV.
//!
//! This is the only floating point of the machine. The real scheduler computes its budget in IEEE doubles, and
//! comparisons at the limit depend on their rounding. The same basic operations in the same order round alike on every
//! machine.

/// Requests asking for more outputs than this are budgeted as if they asked for this (`CLIP_MAX_NEW_TOKENS`,
/// `schedule_policy.py`).
pub const CLIP_MAX_NEW: u32 = 4096;

/// Steps of decode that a retraction makes room for (`SGLANG_RETRACT_DECODE_STEPS`).
pub const RETRACT_DECODE_STEPS: u32 = 20;

/// The share of the remaining outputs of running requests that is reserved (`NewTokenRatioTracker`). It starts at 0.7,
/// decays to 14 % of that over 600 decode steps, and is estimated anew at a retraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenRatio {
    /// The share now.
    pub current: f64,
    min: f64,
    decay: f64,
}

impl TokenRatio {
    /// The share at start, scaled by `conservativeness`.
    pub fn new(conservativeness: f64) -> Self {
        let init = (0.7 * conservativeness).min(1.0);
        let min = (init * 0.14).min(1.0);
        TokenRatio { current: init, min, decay: (init - min) / 600.0 }
    }

    /// The part of the state that can differ between two states of a run.
    pub fn encode(&self) -> u64 {
        // The setup fixes its minimum and its decay.
        let TokenRatio { current, min: _, decay: _ } = self;
        current.to_bits()
    }

    /// One decode step without retraction.
    pub fn decay_step(&mut self) {
        self.current = (self.current - self.decay).max(self.min);
    }

    /// Estimates anew from the outputs of the requests that stay: their sum, how many, and the sum of `max_new`.
    pub fn after_retract(&mut self, outputs: u64, requests: u64, max_new: u64) {
        let decoded = (outputs + u64::from(RETRACT_DECODE_STEPS) * requests) as f64;
        self.current = (decoded / (max_new + 1) as f64).min(1.0);
    }
}

/// Whether admission continues after a request, or why it stops (`AddReqResult`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddReqResult {
    /// There is room for another request.
    Continue,
    /// KV is short.
    NoToken,
    /// Another limit is reached.
    Other,
}

/// The remaining budget of one prefill batch (`PrefillAdder`).
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    page_size: u32,
    total_offset: f64,
    current_offset: i64,
    input_left: i64,
    chunk_left: Option<i64>,
    admitted: u32,
}

/// The limits of one prefill batch, in tokens.
#[derive(Clone, Copy, Debug)]
pub struct PrefillLimits {
    /// Tokens of a KV page.
    pub page_size: u32,
    /// Most prompt tokens.
    pub max_prefill_tokens: u32,
    /// Most prompt tokens with chunked prefill on.
    pub chunk: Option<u32>,
    /// Decode rows of a mixed batch.
    pub mixed_rows: u32,
}

impl Budget {
    /// A budget within `limits`, less the reservation of each running request: its remaining outputs times its share.
    /// The number of remaining outputs is negative for a finished request whose last verify exceeded its limit, and
    /// lowers the sum.
    pub fn new(limits: PrefillLimits, running: impl Iterator<Item = (i64, f64)>) -> Self {
        let reserved = running.fold(0.0, |sum, (left, ratio)| sum + left.min(CLIP_MAX_NEW.into()) as f64 * ratio);
        let mixed = i64::from(limits.mixed_rows);
        Budget {
            page_size: limits.page_size,
            total_offset: mixed as f64 + reserved,
            current_offset: mixed,
            input_left: i64::from(limits.max_prefill_tokens) - mixed,
            chunk_left: limits.chunk.map(|chunk| i64::from(chunk) - mixed),
            admitted: 0,
        }
    }

    /// Whether the KV of a request with `extend_len` new prompt tokens and at most `max_new` more outputs fits. `room`
    /// is free plus evictable tokens.
    pub fn fits(&self, extend_len: u32, max_new: u32, room: u32) -> bool {
        let total = i64::from(extend_len) + i64::from(max_new.min(CLIP_MAX_NEW)) + i64::from(self.page_size);
        (total as f64) < f64::from(room) - self.total_offset
    }

    /// Whether `extend_len` fits into the limit on prompt tokens of a batch. The first request always fits.
    pub fn input_fits(&self, extend_len: u32) -> bool {
        self.chunk_left.is_some() || self.admitted == 0 || self.paged(extend_len) < self.input_left
    }

    /// How many of the `extend_len` new tokens after `prefix_len` fit into the chunk: all of them, a part that ends on
    /// a page, or `None`.
    pub fn chunk(&self, prefix_len: u32, extend_len: u32) -> Option<u32> {
        let Some(left) = self.chunk_left.filter(|&left| self.paged(extend_len) > left) else { return Some(extend_len) };
        let page = i64::from(self.page_size);
        let end = (i64::from(prefix_len) + left.div_euclid(page) * page) / page * page;
        let part = end - i64::from(prefix_len);
        if left < page || part <= 0 { None } else { Some(part as u32) }
    }

    /// How many of the remaining `extend_len` tokens of a request in chunks go into this batch. The request continues
    /// even without room (`add_chunked_req`).
    pub fn next_chunk(&self, extend_len: u32, room: u32) -> u32 {
        let Some(chunk) = self.chunk_left else { return extend_len };
        let total = (f64::from(room) - self.total_offset).trunc() as i64;
        let left = if chunk.min(total) <= 0 { chunk } else { chunk.min(total) };
        extend_len.min(left.max(0) as u32)
    }

    /// Takes the tokens of an admitted request from the budget.
    pub fn take(&mut self, extend_len: u32, max_new: u32) {
        let extend = self.paged(extend_len);
        let page = i64::from(self.page_size);
        self.total_offset += (extend + i64::from(max_new.min(CLIP_MAX_NEW)) + page) as f64;
        self.current_offset += extend + page;
        self.input_left -= extend;
        if let Some(left) = &mut self.chunk_left {
            *left -= extend;
        }
        self.admitted += 1;
    }

    /// Whether another request may be tried (`budget_state`).
    pub fn state(&self, room: u32) -> AddReqResult {
        if f64::from(room) - self.total_offset <= 0.0 || i64::from(room) - self.current_offset <= 0 {
            AddReqResult::NoToken
        } else if self.input_left <= 0 || self.chunk_left.is_some_and(|left| left <= 0) {
            AddReqResult::Other
        } else {
            AddReqResult::Continue
        }
    }

    fn paged(&self, tokens: u32) -> i64 {
        i64::from(tokens.div_ceil(self.page_size)) * i64::from(self.page_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_decays_to_its_floor() {
        let mut ratio = TokenRatio::new(1.0);
        assert_eq!(ratio.current, 0.7);
        for _ in 0..700 {
            ratio.decay_step();
        }
        assert!((ratio.current - 0.098).abs() < 1e-12);
        ratio.after_retract(10, 2, 99);
        assert_eq!(ratio.current, 0.5);
    }

    #[test]
    fn the_first_request_is_taken_whatever_its_length() {
        let limits = PrefillLimits { page_size: 1, max_prefill_tokens: 8, chunk: None, mixed_rows: 0 };
        let mut budget = Budget::new(limits, [(10, 0.5), (5000, 0.5)].into_iter());
        assert!(budget.input_fits(100));
        assert!(budget.fits(100, 10, 2165) && !budget.fits(100, 10, 2164));
        budget.take(100, 10);
        assert!(!budget.input_fits(1));
        assert_eq!(budget.state(4000), AddReqResult::Other);
        assert_eq!(budget.state(2000), AddReqResult::NoToken);
    }

    #[test]
    fn outputs_beyond_the_limit_lower_the_reservation() {
        let limits = PrefillLimits { page_size: 1, max_prefill_tokens: 100, chunk: None, mixed_rows: 0 };
        let exact = Budget::new(limits, [(10, 1.0), (0, 1.0)].into_iter());
        let beyond = Budget::new(limits, [(10, 1.0), (-1, 1.0)].into_iter());
        assert!(!exact.fits(5, 5, 21) && beyond.fits(5, 5, 21));
    }

    #[test]
    fn a_prompt_longer_than_the_chunk_is_cut_on_a_page() {
        let limits = PrefillLimits { page_size: 4, max_prefill_tokens: 100, chunk: Some(10), mixed_rows: 1 };
        let mut budget = Budget::new(limits, std::iter::empty());
        assert_eq!(budget.chunk(0, 8), Some(8));
        assert_eq!(budget.chunk(0, 9), Some(8), "nine tokens are three pages, the budget has room for two");
        budget.take(8, 0);
        assert_eq!((budget.chunk(0, 1), budget.state(1000)), (None, AddReqResult::Continue));
        assert_eq!((budget.next_chunk(20, 1000), budget.next_chunk(20, 0)), (1, 1));
    }
}
