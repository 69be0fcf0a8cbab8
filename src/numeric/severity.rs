//! The results of the gauge: for each cache hit, the distance of its outputs from the outputs after a cold prefill.

use crate::record::ReqId;

/// The comparison of one cache hit with a cold prefill.
#[derive(Clone, Debug, PartialEq)]
pub struct HitKl {
    /// The request that started from the cache.
    pub req: ReqId,
    /// The turn in which its prefill was launched.
    pub turn: u32,
    /// The length under which the state was cached.
    pub label: u32,
    /// Whether the slot held the state of exactly that prefix of the request.
    pub source_right: bool,
    /// The number of outputs compared. Only outputs that the request kept count.
    pub positions: u32,
    /// The sum of their KL divergences, in nats.
    pub sum: f64,
    /// The largest of them; 0 without positions.
    pub max: f64,
    /// The first output, counted from 1, whose most likely token differs.
    pub first_difference: Option<u32>,
}

/// An output whose most likely token differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// The request.
    pub req: ReqId,
    /// Its number, counted from 1.
    pub output: u32,
}

/// The comparisons of all cache hits of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Severity {
    /// The hits, in the order of their launches.
    pub hits: Vec<HitKl>,
    /// The first output of the run, in the order of results, whose most likely token differs from that after a cold
    /// prefill.
    pub first_difference: Option<FirstDifference>,
}

impl HitKl {
    /// A hit without compared outputs.
    pub(super) fn new(req: ReqId, label: u32, source_right: bool) -> HitKl {
        HitKl { req, turn: 0, label, source_right, positions: 0, sum: 0.0, max: 0.0, first_difference: None }
    }

    /// The average over its positions, in nats.
    pub fn avg(&self) -> Option<f64> {
        (self.positions > 0).then(|| self.sum / f64::from(self.positions))
    }

    /// The largest over its positions, in nats.
    pub fn max(&self) -> Option<f64> {
        (self.positions > 0).then_some(self.max)
    }
}

impl Severity {
    /// The number of outputs compared, over all hits.
    pub fn positions(&self) -> u64 {
        self.hits.iter().map(|hit| u64::from(hit.positions)).sum()
    }

    /// The average over all positions of all hits, in nats; `None` without positions.
    pub fn avg(&self) -> Option<f64> {
        let positions = self.positions();
        (positions > 0).then(|| self.hits.iter().map(|hit| hit.sum).sum::<f64>() / positions as f64)
    }

    /// The largest over all positions of all hits, in nats; `None` without positions.
    pub fn max(&self) -> Option<f64> {
        self.hits.iter().filter_map(HitKl::max).reduce(f64::max)
    }

    /// The number of hits whose source did not hold the state that its label names.
    pub fn wrong_sources(&self) -> usize {
        self.hits.iter().filter(|hit| !hit.source_right).count()
    }

    /// Adds one output of a hit.
    pub(super) fn add(&mut self, hit: usize, output: u32, kl: f64, differs: bool) {
        let hit = &mut self.hits[hit];
        hit.positions += 1;
        hit.sum += kl;
        hit.max = hit.max.max(kl);
        if differs {
            hit.first_difference.get_or_insert(output);
            self.first_difference.get_or_insert(FirstDifference { req: hit.req, output });
        }
    }
}
