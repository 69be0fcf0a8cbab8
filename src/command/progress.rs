//! A progress bar on standard error, for work beyond a second, only on a terminal.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::model::Setup;

/// How long work goes on before it is worth a bar.
const QUIET: Duration = Duration::from_secs(1);

/// Outputs between two looks at the clock.
const STRIDE: u64 = 4096;

/// Counts outputs and shows them. The clock is read for display only: nothing that is computed depends on it.
pub(super) struct Progress {
    started: Instant,
    expected: u64,
    done: u64,
    bar: Option<ProgressBar>,
    terminal: bool,
}

impl Progress {
    /// For runs of `setup` under `rules` rules.
    pub(super) fn new(setup: &Setup, rules: usize) -> Self {
        let outputs: u64 = setup.requests.iter().map(|spec| u64::from(spec.max_new)).sum();
        Progress {
            started: Instant::now(),
            expected: outputs * rules as u64,
            done: 0,
            bar: None,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    /// One more output.
    pub(super) fn output(&mut self) {
        self.done += 1;
        if !self.terminal || !self.done.is_multiple_of(STRIDE) {
            return;
        }
        if self.bar.is_none() && self.started.elapsed() > QUIET {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} output tokens, {eta} left")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            self.bar = Some(ProgressBar::new(self.expected).with_style(style));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done.min(self.expected));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
