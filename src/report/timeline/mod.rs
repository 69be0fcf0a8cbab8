//! The timeline of a run as text: for each turn two lanes, and below them a line for each row of its batches.

mod facts;
mod findings_by_turn;
mod lanes;
mod of_scene;
mod turn;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use crate::engine::Time;
use crate::judge::{Class, Judgement};
use crate::record::{BatchId, ForwardMode, Phase, ReqId, SlotId};
use crate::scene::{Lane, Span, Work};

pub use of_scene::{TurnLanes, turn_lanes};

use findings_by_turn::FindingsByTurn;
use turn::{DrawnRow, DrawnTurn, Side};

const LEGEND: &str = "\
CPU: phases in order; GPU: forwards at the same time (in order of events, not to scale)
*       boundary: this step's forward writes its state into a track slot
!       the rule fires
k C L   length after the step, kv_committed_len, lookahead (0->1: changed since the last result)
4@s3    label 4, kept in slot s3
early   fired one result ahead; settled: recorded early; repeat: fired again for a recorded length;
        missed: due and not recorded
";

/// The timeline of a run: a sink that writes the text of a turn when the next turn begins, until the output is closed.
/// Decision classes appear if the judgement kept its boundaries.
pub struct Timeline<'a> {
    names: &'a [String],
    findings: FindingsByTurn<'a>,
    classes: BTreeMap<(BatchId, ReqId), Class>,
    /// Receives the text; returns false if its output is closed.
    out: &'a mut dyn FnMut(&str) -> bool,
    /// Whether the output is closed.
    output_closed: bool,
    /// The turns that are drawn; all if not given.
    turns: Option<RangeInclusive<u32>>,
    turn: Option<DrawnTurn>,
    /// The last turn that ended, and whether any turn was drawn.
    ended: Option<(u32, bool)>,
    /// The CPU phase that has begun.
    open: Option<OpenPhase>,
    /// Decode rows whose result has not been processed.
    prepared: BTreeMap<(BatchId, ReqId), DecodeInFlight>,
    /// Forwards that have not ended before this turn.
    forwards: VecDeque<Span>,
    /// The modes of batches in flight.
    modes: BTreeMap<BatchId, ForwardMode>,
    /// By request index.
    seen: Vec<LastSeen>,
}

#[derive(Clone, Copy, Debug)]
struct OpenPhase {
    phase: Phase,
    batch: Option<BatchId>,
    at: Time,
}

/// A decode row in flight.
#[derive(Clone, Copy, Debug)]
struct DecodeInFlight {
    k: u32,
    track: Option<SlotId>,
}

/// Values of a request by its latest facts.
#[derive(Clone, Copy, Debug, Default)]
struct LastSeen {
    prompt_len: u32,
    lookahead: Option<i64>,
    next_track_idx: Option<u8>,
}

impl<'a> Timeline<'a> {
    /// Writes the legend. `judgement` is that of the run; `turns` are the turns to draw, all if not given; `out`
    /// receives the text and returns false if its output is closed.
    pub fn new(
        names: &'a [String],
        judgement: &'a Judgement,
        turns: Option<RangeInclusive<u32>>,
        out: &'a mut dyn FnMut(&str) -> bool,
    ) -> Timeline<'a> {
        let classes = judgement.boundaries.iter().map(|of| ((of.batch, of.req), of.class)).collect();
        let (turn, ended, open, prepared, forwards, modes, seen) = Default::default();
        let findings = FindingsByTurn::new(judgement);
        let output_closed = !out(LEGEND);
        Timeline {
            names,
            findings,
            classes,
            out,
            output_closed,
            turns,
            turn,
            ended,
            open,
            prepared,
            forwards,
            modes,
            seen,
        }
    }

    /// Writes the last turn; then findings of turns that the record does not have, or a line if it has none of `turns`.
    pub fn end(mut self) {
        if let (Some(_), Some(turn)) = (self.open, &self.turn) {
            // An assertion ended the run in the middle of a phase.
            self.finish_phase(turn.to);
        }
        self.close_turn();
        if let (false, Some(turns), Some((last, false))) = (self.output_closed, &self.turns, self.ended) {
            let (first, to) = (turns.start(), turns.end());
            (self.out)(&format!("\nturns {first} to {to} were not run: the last turn is {last}\n"));
        }
        let left = self.findings.left(self.names);
        if !self.output_closed && self.turns.is_none() && !left.is_empty() {
            (self.out)(&format!("\n{}\n", left.join("\n")));
        }
    }

    fn open_turn(&mut self, number: u32, at: Time) {
        self.close_turn();
        self.turn = Some(DrawnTurn::new(number, at));
        // A forward of no length at this very instant belongs to the turn before.
        while self.forwards.front().is_some_and(|forward| forward.end_ns <= at.ns()) {
            self.forwards.pop_front();
        }
    }

    fn close_turn(&mut self) {
        if let Some(mut turn) = self.turn.take() {
            turn.tail.extend(self.findings.rest(turn.number, self.names));
            let wanted = self.turns.as_ref().is_none_or(|turns| turns.contains(&turn.number));
            self.ended = Some((turn.number, wanted || self.ended.is_some_and(|(_, drawn)| drawn)));
            if !wanted {
                return;
            }
            let mut text = String::new();
            turn.print(&mut text, self.forwards.make_contiguous(), self.names);
            self.output_closed = self.output_closed || !(self.out)(&text);
        }
    }

    /// The turn under way; a record written by hand may begin without one.
    fn turn(&mut self) -> &mut DrawnTurn {
        self.turn.get_or_insert_with(|| DrawnTurn::new(0, Time::ZERO))
    }

    fn note(&mut self, text: String) {
        let names = self.names;
        self.turn().note(text, names);
    }

    fn seen(&mut self, req: ReqId) -> &mut LastSeen {
        if req.index() >= self.seen.len() {
            self.seen.resize(req.index() + 1, LastSeen::default());
        }
        &mut self.seen[req.index()]
    }

    fn begin(&mut self, phase: Phase, batch: Option<BatchId>, at: Time) {
        self.open = Some(OpenPhase { phase, batch, at });
        self.until(at);
    }

    fn finish_phase(&mut self, at: Time) {
        self.until(at);
        if let Some(OpenPhase { phase, batch, at: from }) = self.open.take() {
            self.cpu_span(Work::Phase(phase), batch, from, at);
        }
    }

    /// Splits the phase under way: its part up to `at` is a wait.
    fn wait(&mut self, batch: BatchId, at: Time) {
        let from = self.open.map_or(self.turn().to, |open| open.at);
        if at > from {
            self.cpu_span(Work::Wait, Some(batch), from, at);
        }
        if let Some(open) = &mut self.open {
            open.at = at;
        }
        self.until(at);
    }

    fn cpu_span(&mut self, work: Work, batch: Option<BatchId>, from: Time, to: Time) {
        let turn = self.turn();
        let (start_ns, end_ns) = (from.ns(), to.ns());
        turn.cpu.push(Span { lane: Lane::Cpu, work, batch, turn: turn.number, start_ns, end_ns });
    }

    fn until(&mut self, at: Time) {
        let turn = self.turn();
        turn.to = turn.to.max(at);
    }

    /// The row of a request in the result that is being processed, if one is.
    fn result_row(&mut self, req: ReqId) -> Option<&mut DrawnRow> {
        let last = self.turn().groups.last().map(|group| group.side);
        let batch = match (self.open, last) {
            (Some(OpenPhase { phase: Phase::Result, batch: Some(batch), .. }), _) => batch,
            (None, Some(Side::Result(batch))) => batch,
            (Some(_) | None, _) => return None,
        };
        Some(self.row_of(batch, req))
    }

    fn row_of(&mut self, batch: BatchId, req: ReqId) -> &mut DrawnRow {
        let head = self.modes.get(&batch).map_or("", |&mode| super::name::mode(mode));
        self.turn().row(Side::Result(batch), head, req)
    }

    /// Adds a line below the row of a request, or above all rows if it has no row.
    fn below(&mut self, req: ReqId, text: String) {
        let named = format!("{} {text}", super::name::request(self.names, req));
        match self.result_row(req) {
            Some(row) => row.notes.push(text),
            None => self.note(named),
        }
    }
}
