//! A progress bar on standard error, for work beyond a second, only on a terminal.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::model::Setup;

/// The time after which a progress bar is shown.
const QUIET: Duration = Duration::from_secs(1);

/// The time beyond its limit in which a search may write its findings.
const GRACE: Duration = Duration::from_millis(250);

/// Outputs between two readings of the clock.
const STRIDE: u64 = 4096;

/// A progress bar that is cleared when it is dropped.
struct Bar(ProgressBar);

impl Bar {
    fn new(bar: ProgressBar, template: &str) -> Bar {
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(bar.with_style(style))
    }

    /// None where standard error is not a terminal.
    fn on_terminal(bar: ProgressBar, template: &str) -> Option<Bar> {
        std::io::stderr().is_terminal().then(|| Bar::new(bar, template))
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Counts outputs and shows them. The clock is read for display only: nothing that is computed depends on it.
pub(super) struct Progress {
    started: Instant,
    expected: u64,
    done: u64,
    bar: Option<Bar>,
}

impl Progress {
    /// For runs of `setup` under `rules` rules; none where standard error is no terminal.
    pub(super) fn on_terminal(setup: &Setup, rules: usize) -> Option<Self> {
        let outputs: u64 = setup.requests.iter().map(|spec| u64::from(spec.max_new)).sum();
        let expected = outputs * rules as u64;
        let progress = || Progress { started: Instant::now(), expected, done: 0, bar: None };
        std::io::stderr().is_terminal().then(progress)
    }

    /// Adds outputs.
    pub(super) fn outputs(&mut self, more: u64) {
        let before = self.done / STRIDE;
        self.done += more;
        if self.done / STRIDE == before {
            return;
        }
        if self.bar.is_none() && self.started.elapsed() > QUIET {
            let bar = ProgressBar::new(self.expected);
            self.bar = Some(Bar::new(bar, "{bar:30} {pos}/{len} output tokens, {eta} left"));
        }
        if let Some(bar) = &self.bar {
            bar.0.set_position(self.done.min(self.expected));
        }
    }
}

/// The number of cores.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The time at which a search and the shrinking of its findings end. Without a limit the clock is not read.
#[derive(Clone, Copy)]
pub(super) struct TimeLimit(Option<Instant>);

impl TimeLimit {
    /// A limit this many nanoseconds from now.
    pub(super) fn new(most_ns: Option<u64>) -> Self {
        TimeLimit(most_ns.and_then(|ns| Instant::now().checked_add(Duration::from_nanos(ns))))
    }

    /// Whether the time is over.
    pub(super) fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// The limit with a grace period, so that a search that used up its time can still write its findings.
    pub(super) fn with_grace(self) -> Self {
        TimeLimit(self.0.map(|end| end + GRACE))
    }

    /// A limit at the end of the first of `of` equal parts of the remaining time.
    pub(super) fn part(self, of: usize) -> Self {
        TimeLimit(self.0.map(|end| {
            let now = Instant::now();
            now + end.saturating_duration_since(now) / of.max(1) as u32
        }))
    }
}

/// The progress bar and the time limit of an exhaustive search. Only the end of a search depends on the clock, and a
/// search that the limit ended reports that.
pub(super) struct SearchProgress {
    started: Instant,
    limit: TimeLimit,
    bar: Option<Bar>,
}

impl SearchProgress {
    /// A search with a time limit.
    pub(super) fn new(limit: TimeLimit) -> Self {
        let bar = Bar::on_terminal(ProgressBar::new_spinner(), "{spinner} {pos} unique states in {elapsed}, {per_sec}");
        SearchProgress { started: Instant::now(), limit, bar }
    }

    /// Shows the number of unique states. Returns whether the time is over. Called very often: the clock is read only
    /// for a bar or a limit.
    pub(super) fn states(&self, unique: u64) -> bool {
        if let Some(bar) = self.bar.as_ref().filter(|_| self.started.elapsed() > QUIET) {
            bar.0.set_position(unique);
        }
        self.limit.is_over()
    }
}

/// The progress bar of a random search.
pub(super) struct RunsProgress {
    started: Instant,
    done: AtomicU64,
    bar: Option<Bar>,
}

impl RunsProgress {
    /// A search with this many runs.
    pub(super) fn new(runs: u64) -> Self {
        let bar = Bar::on_terminal(ProgressBar::new(runs), "{bar:30} {pos}/{len} runs, {per_sec}, {eta} left");
        RunsProgress { started: Instant::now(), done: AtomicU64::new(0), bar }
    }

    /// Adds finished runs.
    pub(super) fn runs(&self, runs: u64) {
        let done = self.done.fetch_add(runs, Ordering::Relaxed) + runs;
        if let Some(bar) = self.bar.as_ref().filter(|_| self.started.elapsed() > QUIET) {
            bar.0.set_position(done);
        }
    }
}
