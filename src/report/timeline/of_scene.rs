//! The two lanes of one turn of a scene, drawn as the timeline draws them, and the columns of its phases.

use crate::engine::Time;
use crate::report::layout::columns_of;
use crate::scene::{Lane, Scene, Span, Work};

use super::lanes::{draw, width};

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
    /// The columns of each phase: the first, and the first behind it. A wait has none.
    pub phases: Vec<(usize, usize)>,
}

/// Draws the turn of this number.
pub fn turn_lanes(scene: &Scene, turn: u32) -> TurnLanes {
    let cpu_spans: Vec<Span> =
        scene.spans.iter().filter(|span| span.lane == Lane::Cpu && span.turn == turn).copied().collect();
    let from_ns = scene.turns.iter().find(|it| it.turn == turn).map_or(0, |it| it.at_ns);
    let to_ns = cpu_spans.iter().map(|span| span.end_ns).max().unwrap_or(from_ns);
    let (mut column, mut phases) = (1, Vec::new());
    for span in &cpu_spans {
        let width = width(span);
        if let Work::Phase(_) = span.work {
            phases.push((column, column + width));
        }
        column += width + 1;
    }
    let forwards: Vec<Span> = scene.spans.iter().filter(|span| span.lane == Lane::Forward).copied().collect();
    let (cpu, gpu) = draw(&cpu_spans, &forwards, from_ns, to_ns);
    assert!(columns_of(&cpu) == column, "a phase is as wide as it says");
    TurnLanes { from: Time(from_ns), to: Time(to_ns), cpu, gpu, phases }
}
