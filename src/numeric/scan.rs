//! Prefill: the chunked scan. It computes the same states as the recurrence, in another order of operations.
//!
//! A run of tokens is cut into chunks from its start. Within a chunk, aligned blocks of 1, 2, 4, .. tokens are composed
//! in pairs. The map of a prefix of the chunk is its blocks composed from left to right; it is applied to the state
//! carried into the chunk. So the bits of a state depend on the tokens before it and on the starts of the scan and its
//! chunks, not on later tokens: a scan that is read and continued gives the same bits as a new scan.

use crate::record::Token;

use super::ssm::Weights;

/// A scan that can be read and continued.
#[derive(Clone, Debug)]
pub struct Scan {
    chunk_len: u32,
    /// The number of tokens scanned.
    len: u32,
    /// The state at the start of the present chunk.
    carry: Vec<f32>,
    /// The number of tokens of each block of the present chunk: descending powers of two.
    sizes: Vec<u32>,
    /// The map h -> A h + B of each block: A, then B.
    maps: Vec<f32>,
}

impl Scan {
    /// A scan that starts from `state`, in chunks of `chunk_len` tokens.
    ///
    /// # Panics
    /// If `chunk_len` is 0.
    pub fn new(state: &[f32], chunk_len: u32) -> Scan {
        assert!(chunk_len > 0, "chunks of no token");
        Scan { chunk_len, len: 0, carry: state.to_vec(), sizes: Vec::new(), maps: Vec::new() }
    }

    /// The number of tokens scanned so far.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether no token was scanned.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Scans one more token.
    pub fn push(&mut self, weights: &Weights, token: Token) {
        let (a, b) = weights.update(token);
        self.maps.extend_from_slice(a);
        self.maps.extend_from_slice(b);
        self.sizes.push(1);
        while let [.., left, right] = *self.sizes
            && left == right
        {
            self.compose_last_two();
        }
        self.len += 1;
        if self.len.is_multiple_of(self.chunk_len) {
            self.carry = self.state();
            self.sizes.clear();
            self.maps.clear();
        }
    }

    /// The state after the tokens scanned so far.
    pub fn state(&self) -> Vec<f32> {
        let dim = self.carry.len();
        let mut blocks = self.maps.chunks_exact(2 * dim);
        let Some(first) = blocks.next() else { return self.carry.clone() };
        let mut prefix = first.to_vec();
        for block in blocks {
            compose(&mut prefix, block);
        }
        let (a, b) = prefix.split_at(dim);
        self.carry.iter().zip(a).zip(b).map(|((h, a), b)| a * h + b).collect()
    }

    fn compose_last_two(&mut self) {
        let width = 2 * self.carry.len();
        let end = self.maps.len() - width;
        let (left, right) = self.maps.split_at_mut(end);
        compose(&mut left[end - width..], right);
        self.maps.truncate(end);
        let size = self.sizes.pop().unwrap_or(0);
        if let Some(last) = self.sizes.last_mut() {
            *last += size;
        }
    }
}

/// Composes two maps, first `left`, then `right`; the result goes to `left`.
fn compose(left: &mut [f32], right: &[f32]) {
    let dim = left.len() / 2;
    let (left_a, left_b) = left.split_at_mut(dim);
    let (right_a, right_b) = right.split_at(dim);
    for (((la, lb), ra), rb) in left_a.iter_mut().zip(left_b).zip(right_a).zip(right_b) {
        *lb = ra * *lb + rb;
        *la *= ra;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ssm;

    fn scanned(weights: &Weights, from: &[f32], chunk_len: u32, tokens: &[Token]) -> Vec<f32> {
        let mut scan = Scan::new(from, chunk_len);
        for &token in tokens {
            scan.push(weights, token);
        }
        scan.state()
    }

    fn recurred(weights: &Weights, from: &[f32], tokens: &[Token]) -> Vec<f32> {
        let mut state = from.to_vec();
        for &token in tokens {
            weights.step(&mut state, token);
        }
        state
    }

    #[test]
    fn the_scan_is_the_recurrence_but_for_rounding() {
        let weights = Weights::new(Ssm::default());
        let zero = vec![0.0; weights.dim()];
        let tokens: Vec<Token> = (0..200).map(|i| i * 7 + 3).collect();
        let mut noisy = 0;
        for chunk_len in [2, 3, 4, 6, 64, 256] {
            for len in [1, 5, 64, 199] {
                let scan = scanned(&weights, &zero, chunk_len, &tokens[..len]);
                let steps = recurred(&weights, &zero, &tokens[..len]);
                noisy += usize::from(scan != steps);
                let far = scan.iter().zip(&steps).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
                assert!(far < 2e-5, "chunk {chunk_len}, {len} tokens: {far}");
            }
        }
        assert!(noisy >= 16, "rounding shows: {noisy} of 24 differ");
        assert_eq!(
            scanned(&weights, &zero, 1, &tokens),
            recurred(&weights, &zero, &tokens),
            "a chunk of one is a step"
        );
    }

    #[test]
    fn reading_on_the_way_and_carrying_whole_chunks_changes_no_bit() {
        let weights = Weights::new(Ssm::default());
        let zero = vec![0.0; weights.dim()];
        let tokens: Vec<Token> = (0..60).map(|i| i * i + 1).collect();
        for chunk_len in [3, 4, 7, 64] {
            let mut scan = Scan::new(&zero, chunk_len);
            for (i, &token) in tokens.iter().enumerate() {
                scan.push(&weights, token);
                assert_eq!(scan.state(), scanned(&weights, &zero, chunk_len, &tokens[..=i]));
                assert_eq!(scan.len() as usize, i + 1);
            }
            let cut = 40 / chunk_len as usize * chunk_len as usize;
            let head = scanned(&weights, &zero, chunk_len, &tokens[..cut]);
            assert_eq!(scan.state(), scanned(&weights, &head, chunk_len, &tokens[cut..]));
        }
    }
}
