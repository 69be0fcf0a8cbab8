//! `meta`: what a recording is of. Owns the words of its configuration.

use serde::Deserialize;
use serde_json::Value;

/// `meta`.
#[derive(Clone, Debug, Deserialize)]
pub struct Meta {
    /// The release.
    pub version: String,
    /// The rule, by the word of the recordings.
    #[serde(default)]
    pub policy: Option<String>,
    /// Which implementation of the radix tree ran, `python` or `rust`; older recordings do not say.
    #[serde(default)]
    pub tree_core: Option<String>,
    /// The configuration.
    pub config: Config,
    /// Content fields and the steps between boundaries were left out.
    #[serde(default)]
    pub partial: bool,
    /// Tokens are salted hashes.
    #[serde(default)]
    pub hashed: bool,
    /// It goes on from a file before it.
    #[serde(default)]
    pub continues: bool,
}

/// The configuration of a recorded run.
#[derive(Clone, Debug, Deserialize)]
pub struct Config {
    #[serde(default)]
    pub policy: Option<String>,
    pub strategy: String,
    pub overlap: bool,
    pub track_interval: u32,
    pub mamba_chunk: u32,
    pub page_size: u32,
    pub mamba_pool: u32,
    pub kv_tokens: u32,
    pub max_running: u32,
    #[serde(default)]
    pub chunk_size: Option<u32>,
    #[serde(default)]
    pub max_prefill_tokens: Option<u32>,
    #[serde(default)]
    pub conservativeness: Option<f64>,
    #[serde(default)]
    pub mixed_chunk: Option<bool>,
    #[serde(default)]
    pub disable_consecutive_prefill_overlap: Option<bool>,
    #[serde(default)]
    pub test_retract: Option<u32>,
    #[serde(default)]
    pub max_iter: Option<u32>,
    #[serde(default)]
    pub lazy_alloc_fail: Option<bool>,
    #[serde(default)]
    pub spec: Option<SpecConfig>,
    /// What was scripted to happen.
    #[serde(default)]
    pub script: Vec<Scripted>,
}

/// Something scripted in a recorded run.
#[derive(Clone, Debug, Deserialize)]
pub struct Scripted {
    /// `retract` or `fail_alloc`.
    #[serde(rename = "do")]
    pub act: String,
    pub rid: String,
    /// The loop iteration.
    pub at: u32,
}

/// Speculative decoding of a recorded run.
#[derive(Clone, Debug, Deserialize)]
pub struct SpecConfig {
    pub draft_tokens: u32,
}

/// Words of `config` that say how a recording was made and change nothing here.
const SILENT: [&str; 6] = ["seed", "feature", "max_prompt", "context", "note", "accept"];

const CONFIG: [&str; 19] = [
    "max_iter",
    "policy",
    "strategy",
    "overlap",
    "track_interval",
    "mamba_chunk",
    "page_size",
    "mamba_pool",
    "kv_tokens",
    "max_running",
    "chunk_size",
    "max_prefill_tokens",
    "conservativeness",
    "mixed_chunk",
    "disable_consecutive_prefill_overlap",
    "test_retract",
    "lazy_alloc_fail",
    "spec",
    "script",
];

/// Words of a `meta` event's configuration that are not known here.
pub(super) fn unknown(meta: &Value) -> Vec<String> {
    let known = |name: &str| CONFIG.contains(&name) || SILENT.contains(&name);
    let given = meta.get("config").and_then(Value::as_object);
    given.map_or(Vec::new(), |config| config.keys().filter(|name| !known(name)).cloned().collect())
}
