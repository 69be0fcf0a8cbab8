//! One loop turn of the timeline: its lanes, notes, and a line for each row of a batch.

use std::collections::BTreeMap;

use crate::engine::Time;
use crate::record::{BatchId, Owner, ReqId, SlotId};
use crate::report::layout::align;
use crate::report::name;
use crate::scene::Span;

use super::lanes::draw;

/// The text of a turn under construction.
#[derive(Debug)]
pub(super) struct DrawnTurn {
    pub(super) number: u32,
    pub(super) from: Time,
    pub(super) to: Time,
    /// The spans of the CPU lane.
    pub(super) cpu: Vec<Span>,
    /// Lines above the rows: arrivals, hits, slots taken and lost.
    pub(super) notes: Vec<String>,
    pub(super) groups: Vec<RowGroup>,
    /// The last lines: assertions, and findings that belong to no other line.
    pub(super) tail: Vec<String>,
    takes: Option<Takes>,
}

/// The rows of one batch, prepared or processed.
#[derive(Debug)]
pub(super) struct RowGroup {
    pub(super) side: Side,
    /// The text right of the batch: mode, times of the forward.
    pub(super) head: String,
    rows: Vec<DrawnRow>,
    index: BTreeMap<ReqId, usize>,
}

/// Which end of a batch a group shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A batch as it was prepared.
    Prepare(BatchId),
    /// A batch whose result is processed.
    Result(BatchId),
}

/// The line of a row of a batch. Facts fill its cells one by one.
#[derive(Debug)]
pub(super) struct DrawnRow {
    req: ReqId,
    /// Whether its forward writes a track slot.
    pub(super) due: bool,
    /// Whether the rule fired.
    pub(super) fired: bool,
    /// By [`RowColumn`].
    cells: [String; RowColumn::COUNT],
    /// Lines below it.
    pub(super) notes: Vec<String>,
    /// Slots that the request freed.
    pub(super) freed: Vec<SlotId>,
}

/// The columns of a row, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowColumn {
    Length,
    Lookahead,
    Committed,
    Active,
    Track,
    Check,
    Class,
    Kept,
    Next,
    Output,
    End,
}

impl RowColumn {
    const COUNT: usize = RowColumn::End as usize + 1;
}

/// Slots that one request takes in a row.
#[derive(Debug)]
struct Takes {
    req: ReqId,
    slots: Vec<String>,
}

impl DrawnRow {
    /// Fills a cell.
    pub(super) fn set(&mut self, column: RowColumn, text: String) {
        self.cells[column as usize] = text;
    }
}

impl DrawnTurn {
    pub(super) fn new(number: u32, from: Time) -> DrawnTurn {
        let (cpu, notes, groups, tail) = Default::default();
        DrawnTurn { number, from, to: from, cpu, notes, groups, tail, takes: None }
    }

    /// The row of a request in the group of a batch. Adds group and row if they are new.
    pub(super) fn row(&mut self, side: Side, head: &str, req: ReqId) -> &mut DrawnRow {
        if self.groups.last().is_none_or(|group| group.side != side) {
            let (rows, index) = Default::default();
            self.groups.push(RowGroup { side, head: head.to_owned(), rows, index });
        }
        let group = self.groups.last_mut().expect("one was just pushed if there was none");
        let index = *group.index.entry(req).or_insert(group.rows.len());
        if index == group.rows.len() {
            let (cells, notes, freed) = Default::default();
            group.rows.push(DrawnRow { req, due: false, fired: false, cells, notes, freed });
        }
        &mut group.rows[index]
    }

    /// Adds a slot that a request got. Slots taken one after another share a line.
    pub(super) fn take(&mut self, slot: SlotId, owner: Owner, names: &[String]) {
        let (req, role) = match owner {
            Owner::Active(req) => (req, "active"),
            Owner::Track(req, _) => (req, "track"),
            Owner::Spare | Owner::Request(_) | Owner::Tree => return,
        };
        if self.takes.as_ref().is_none_or(|takes| takes.req != req) {
            self.close_takes(names);
        }
        let takes = self.takes.get_or_insert(Takes { req, slots: Vec::new() });
        takes.slots.push(format!("{slot} ({role})"));
    }

    /// Adds a line above the rows.
    pub(super) fn note(&mut self, text: String, names: &[String]) {
        self.close_takes(names);
        self.notes.push(text);
    }

    fn close_takes(&mut self, names: &[String]) {
        if let Some(Takes { req, slots }) = self.takes.take() {
            self.notes.push(format!("{} takes {}", name::request(names, req), slots.join(", ")));
        }
    }

    /// Appends the turn to `out`. `forwards` are those that may overlap it, in stream order.
    pub(super) fn print(mut self, out: &mut String, forwards: &[Span], names: &[String]) {
        self.close_takes(names);
        out.push_str(&format!("\nturn {}  {} .. {}\n", self.number, self.from, self.to));
        let (cpu, gpu) = draw(&self.cpu, forwards, self.from.ns(), self.to.ns());
        out.push_str(&format!("  CPU {cpu}\n"));
        out.push_str(format!("  GPU {gpu}").trim_end());
        out.push('\n');
        lines(out, 2, &self.notes);
        for group in &self.groups {
            group.print(out, names);
        }
        lines(out, 2, &self.tail);
    }
}

impl RowGroup {
    fn print(&self, out: &mut String, names: &[String]) {
        let (word, batch) = match self.side {
            Side::Prepare(batch) => ("prepare", batch),
            Side::Result(batch) => ("result", batch),
        };
        out.push_str(format!("  {word} {batch}  {}", self.head).trim_end());
        out.push('\n');
        let cells: Vec<Vec<String>> = self.rows.iter().map(|row| row.line(names)).collect();
        for (line, row) in align(&cells, &[]).iter().zip(&self.rows) {
            out.push_str(&format!("    {line}\n"));
            lines(out, 9, &row.notes);
            if !row.freed.is_empty() {
                let slots: Vec<String> = row.freed.iter().map(SlotId::to_string).collect();
                out.push_str(&format!("{:9}frees {}\n", "", slots.join(", ")));
            }
        }
    }
}

impl DrawnRow {
    fn line(&self, names: &[String]) -> Vec<String> {
        let due = if self.due { '*' } else { '.' };
        let fired = if self.fired { '!' } else { '.' };
        let mut cells = vec![format!("{due}{fired}"), name::request(names, self.req)];
        cells.extend(self.cells.iter().cloned());
        cells
    }
}

fn lines(out: &mut String, indent: usize, all: &[String]) {
    for line in all {
        out.push_str(&format!("{:indent$}{line}\n", ""));
    }
}
