//! Engine fields in which the modelled releases differ, changed one at a time: which value a recording agrees with.

use crate::model::{Engine, EngineField, Release};

use super::lines::RecordingError;
use super::{Options, Recording, check};

/// The place of a field among the differences, where it is not that of the table.
const LISTED_BEHIND: [(&str, &str); 1] = [("mixed_tracking", "slot_headroom")];

/// One field of a release set to the value of another release.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The field.
    pub field: &'static str,
    /// The first release that has the other value.
    pub value_of: Release,
    copy: fn(&mut Engine, &Engine),
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
    for &EngineField { name: field, copy, .. } in Engine::fields_moved(&LISTED_BEHIND) {
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

/// The single differences under which a recording agrees with the model that otherwise does not.
///
/// # Errors
/// The recording is damaged, or of something that is not modelled.
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
