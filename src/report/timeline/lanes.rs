//! The two lanes of a turn: what the CPU does, and beneath it what the GPU runs meanwhile.
//!
//! The axis is that of the CPU phases, each as wide as its name, so it is true to the order of events and not to scale.

use crate::engine::Time;
use crate::record::{BatchId, ForwardMode};
use crate::report::layout::columns_of;
use crate::report::name;

/// Columns of a wait: wide, since it is where the lanes meet.
const WAIT_WIDTH: usize = 20;

/// A stretch of CPU work.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    label: String,
    from: Time,
    to: Time,
    width: usize,
}

/// A forward on the GPU stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forward {
    pub(super) batch: BatchId,
    pub(super) mode: ForwardMode,
    pub(super) start: Time,
    pub(super) end: Time,
}

impl Segment {
    /// A phase, as wide as its label.
    pub(super) fn phase(label: String, from: Time, to: Time) -> Segment {
        let width = columns_of(&label);
        Segment { label, from, to, width }
    }

    /// A wait for a completion event.
    pub(super) fn wait(batch: BatchId, from: Time, to: Time) -> Segment {
        let label = format!("wait {batch}");
        let width = columns_of(&label).max(WAIT_WIDTH);
        Segment { label, from, to, width }
    }

    /// Columns that it takes.
    pub(super) fn width(&self) -> usize {
        self.width
    }
}

/// The lanes of a turn: the CPU line and the GPU line. Forwards are in stream order.
pub(super) fn draw(segments: &[Segment], forwards: &[Forward], from: Time, to: Time) -> (String, String) {
    let mut cpu = String::from("|");
    for segment in segments {
        cpu.push_str(&format!("{:<width$}|", segment.label, width = segment.width));
    }
    let mut gpu = vec![b' '; cpu.chars().count()];
    let mut free = 0;
    for forward in forwards {
        // One that starts just as the turn ends is drawn in the next.
        let starts_here = forward.start < to || forward.start == to && from == to;
        if starts_here && (forward.end > from || forward.start >= from) {
            free = bar(&mut gpu, free, segments, forward, from, to);
        }
    }
    let gpu = String::from_utf8(gpu).expect("bars are ASCII");
    (cpu, gpu.trim_end().to_owned())
}

/// Draws one bar no further left than `free`; returns the first column right of it.
fn bar(gpu: &mut [u8], free: usize, segments: &[Segment], forward: &Forward, from: Time, to: Time) -> usize {
    let starts = forward.start >= from;
    let ends = forward.end <= to;
    let first = if starts { column(segments, forward.start) } else { 0 }.max(free);
    let last = if ends { column(segments, forward.end) } else { gpu.len() };
    // A bar has room for its two brackets, however short the forward; at the edge it may be cut.
    let last = last.max(first + 2).min(gpu.len());
    if first >= last {
        return free;
    }
    let cells = &mut gpu[first..last];
    cells.fill(b'=');
    let edge = cells.len() - 1;
    cells[0] = if starts { b'[' } else { b'=' };
    if ends {
        cells[edge] = b']';
    }
    let long = format!("{} {}", forward.batch, name::mode(forward.mode));
    let short = forward.batch.to_string();
    if let Some(label) = [long, short].into_iter().find(|label| label.len() + 2 <= cells.len()) {
        cells[1..=label.len()].copy_from_slice(label.as_bytes());
    }
    last
}

/// The column of a point in time: within a phase by proportion, between phases at the border.
fn column(segments: &[Segment], at: Time) -> usize {
    let mut left = 0;
    for segment in segments {
        if at <= segment.from {
            return left;
        }
        if at < segment.to {
            let share = u128::from(at - segment.from) * segment.width as u128 / u128::from(segment.to - segment.from);
            return left + 1 + share as usize;
        }
        left += segment.width + 1;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forward(batch: u32, start: u64, end: u64) -> Forward {
        Forward { batch: BatchId(batch), mode: ForwardMode::Decode, start: Time(start), end: Time(end) }
    }

    #[test]
    fn bars_follow_the_order_of_events() {
        let segments = [
            Segment::phase("plan".to_owned(), Time(0), Time(4)),
            Segment::phase("launch b3".to_owned(), Time(4), Time(8)),
            Segment::wait(BatchId(2), Time(8), Time(50)),
            Segment::phase("result b2".to_owned(), Time(50), Time(60)),
        ];
        let (cpu, gpu) = draw(&segments, &[forward(2, 0, 45), forward(3, 45, 90)], Time(0), Time(60));
        assert_eq!(cpu, "|plan|launch b3|wait b2             |result b2|");
        assert_eq!(gpu, "[b2 decode======================][b3 decode====");
    }

    #[test]
    fn forwards_without_length_or_beyond_the_turn_do_no_harm() {
        let segments = [Segment::phase("plan".to_owned(), Time(5), Time(5))];
        let (_, gpu) = draw(&segments, &[forward(1, 5, 5), forward(2, 5, 5), forward(3, 9, 9)], Time(5), Time(5));
        assert_eq!(gpu, "[][]");
        let (cpu, gpu) = draw(&[], &[forward(1, 0, 9)], Time(0), Time(0));
        assert_eq!((cpu.as_str(), gpu.as_str()), ("|", "["));
    }
}
