//! One loop turn as it will be printed: its lanes, what happened around them, and a line for each row of a batch.

use std::collections::BTreeMap;

use crate::engine::Time;
use crate::record::{BatchId, Owner, ReqId, SlotId};
use crate::report::layout::align;
use crate::report::name;

use super::lanes::{Forward, Segment, draw};

/// What is known of a turn so far.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) number: u32,
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) segments: Vec<Segment>,
    /// What happened before any batch row: arrivals, hits, slots taken and lost.
    pub(super) notes: Vec<String>,
    pub(super) sections: Vec<Section>,
    /// What is said last: assertions, findings that belong to no other line.
    pub(super) tail: Vec<String>,
    takes: Option<Takes>,
}

/// The rows of one batch, prepared or processed.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) part: Part,
    /// What stands right of the batch: mode, times of the forward.
    pub(super) head: String,
    rows: Vec<Row>,
    index: BTreeMap<ReqId, usize>,
}

/// What a section shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A batch as it was prepared.
    Prepare(BatchId),
    /// A batch whose result is processed.
    Result(BatchId),
}

/// A row of a batch, filled in as its facts come.
#[derive(Debug)]
pub(super) struct Row {
    req: ReqId,
    /// Whether its forward writes a track slot.
    pub(super) due: bool,
    /// Whether the rule fired.
    pub(super) fired: bool,
    /// By [`Column`].
    cells: [String; Column::COUNT],
    /// Lines below it.
    pub(super) notes: Vec<String>,
    /// Slots that the request gave back.
    pub(super) freed: Vec<SlotId>,
}

/// The columns of a row, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
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

impl Column {
    const COUNT: usize = Column::End as usize + 1;
}

/// Slots taken by one request in a run of facts.
#[derive(Debug)]
struct Takes {
    req: ReqId,
    slots: Vec<String>,
}

impl Row {
    /// Fills a cell.
    pub(super) fn set(&mut self, column: Column, text: String) {
        self.cells[column as usize] = text;
    }
}

impl Turn {
    pub(super) fn new(number: u32, from: Time) -> Turn {
        let (segments, notes, sections, tail) = Default::default();
        Turn { number, from, to: from, segments, notes, sections, tail, takes: None }
    }

    /// The row of a request in the section of a batch; the section opens and the row begins where they are new.
    pub(super) fn row(&mut self, part: Part, head: &str, req: ReqId) -> &mut Row {
        if self.sections.last().is_none_or(|section| section.part != part) {
            let (rows, index) = Default::default();
            self.sections.push(Section { part, head: head.to_owned(), rows, index });
        }
        let section = self.sections.last_mut().expect("one was just pushed if there was none");
        let index = *section.index.entry(req).or_insert(section.rows.len());
        if index == section.rows.len() {
            let (cells, notes, freed) = Default::default();
            section.rows.push(Row { req, due: false, fired: false, cells, notes, freed });
        }
        &mut section.rows[index]
    }

    /// Notes that a request got a slot; slots taken one after another share a line.
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

    /// A line of its own above the rows.
    pub(super) fn note(&mut self, text: String, names: &[String]) {
        self.close_takes(names);
        self.notes.push(text);
    }

    fn close_takes(&mut self, names: &[String]) {
        if let Some(Takes { req, slots }) = self.takes.take() {
            self.notes.push(format!("{} takes {}", name::request(names, req), slots.join(", ")));
        }
    }

    /// Appends the turn to `out`. `stream` are the forwards that may overlap it, in order.
    pub(super) fn print(mut self, out: &mut String, stream: &[Forward], names: &[String]) {
        self.close_takes(names);
        out.push_str(&format!("\nturn {}  {} .. {}\n", self.number, self.from, self.to));
        let (cpu, gpu) = draw(&self.segments, stream, self.from, self.to);
        out.push_str(&format!("  CPU {cpu}\n"));
        out.push_str(format!("  GPU {gpu}").trim_end());
        out.push('\n');
        lines(out, 2, &self.notes);
        for section in &self.sections {
            section.print(out, names);
        }
        lines(out, 2, &self.tail);
    }
}

impl Section {
    fn print(&self, out: &mut String, names: &[String]) {
        let (word, batch) = match self.part {
            Part::Prepare(batch) => ("prepare", batch),
            Part::Result(batch) => ("result", batch),
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

impl Row {
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
