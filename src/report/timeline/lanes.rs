//! The two lanes of a turn: CPU spans, and beneath them the forwards that the GPU runs meanwhile.
//!
//! The axis is that of the CPU spans, each as wide as its title: it keeps the order of events and has no scale.

use crate::report::layout::columns_of;
use crate::report::name;
use crate::scene::{Span, Work};

/// Least columns of a wait: wide, since the two lanes meet there.
const WAIT_WIDTH: usize = 20;

/// Columns of a CPU span.
pub(super) fn width(span: &Span) -> usize {
    let title = columns_of(&name::span(span));
    match span.work {
        Work::Wait => title.max(WAIT_WIDTH),
        Work::Phase(_) | Work::Cpu | Work::StateCopy | Work::Forward(_) | Work::ResultCopy => title,
    }
}

/// The lanes of a turn that begins at `from_ns` and ends at `to_ns`: the CPU line and the GPU line. Forwards are in
/// stream order.
pub(super) fn draw(cpu_spans: &[Span], forwards: &[Span], from_ns: u64, to_ns: u64) -> (String, String) {
    let mut cpu = String::from("|");
    for span in cpu_spans {
        cpu.push_str(&format!("{:<width$}|", name::span(span), width = width(span)));
    }
    let mut gpu = vec![b' '; cpu.chars().count()];
    let mut free = 0;
    for forward in forwards {
        // A forward that starts just as the turn ends is drawn in the next turn.
        let starts_here = forward.start_ns < to_ns || forward.start_ns == to_ns && from_ns == to_ns;
        if starts_here && (forward.end_ns > from_ns || forward.start_ns >= from_ns) {
            free = bar(&mut gpu, free, cpu_spans, forward, from_ns, to_ns);
        }
    }
    let gpu = String::from_utf8(gpu).expect("bars are ASCII");
    (cpu, gpu.trim_end().to_owned())
}

/// Draws one bar no further left than `free`; returns the first column right of it.
fn bar(gpu: &mut [u8], free: usize, cpu_spans: &[Span], forward: &Span, from_ns: u64, to_ns: u64) -> usize {
    let starts = forward.start_ns >= from_ns;
    let ends = forward.end_ns <= to_ns;
    let first = if starts { column(cpu_spans, forward.start_ns) } else { 0 }.max(free);
    let last = if ends { column(cpu_spans, forward.end_ns) } else { gpu.len() };
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
    let long = name::span(forward);
    let short = forward.batch.map_or(String::new(), |batch| batch.to_string());
    if let Some(label) = [long, short].into_iter().find(|label| label.len() + 2 <= cells.len()) {
        cells[1..=label.len()].copy_from_slice(label.as_bytes());
    }
    last
}

/// The column of a point in time: within a span by proportion, between spans at the border.
fn column(cpu_spans: &[Span], at_ns: u64) -> usize {
    let mut left = 0;
    for span in cpu_spans {
        let width = width(span);
        if at_ns <= span.start_ns {
            return left;
        }
        if at_ns < span.end_ns {
            let (done_ns, all_ns) = (at_ns - span.start_ns, span.end_ns - span.start_ns);
            let share = u128::from(done_ns) * width as u128 / u128::from(all_ns);
            return left + 1 + share as usize;
        }
        left += width + 1;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BatchId, ForwardMode, Phase};
    use crate::scene::Lane;

    fn cpu(work: Work, batch: Option<u32>, start_ns: u64, end_ns: u64) -> Span {
        Span { lane: Lane::Cpu, work, batch: batch.map(BatchId), turn: 0, start_ns, end_ns }
    }

    fn forward(batch: u32, start_ns: u64, end_ns: u64) -> Span {
        let (lane, work) = (Lane::Forward, Work::Forward(ForwardMode::Decode));
        Span { lane, work, batch: Some(BatchId(batch)), turn: 0, start_ns, end_ns }
    }

    #[test]
    fn bars_follow_the_order_of_events() {
        let cpu_spans = [
            cpu(Work::Phase(Phase::Plan), None, 0, 4),
            cpu(Work::Phase(Phase::Launch), Some(3), 4, 8),
            cpu(Work::Wait, Some(2), 8, 50),
            cpu(Work::Phase(Phase::Result), Some(2), 50, 60),
        ];
        let (cpu, gpu) = draw(&cpu_spans, &[forward(2, 0, 45), forward(3, 45, 90)], 0, 60);
        assert_eq!(cpu, "|plan|launch b3|wait b2             |result b2|");
        assert_eq!(gpu, "[b2 decode======================][b3 decode====");
    }

    #[test]
    fn forwards_without_length_or_beyond_the_turn_do_no_harm() {
        let cpu_spans = [cpu(Work::Phase(Phase::Plan), None, 5, 5)];
        let (_, gpu) = draw(&cpu_spans, &[forward(1, 5, 5), forward(2, 5, 5), forward(3, 9, 9)], 5, 5);
        assert_eq!(gpu, "[][]");
        let (cpu, gpu) = draw(&[], &[forward(1, 0, 9)], 0, 0);
        assert_eq!((cpu.as_str(), gpu.as_str()), ("|", "["));
    }
}
