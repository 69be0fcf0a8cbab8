//! Runs of steady decode at one batch size after another, and the search for batch sizes at which the CPU is the longer of CPU step
//! and GPU step. No judge looks on: what is measured is time alone.

use std::collections::BTreeMap;

use crate::engine::Seeded;
use crate::model::{Cost, Rule, Setup};
use crate::record::Tee;
use crate::report::{CostRun, Meter, Quantiles, StepMeter, Steps};
use crate::search::in_order;
use crate::workload::{DecodeTable, NotSteady, Shape, steady};

use super::replay;

/// What `cost` runs.
#[derive(Clone, Copy, Debug)]
pub struct SteadyCost<'a> {
    /// The setup that engine and costs are of.
    pub setup: &'a Setup,
    /// The requests that fill a batch, over and over.
    pub shapes: &'a [Shape],
    /// How long a decode forward takes by its rows, in place of the costs of the setup.
    pub decode: Option<&'a DecodeTable>,
    /// The seed of drawn durations.
    pub seed: u64,
}

impl SteadyCost<'_> {
    /// The setup of a batch size.
    ///
    /// # Errors
    /// As [`steady`].
    pub fn setup(&self, batch: u32) -> Result<Setup, NotSteady> {
        let mut setup = steady(self.setup, self.shapes, batch)?;
        if let Some(table) = self.decode {
            setup.costs.gpu_decode = Cost::Fixed(table.at(batch));
            setup.costs.gpu_decode_request = Cost::Fixed(0);
        }
        Ok(setup)
    }

    /// One run for each batch size and rule, in the order of both: a list for each batch size. The same for any number of threads;
    /// `done` is told of every run.
    ///
    /// # Errors
    /// As [`steady`], of the first batch size that is refused.
    pub fn runs(
        &self,
        batches: &[u32],
        rules: &[&'static dyn Rule],
        jobs: usize,
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Vec<CostRun>>, NotSteady> {
        let setups = batches.iter().map(|&batch| self.setup(batch)).collect::<Result<Vec<_>, _>>()?;
        // The largest first: nobody waits for one that begins last.
        let last = batches.len() * rules.len();
        let work = |at: usize| {
            let (batch, rule) = ((last - 1 - at) / rules.len(), (last - 1 - at) % rules.len());
            self.run(&setups[batch], batches[batch], rules[rule])
        };
        let mut runs = in_order(jobs, last, work, |_| done());
        runs.reverse();
        Ok(runs.chunks(rules.len()).map(<[CostRun]>::to_vec).collect())
    }

    fn run(&self, setup: &Setup, batch: u32, rule: &'static dyn Rule) -> CostRun {
        let mut sink = Tee(Meter::new(), StepMeter::new(batch));
        replay(setup, rule, &mut Seeded::new(self.seed), &mut sink);
        let Tee(meter, steps) = sink;
        let measured = (steps.steps(), steps.masks(), steps.stopped());
        CostRun::of(rule.name(), batch, measured, &meter.timing(), Quantiles::of(steps.into_gaps_ns()))
    }

    /// The ranges of batch sizes from 1 to `most` at which the CPU step is longer than the GPU step, under each rule. Costs are
    /// straight between two knees of the table, so that at most one crossing is looked for between them: the exact place is found
    /// by runs at both sides of it.
    ///
    /// # Errors
    /// The least of the batch sizes that were looked at and have no steady step: nothing can be said of it.
    pub fn cpu_longer(&self, most: u32, rules: &[&'static dyn Rule], jobs: usize) -> Result<Vec<Vec<[u32; 2]>>, u32> {
        let mut knees = vec![1];
        knees.extend(self.decode.into_iter().flat_map(DecodeTable::knees).filter(|knee| (2..most).contains(knee)));
        knees.extend((most > 1).then_some(most));
        let work = |at: usize| {
            let mut known = BTreeMap::new();
            let mut unknown: Option<u32> = None;
            let mut ahead = |batch: u32| {
                let of = *known.entry(batch).or_insert_with(|| self.cpu_ahead(batch, rules[at]));
                if of.is_none() {
                    unknown = Some(unknown.map_or(batch, |least| least.min(batch)));
                }
                of.unwrap_or(0)
            };
            let mut begins = (ahead(1) > 0).then_some(1);
            let mut ranges = Vec::new();
            for pair in knees.windows(2) {
                let (low, high) = (ahead(pair[0]), ahead(pair[1]));
                if (low > 0) == (high > 0) {
                    continue;
                }
                let from = crossing((pair[0], low), (pair[1], high), &mut ahead);
                match begins.take() {
                    None => begins = Some(from),
                    Some(begun) => ranges.push([begun, from - 1]),
                }
            }
            ranges.extend(begins.map(|begun| [begun, most]));
            unknown.map_or(Ok(ranges), Err)
        };
        let of_rules = in_order(jobs, rules.len(), work, |_| ());
        match of_rules.iter().filter_map(|of| of.as_ref().err()).min() {
            Some(&least) => Err(least),
            None => Ok(of_rules.into_iter().flatten().collect()),
        }
    }

    /// The greatest batch size that has steady steps under every rule, from `least`, which has, to `most`: sizes beyond one that
    /// has none are taken to have none either.
    pub fn largest(&self, least: u32, most: u32, rules: &[&'static dyn Rule]) -> u32 {
        let has_steps = |batch: u32| rules.iter().all(|rule| self.cpu_ahead(batch, *rule).is_some());
        if has_steps(most) {
            return most;
        }
        let (mut low, mut high) = (least, most);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            *(if has_steps(middle) { &mut low } else { &mut high }) = middle;
        }
        low
    }

    /// By how much the CPU step is longer than the GPU step, in picoseconds: steps are means. `None` if there is no steady step.
    fn cpu_ahead(&self, batch: u32, rule: &'static dyn Rule) -> Option<i128> {
        let setup = self.setup(batch).ok()?;
        let mut meter = StepMeter::new(batch);
        replay(&setup, rule, &mut Seeded::new(self.seed), &mut meter);
        let Steps { turns, cpu_ns, gpu_ns, .. } = meter.steps();
        (turns > 0).then(|| 1000 * (i128::from(cpu_ns) - i128::from(gpu_ns)) / i128::from(turns))
    }
}

/// The first batch size with the sign of the end, between a start and an end of different signs: where a straight line would cross,
/// and halfway in every other step, so that it ends soon in any case.
fn crossing(start: (u32, i128), end: (u32, i128), ahead: &mut impl FnMut(u32) -> i128) -> u32 {
    let ((mut low, mut low_at), (mut high, mut high_at)) = (start, end);
    let mut straight = true;
    while high - low > 1 {
        let along = low_at.abs() * i128::from(high - low) / (low_at.abs() + high_at.abs()).max(1);
        let guess = if straight { low + (along as u32) } else { low + (high - low) / 2 };
        straight = !straight;
        let guess = guess.clamp(low + 1, high - 1);
        let at = ahead(guess);
        if (at > 0) == (start.1 > 0) {
            (low, low_at) = (guess, at);
        } else {
            (high, high_at) = (guess, at);
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crossing_is_exact_and_found_in_few_looks() {
        for (at, slope) in [(1, 3), (2, 7), (731, 120), (4095, 1), (4096, 1)] {
            let mut looks = 0;
            let mut ahead = |batch: u32| {
                looks += 1;
                slope * (2 * (i128::from(batch) - at) + 1)
            };
            let found = crossing((0, ahead(0)), (4096, ahead(4096)), &mut ahead);
            assert_eq!(i128::from(found), at);
            assert!(looks < 9, "{looks} looks for {at}");
        }
        // Falling, and as crooked as can be.
        let mut step = |batch: u32| if batch < 1000 { 1_000_000 } else { -1 };
        assert_eq!(crossing((1, 1_000_000), (4096, -1), &mut step), 1000);
    }
}
