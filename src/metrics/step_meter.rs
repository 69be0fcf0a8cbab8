//! Steady decode steps of a run, measured from its facts: turns in which a full decode batch is launched and the result
//! of a full decode batch is processed. A run without such turns has no steps. Also measures the gaps between outputs.

use crate::record::{
    BatchId, BoundaryCheck, DecisionFact, Fact, ForwardFact, ForwardMode, Phase, ReqId, RequestFact, RunFact, Sink,
};

/// Steady turns at the beginning that are not counted: the GPU may still run prefills.
pub const WARM_UP: u64 = 2;

/// Sums over the steady turns of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// How many.
    pub turns: u64,
    /// Time from the end of the previous forward to the end of the forward whose result the turn processes. CPU turns
    /// would give the same sum except at the edges: the GPU still hides work that the last turn defers.
    pub turn_ns: u64,
    /// CPU time: the length of the turns less the waits for a forward.
    pub cpu_ns: u64,
    /// GPU time of the forwards whose results are processed.
    pub gpu_ns: u64,
    /// Time in which the GPU was idle before these forwards.
    pub idle_ns: u64,
    /// Time from the end of these forwards until their results were on the host.
    pub copy_ns: u64,
}

impl Steps {
    /// By how much the CPU step is longer than the GPU step, in picoseconds: both are means. `None` if there is no
    /// step.
    pub fn cpu_ahead_ps(&self) -> Option<i128> {
        (self.turns > 0).then(|| 1000 * (i128::from(self.cpu_ns) - i128::from(self.gpu_ns)) / i128::from(self.turns))
    }
}

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// An assertion of the modelled system failed.
    Assertion,
    /// A bound ended it.
    Bound,
}

/// A sink that measures steady decode.
#[derive(Clone, Debug, Default)]
pub struct StepMeter {
    rows: u32,
    now: OpenTurn,
    /// Full decode batches whose results have not been processed.
    full: Vec<(BatchId, Full)>,
    gpu_end_ns: u64,
    seen: u64,
    steps: Steps,
    outputs: Vec<(u32, u64)>,
    gaps_ns: Vec<u64>,
    masks: bool,
    stopped: Option<Stopped>,
}

/// The times of a full decode batch.
#[derive(Clone, Copy, Debug)]
struct Full {
    gpu_ns: u64,
    /// How long the GPU was idle before.
    idle_ns: u64,
    copy_ns: u64,
}

/// The current turn.
#[derive(Clone, Copy, Debug, Default)]
struct OpenTurn {
    began_ns: u64,
    /// Whether a full decode batch was launched.
    launched: bool,
    /// The full decode batch whose result was processed.
    processed: Option<Full>,
    result_began_ns: u64,
    wait_ns: u64,
}

impl StepMeter {
    /// A meter of decode batches of `rows` rows.
    pub fn new(rows: u32) -> StepMeter {
        StepMeter { rows, ..StepMeter::default() }
    }

    /// The sums over the steady turns so far, without the warm-up.
    pub fn steps(&self) -> Steps {
        self.steps
    }

    /// Whether a row was answered from a mask.
    pub fn masks(&self) -> bool {
        self.masks
    }

    /// What ended the run early, if it did not end by itself.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// The times between consecutive outputs of each request, of all requests, in no particular order. Outputs of the
    /// same result have a gap of 0.
    pub fn into_gaps_ns(self) -> Vec<u64> {
        self.gaps_ns
    }

    /// The turn is over.
    fn close(&mut self, at_ns: u64) {
        let turn = std::mem::replace(&mut self.now, OpenTurn { began_ns: at_ns, ..OpenTurn::default() });
        let (true, Some(Full { gpu_ns, idle_ns, copy_ns })) = (turn.launched, turn.processed) else { return };
        self.seen += 1;
        if self.seen > WARM_UP {
            let turn_ns = at_ns - turn.began_ns;
            self.steps.turns += 1;
            self.steps.turn_ns += idle_ns + gpu_ns;
            self.steps.cpu_ns += turn_ns - turn.wait_ns;
            self.steps.gpu_ns += gpu_ns;
            self.steps.idle_ns += idle_ns;
            self.steps.copy_ns += copy_ns;
        }
    }

    fn launch(&mut self, batch: BatchId, full: bool, (start_ns, end_ns, copied_ns): (u64, u64, u64)) {
        if full {
            self.now.launched = true;
            let idle_ns = start_ns.saturating_sub(self.gpu_end_ns);
            self.full.push((batch, Full { gpu_ns: end_ns - start_ns, idle_ns, copy_ns: copied_ns - end_ns }));
        }
        self.gpu_end_ns = end_ns;
    }

    fn output(&mut self, req: ReqId, outputs: u32, at_ns: u64) {
        let index = req.index();
        if index >= self.outputs.len() {
            self.outputs.resize(index + 1, (0, 0));
        }
        let (had, last_ns) = self.outputs[index];
        // A retracted request keeps its outputs: an output that was seen before does not count again.
        if outputs > had {
            self.outputs[index] = (outputs, at_ns);
            if had > 0 {
                self.gaps_ns.push(at_ns - last_ns);
            }
            let together = (outputs - had - 1) as usize;
            self.gaps_ns.extend(std::iter::repeat_n(0, together));
        }
    }

    /// A request ended after this many outputs. Outputs behind the end came with the last result.
    fn finish(&mut self, req: ReqId, outputs: u32) {
        let Some((had, _)) = self.outputs.get_mut(req.index()) else { return };
        let behind = had.saturating_sub(outputs);
        *had -= behind;
        self.gaps_ns.truncate(self.gaps_ns.len().saturating_sub(behind as usize));
    }
}

impl Sink for StepMeter {
    #[inline]
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Decision(DecisionFact::Row { check: BoundaryCheck::Mask, .. }) => self.masks = true,
            Fact::Request(RequestFact::Output { req, outputs, at, .. }) => self.output(req, outputs, at.ns()),
            Fact::Request(RequestFact::Finish { req, outputs, .. }) => self.finish(req, outputs),
            Fact::Run(RunFact::Turn { at, .. } | RunFact::Done { at }) => self.close(at.ns()),
            Fact::Run(RunFact::Begin { phase: Phase::Result, batch, at }) => {
                self.now.result_began_ns = at.ns();
                if let Some(place) = self.full.iter().position(|full| Some(full.0) == batch) {
                    self.now.processed = Some(self.full.remove(place).1);
                }
            }
            Fact::Run(RunFact::Wait { at, .. }) => self.now.wait_ns += at.ns() - self.now.result_began_ns,
            Fact::Forward(ForwardFact::Launch { batch, mode, rows, start, end, copied }) => {
                let times_ns = (start.ns(), end.ns(), copied.ns());
                self.launch(batch, mode == ForwardMode::Decode && rows == self.rows, times_ns);
            }
            Fact::Run(RunFact::Assert { .. }) => self.stopped = Some(Stopped::Assertion),
            Fact::Run(RunFact::Bound { .. }) => self.stopped = Some(Stopped::Bound),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Time;
    use crate::record::FinishKind;

    #[test]
    fn outputs_of_one_result_have_no_time_between_them_and_those_behind_the_end_are_none() {
        let mut meter = StepMeter::new(1);
        let output = |outputs, at| {
            Fact::Request(RequestFact::Output { batch: BatchId(1), req: ReqId(0), outputs, at: Time(at) })
        };
        for (outputs, at) in [(1, 10), (3, 40), (6, 90)] {
            meter.fact(output(outputs, at));
        }
        meter.fact(Fact::Request(RequestFact::Finish { req: ReqId(0), kind: FinishKind::Token, outputs: 5 }));
        assert_eq!(meter.into_gaps_ns(), [30, 0, 50, 0]);
    }
}
