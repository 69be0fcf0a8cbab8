//! Latencies and throughput of a run, measured from its facts. Memory grows with requests, not with outputs.

use serde::Serialize;

use crate::engine::Time;
use crate::record::{Fact, ReqId, RequestFact, RowFacts, RunFact, Sink};

/// Quantiles over requests by nearest rank, in ns; `None` where no request has the measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// The median.
    pub p50: Option<u64>,
    /// The value that 90 % do not exceed.
    pub p90: Option<u64>,
    /// The value that 99 % do not exceed.
    pub p99: Option<u64>,
}

impl Quantiles {
    /// The quantiles of some values.
    pub fn of(mut values: Vec<u64>) -> Quantiles {
        values.sort_unstable();
        let at = |percent: usize| nearest_rank(&values, percent);
        Quantiles { p50: at(50), p90: at(90), p99: at(99) }
    }
}

/// Latencies and throughput of a run, in virtual time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timing {
    /// From zero to the end of the run.
    pub makespan_ns: u64,
    /// Arrival to first output.
    pub ttft_ns: Quantiles,
    /// Time per output token: first output to last, over outputs less one, of finished requests with several outputs.
    /// Outputs appended behind the end of a request are not delivered and do not count.
    pub tpot_ns: Quantiles,
    /// Arrival to last output, of finished requests.
    pub e2e_ns: Quantiles,
    /// Outputs over the makespan, per second, rounded to one decimal; zero if no time passed.
    pub output_tokens_per_s: f64,
    /// Outputs of all requests.
    pub output_tokens: u64,
}

/// A sink that measures a run.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    lives: Vec<Lifetime>,
    output_tokens: u64,
    end_ns: u64,
}

/// The times of one request.
#[derive(Clone, Copy, Debug, Default)]
struct Lifetime {
    arrived_ns: Option<u64>,
    first_ns: Option<u64>,
    last_ns: u64,
    outputs: u32,
    finished: bool,
}

impl Meter {
    /// An empty meter.
    pub fn new() -> Meter {
        Meter::default()
    }

    /// The measurement so far.
    pub fn timing(&self) -> Timing {
        Timing {
            makespan_ns: self.end_ns,
            ttft_ns: self.quantiles(Lifetime::ttft_ns),
            tpot_ns: self.quantiles(Lifetime::tpot_ns),
            e2e_ns: self.quantiles(Lifetime::e2e_ns),
            output_tokens_per_s: per_second(self.output_tokens, self.end_ns),
            output_tokens: self.output_tokens,
        }
    }

    fn quantiles(&self, measure: fn(&Lifetime) -> Option<u64>) -> Quantiles {
        Quantiles::of(self.lives.iter().filter_map(measure).collect())
    }

    #[inline]
    fn output(&mut self, req: ReqId, outputs: u32, at: Time) {
        self.end_ns = self.end_ns.max(at.ns());
        self.output_tokens += u64::from(self.life(req).output(outputs, at.ns()));
    }

    /// A request ended after this many outputs. Outputs that a verify appended behind the end are taken back.
    fn finish(&mut self, req: ReqId, outputs: u32) {
        let life = self.life(req);
        let behind = life.outputs.saturating_sub(outputs);
        life.outputs -= behind;
        life.finished = true;
        self.output_tokens -= u64::from(behind);
    }

    #[inline]
    fn life(&mut self, req: ReqId) -> &mut Lifetime {
        let index = req.index();
        if index >= self.lives.len() {
            self.lives.resize(index + 1, Lifetime::default());
        }
        &mut self.lives[index]
    }
}

impl Sink for Meter {
    #[inline(always)]
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Request(RequestFact::Output { req, outputs, at, .. }) => self.output(req, outputs, at),
            Fact::Request(RequestFact::Arrive { req, at, .. }) => {
                self.life(req).arrived_ns.get_or_insert(at.ns());
            }
            Fact::Request(RequestFact::Finish { req, outputs, .. }) => self.finish(req, outputs),
            // A run that an assertion ends has no end of its own: the last that happened will do.
            Fact::Run(
                RunFact::End { at } | RunFact::Turn { at, .. } | RunFact::Wait { at, .. } | RunFact::Done { at },
            ) => self.end_ns = self.end_ns.max(at.ns()),
            _ => {}
        }
    }

    fn rows(&mut self, rows: RowFacts<'_>) {
        match rows {
            RowFacts::Results(_, rows) => rows.iter().for_each(|row| self.output(row.req, row.outputs, row.at)),
            RowFacts::SlotsAlloc(..)
            | RowFacts::SlotsFree(..)
            | RowFacts::PagesAlloc(_)
            | RowFacts::Prepared(..)
            | RowFacts::Stepped(..) => {}
        }
    }
}

impl Lifetime {
    /// A request has this many outputs at this time. Returns the number of new ones: a verify adds several.
    #[inline]
    fn output(&mut self, outputs: u32, at_ns: u64) -> u32 {
        // A retracted request keeps its outputs, so a count that does not grow was seen before.
        let new = outputs.saturating_sub(self.outputs);
        if new > 0 {
            self.outputs = outputs;
            self.first_ns.get_or_insert(at_ns);
            self.last_ns = at_ns;
        }
        new
    }

    fn ttft_ns(&self) -> Option<u64> {
        Some(self.first_ns?.saturating_sub(self.arrived_ns?))
    }

    fn tpot_ns(&self) -> Option<u64> {
        let steps = u64::from(self.outputs.checked_sub(1)?);
        (self.last_ns - self.first_ns?).checked_div(steps).filter(|_| self.finished)
    }

    fn e2e_ns(&self) -> Option<u64> {
        let (Some(arrived_ns), Some(_), true) = (self.arrived_ns, self.first_ns, self.finished) else { return None };
        Some(self.last_ns.saturating_sub(arrived_ns))
    }
}

/// The smallest value that `percent` of all values do not exceed.
fn nearest_rank(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

/// Tokens per second, rounded to one decimal in integers, so that every machine prints the same digits.
pub(super) fn per_second(tokens: u64, ns: u64) -> f64 {
    let (tokens, ns) = (u128::from(tokens), u128::from(ns));
    let tenths = (tokens * 10_000_000_000 + ns / 2).checked_div(ns).unwrap_or(0);
    tenths as f64 / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Time;
    use crate::record::{BatchId, FinishKind};

    fn output(meter: &mut Meter, req: u32, outputs: u32, at: u64) {
        meter.fact(Fact::Request(RequestFact::Output { batch: BatchId(1), req: ReqId(req), outputs, at: Time(at) }));
    }

    fn arrive(meter: &mut Meter, req: u32, at: u64) {
        meter.fact(Fact::Request(RequestFact::Arrive { req: ReqId(req), at: Time(at), max_new: 9 }));
    }

    fn finish(meter: &mut Meter, req: u32, outputs: u32) {
        meter.fact(Fact::Request(RequestFact::Finish { req: ReqId(req), kind: FinishKind::Length, outputs }));
    }

    #[test]
    fn nothing_gives_nulls() {
        assert_eq!(Meter::new().timing(), Timing::default());
    }

    #[test]
    fn latencies_of_two_requests() {
        let mut meter = Meter::new();
        arrive(&mut meter, 0, 100);
        arrive(&mut meter, 1, 200);
        output(&mut meter, 0, 1, 150);
        output(&mut meter, 0, 2, 160);
        output(&mut meter, 1, 1, 300);
        output(&mut meter, 0, 3, 171);
        finish(&mut meter, 0, 3);
        finish(&mut meter, 1, 1);
        meter.fact(Fact::Run(RunFact::Done { at: Time(1000) }));
        let timing = meter.timing();
        let all = |p50, rest| Quantiles { p50: Some(p50), p90: Some(rest), p99: Some(rest) };
        assert_eq!(timing.ttft_ns, all(50, 100));
        assert_eq!(timing.tpot_ns, all(10, 10), "one output has no time per output");
        assert_eq!(timing.e2e_ns, all(71, 100));
        assert_eq!((timing.makespan_ns, timing.output_tokens), (1000, 4));
        assert_eq!(timing.output_tokens_per_s, 4_000_000.0);
    }

    #[test]
    fn outputs_count_once_and_the_unfinished_have_no_end() {
        let mut meter = Meter::new();
        arrive(&mut meter, 0, 0);
        output(&mut meter, 0, 1, 10);
        output(&mut meter, 0, 2, 20);
        output(&mut meter, 0, 2, 90);
        meter.fact(Fact::Run(RunFact::End { at: Time(100) }));
        let timing = meter.timing();
        assert_eq!((timing.output_tokens, timing.makespan_ns), (2, 100));
        assert_eq!(timing.ttft_ns.p99, Some(10));
        assert_eq!((timing.tpot_ns, timing.e2e_ns), (Quantiles::default(), Quantiles::default()));
    }

    #[test]
    fn a_verify_brings_several_outputs_and_those_behind_the_end_are_none() {
        let mut meter = Meter::new();
        arrive(&mut meter, 0, 0);
        output(&mut meter, 0, 1, 10);
        output(&mut meter, 0, 4, 40);
        assert_eq!(meter.timing().output_tokens, 4);
        output(&mut meter, 0, 7, 70);
        finish(&mut meter, 0, 5);
        let timing = meter.timing();
        assert_eq!((timing.output_tokens, timing.tpot_ns.p50, timing.e2e_ns.p50), (5, Some(15), Some(70)));
    }

    #[test]
    fn ranks_are_nearest() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!([50, 90, 99].map(|percent| nearest_rank(&hundred, percent)), [Some(50), Some(90), Some(99)]);
        assert_eq!([50, 90, 99].map(|percent| nearest_rank(&[1, 2, 3], percent)), [Some(2), Some(3), Some(3)]);
        assert_eq!(nearest_rank(&[], 50), None);
    }

    #[test]
    fn rates_round_to_a_tenth() {
        assert_eq!(per_second(1, 3_000_000_000), 0.3);
        assert_eq!(per_second(2, 3_000_000_000), 0.7);
        assert_eq!(per_second(5, 0), 0.0);
    }
}
