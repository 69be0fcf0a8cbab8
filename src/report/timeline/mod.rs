//! The timeline of a run: two lanes a turn, the rows of the batches below them, and what the judge says of each.

mod facts;
mod lanes;
mod of_scene;
mod turn;
mod wrong;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use crate::engine::Time;
use crate::judge::{Class, Judgement};
use crate::record::{BatchId, ForwardMode, Phase, ReqId, SlotId};

pub use of_scene::{TurnLanes, turn_lanes};

use lanes::{Forward, Segment};
use turn::{Part, Row, Turn};
use wrong::Wrong;

const LEGEND: &str = "\
CPU: its phases in order; GPU: what it runs meanwhile (true to the order of events, not to scale)
*       boundary: this step's forward writes its state into a track slot
!       the rule fires
k C L   length that the step reaches, committed length now, steps prepared since (0->1: changed)
4@s3    label 4, kept in slot s3
early   fired one result ahead; settled: was recorded early; repeat: fired again for a recorded
        length; missed: due and not recorded
";

/// The drawing of a run under way: a sink that hands a turn out when the next begins, until nobody wants more, and keeps
/// what outlives a turn. Decision classes appear if the judgement kept its boundaries.
pub struct Timeline<'a> {
    names: &'a [String],
    wrong: Wrong<'a>,
    classes: BTreeMap<(BatchId, ReqId), Class>,
    /// Who receives the text.
    out: &'a mut dyn FnMut(&str) -> bool,
    /// Whether nobody wants more.
    output_closed: bool,
    /// The turns that are drawn, if not all.
    turns: Option<RangeInclusive<u32>>,
    turn: Option<Turn>,
    /// The last turn that ended, and whether any was drawn.
    ended: Option<(u32, bool)>,
    /// The CPU phase that has begun.
    open: Option<Open>,
    /// Rows prepared whose result has not been processed.
    prepared: BTreeMap<(BatchId, ReqId), Prepared>,
    /// Forwards that have not ended before this turn.
    stream: VecDeque<Forward>,
    /// The modes of batches in flight.
    modes: BTreeMap<BatchId, ForwardMode>,
    /// By request index.
    seen: Vec<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    phase: Phase,
    batch: Option<BatchId>,
    at: Time,
}

/// A decode row in flight.
#[derive(Clone, Copy, Debug)]
struct Prepared {
    k: u32,
    track: Option<SlotId>,
}

/// What was last seen of a request.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    prompt_len: u32,
    lookahead: Option<i64>,
    next_track_idx: Option<u8>,
}

impl<'a> Timeline<'a> {
    /// Nothing drawn but the legend. `judgement` is that of the run that is to be drawn, `turns` are those to draw, all if
    /// not given; `out` receives the text and says whether somebody wants more.
    pub fn new(
        names: &'a [String],
        judgement: &'a Judgement,
        turns: Option<RangeInclusive<u32>>,
        out: &'a mut dyn FnMut(&str) -> bool,
    ) -> Timeline<'a> {
        let classes = judgement.boundaries.iter().map(|of| ((of.batch, of.req), of.class)).collect();
        let (turn, ended, open, prepared, stream, modes, seen) = Default::default();
        let wrong = Wrong::new(judgement);
        let output_closed = !out(LEGEND);
        Timeline { names, wrong, classes, out, output_closed, turns, turn, ended, open, prepared, stream, modes, seen }
    }

    /// Hands out the last turn, and what was found in turns that did not come, or that none of those asked for came.
    pub fn end(mut self) {
        if let (Some(_), Some(turn)) = (self.open, &self.turn) {
            // An assertion ended the run in the middle of a phase.
            self.finish_phase(turn.to);
        }
        self.close_turn();
        if let (false, Some(turns), Some((last, false))) = (self.output_closed, &self.turns, self.ended) {
            let (first, to) = (turns.start(), turns.end());
            (self.out)(&format!("\nnone of the turns {first} to {to} was run: the last is turn {last}\n"));
        }
        let left = self.wrong.left(self.names);
        if !self.output_closed && self.turns.is_none() && !left.is_empty() {
            (self.out)(&format!("\n{}\n", left.join("\n")));
        }
    }

    fn open_turn(&mut self, number: u32, at: Time) {
        self.close_turn();
        self.turn = Some(Turn::new(number, at));
        // A forward of no length at this very instant belongs to the turn before.
        while self.stream.front().is_some_and(|forward| forward.end <= at) {
            self.stream.pop_front();
        }
    }

    fn close_turn(&mut self) {
        if let Some(mut turn) = self.turn.take() {
            turn.tail.extend(self.wrong.rest(turn.number, self.names));
            let wanted = self.turns.as_ref().is_none_or(|turns| turns.contains(&turn.number));
            self.ended = Some((turn.number, wanted || self.ended.is_some_and(|(_, drawn)| drawn)));
            if !wanted {
                return;
            }
            let mut text = String::new();
            turn.print(&mut text, self.stream.make_contiguous(), self.names);
            self.output_closed = self.output_closed || !(self.out)(&text);
        }
    }

    /// The turn under way; a record written by hand may begin without one.
    fn turn(&mut self) -> &mut Turn {
        self.turn.get_or_insert_with(|| Turn::new(0, Time::ZERO))
    }

    fn note(&mut self, text: String) {
        let names = self.names;
        self.turn().note(text, names);
    }

    fn seen(&mut self, req: ReqId) -> &mut Seen {
        if req.index() >= self.seen.len() {
            self.seen.resize(req.index() + 1, Seen::default());
        }
        &mut self.seen[req.index()]
    }

    fn begin(&mut self, phase: Phase, batch: Option<BatchId>, at: Time) {
        self.open = Some(Open { phase, batch, at });
        self.until(at);
    }

    fn finish_phase(&mut self, at: Time) {
        self.until(at);
        if let Some(Open { phase, batch, at: from }) = self.open.take() {
            let batch_word = batch.map_or(String::new(), |batch| format!(" {batch}"));
            let label = format!("{}{batch_word}", super::name::phase(phase));
            self.turn().segments.push(Segment::phase(label, from, at));
        }
    }

    /// A wait splits off the front of the phase that it is in.
    fn wait(&mut self, batch: BatchId, at: Time) {
        let from = self.open.map_or(self.turn().to, |open| open.at);
        if at > from {
            self.turn().segments.push(Segment::wait(batch, from, at));
        }
        if let Some(open) = &mut self.open {
            open.at = at;
        }
        self.until(at);
    }

    fn until(&mut self, at: Time) {
        let turn = self.turn();
        turn.to = turn.to.max(at);
    }

    /// The row of a request in the result that is being processed, if one is.
    fn result_row(&mut self, req: ReqId) -> Option<&mut Row> {
        let last = self.turn().sections.last().map(|section| section.part);
        let batch = match (self.open, last) {
            (Some(Open { phase: Phase::Result, batch: Some(batch), .. }), _) => batch,
            (None, Some(Part::Result(batch))) => batch,
            (Some(_) | None, _) => return None,
        };
        Some(self.row_of(batch, req))
    }

    fn row_of(&mut self, batch: BatchId, req: ReqId) -> &mut Row {
        let head = self.modes.get(&batch).map_or("", |&mode| super::name::mode(mode));
        self.turn().row(Part::Result(batch), head, req)
    }

    /// A line below the row of a request where there is one, above the rows otherwise.
    fn below(&mut self, req: ReqId, text: String) {
        let named = format!("{} {text}", super::name::request(self.names, req));
        match self.result_row(req) {
            Some(row) => row.notes.push(text),
            None => self.note(named),
        }
    }
}
