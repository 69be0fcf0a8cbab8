//! The `meta` event of a recording, with the configuration.

use serde::Deserialize;
use serde_json::Value;

/// The `meta` event.
#[derive(Clone, Debug, Deserialize)]
pub struct Meta {
    /// The version of the release.
    pub version: String,
    /// The rule, by its name in recordings.
    #[serde(default)]
    pub policy: Option<String>,
    /// The implementation of the radix tree that ran, `python` or `rust`. Absent in older recordings.
    #[serde(default)]
    pub tree_core: Option<String>,
    /// The configuration.
    pub config: Config,
    /// The recording leaves out contents and the steps between boundaries.
    #[serde(default)]
    pub partial: bool,
    /// Tokens are salted hashes of their ids.
    #[serde(default)]
    pub hashed: bool,
    /// The file continues another file.
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
    /// Forced retractions and refusals.
    #[serde(default)]
    pub script: Vec<Scripted>,
}

/// A forced retraction or refusal of a recorded run.
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

/// Fields of `config` that describe how a recording was made and do not change the replay.
const IGNORED: [&str; 6] = ["seed", "feature", "max_prompt", "context", "note", "accept"];

/// The fields of [`Config`].
const KNOWN: [&str; 19] = [
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

/// Fields of `config` that are neither in [`Config`] nor ignored.
pub(super) fn unknown(meta: &Value) -> Vec<String> {
    let known = |name: &str| KNOWN.contains(&name) || IGNORED.contains(&name);
    let given = meta.get("config").and_then(Value::as_object);
    given.map_or(Vec::new(), |config| config.keys().filter(|name| !known(name)).cloned().collect())
}
