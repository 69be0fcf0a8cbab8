//! Engine fields in which the modelled releases differ, to be changed one at a time: what a recording says of a value.

use crate::model::{Engine, Release};

use super::lines::RecordingError;
use super::{Options, Recording, check};

/// Copies one field from an engine to another.
type Copier = fn(&mut Engine, &Engine);

macro_rules! copiers {
    ($($name:ident),+ $(,)?) => {
        [$((stringify!($name), (|to: &mut Engine, from: &Engine| to.$name = from.$name) as Copier)),+]
    };
}

const COPIERS: [(&str, Copier); 19] = copiers![
    grid,
    skip_finishing_decode,
    filter_before_prefill,
    lazy_prealloc_evicts,
    refused_prealloc_clears_label,
    kv_eviction,
    finish_order,
    slot_headroom,
    mixed_tracking,
    caches_through_stop,
    previous_checkpoint,
    branching_beyond_state,
    split_refreshes_state,
    tombstone_lock,
    admission_forgets_skip,
    fixed_length_reserves_all,
    waiting_prefix_refresh,
    rematch_after_insert,
    handover_unlocks_state,
];

/// One field of a release set to the value of another release.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The field.
    pub field: &'static str,
    /// The first release that has the other value.
    pub value_of: Release,
    copy: Copier,
}

impl Difference {
    /// Sets the field.
    pub fn apply(&self, engine: &mut Engine) {
        (self.copy)(engine, &Engine::preset(self.value_of));
    }
}

/// Every other value that a field of `release` has in another release.
pub fn differences(release: Release) -> Vec<Difference> {
    let own = Engine::preset(release);
    let mut all = Vec::new();
    for (field, copy) in COPIERS {
        let mut tried: Vec<Engine> = Vec::new();
        for other in Release::ALL {
            let difference = Difference { field, value_of: other, copy };
            let mut changed = own.clone();
            difference.apply(&mut changed);
            if changed != own && !tried.contains(&changed) {
                tried.push(changed);
                all.push(difference);
            }
        }
    }
    all
}

/// The single differences with which a recording would agree that differs as it is.
///
/// # Errors
/// It is damaged, or of something that is not modelled.
pub fn explain(recording: &Recording, name: &str, options: &Options<'_>) -> Result<Vec<Difference>, RecordingError> {
    let release = super::prepare(recording, options)?.setup.engine.release;
    let mut found = Vec::new();
    for difference in differences(release) {
        let adjust = |engine: &mut Engine| difference.apply(engine);
        if check(recording, name, &Options { adjust: Some(&adjust), ..*options })?.divergence.is_none() {
            found.push(difference);
        }
    }
    Ok(found)
}
