//! The two lanes of one turn of a scene, drawn as the timeline draws them, and where its phases stand in the drawing.

use crate::engine::Time;
use crate::report::layout::columns_of;
use crate::report::name;
use crate::scene::{Lane, Scene, Span, Work};

use super::lanes::{Forward, Segment, draw};

/// The lanes of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLanes {
    /// When the turn begins.
    pub from: Time,
    /// When its last CPU phase ends.
    pub to: Time,
    /// What the CPU does.
    pub cpu: String,
    /// What the GPU runs meanwhile.
    pub gpu: String,
    /// The columns of each phase, from first to last without it, the wait before it left out.
    pub phases: Vec<(usize, usize)>,
}

/// Draws the turn of this number.
pub fn turn_lanes(scene: &Scene, turn: u32) -> TurnLanes {
    let cpu = |span: &&Span| span.lane == Lane::Cpu && span.turn == turn;
    let begins = scene.turns.iter().find(|it| it.turn == turn).map_or(0, |it| it.at_ns);
    let ends = scene.spans.iter().filter(cpu).map(|span| span.end_ns).max().unwrap_or(begins);
    let (from, to) = (Time(begins), Time(ends));
    let mut segments = Vec::new();
    let (mut column, mut phases) = (1, Vec::new());
    for span in scene.spans.iter().filter(cpu) {
        let (start, end) = (Time(span.start_ns), Time(span.end_ns));
        let batch = span.batch.map_or(String::new(), |batch| format!(" {batch}"));
        let segment = match (span.work, span.batch) {
            (Work::Wait, Some(batch)) => Segment::wait(batch, start, end),
            (Work::Phase(phase), _) => Segment::phase(format!("{}{batch}", name::phase(phase)), start, end),
            (Work::Wait | Work::Forward(_) | Work::ResultCopy, _) => continue,
        };
        let width = segment.width();
        if let Work::Phase(_) = span.work {
            phases.push((column, column + width));
        }
        column += width + 1;
        segments.push(segment);
    }
    let forwards: Vec<Forward> = scene.spans.iter().filter_map(forward).collect();
    let (cpu, gpu) = draw(&segments, &forwards, from, to);
    assert!(columns_of(&cpu) == column, "a phase is as wide as it says");
    TurnLanes { from, to, cpu, gpu, phases }
}

fn forward(span: &Span) -> Option<Forward> {
    let Work::Forward(mode) = span.work else { return None };
    let (start, end) = (Time(span.start_ns), Time(span.end_ns));
    Some(Forward { batch: span.batch?, mode, start, end })
}
