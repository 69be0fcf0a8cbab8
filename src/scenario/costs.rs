//! The `costs` block: presets, defaults for costs that are not given, bounds on costs that are.

use super::Diagnostic;
use super::limits::COST_NS_MAX;
use super::locate::PathStep;
use super::presets::{CostPreset, CostSide, cost_preset, cost_preset_names};
use super::raw::RawCosts;
use super::source::SourceText;
use super::words::{instead_of, quote};
use crate::model::{Cost, Costs};

/// The presets that a file names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostNames {
    /// Of the CPU.
    pub cpu: Option<&'static str>,
    /// Of the GPU.
    pub gpu: Option<&'static str>,
}

impl CostNames {
    /// The costs of the presets, and defaults where none is named.
    pub fn costs(self) -> Costs {
        let mut costs = Costs::default();
        for (of, name) in [(CostSide::Cpu, self.cpu), (CostSide::Gpu, self.gpu)] {
            if let Some(preset) = name.and_then(|name| cost_preset(of, name)) {
                preset.apply(&mut costs);
            }
        }
        costs
    }
}

/// Takes the presets, checks each cost that is given, and sets it over them.
pub(super) fn validate(source: &SourceText<'_>, raw: &RawCosts) -> Result<(Costs, CostNames), Diagnostic> {
    let names = CostNames {
        cpu: raw.cpu.as_deref().map(|name| preset(source, ("cpu", CostSide::Cpu), name)).transpose()?,
        gpu: raw.gpu.as_deref().map(|name| preset(source, ("gpu", CostSide::Gpu), name)).transpose()?,
    };
    let mut costs = names.costs();
    for ((cost, name), given) in costs.each_mut().into_iter().zip(Costs::NAMES).zip(raw.given()) {
        if let Some(given) = given {
            *cost = checked(source, name, given)?;
        }
    }
    Ok((costs, names))
}

fn preset(source: &SourceText<'_>, (field, of): (&str, CostSide), name: &str) -> Result<&'static str, Diagnostic> {
    cost_preset(of, name).map(|CostPreset { name, .. }| name).ok_or_else(|| {
        let known = cost_preset_names(of);
        let remedy = instead_of(name, &known, &format!("the {of} presets are"));
        source.at(
            &[PathStep::Field("costs"), PathStep::Field(field)],
            format!("there is no {of} preset {}", quote(name)),
            remedy,
        )
    })
}

fn checked(source: &SourceText<'_>, name: &str, cost: Cost) -> Result<Cost, Diagnostic> {
    let path = [PathStep::Field("costs"), PathStep::Field(name)];
    let most = match cost {
        Cost::Fixed(ns) => ns,
        Cost::Uniform(lo, hi) if lo > hi => {
            let message = format!("the range of `{name}` is empty: {lo} is above {hi}");
            return Err(source.at(&path, message, format!("write `Uniform({hi}, {lo})`")));
        }
        Cost::Uniform(_, hi) => hi,
    };
    if most > COST_NS_MAX {
        let message = format!("`{name}` is {most} ns, more than a cost may be");
        return Err(source.at(&path, message, format!("costs are nanoseconds, at most {COST_NS_MAX} (ten seconds)")));
    }
    Ok(cost)
}
