//! The presets of generated setups, by name (`docs/generator.md`). `generate` has the draws of each.

/// A kind of random small setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preset {
    /// Four requests of up to 20 outputs, buffered strategies, small grids, ample pools.
    Small,
    /// One long request and many fillers of one prompt token and one output, which draw the pattern of its lookahead.
    Jitter,
    /// Few requests that end at most two steps from a boundary, with fillers and refusals around it.
    Finish,
    /// Prompts made of other requests' tokens: hits on donated states, branching points, pages of 1, 2 or 4 tokens.
    Prefix,
    /// Pools of states and KV that are short: eviction, refusal, retraction.
    Tight,
    /// Prompts prefilled in chunks, mixed batches, aborts within a prompt.
    Chunks,
    /// Speculative decoding, with accept lengths by list and by probability.
    Spec,
    /// Every field of the engine, every kind of arrival, prompt, end and event, drawn costs.
    Wide,
}

impl Preset {
    /// All of them, in the order of the documentation.
    pub const ALL: [Preset; 8] = [
        Preset::Small,
        Preset::Jitter,
        Preset::Finish,
        Preset::Prefix,
        Preset::Tight,
        Preset::Chunks,
        Preset::Spec,
        Preset::Wide,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Small => "small",
            Preset::Jitter => "jitter",
            Preset::Finish => "finish",
            Preset::Prefix => "prefix",
            Preset::Tight => "tight",
            Preset::Chunks => "chunks",
            Preset::Spec => "spec",
            Preset::Wide => "wide",
        }
    }

    /// The preset of this name.
    pub fn from_name(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Its draws, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Preset::Small => "four requests of up to 20 outputs, small grids, ample pools",
            Preset::Jitter => "one long request, and fillers that draw the pattern of its lookahead",
            Preset::Finish => "ends at most two steps from a boundary",
            Preset::Prefix => "prompts made of other requests' tokens: hits, branching points, pages",
            Preset::Tight => "pools that are short: eviction, refusal, retraction",
            Preset::Chunks => "prompts in chunks, mixed batches",
            Preset::Spec => "speculative decoding",
            Preset::Wide => "every engine variant, every kind of arrival, prompt, end and event, drawn costs",
        }
    }
}
