//! A scenario file as the deserializer reads it: a struct for each bracket, an option for each field that may be left
//! out. Owns the spelling. Other modules check the meaning of the words and whether they fit together. There is no
//! `flatten` and no untagged type, which RON does not read well.

use serde::Deserialize;

use super::{ExpectEnd, ExpectVerdict};
use crate::model::{
    CopyOnWrite, Cost, Costs, Engine, Exhaustion, FinishOrder, Grid, KvEviction, MixedTracking, OptionalSize, Release,
    ResultQueue, SlotFree, SlotHeadroom, Snapshot, Strategy, TombstoneLock, Vary, cost_fields, engine_fields,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Scenario")]
pub(super) struct RawScenario {
    pub engine: Option<RawEngine>,
    pub costs: Option<RawCosts>,
    pub requests: Option<Vec<RawRequest>>,
    pub trace: Option<RawTrace>,
    pub events: Option<Vec<RawEvent>>,
    pub vary: Option<Vary>,
    pub expect: Option<Vec<RawExpect>>,
    pub expect_every: Option<Vec<RawExpectEvery>>,
    pub rule: Option<String>,
    pub seed: Option<u64>,
    pub turns_max: Option<u32>,
}

/// The type of an engine field in a file: the type of the table, but for speculative decoding, whose numbers are
/// validated.
macro_rules! raw_type {
    (OptionalSpec) => {
        RawSpec
    };
    ($type:ident) => {
        $type
    };
}

/// Sets a field to the value of a file, if it has one. Speculative decoding is left to validation.
macro_rules! set_field {
    ($engine:ident, $raw:ident, $name:ident, OptionalSpec) => {};
    ($engine:ident, $raw:ident, $name:ident, $type:ident) => {
        if let Some(given) = $raw.$name {
            $engine.$name = given;
        }
    };
}

/// Makes the `engine` block of the table of engine fields.
macro_rules! raw_engine {
    ($($(#[$doc:meta])+ $name:ident: $type:ident = $preset:tt;)+) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, rename = "Engine")]
        pub(super) struct RawEngine {
            pub release: Option<Release>,
            $(pub $name: Option<raw_type!($type)>,)+
            pub state: Option<RawState>,
        }

        impl RawEngine {
            /// Sets every field that is given, but for `spec`.
            pub fn apply(&self, engine: &mut Engine) {
                $(set_field!(engine, self, $name, $type);)+
            }
        }
    };
}

engine_fields!(raw_engine);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum RawState {
    Ssm { dim: Option<u32>, vocab: Option<u32>, seed: Option<u64> },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Spec")]
pub(super) struct RawSpec {
    pub draft: u32,
    pub accept: RawAccept,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) enum RawAccept {
    Fixed(Vec<u32>),
    Seeded(f64),
}

/// Makes the `costs` block of the table of costs.
macro_rules! raw_costs {
    ($($(#[$doc:meta])+ $name:ident = $default:literal;)+) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, rename = "Costs")]
        pub(super) struct RawCosts {
            pub cpu: Option<String>,
            pub gpu: Option<String>,
            $(pub $name: Option<Cost>,)+
        }

        impl RawCosts {
            /// The costs that are given, in the order of [`Costs::NAMES`].
            pub fn given(&self) -> [Option<Cost>; Costs::COUNT] {
                [$(self.$name),+]
            }
        }
    };
}

cost_fields!(raw_costs);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Request")]
pub(super) struct RawRequest {
    pub id: String,
    pub arrive: Option<RawArrive>,
    pub prompt: RawPrompt,
    pub stop: RawStop,
    pub max_new: Option<u32>,
    pub accepts: Option<Vec<u32>>,
}

#[derive(Debug, Deserialize)]
pub(super) enum RawArrive {
    Turn(u32),
    At(String),
    After(String),
    Before(String, u32),
}

#[derive(Debug, Deserialize)]
pub(super) enum RawPrompt {
    Tokens(Vec<u32>),
    Fresh(u32),
    Extend(String, u32),
    Prefix(String, u32, u32),
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum RawStop {
    Token(u32),
    Length(u32),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Trace")]
pub(super) struct RawTrace {
    pub format: TraceFormat,
    pub path: String,
    pub limit: Option<u32>,
    pub time_scale: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum TraceFormat {
    AzureCsv,
    MooncakeJsonl,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Event")]
pub(super) struct RawEvent {
    pub turn: u32,
    #[serde(rename = "do")]
    pub act: RawAct,
}

#[derive(Debug, Deserialize)]
pub(super) enum RawAct {
    Abort(String),
    Retract(String),
    FailAlloc(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Expect")]
pub(super) struct RawExpect {
    pub rule: String,
    pub verdict: ExpectVerdict,
    #[serde(default)]
    pub findings: Vec<RawFinding>,
    #[serde(default)]
    pub requests: Vec<RawExpectRequest>,
    pub evictions: Option<u64>,
    pub leaks: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "ExpectRequest")]
pub(super) struct RawExpectRequest {
    pub id: String,
    pub outputs: Option<u32>,
    pub prefix_hit: Option<u32>,
    pub admitted: Option<u32>,
    pub ended: Option<ExpectEnd>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "ExpectEvery")]
pub(super) struct RawExpectEvery {
    pub rule: String,
    pub verdict: ExpectVerdict,
    #[serde(default)]
    pub kinds: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Finding")]
pub(super) struct RawFinding {
    pub kind: String,
    pub request: Option<String>,
    pub label: Option<u32>,
    pub holds: Option<u32>,
    pub turn: Option<u32>,
    pub slot: Option<u32>,
}
