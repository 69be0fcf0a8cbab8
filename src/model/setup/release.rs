//! The modelled releases of SGLang, a row each. The engine fields in which they differ are in the table of `engine.rs`,
//! and what their recordings look like is in `conform/recorder.rs`.

use serde::Deserialize;

/// What is known of a release beside its engine fields.
struct ReleaseFacts {
    /// The version of the package, as in `0.5.23`.
    version: &'static str,
    /// The name of the rule that the release ships.
    rule: &'static str,
    /// The chunk after which the prefill kernel can give a state.
    kernel_chunk: KernelChunk,
}

/// The chunk after which the prefill kernel can give a state, other than at the end of the extend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelChunk {
    /// `mamba_chunk`.
    Model,
    /// The larger of `mamba_chunk` and `page_size`, which the releases call `mamba_cache_chunk_size`.
    Cache,
}

/// Makes [`Release`] of the rows, oldest first.
macro_rules! releases {
    ($($(#[$doc:meta])+ $name:ident = $facts:expr;)+) => {
        /// The releases whose bookkeeping differs in ways modelled here, oldest first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        pub enum Release {
            $($(#[$doc])+ $name),+
        }

        impl Release {
            /// The number of releases: columns in the table of engine fields.
            pub const COUNT: usize = Release::ALL.len();
            /// All releases, oldest first.
            pub const ALL: [Release; [$(stringify!($name)),+].len()] = [$(Release::$name),+];

            const fn facts(self) -> ReleaseFacts {
                match self { $(Release::$name => $facts),+ }
            }
        }
    };
}

releases! {
    /// sglang 0.5.16
    V0_5_16 = ReleaseFacts { version: "0.5.16", rule: "committed-len", kernel_chunk: KernelChunk::Cache };
    /// sglang 0.5.17
    V0_5_17 = ReleaseFacts { version: "0.5.17", rule: "committed-len", kernel_chunk: KernelChunk::Cache };
    /// sglang 0.5.18
    V0_5_18 = ReleaseFacts { version: "0.5.18", rule: "completed-mask", kernel_chunk: KernelChunk::Cache };
    /// sglang 0.5.23
    V0_5_23 = ReleaseFacts { version: "0.5.23", rule: "completed-mask", kernel_chunk: KernelChunk::Model };
}

impl Release {
    /// The version of the package, as in `0.5.23`.
    pub const fn version(self) -> &'static str {
        self.facts().version
    }

    /// All versions in words, as in `0.5.18 and 0.5.23`.
    pub fn listed() -> String {
        let [before @ .., last] = Release::ALL.map(Release::version);
        format!("{} and {last}", before.join(", "))
    }

    /// The name of the rule that the release ships.
    pub const fn rule(self) -> &'static str {
        self.facts().rule
    }

    /// The chunk after which the prefill kernel can give a state.
    pub const fn kernel_chunk(self) -> KernelChunk {
        self.facts().kernel_chunk
    }
}
