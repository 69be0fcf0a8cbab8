//! How long a cycle of this computer lasts, without hardware counters: additions of which each needs the one before it
//! take a cycle each.

use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds a cycle, at the clock that the computer keeps now.
pub fn cycle_ns() -> f64 {
    const ADDS: u64 = 40_000_000;
    let best = |_| {
        let (mut a, mut b) = (black_box(1_u64), black_box(2_u64));
        let start = Instant::now();
        for _ in 0..ADDS / 8 {
            // A Fibonacci sequence: no additions can be put together.
            for _ in 0..4 {
                a = a.wrapping_add(b);
                b = b.wrapping_add(a);
            }
        }
        let took = start.elapsed().as_nanos() as f64;
        black_box((a, b));
        took / ADDS as f64
    };
    (0..5).map(best).fold(f64::INFINITY, f64::min)
}
