//! The pinned case of the searches: a conversation that may stop anywhere.

use overlapsim::runner;
use overlapsim::scenario::{self, Scenario};

/// A conversation: every request extends the one before, which may have stopped anywhere. Every length of every request
/// makes other tokens, so that nearly every state differs from every other.
pub fn scenario(requests: u32, outputs: u32) -> Scenario {
    let mut list = format!("(id: \"t0\", prompt: Fresh(1), stop: Length({outputs})),");
    for nth in 1..requests {
        let before = nth - 1;
        list.push_str(&format!(
            "(id: \"t{nth}\", arrive: After(\"t{before}\"), prompt: Extend(\"t{before}\", 1), stop: Length({outputs})),"
        ));
    }
    let text = format!("(engine: (track_interval: 4, mamba_chunk: 4), requests: [{list}], vary: (stops: true))");
    scenario::parse("conversation", &text, ".".as_ref(), &runner::rule_names()).expect("a valid scenario")
}
