//! The preset `wide` draws every variant of every engine field. A new field, or a new word of a field, fails here until it
//! is drawn.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::draws::Draws;
use overlapsim::model::{Accept, Arrive, Cost, Costs, Engine, Event, FieldValue, Prompt, Release, Setup, Spec, Stop};
use overlapsim::workload::{Preset, generate};

const SEEDS: u64 = 3000;
/// The least number of setups with each variant.
const LEAST: u32 = 40;

/// How often each variant of each field was drawn, and the numbers of the fields that have no variants.
#[derive(Default)]
struct Seen {
    variants: BTreeMap<(&'static str, &'static str), u32>,
    numbers: BTreeMap<&'static str, BTreeSet<u64>>,
}

/// Counts a variant; a variant that is never drawn stays at 0.
macro_rules! count {
    ($seen:ident, $field:expr, $value:expr, $($variant:pat),+) => {
        match $value { $($variant => *$seen.variants.entry(($field, stringify!($variant))).or_insert(0) += 1),+ }
        $($seen.variants.entry(($field, stringify!($variant))).or_insert(0);)+
    };
}

impl Seen {
    fn engine(&mut self, setup: &Setup) {
        let engine = &setup.engine;
        self.word("release", &Release::ALL.map(Release::version), engine.release.version());
        for field in Engine::FIELDS {
            match (field.value)(engine) {
                FieldValue::Word(word) => self.word(field.name, field.samples, word),
                FieldValue::Switch(on) => self.word(field.name, &["true", "false"], if on { "true" } else { "false" }),
                FieldValue::Size(size) => self.number(field.name, size.map_or(u64::MAX, u64::from)),
                FieldValue::Factor(factor) => self.number(field.name, factor.to_bits()),
                FieldValue::Spec(spec) => {
                    count!(
                        self,
                        "spec",
                        spec,
                        None,
                        Some(Spec { accept: Accept::Fixed(_), .. }),
                        Some(Spec { accept: Accept::Seeded(_), .. })
                    );
                }
            }
        }
        count!(self, "state", setup.state, None, Some(_));
    }

    fn word(&mut self, field: &'static str, words: &[&'static str], drawn: &'static str) {
        for word in words {
            *self.variants.entry((field, word)).or_insert(0) += u32::from(*word == drawn);
        }
    }

    fn number(&mut self, field: &'static str, drawn: u64) {
        self.numbers.entry(field).or_default().insert(drawn);
    }

    fn costs(&mut self, costs: &Costs) {
        for (name, cost) in Costs::NAMES.into_iter().zip(costs.each()) {
            count!(self, name, cost, Cost::Fixed(_), Cost::Uniform(..));
        }
    }

    fn script(&mut self, setup: &Setup) {
        for spec in &setup.requests {
            count!(self, "arrive", spec.arrive, Arrive::Turn(_), Arrive::At(_), Arrive::After(_), Arrive::Before(..));
            count!(self, "stop", spec.stop, Stop::Token(_), Stop::Length);
            count!(self, "accepts", spec.accept.is_empty(), true, false);
            // Blocks come of traces only: a scenario file cannot say them.
            assert!(!matches!(spec.prompt, Prompt::Blocks { .. }));
            count!(
                self,
                "prompt",
                spec.prompt,
                Prompt::Tokens(_),
                Prompt::Fresh { .. },
                Prompt::Of { keep: None, .. },
                Prompt::Of { keep: Some(_), .. } | Prompt::Blocks { .. }
            );
        }
        for event in &setup.events {
            count!(self, "event", event, Event::FailAlloc { .. }, Event::Abort { .. }, Event::Retract { .. });
        }
    }
}

#[test]
fn wide_setups_have_every_variant_of_everything() {
    let mut seen = Seen::default();
    for seed in 0..SEEDS {
        let setup = generate(Preset::Wide, &mut Draws::new(seed));
        seen.engine(&setup);
        seen.costs(&setup.costs);
        seen.script(&setup);
    }
    let rare: Vec<_> = seen.variants.iter().filter(|(_, count)| **count < LEAST).collect();
    assert!(rare.is_empty(), "hardly ever drawn: {rare:?}");
    let narrow: Vec<_> = seen.numbers.iter().filter(|(_, values)| values.len() < 3).collect();
    assert!(narrow.is_empty(), "hardly ever varied: {narrow:?}");
}
