//! The file as it is written: one struct per bracket, options for what may be left out. Owns the spelling; what the
//! words mean and whether they fit together is checked elsewhere. No `flatten` and no untagged types, which RON does
//! not read well.

use serde::Deserialize;

use super::{ExpectEnd, ExpectVerdict};
use crate::model;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Scenario")]
pub(super) struct File {
    pub engine: Option<Engine>,
    pub costs: Option<Costs>,
    pub requests: Option<Vec<Request>>,
    pub trace: Option<Trace>,
    pub events: Option<Vec<Event>>,
    pub vary: Option<Vary>,
    pub expect: Option<Vec<Expect>>,
    pub expect_every: Option<Vec<ExpectEvery>>,
    pub rule: Option<String>,
    pub seed: Option<u64>,
    pub turns_max: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Engine {
    pub release: Option<Release>,
    pub strategy: Option<Strategy>,
    pub overlap: Option<bool>,
    pub track_interval: Option<u32>,
    pub mamba_chunk: Option<u32>,
    pub page_size: Option<u32>,
    pub grid: Option<Grid>,
    pub mamba_slots: Option<u32>,
    pub kv_tokens: Option<u32>,
    pub max_running: Option<u32>,
    pub max_prefill_tokens: Option<u32>,
    pub conservativeness: Option<f64>,
    pub chunked_prefill_size: Option<u32>,
    pub mixed_chunk: Option<bool>,
    pub mixed_tracking: Option<MixedTracking>,
    pub exhaustion: Option<Exhaustion>,
    pub spec: Option<Spec>,
    pub caches_through_stop: Option<bool>,
    pub previous_checkpoint: Option<bool>,
    pub snapshot: Option<Snapshot>,
    pub copy_on_write: Option<CopyOnWrite>,
    pub slot_free: Option<SlotFree>,
    pub result_queue: Option<ResultQueue>,
    pub disable_consecutive_prefill_overlap: Option<bool>,
    pub skip_finishing_decode: Option<bool>,
    pub filter_before_prefill: Option<bool>,
    pub lazy_prealloc_evicts: Option<bool>,
    pub refused_prealloc_clears_label: Option<bool>,
    pub kv_eviction: Option<KvEviction>,
    pub finish_order: Option<FinishOrder>,
    pub slot_headroom: Option<SlotHeadroom>,
    pub branching_beyond_state: Option<bool>,
    pub split_refreshes_state: Option<bool>,
    pub tombstone_lock: Option<TombstoneLock>,
    pub admission_forgets_skip: Option<bool>,
    pub fixed_length_reserves_all: Option<bool>,
    pub waiting_prefix_refresh: Option<bool>,
    pub rematch_after_insert: Option<bool>,
    pub handover_unlocks_state: Option<bool>,
    pub state: Option<State>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum State {
    Ssm { dim: Option<u32>, vocab: Option<u32>, seed: Option<u64> },
}

/// Spells an enum of the setup: the same names, read from RON.
macro_rules! spelling {
    ($name:ident { $($variant:ident),+ }) => {
        #[derive(Clone, Copy, Debug, Deserialize)]
        #[allow(non_camel_case_types)]
        pub(super) enum $name { $($variant),+ }

        impl From<$name> for model::$name {
            fn from(word: $name) -> Self {
                match word { $($name::$variant => model::$name::$variant),+ }
            }
        }
    };
}

spelling!(Release { V0_5_16, V0_5_17, V0_5_18, V0_5_23 });
spelling!(Strategy { NoBuffer, ExtraBuffer, ExtraBufferLazy });
spelling!(Grid { Interval, Lcm });
spelling!(ResultQueue { Copy, Alias });
spelling!(KvEviction { Whole, Shortfall });
spelling!(FinishOrder { LengthFirst, TokenFirst });
spelling!(MixedTracking { Dropped, Kept });
spelling!(Exhaustion { Skip, Assert });
spelling!(Snapshot { HandOver, Copy });
spelling!(CopyOnWrite { Deferred, Immediate });
spelling!(SlotFree { AtResult, Deferred, Masked });
spelling!(SlotHeadroom { PerRequest, Exact });
spelling!(TombstoneLock { Steal, Skip, Count });

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    pub draft: u32,
    pub accept: Accept,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) enum Accept {
    Fixed(Vec<u32>),
    Seeded(f64),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Costs {
    pub cpu: Option<String>,
    pub gpu: Option<String>,
    pub ingest: Option<Cost>,
    pub plan: Option<Cost>,
    pub prepare: Option<Cost>,
    pub prepare_request: Option<Cost>,
    pub launch: Option<Cost>,
    pub result: Option<Cost>,
    pub result_request: Option<Cost>,
    pub check_recompute: Option<Cost>,
    pub check_mask: Option<Cost>,
    pub boundary_update: Option<Cost>,
    pub gpu_extend: Option<Cost>,
    pub gpu_extend_token: Option<Cost>,
    pub gpu_decode: Option<Cost>,
    pub gpu_decode_request: Option<Cost>,
    pub result_copy: Option<Cost>,
}

impl Costs {
    /// The costs by name, in the order of the setup's.
    pub fn given(&self) -> [(&'static str, Option<Cost>); 15] {
        macro_rules! named {
            ($($name:ident),+ $(,)?) => { [$((stringify!($name), self.$name)),+] };
        }
        named!(
            ingest,
            plan,
            prepare,
            prepare_request,
            launch,
            result,
            result_request,
            check_recompute,
            check_mask,
            boundary_update,
            gpu_extend,
            gpu_extend_token,
            gpu_decode,
            gpu_decode_request,
            result_copy,
        )
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum Cost {
    Fixed(u64),
    Uniform(u64, u64),
}

impl From<Cost> for model::Cost {
    fn from(cost: Cost) -> Self {
        match cost {
            Cost::Fixed(ns) => model::Cost::Fixed(ns),
            Cost::Uniform(lo, hi) => model::Cost::Uniform(lo, hi),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub id: String,
    pub arrive: Option<Arrive>,
    pub prompt: Prompt,
    pub stop: Stop,
    pub max_new: Option<u32>,
    pub accepts: Option<Vec<u32>>,
}

#[derive(Debug, Deserialize)]
pub(super) enum Arrive {
    Turn(u32),
    At(String),
    After(String),
    Before(String, u32),
}

#[derive(Debug, Deserialize)]
pub(super) enum Prompt {
    Tokens(Vec<u32>),
    Fresh(u32),
    Extend(String, u32),
    Prefix(String, u32, u32),
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum Stop {
    Token(u32),
    Length(u32),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
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

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Vary {
    pub arrivals: bool,
    pub stops: bool,
    pub aborts: bool,
    pub retract: bool,
    pub alloc_failure: bool,
    pub accept: bool,
    pub order: bool,
}

impl From<Vary> for model::Vary {
    fn from(raw: Vary) -> Self {
        let Vary { arrivals, stops, aborts, retract, alloc_failure, accept, order } = raw;
        model::Vary { arrivals, stops, aborts, retract, alloc_failure, accept, order }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    pub turn: u32,
    #[serde(rename = "do")]
    pub act: Act,
}

#[derive(Debug, Deserialize)]
pub(super) enum Act {
    Abort(String),
    Retract(String),
    FailAlloc(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub rule: String,
    pub verdict: ExpectVerdict,
    #[serde(default)]
    pub findings: Vec<Finding>,
    #[serde(default)]
    pub requests: Vec<ExpectRequest>,
    pub evictions: Option<u64>,
    pub leaks: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectRequest {
    pub id: String,
    pub outputs: Option<u32>,
    pub prefix_hit: Option<u32>,
    pub admitted: Option<u32>,
    pub ended: Option<ExpectEnd>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectEvery {
    pub rule: String,
    pub verdict: ExpectVerdict,
    #[serde(default)]
    pub kinds: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Finding {
    pub kind: String,
    pub request: Option<String>,
    pub label: Option<u32>,
    pub holds: Option<u32>,
    pub turn: Option<u32>,
    pub slot: Option<u32>,
}
