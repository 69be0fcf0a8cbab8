//! The cost of a decode step: means over the steady decode steps of one run, and what rules that read masks save. Times
//! are whole nanoseconds of virtual time. Shares are rounded in integers.

use serde::Serialize;

use super::meter::{Quantiles, Timing, per_second};
use super::step_meter::{Steps, Stopped};

/// One batch size under one rule: means over its steady decode steps, and the latencies of its requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostRun {
    /// The rule.
    pub rule: &'static str,
    /// Whether it read masks.
    pub masks: bool,
    /// Steady steps that the means are over.
    pub steps: u64,
    /// CPU work of a turn: its length less its waits for a forward.
    pub cpu_step_ns: u64,
    /// A decode forward.
    pub gpu_step_ns: u64,
    /// A turn: the time from one token of a request to the next.
    pub turn_ns: u64,
    /// From the end of a forward until its result is on the host.
    pub result_copy_ns: u64,
    /// The longer of CPU step and GPU step, `"cpu"` or `"gpu"`.
    pub longer: &'static str,
    /// What a turn is as long as: the longer one, `"cpu"` or `"gpu"`, so that shortening the other one gains nothing;
    /// `"copy"`, half of CPU step, forward and copy of its result, because the batch after next waits for the result;
    /// or, without overlap, `"sum"`.
    pub limit: &'static str,
    /// The share of the shorter one that is hidden behind the longer one, in percent.
    pub overlap_percent: f64,
    /// Time in which the GPU was idle, over all steady steps.
    pub gpu_idle_ns: u64,
    /// The share of it in their time, in percent.
    pub gpu_idle_percent: f64,
    /// Outputs of all requests a second, while all decode.
    pub tokens_per_s: f64,
    /// Arrival to first output.
    pub ttft_ns: Quantiles,
    /// Inter-token latency as a mean of each request: first output to last, over outputs less one; quantiles over
    /// requests.
    pub tpot_ns: Quantiles,
    /// Inter-token latency as every gap between two outputs of a request that follow each other; quantiles over all
    /// gaps.
    pub itl_ns: Quantiles,
    /// What ended the run early: `"assertion"` or `"bound"`.
    pub stopped: Option<&'static str>,
    /// By how much the CPU step is longer than the GPU step, before rounding; `None` without steps.
    #[serde(skip)]
    pub cpu_ahead_ps: Option<i128>,
}

/// The savings of a rule that reads masks.
#[derive(Clone, Debug, Serialize)]
pub struct CostSaved {
    /// The rule.
    pub rule: &'static str,
    /// The rule that recomputes.
    pub beside: &'static str,
    /// Shorter CPU step.
    pub cpu_step_ns: i64,
    /// Shorter turn: the time between two tokens.
    pub turn_ns: i64,
    /// More tokens a second, in percent.
    pub faster_percent: f64,
}

impl CostRun {
    /// The cost in a run of `batch` requests, with overlap or without.
    pub fn of(
        rule: &'static str,
        (batch, overlap): (u32, bool),
        (steps, masks, stopped): (Steps, bool, Option<Stopped>),
        timing: &Timing,
        itl_ns: Quantiles,
    ) -> CostRun {
        let Steps { turns, turn_ns, cpu_ns, gpu_ns, idle_ns, copy_ns } = steps;
        let hidden_ns = (cpu_ns + gpu_ns).saturating_sub(turn_ns);
        let longer = if cpu_ns > gpu_ns { "cpu" } else { "gpu" };
        let limit = match overlap {
            false => "sum",
            true if copy_ns > cpu_ns.abs_diff(gpu_ns) => "copy",
            true => longer,
        };
        CostRun {
            rule,
            masks,
            steps: turns,
            cpu_step_ns: mean(cpu_ns, turns),
            gpu_step_ns: mean(gpu_ns, turns),
            turn_ns: mean(turn_ns, turns),
            result_copy_ns: mean(copy_ns, turns),
            longer,
            limit,
            overlap_percent: percent(hidden_ns.into(), cpu_ns.min(gpu_ns)).min(100.0),
            gpu_idle_ns: idle_ns,
            gpu_idle_percent: percent(idle_ns.into(), turn_ns),
            tokens_per_s: per_second(u64::from(batch) * turns, turn_ns),
            ttft_ns: timing.ttft_ns,
            tpot_ns: timing.tpot_ns,
            itl_ns,
            stopped: stopped.map(|stopped| match stopped {
                Stopped::Assertion => "assertion",
                Stopped::Bound => "bound",
            }),
            cpu_ahead_ps: steps.cpu_ahead_ps(),
        }
    }
}

/// The savings of each rule that reads masks, compared with the first rule that does not.
pub fn cost_saved(runs: &[CostRun]) -> Vec<CostSaved> {
    let Some(beside) = runs.iter().find(|run| !run.masks && run.steps > 0) else { return Vec::new() };
    let less = |before: u64, after: u64| before as i64 - after as i64;
    let one = |run: &CostRun| CostSaved {
        rule: run.rule,
        beside: beside.rule,
        cpu_step_ns: less(beside.cpu_step_ns, run.cpu_step_ns),
        turn_ns: less(beside.turn_ns, run.turn_ns),
        faster_percent: percent(less(beside.turn_ns, run.turn_ns).into(), run.turn_ns),
    };
    runs.iter().filter(|run| run.masks && run.steps > 0).map(one).collect()
}

fn mean(sum: u64, count: u64) -> u64 {
    (sum + count / 2).checked_div(count).unwrap_or(0)
}

/// A share in percent, rounded to one decimal in integers, so that every machine prints the same digits.
pub fn percent(part: i128, whole: u64) -> f64 {
    let (part, whole) = (part * 2000, i128::from(whole));
    let tenths = if whole == 0 { 0 } else { (part + whole).div_euclid(2 * whole) };
    tenths as f64 / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_means_are_rounded_to_the_nearest() {
        assert_eq!(
            [(1, 3), (2, 3), (-1, 3), (1, 2000), (5, 0)].map(|(part, whole)| percent(part, whole)),
            [33.3, 66.7, -33.3, 0.1, 0.0]
        );
        assert_eq!([(7, 2), (5, 3), (0, 0)].map(|(sum, count)| mean(sum, count)), [4, 2, 0]);
    }
}
