//! Warnings of `cost`: batch sizes without a measurement, parts of the scenario that do not apply, numbers that are not
//! exact.

use crate::model::{Cost, Costs, Setup, turns_max};
use crate::report::CostBatch;
use crate::scenario::CostPreset;
use crate::workload::{NotSteady, RequestShape};

/// The measurement that the warnings are about.
pub(super) struct Measurement<'a> {
    /// The setup of the scenario, with the costs that are in force.
    pub(super) setup: &'a Setup,
    pub(super) shapes: &'a [RequestShape],
    pub(super) gpu: Option<&'a CostPreset>,
    /// The largest batch size searched for where the CPU is the longer, and the largest one that was asked for.
    pub(super) searched: (u32, u32),
    /// Batch sizes that were not measured.
    pub(super) refused: &'a [(u32, NotSteady)],
}

impl Measurement<'_> {
    pub(super) fn warnings(&self, batches: &[CostBatch]) -> Vec<String> {
        let costs = &self.setup.costs;
        let mut warnings = Vec::new();
        // Batch sizes refused for the same reason share one warning, with the remedy of the largest.
        for (at, &(batch, why)) in self.refused.iter().enumerate() {
            let same = |next: &(u32, NotSteady)| std::mem::discriminant(&next.1) == std::mem::discriminant(&why);
            if !self.refused[at + 1..].iter().any(same) {
                warnings.push(format!(
                    "not measured, batch {batch}: {}",
                    why.remedy(&self.setup.engine, self.shapes, batch)
                ));
            }
        }
        warnings.extend(self.not_in_force());
        let (searched, wanted) = self.searched;
        if searched < wanted {
            warnings.push(format!(
                "more than {searched} requests have no steady decode step here, or need more tokens than there are: for larger batches it \
                 is not known where the CPU is the longer"
            ));
        }
        if let Some(preset) = self.gpu.filter(|preset| preset.decode.is_some() && !preset.decodes_as(costs)) {
            warnings.push(format!(
                "the scenario sets decode costs over {}: the time of a forward is a straight line by batch size, not the table of the preset",
                preset.name
            ));
        }
        if drawn(costs) {
            warnings
                .push("costs are drawn: the means, and where the CPU is the longer, are those of one draw".to_owned());
        }
        warnings.extend(ended(batches));
        warnings
    }

    fn not_in_force(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let setup = self.setup;
        if !setup.engine.track_policy().has_track_slots() {
            warnings.push(
                "the strategy keeps no track slots: no rule decides about a boundary, so rules and masks make no difference"
                    .to_owned(),
            );
        }
        if setup.turns_max != turns_max(&setup.requests, &setup.events) {
            let words = "of the scenario does not apply here: a batch has as many turns as its requests need";
            warnings.push(format!("`turns_max: {}` {words}", setup.turns_max));
        }
        warnings
    }
}

fn drawn(costs: &Costs) -> bool {
    costs.clone().each_mut().into_iter().any(|cost| matches!(*cost, Cost::Uniform(lo, hi) if lo < hi))
}

fn ended(batches: &[CostBatch]) -> Vec<String> {
    let mut warnings = Vec::new();
    for batch in batches {
        for run in &batch.runs {
            if let Some(why) = run.stopped {
                let what = if why == "bound" { "the bound on turns" } else { "an assertion of the modelled system" };
                warnings.push(format!("{what} ended the run of {} requests under {}", batch.batch, run.rule));
            }
        }
    }
    warnings
}
