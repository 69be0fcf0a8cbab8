//! What a small setup can have, how many of the setups that were searched have it, and in how many it came to something.

use std::collections::BTreeMap;

use overlapsim::model::Reductions;
use overlapsim::model::{
    Accept, Arrive, CopyOnWrite, Cost, Event, Prompt, Release, RequestSpec, ResultQueue, Rule, Setup, SlotFree,
    Snapshot, Strategy, Vary,
};
use overlapsim::record::SlotFact;
use overlapsim::record::{
    BatchFact, CacheFact, Fact, ForwardFact, GpuStream, NoDonation, Owner, PageFact, RequestFact,
};
use overlapsim::runner;

/// Facts that show that a feature came to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    Retracted,
    Aborted,
    TrackRefused,
    Chunk,
    RodeAlong,
    AcceptedSeveral,
    CopyAside,
    Hit,
    StateEvicted,
    KvEvicted,
    SlotsRefused,
    MasksDropped,
    Declined,
}

impl Happening {
    pub fn of(fact: &Fact) -> Option<Happening> {
        Some(match fact {
            Fact::Request(RequestFact::Retract { .. }) => Happening::Retracted,
            Fact::Request(RequestFact::Abort { .. }) => Happening::Aborted,
            Fact::Batch(BatchFact::TrackRefused { .. }) => Happening::TrackRefused,
            Fact::Request(RequestFact::MiddleChunk { .. }) => Happening::Chunk,
            Fact::Batch(BatchFact::Mix { .. }) => Happening::RodeAlong,
            Fact::Forward(ForwardFact::Verify { from, to, .. }) if to - from > 1 => Happening::AcceptedSeveral,
            Fact::Forward(ForwardFact::CopyState { stream: GpuStream::Schedule, .. }) => Happening::CopyAside,
            Fact::Cache(CacheFact::Hit { .. }) => Happening::Hit,
            Fact::Slot(SlotFact::Free { owner: Owner::Tree, .. }) => Happening::StateEvicted,
            Fact::Page(PageFact::Free { owner: Owner::Tree, .. }) => Happening::KvEvicted,
            Fact::Slot(SlotFact::Refused { .. }) => Happening::SlotsRefused,
            Fact::Batch(BatchFact::MasksDropped { .. }) => Happening::MasksDropped,
            Fact::Cache(CacheFact::NoDonate { why: NoDonation::Declined, .. }) => Happening::Declined,
            _ => return None,
        })
    }
}

/// A setup under a rule, with what is open in it.
pub struct Case<'a> {
    pub setup: &'a Setup,
    pub rule: &'a dyn Rule,
    pub vary: Vary,
}

impl Case<'_> {
    fn some(&self, holds: impl Fn(&RequestSpec) -> bool) -> bool {
        self.setup.requests.iter().any(holds)
    }

    fn event(&self, is: impl Fn(&Event) -> bool) -> bool {
        self.setup.events.iter().any(is)
    }

    /// Whether two requests are alike in all but their tokens, as far as `like` says.
    fn alike(&self, like: impl Fn(&RequestSpec, &RequestSpec) -> bool) -> bool {
        let requests = &self.setup.requests;
        let fresh = |spec: &RequestSpec| matches!(spec.prompt, Prompt::Fresh { .. });
        let pair = |a: usize, b: usize| fresh(&requests[a]) && fresh(&requests[b]) && like(&requests[a], &requests[b]);
        (0..requests.len()).any(|b| (0..b).any(|a| pair(a, b)))
    }

    fn reductions(&self) -> Reductions {
        Reductions::new(self.setup, &self.vary.open())
    }
}

/// A length of fresh tokens; prompts that have others are never alike.
fn fresh_len(spec: &RequestSpec) -> u32 {
    if let Prompt::Fresh { len, .. } = spec.prompt { len } else { 0 }
}

/// Whether two requests do the same, but for what a verify accepts.
fn same(a: &RequestSpec, b: &RequestSpec) -> bool {
    (a.arrive, a.stop, a.max_new, fresh_len(a)) == (b.arrive, b.stop, b.max_new, fresh_len(b))
}

fn accept_of<'a>(case: &Case<'a>) -> Option<&'a Accept> {
    case.setup.engine.spec.as_ref().map(|spec| &spec.accept)
}

/// A feature: its name, whether a case has it, and what shows that it came to something, if a fact does.
type Feature = (&'static str, fn(&Case) -> bool, Option<Happening>);

use Happening as H;

pub const FEATURES: &[Feature] = &[
    ("0.5.16", |it| it.setup.engine.release == Release::V0_5_16, None),
    ("0.5.17", |it| it.setup.engine.release == Release::V0_5_17, None),
    ("0.5.18", |it| it.setup.engine.release == Release::V0_5_18, None),
    ("0.5.23", |it| it.setup.engine.release == Release::V0_5_23, None),
    ("no buffer", |it| it.setup.engine.strategy == Strategy::NoBuffer, None),
    (
        "extra buffer, no overlap",
        |it| it.setup.engine.strategy == Strategy::ExtraBuffer && !it.setup.engine.overlap,
        None,
    ),
    ("extra buffer, overlap", |it| it.setup.engine.strategy == Strategy::ExtraBuffer && it.setup.engine.overlap, None),
    ("lazy", |it| it.setup.engine.strategy == Strategy::ExtraBufferLazy, None),
    ("declined donations", |it| it.setup.engine.strategy == Strategy::ExtraBufferLazy, Some(H::Declined)),
    ("planted wrong rule", |it| runner::rule(it.rule.name()).is_none() && !it.rule.name().starts_with("right"), None),
    ("pages of two tokens", |it| it.setup.engine.page_size > 1, None),
    ("idle turns without time", |it| [it.setup.costs.ingest, it.setup.costs.plan] == [Cost::Fixed(0); 2], None),
    (
        "idle turns without time, two arrivals at a time",
        |it| {
            let timed = it.setup.requests.iter().filter(|spec| matches!(spec.arrive, Arrive::At(_))).count();
            [it.setup.costs.ingest, it.setup.costs.plan] == [Cost::Fixed(0); 2] && timed > 1
        },
        None,
    ),
    ("arrival at a time", |it| it.some(|spec| matches!(spec.arrive, Arrive::At(_))), None),
    ("arrival in a later turn", |it| it.some(|spec| matches!(spec.arrive, Arrive::Turn(1..))), None),
    ("arrival after another", |it| it.some(|spec| matches!(spec.arrive, Arrive::After(_))), None),
    ("arrival before a step", |it| it.some(|spec| matches!(spec.arrive, Arrive::Before(..))), None),
    ("interchangeable requests", |it| Reductions::symmetries(it.setup) > 1, None),
    (
        "twins, not interchangeable since one is named",
        |it| it.alike(|a, b| same(a, b) && a.accept == b.accept) && Reductions::symmetries(it.setup) == 1,
        None,
    ),
    ("twins but for accepts", |it| it.alike(|a, b| same(a, b) && a.accept != b.accept), Some(H::AcceptedSeveral)),
    (
        "twins but for arrival, stop or length",
        |it| it.alike(|a, b| !same(a, b) && (fresh_len(a), a.max_new) == (fresh_len(b), b.max_new)),
        None,
    ),
    ("speculative decoding", |it| it.setup.engine.spec.is_some(), Some(H::AcceptedSeveral)),
    ("speculative decoding, drawn", |it| matches!(accept_of(it), Some(Accept::Seeded(_))), Some(H::AcceptedSeveral)),
    ("accepts", |it| it.some(|spec| !spec.accept.is_empty()), Some(H::AcceptedSeveral)),
    ("event: retract", |it| it.event(|event| matches!(event, Event::Retract { .. })), Some(H::Retracted)),
    ("event: abort", |it| it.event(|event| matches!(event, Event::Abort { .. })), Some(H::Aborted)),
    ("event: refused slot", |it| it.event(|event| matches!(event, Event::FailAlloc { .. })), Some(H::TrackRefused)),
    ("chunks", |it| it.setup.engine.chunked_prefill_size.is_some(), Some(H::Chunk)),
    ("mixed batches", |it| it.setup.engine.mixed_chunk, Some(H::RodeAlong)),
    ("snapshots by copy", |it| it.setup.engine.snapshot == Snapshot::Copy, Some(H::CopyAside)),
    ("copy of a hit at once", |it| it.setup.engine.copy_on_write == CopyOnWrite::Immediate, Some(H::CopyAside)),
    ("slots freed later", |it| it.setup.engine.slot_free == SlotFree::Deferred, None),
    ("slots freed, rows masked", |it| it.setup.engine.slot_free == SlotFree::Masked, None),
    ("aliased result queue", |it| it.setup.engine.result_queue == ResultQueue::Alias, Some(H::MasksDropped)),
    ("few slots", |it| !it.reductions().ample && it.setup.engine.kv_tokens >= 65536, Some(H::StateEvicted)),
    ("slots refused", |it| !it.reductions().ample, Some(H::SlotsRefused)),
    ("little KV", |it| it.setup.engine.kv_tokens < 64, Some(H::KvEvicted)),
    ("little KV, retraction", |it| it.setup.engine.kv_tokens < 64, Some(H::Retracted)),
    ("freed slots matter", |it| it.reductions().ample && !it.reductions().fresh_slots_last, None),
    ("tokens of another request", |it| it.some(|spec| matches!(spec.prompt, Prompt::Of { .. })), Some(H::Hit)),
    (
        "tokens in common",
        |it| it.some(|spec| matches!(spec.prompt, Prompt::Tokens(_) | Prompt::Blocks { .. })),
        Some(H::Hit),
    ),
    ("open: arrivals", |it| it.vary.arrivals, None),
    ("open: stops", |it| it.vary.stops, None),
    ("open: aborts", |it| it.vary.aborts, Some(H::Aborted)),
    ("open: retract", |it| it.vary.retract, Some(H::Retracted)),
    ("open: alloc_failure", |it| it.vary.alloc_failure, Some(H::TrackRefused)),
    ("open: accept", |it| it.vary.accept, Some(H::AcceptedSeveral)),
    ("open: order", |it| it.vary.order, None),
];

/// How often a feature was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Cases drawn.
    pub drawn: u32,
    /// Of these, cases whose every state was compared.
    pub compared: u32,
    /// Of these, cases in which what the feature is for happened.
    pub happened: u32,
}

/// The counts of all features, by name.
#[derive(Debug, Default)]
pub struct Counts(pub BTreeMap<&'static str, Met>);

impl Counts {
    /// Counts a case; `compared` is what happened, if its every state was compared.
    pub fn count(&mut self, case: &Case, compared: Option<u64>) {
        for (name, _, happening) in FEATURES.iter().filter(|(_, has, _)| has(case)) {
            let met = self.0.entry(name).or_default();
            met.drawn += 1;
            if let Some(happened) = compared {
                met.compared += 1;
                met.happened += u32::from(happening.is_none_or(|it| happened >> it as u32 & 1 == 1));
            }
        }
    }

    pub fn add(&mut self, other: &Counts) {
        for (name, Met { drawn, compared, happened }) in &other.0 {
            let met = self.0.entry(name).or_default();
            met.drawn += drawn;
            met.compared += compared;
            met.happened += happened;
        }
    }

    /// A row for each feature, in the order of the list.
    pub fn table(&self) -> String {
        let row = |(name, _, happening): &Feature| {
            let Met { drawn, compared, happened } = self.0.get(name).copied().unwrap_or_default();
            let happened = happening.map_or(String::new(), |it| format!("{happened} ({it:?})"));
            format!("{name:50} {drawn:6} {compared:6} {happened}\n")
        };
        FEATURES.iter().map(row).collect()
    }
}
