//! Small scenarios for searches through all timings: one long request, and others that come between its steps.
#![allow(dead_code, reason = "tests and examples use some of it each")]

use overlapsim::model::{Setup, Vary};
use overlapsim::runner::{self, CheckSpec, Checked};
use overlapsim::scenario;
use overlapsim::search::{Order, SearchLimits};

/// Where track slots come from, as tables call it and as a file says it.
pub const STRATEGIES: [(&str, &str); 4] = [
    ("extra_buffer", "strategy: ExtraBuffer"),
    ("extra_buffer_lazy", "strategy: ExtraBufferLazy"),
    ("extra_buffer, overlap off", "strategy: ExtraBuffer, overlap: false"),
    ("no_buffer", "strategy: NoBuffer, overlap: false"),
];

/// One scenario: the request `a`, and others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The preset.
    pub release: &'static str,
    /// One of [`STRATEGIES`].
    pub strategy: &'static str,
    /// The track interval.
    pub grid: u32,
    /// The chunk to which prefill tracking aligns.
    pub chunk: u32,
    /// More fields of the engine, each behind a comma.
    pub more: &'static str,
    /// The prompt of `a`; it has up to three grids of outputs.
    pub prompt: u32,
    /// Prompt and outputs of the others.
    pub others: Vec<(u32, u32)>,
    /// What is open beside arrivals, stops and refused slots.
    pub open: &'static str,
}

impl Case {
    /// The scenario file.
    pub fn text(&self) -> String {
        let Case { release, strategy, grid, chunk, more, prompt, others, open } = self;
        let named = STRATEGIES.iter().find(|known| known.0 == *strategy).expect("a known strategy").1;
        let mut requests = String::new();
        for (nth, (prompt, outputs)) in std::iter::once((*prompt, 3 * grid)).chain(others.iter().copied()).enumerate() {
            let id = char::from(b'a' + nth as u8);
            requests += &format!(
                "        (id: \"{id}\", arrive: Turn(0), prompt: Fresh({prompt}), stop: Length({outputs})),\n"
            );
        }
        format!(
            "Scenario(\n    engine: (release: {release}, {named}, track_interval: {grid}, mamba_chunk: {chunk}{more}),\n    \
             requests: [\n{requests}    ],\n    \
             vary: (arrivals: true, stops: true, alloc_failure: true{open}),\n)\n"
        )
    }

    /// What the file says.
    pub fn setup(&self) -> (Setup, Vary) {
        let text = self.text();
        let read = scenario::parse("case", &text, ".".as_ref(), &runner::rule_names());
        let read = read.unwrap_or_else(|wrong| panic!("{}\n{text}", wrong.render(false)));
        (read.setup, read.vary)
    }

    /// Every timing of it under a rule.
    pub fn search(&self, rule: &str, states_max: u64) -> Checked {
        let (setup, vary) = self.setup();
        let rule = runner::rule(rule).expect("the rule exists");
        let check = CheckSpec { setup: &setup, rule, open: &vary.open(), order: Order::Bfs, unreduced: false, jobs: 1 };
        runner::check(&check, SearchLimits { states_max, stop: &|_| false })
    }
}
