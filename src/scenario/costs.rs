//! The `costs` block: defaults where nothing is given, bounds on what is.

use super::Diagnostic;
use super::limits::COST_NS_MAX;
use super::locate::Step;
use super::raw;
use super::source::Source;
use crate::model::{Cost, Costs};

/// Fills in the defaults and checks each cost.
pub(super) fn validate(source: &Source<'_>, raw: &raw::Costs) -> Result<Costs, Diagnostic> {
    let mut costs = Costs::default();
    let set = |name: &str, cost: &mut Cost, given: Option<raw::Cost>| match given {
        Some(given) => checked(source, name, given).map(|given| *cost = given),
        None => Ok(()),
    };
    set("ingest", &mut costs.ingest, raw.ingest)?;
    set("plan", &mut costs.plan, raw.plan)?;
    set("prepare", &mut costs.prepare, raw.prepare)?;
    set("prepare_request", &mut costs.prepare_request, raw.prepare_request)?;
    set("launch", &mut costs.launch, raw.launch)?;
    set("result", &mut costs.result, raw.result)?;
    set("result_request", &mut costs.result_request, raw.result_request)?;
    set("check_recompute", &mut costs.check_recompute, raw.check_recompute)?;
    set("check_mask", &mut costs.check_mask, raw.check_mask)?;
    set("boundary_update", &mut costs.boundary_update, raw.boundary_update)?;
    set("gpu_extend", &mut costs.gpu_extend, raw.gpu_extend)?;
    set("gpu_extend_token", &mut costs.gpu_extend_token, raw.gpu_extend_token)?;
    set("gpu_decode", &mut costs.gpu_decode, raw.gpu_decode)?;
    set("gpu_decode_request", &mut costs.gpu_decode_request, raw.gpu_decode_request)?;
    set("result_copy", &mut costs.result_copy, raw.result_copy)?;
    Ok(costs)
}

fn checked(source: &Source<'_>, name: &str, cost: raw::Cost) -> Result<Cost, Diagnostic> {
    let path = [Step::Field("costs"), Step::Field(name)];
    let (cost, most) = match cost {
        raw::Cost::Fixed(ns) => (Cost::Fixed(ns), ns),
        raw::Cost::Uniform(lo, hi) if lo > hi => {
            let message = format!("the range of `{name}` is empty: {lo} is above {hi}");
            return Err(source.at(&path, message, format!("write `Uniform({hi}, {lo})`")));
        }
        raw::Cost::Uniform(lo, hi) => (Cost::Uniform(lo, hi), hi),
    };
    if most > COST_NS_MAX {
        let message = format!("`{name}` is {most} ns, more than a cost may be");
        return Err(source.at(&path, message, format!("costs are nanoseconds, at most {COST_NS_MAX} (ten seconds)")));
    }
    Ok(cost)
}
