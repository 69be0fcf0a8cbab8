//! What holds for single facts of a run.

use std::collections::BTreeMap;

use crate::common::setups::wide_setups;
use overlapsim::engine::Seeded;
use overlapsim::model::Machine;
use overlapsim::record::{
    BatchFact, BatchId, DecisionFact, Fact, ForwardFact, ForwardMode, Owner, PageFact, ReqId, RequestFact, Sink,
    SlotFact,
};
use overlapsim::{runner, scenario};
use proptest::prelude::*;

/// Counts facts about pages, and those without a page.
#[derive(Default)]
struct PageFacts {
    all: u32,
    empty: u32,
}

impl Sink for PageFacts {
    fn fact(&mut self, fact: Fact) {
        if let Fact::Page(PageFact::Alloc { pages, .. } | PageFact::Move { pages, .. } | PageFact::Free { pages, .. }) =
            fact
        {
            self.all += 1;
            self.empty += u32::from(pages.count() == 0);
        }
    }
}

/// The rows of each decode batch in the order of its prepare, and those of its result.
#[derive(Default)]
struct RowOrder(BTreeMap<BatchId, [Vec<ReqId>; 2]>);

impl Sink for RowOrder {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Batch(BatchFact::PrepareDecode { batch, req, .. }) => self.0.entry(batch).or_default()[0].push(req),
            Fact::Request(RequestFact::Skip { batch, req, .. })
            | Fact::Decision(DecisionFact::Row { batch, req, .. }) => {
                self.0.entry(batch).or_default()[1].push(req);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_fact_about_pages_names_some(setup in wide_setups()) {
        let mut facts = PageFacts::default();
        let (mut chooser, rule) = (Seeded::new(1), runner::rule("paired").unwrap());
        Machine::new(&setup, rule, &mut chooser, &mut facts).run();
        prop_assert!(facts.empty == 0, "{} of {} are empty", facts.empty, facts.all);
    }

    #[test]
    fn results_come_in_the_order_of_the_rows_with_those_that_are_skipped(setup in wide_setups()) {
        let mut order = RowOrder::default();
        let (mut chooser, rule) = (Seeded::new(1), runner::rule("paired").unwrap());
        Machine::new(&setup, rule, &mut chooser, &mut order).run();
        for (batch, [prepared, processed]) in order.0.iter().filter(|(_, rows)| !rows[0].is_empty()) {
            prop_assert!(prepared.starts_with(processed), "{batch}: {processed:?} of {prepared:?}");
        }
    }
}

/// Every fact by itself.
#[derive(Default)]
struct AllFacts(Vec<Fact>);

impl Sink for AllFacts {
    fn fact(&mut self, fact: Fact) {
        self.0.push(fact);
    }
}

/// The facts of a run of a scenario.
fn facts(text: &str) -> Vec<Fact> {
    let setup = scenario::parse("x.ron", text, ".".as_ref(), &[]).expect("a valid scenario").setup;
    let mut all = AllFacts::default();
    let (mut chooser, rule) = (Seeded::new(1), runner::rule("paired").unwrap());
    Machine::new(&setup, rule, &mut chooser, &mut all).run();
    all.0
}

#[test]
fn an_admission_that_finds_three_slots_free_evicts_nothing() {
    // The first request leaves one cached state, and the pool has four slots.
    let facts = facts(
        r#"(
            engine: (
                release: V0_5_16, strategy: ExtraBuffer, track_interval: 4, mamba_chunk: 1, max_running: 1, mamba_slots: 4,
            ),
            requests: [
                (id: "a", prompt: Fresh(4), stop: Length(1)),
                (id: "b", arrive: After("a"), prompt: Fresh(4), stop: Length(1)),
            ],
        )"#,
    );
    let is_prefill = |fact: &Fact| matches!(fact, Fact::Forward(ForwardFact::Launch { mode: ForwardMode::Extend, .. }));
    let launches: Vec<usize> = (0..facts.len()).filter(|&at| is_prefill(&facts[at])).collect();
    let [first, second] = launches[..] else { panic!("two prefills, not {launches:?}") };
    let is_eviction = |fact: &&Fact| matches!(fact, Fact::Slot(SlotFact::Free { owner: Owner::Tree, .. }));
    assert_eq!(facts[first..second].iter().filter(is_eviction).count(), 0);
}
