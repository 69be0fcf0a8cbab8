//! Runs of steady decode at several batch sizes, and the search for batch sizes at which the CPU step is longer than
//! the GPU step. The runs have no judge: only time is measured.

use std::collections::BTreeMap;

use crate::engine::Seeded;
use crate::metrics::{CostRun, Meter, Quantiles, StepMeter};
use crate::model::{Cost, Rule, Setup};
use crate::record::Tee;
use crate::search::in_order;
use crate::workload::{DecodeTable, NotSteady, RequestShape, steady};

use super::replay;

/// For each rule and each batch size that has been run: by how much the CPU step is longer than the GPU step, in
/// picoseconds; `None` without a steady step.
pub type CpuAhead = Vec<BTreeMap<u32, Option<i128>>>;

/// The parameters of the runs of `cost`.
#[derive(Clone, Copy, Debug)]
pub struct SteadyCost<'a> {
    /// The setup with engine and costs.
    pub setup: &'a Setup,
    /// The requests that fill a batch, over and over.
    pub shapes: &'a [RequestShape],
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

    /// One run for each batch size and rule, in the order of both: a list for each batch size, or the reason why it has
    /// no steady step. The result is the same for any number of threads. `done` is called after every run.
    pub fn runs(
        &self,
        batches: &[u32],
        rules: &[&'static dyn Rule],
        jobs: usize,
        done: &(dyn Fn() + Sync),
    ) -> Vec<Result<Vec<CostRun>, NotSteady>> {
        let setups: Vec<Result<Setup, NotSteady>> = batches.iter().map(|&batch| self.setup(batch)).collect();
        // The largest batches first: a long run that begins last would delay the end.
        let last = batches.len() * rules.len();
        let work = |at: usize| {
            let (batch, rule) = ((last - 1 - at) / rules.len(), (last - 1 - at) % rules.len());
            let run =
                setups[batch].as_ref().map_err(|why| *why).map(|setup| self.run(setup, batches[batch], rules[rule]));
            done();
            run
        };
        let mut runs = in_order(jobs, 0..last, work);
        runs.reverse();
        let of_batch = |runs: &[Result<CostRun, NotSteady>]| {
            let runs: Vec<CostRun> = runs.iter().cloned().collect::<Result<_, _>>()?;
            let never = runs.iter().any(|run| run.steps == 0 && run.stopped.is_none());
            if never { Err(NotSteady::Apart) } else { Ok(runs) }
        };
        runs.chunks(rules.len()).map(of_batch).collect()
    }

    fn run(&self, setup: &Setup, batch: u32, rule: &'static dyn Rule) -> CostRun {
        let mut sink = Tee(Meter::new(), StepMeter::new(batch));
        replay(setup, rule, &mut Seeded::new(self.seed), &mut sink);
        let Tee(meter, steps) = sink;
        let measured = (steps.steps(), steps.masks(), steps.stopped());
        let overlap = setup.engine.overlap;
        CostRun::of(rule.name(), (batch, overlap), measured, &meter.timing(), Quantiles::of(steps.into_gaps_ns()))
    }

    /// The ranges of batch sizes from 1 to `most` at which the CPU step is longer than the GPU step, under each rule.
    /// Costs are linear between two knees of the table, so one crossing at most is searched between them. Runs on both
    /// sides locate it exactly; sizes in `known` are not run again.
    ///
    /// # Errors
    /// The smallest batch size of the search without a steady step.
    pub fn cpu_longer(
        &self,
        most: u32,
        rules: &[&'static dyn Rule],
        known: &mut CpuAhead,
        jobs: usize,
    ) -> Result<Vec<Vec<[u32; 2]>>, u32> {
        let mut knees = vec![1];
        knees.extend(self.decode.into_iter().flat_map(DecodeTable::knees).filter(|knee| (2..most).contains(knee)));
        knees.extend((most > 1).then_some(most));
        let work = |at: usize| {
            let mut known = known[at].clone();
            let mut unknown: Option<u32> = None;
            let mut ahead = |batch: u32| {
                let of = self.cpu_ahead(batch, rules[at], &mut known);
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
            (unknown.map_or(Ok(ranges), Err), known)
        };
        let found = in_order(jobs, 0..rules.len(), work);
        let (of_rules, all): (Vec<_>, CpuAhead) = found.into_iter().unzip();
        *known = all;
        match of_rules.iter().filter_map(|of| of.as_ref().err()).min() {
            Some(&least) => Err(least),
            None => Ok(of_rules.into_iter().flatten().collect()),
        }
    }

    /// The greatest batch size from `least` to `most` that has steady steps under every rule; `least` has. Sizes above
    /// one without steady steps are assumed to have none.
    pub fn largest(&self, least: u32, most: u32, rules: &[&'static dyn Rule], known: &mut CpuAhead) -> u32 {
        let mut has_steps = |batch: u32| {
            let mut of_rules = rules.iter().zip(known.iter_mut());
            of_rules.all(|(rule, known)| self.cpu_ahead(batch, *rule, known).is_some())
        };
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

    /// The entry of [`CpuAhead`]; a size that is not known is run.
    fn cpu_ahead(&self, batch: u32, rule: &'static dyn Rule, known: &mut BTreeMap<u32, Option<i128>>) -> Option<i128> {
        *known.entry(batch).or_insert_with(|| {
            let setup = self.setup(batch).ok()?;
            let mut meter = StepMeter::new(batch);
            replay(&setup, rule, &mut Seeded::new(self.seed), &mut meter);
            meter.steps().cpu_ahead_ps()
        })
    }
}

/// The first batch size with the sign of the end, between a start and an end of different signs. Alternates
/// interpolation and bisection, so the number of runs is logarithmic in any case.
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
        // A falling step function, the worst case for interpolation.
        let mut step = |batch: u32| if batch < 1000 { 1_000_000 } else { -1 };
        assert_eq!(crossing((1, 1_000_000), (4096, -1), &mut step), 1000);
    }
}
