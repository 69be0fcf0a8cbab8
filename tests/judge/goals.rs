//! Coverage goals: how each of them is reached, and that nothing else counts as one.

use std::path::Path;

use crate::common::tape::{AT, Facts};
use overlapsim::engine::{Choice, ChoicePoint, Chooser, Scripted};
use overlapsim::judge::{Goal, Goals, Judge, JudgeOptions, Judgement};
use overlapsim::model::Setup;
use overlapsim::record::*;
use overlapsim::runner::{self, Keep, RunOutcome};
use overlapsim::scenario;

const A: ReqId = ReqId(0);
const B: ReqId = ReqId(1);

/// What reaches a goal.
#[derive(Clone, Copy)]
enum How {
    /// A scenario of `scenarios/` under a rule.
    File(&'static str, &'static str),
    /// A scenario written here, under the rule `token-len`.
    Text(&'static str),
    /// The scenario [`PLAIN`], in which no request is ever admitted.
    NobodyAdmitted,
}
use How::{File, NobodyAdmitted, Text};

const ABORT: &str = r#"Scenario(
    engine: (release: V0_5_17, strategy: ExtraBuffer, track_interval: 4, mamba_chunk: 4),
    requests: [(id: "a", arrive: Turn(0), prompt: Fresh(1), stop: Token(9))],
    events: [(turn: 4, do: Abort("a"))],
)"#;

const MIX: &str = r#"Scenario(
    engine: (release: V0_5_17, strategy: ExtraBuffer, track_interval: 4, mamba_chunk: 4, chunked_prefill_size: 32, mixed_chunk: true),
    requests: [
        (id: "a", arrive: Turn(0), prompt: Fresh(1), stop: Token(9)),
        (id: "b", arrive: Turn(4), prompt: Fresh(2), stop: Length(2)),
    ],
)"#;

const EVICT: &str = r#"Scenario(
    engine: (release: V0_5_17, strategy: ExtraBuffer, track_interval: 4, mamba_chunk: 4, mamba_slots: 10, max_running: 2),
    requests: [
        (id: "a", arrive: Turn(0), prompt: Fresh(5), stop: Length(6)),
        (id: "b", arrive: After("a"), prompt: Fresh(5), stop: Length(6)),
        (id: "c", arrive: After("b"), prompt: Fresh(5), stop: Length(6)),
        (id: "d", arrive: After("c"), prompt: Fresh(5), stop: Length(6)),
        (id: "e", arrive: After("c"), prompt: Fresh(5), stop: Length(6)),
    ],
)"#;

const TWINS: &str = r#"Scenario(
    engine: (release: V0_5_17, strategy: ExtraBuffer, track_interval: 4, mamba_chunk: 4),
    requests: [
        (id: "a", arrive: Turn(0), prompt: Tokens([1, 2, 3, 4, 5]), stop: Length(2)),
        (id: "b", arrive: Turn(0), prompt: Tokens([1, 2, 3, 4, 5]), stop: Length(2)),
    ],
)"#;

const SHORT: &str = r#"Scenario(
    engine: (release: V0_5_17, strategy: ExtraBuffer),
    requests: [(id: "a", arrive: Turn(0), prompt: Fresh(1), stop: Length(9))],
    turns_max: 3,
)"#;

const PLAIN: &str = r#"Scenario(
    engine: (release: V0_5_17, strategy: ExtraBuffer),
    requests: [(id: "a", arrive: Turn(0), prompt: Fresh(3), stop: Length(1))],
)"#;

const SERIAL: &str = r#"Scenario(
    engine: (release: V0_5_17, strategy: ExtraBuffer, overlap: false),
    requests: [(id: "a", arrive: Turn(0), prompt: Fresh(3), stop: Length(1))],
)"#;

/// Every goal, in order, and what reaches it.
const TABLE: &[(Goal, How)] = &[
    (Goal::Agree, File("no-interleaving", "token-len")),
    (Goal::Early, File("no-interleaving", "mask-lookahead")),
    (Goal::Settled, File("no-interleaving", "mask-lookahead")),
    (Goal::Repeat, File("double-fire", "mask-lookahead")),
    (Goal::Missed, File("lost-checkpoint", "mask-lookahead")),
    (Goal::WrongLabel, File("mixed-tracking-kept", "mask-lookahead")),
    (Goal::WrongSlot, File("lazy-prefill-donates-late", "token-len")),
    (Goal::FinishToken, File("overlap-off-no-interleaving", "token-len")),
    (Goal::FinishTokenInFlight, File("no-interleaving", "token-len")),
    (Goal::FinishLength, Text(SERIAL)),
    (Goal::FinishLengthInFlight, Text(PLAIN)),
    (Goal::FinishAbort, File("abort-everywhere", "token-len")),
    (Goal::FinishAbortInFlight, File("abort-everywhere", "token-len")),
    (Goal::BoundaryLevelLevel, File("overlap-off-no-interleaving", "token-len")),
    (Goal::BoundaryLevelAhead, File("lost-checkpoint", "token-len")),
    (Goal::BoundaryAheadLevel, File("double-fire", "token-len")),
    (Goal::BoundaryAheadAhead, File("no-interleaving", "token-len")),
    (Goal::FirstDecodeIsBoundary, File("first-decode-is-boundary", "token-len")),
    (Goal::RetractBoundaryInFlight, File("forced-retraction", "token-len")),
    (Goal::AbortBoundaryInFlight, Text(ABORT)),
    (Goal::MergeBoundaryInFlight, Text(MIX)),
    (Goal::FilterBoundaryInFlight, File("retraction", "token-len")),
    (Goal::SecondSlotRefused, File("lazy-slot-refused", "token-len")),
    (Goal::DonationNoSlot, File("exhaustion-skip", "token-len")),
    (Goal::HitOfDecode, File("cache-hit-inherits", "token-len")),
    (Goal::HitOfPrefill, File("branching-point", "token-len")),
    (Goal::Eviction, File("pages-and-eviction", "token-len")),
    (Goal::EvictionSeveral, Text(EVICT)),
    (Goal::DonationExisted, Text(TWINS)),
    (Goal::KeyFloored, File("mixed-chunk-off-page", "token-len")),
    (Goal::PrefillInChunks, File("chunked-prefill", "token-len")),
    (Goal::RowRidesAlong, File("mixed-tracking-kept", "token-len")),
    (Goal::VerifyCrosses, File("spec-crossings", "token-len")),
    (Goal::MasksLost, File("alias-masks-lost", "mask-lookahead")),
    (Goal::LookaheadLevel, File("overlap-off-no-interleaving", "token-len")),
    (Goal::LookaheadAhead, File("no-interleaving", "token-len")),
    (Goal::DonationDeclined, File("lazy-slot-refused", "mask-lookahead")),
    (Goal::InheritedStart, File("cache-hit-inherits", "mask-lookahead")),
    (Goal::Bound, Text(SHORT)),
    (Goal::Stall, NobodyAdmitted),
];

/// A chooser that gives the scripted answers and never admits from the waiting queue.
struct Shut;

impl Chooser for Shut {
    fn choose(&mut self, choice: Choice) -> u32 {
        if choice.point == ChoicePoint::Admission { 0 } else { choice.default }
    }

    fn is_open(&self, point: ChoicePoint) -> bool {
        point == ChoicePoint::Admission
    }

    fn duration_ns(&mut self, lo_ns: u64, _hi_ns: u64) -> u64 {
        lo_ns
    }
}

fn setup(name: &str, text: &str) -> Setup {
    scenario::parse(name, text, Path::new("scenarios"), &runner::rule_names()).expect("the scenario can be read").setup
}

fn run(setup: &Setup, rule: &str, chooser: &mut impl Chooser, keep: Keep) -> RunOutcome {
    runner::run_with(setup, runner::rule(rule).expect("the rule exists"), chooser, keep, None)
}

fn file(name: &str) -> Setup {
    setup(name, &std::fs::read_to_string(format!("scenarios/{name}.ron")).expect("the scenario exists"))
}

fn judged(how: How) -> Judgement {
    let keep = Keep::default();
    match how {
        File(name, rule) => run(&file(name), rule, &mut Scripted, keep).judgement,
        Text(text) => run(&setup("here", text), "token-len", &mut Scripted, keep).judgement,
        NobodyAdmitted => run(&setup("here", PLAIN), "token-len", &mut Shut, keep).judgement,
    }
}

fn set(goals: &[Goal]) -> Goals {
    goals.iter().copied().collect()
}

#[test]
fn every_goal_is_reached() {
    let goals: Vec<Goal> = TABLE.iter().map(|row| row.0).collect();
    assert_eq!(goals, Goal::ALL);
    for &(goal, how) in TABLE {
        let reached = judged(how).goals;
        assert!(reached.contains(goal), "{}: only {reached:?}", goal.name());
    }
}

#[test]
fn a_trivial_run_reaches_what_is_plain_and_nothing_else() {
    assert_eq!(judged(Text(SERIAL)).goals, set(&[Goal::FinishLength]));
    assert_eq!(judged(Text(PLAIN)).goals, set(&[Goal::FinishLengthInFlight]));
    let expected = [Goal::Agree, Goal::FinishTokenInFlight, Goal::BoundaryAheadAhead, Goal::LookaheadAhead];
    assert_eq!(judged(File("no-interleaving", "token-len")).goals, set(&expected));
    let expected = [Goal::Agree, Goal::FinishToken, Goal::BoundaryLevelLevel, Goal::LookaheadLevel];
    assert_eq!(judged(File("overlap-off-no-interleaving", "token-len")).goals, set(&expected));
    assert_eq!(judged(NobodyAdmitted).goals, set(&[Goal::Stall]));
}

#[test]
fn the_docs_list_every_goal_in_order() {
    let text = std::fs::read_to_string("docs/judge.md").unwrap();
    let section = text.split("\n## Goals\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let listed: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let names: Vec<&str> = Goal::ALL.iter().map(|goal| goal.name()).collect();
    assert_eq!(listed, names);
}

/// Records with facts left out or cut short: the judge does not panic, and a reached goal stays reached.
#[test]
fn cut_records_reach_fewer_goals_and_never_panic() {
    let keep = Keep { record: true, ..Keep::default() };
    for entry in std::fs::read_dir("scenarios").unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let setup = file(&path.file_stem().unwrap().to_string_lossy());
        for rule in ["mask-lookahead", "completed-mask"] {
            let outcome = run(&setup, rule, &mut Scripted, keep);
            let record = outcome.record.unwrap();
            for step in [usize::MAX, 2, 3, 7, 11] {
                let mut judge = Judge::new(JudgeOptions {
                    page_size: setup.engine.page_size,
                    keep_boundaries: false,
                    keep_reasons: true,
                });
                for (at, entry) in record.entries.iter().enumerate() {
                    let before = judge.goals();
                    match entry {
                        _ if at % step == step - 1 => {}
                        Entry::Fact(fact) => judge.fact(*fact),
                        Entry::Tokens(req, from, tokens) => judge.tokens(*req, *from, tokens),
                    }
                    assert_eq!(judge.goals(), judge.goals().union(before));
                }
                let whole = judge.finish(&[]).goals;
                assert!(step < usize::MAX || whole == outcome.judgement.goals);
            }
        }
    }
}

/// A judge that receives each fact of a record as it is written.
struct Judged(Judge);

impl Facts for Judged {
    fn fact(&mut self, fact: Fact) -> &mut Judged {
        self.0.fact(fact);
        self
    }
}

impl Judged {
    fn new() -> Judged {
        Judged(Judge::new(JudgeOptions { page_size: 4, keep_boundaries: false, keep_reasons: true }))
    }

    fn prepare(&mut self, batch: u32, req: ReqId, k: u32) -> &mut Judged {
        let (batch, active) = (BatchId(batch), SlotId(1));
        let (decode_batch_idx, kv_committed_len) = (0, k);
        self.fact(Fact::Batch(BatchFact::PrepareDecode {
            batch,
            req,
            k,
            decode_batch_idx,
            kv_committed_len,
            active,
            track: None,
            next_track_idx: None,
        }))
    }

    fn queue(&mut self, batch: u32, rows: u32) -> &mut Judged {
        let mode = ForwardMode::Decode;
        self.fact(Fact::Forward(ForwardFact::Launch {
            batch: BatchId(batch),
            mode,
            rows,
            start: AT,
            end: AT,
            copied: AT,
        }))
    }

    fn step(&mut self, batch: u32, req: ReqId, k: u32, track: Option<u32>) -> &mut Judged {
        self.fact(Fact::Forward(ForwardFact::Step {
            batch: BatchId(batch),
            req,
            slot: SlotId(1),
            k,
            track: track.map(SlotId),
        }))
    }

    fn row(&mut self, batch: u32, req: ReqId) -> &mut Judged {
        let batch = BatchId(batch);
        self.fact(Fact::Decision(DecisionFact::Row {
            batch,
            req,
            lookahead: 0,
            kv_committed_len: 0,
            check: BoundaryCheck::Recompute,
            decision: None,
        }))
    }

    fn skip(&mut self, batch: u32, req: ReqId) -> &mut Judged {
        self.fact(Fact::Request(RequestFact::Skip { batch: BatchId(batch), req, why: SkipReason::Retracted }))
    }

    fn end(&mut self, req: ReqId, kind: FinishKind) -> Goals {
        self.fact(Fact::Request(RequestFact::Finish { req, kind, outputs: 3 }));
        self.0.goals()
    }
}

#[test]
fn the_step_that_ends_a_request_is_not_in_flight_beside_itself() {
    let mut judged = Judged::new();
    judged.prepare(1, A, 4).queue(1, 1).step(1, A, 4, None).wait(1);
    assert_eq!(judged.end(A, FinishKind::Token), set(&[Goal::FinishToken]));
    let mut judged = Judged::new();
    judged.prepare(1, A, 4).queue(1, 1).step(1, A, 4, None);
    judged.prepare(2, A, 5).queue(2, 1).step(2, A, 5, None).wait(1);
    assert_eq!(judged.end(A, FinishKind::Length), set(&[Goal::FinishLengthInFlight]));
}

#[test]
fn rows_that_come_and_go_count_only_beside_a_boundary_of_one_that_stays() {
    // B ends with its boundary step in flight, and A stays without one.
    let mut judged = Judged::new();
    judged.prepare(1, A, 3).prepare(1, B, 4).queue(1, 2).step(1, A, 3, None).step(1, B, 4, Some(2));
    judged.prepare(2, A, 4).queue(2, 1);
    assert_eq!(judged.0.goals(), Goals::NONE);
    // A stays on its boundary, and B comes back.
    judged.step(2, A, 4, Some(2)).prepare(3, A, 5).prepare(3, B, 5).queue(3, 2);
    assert_eq!(judged.0.goals(), set(&[Goal::MergeBoundaryInFlight]));
    // The same rows again, and then a boundary whose result comes before the next step: nothing new.
    judged.skip(2, A).step(3, A, 5, Some(2)).prepare(4, A, 6).prepare(4, B, 6).queue(4, 2);
    judged.skip(3, A).step(4, A, 6, Some(2)).skip(4, A).prepare(5, A, 7).queue(5, 1);
    assert_eq!(judged.0.goals(), set(&[Goal::MergeBoundaryInFlight]));
    judged.step(5, A, 7, Some(2)).prepare(6, A, 8).prepare(6, B, 8).queue(6, 2).skip(5, A);
    judged.step(6, A, 8, Some(2)).prepare(7, A, 9).queue(7, 1);
    assert_eq!(judged.0.goals(), set(&[Goal::MergeBoundaryInFlight, Goal::FilterBoundaryInFlight]));
}

#[test]
fn a_retraction_begins_a_request_anew() {
    let mut judged = Judged::new();
    judged.prepare(1, A, 3).queue(1, 1).step(1, A, 3, None).wait(1).row(1, A);
    judged.prepare(2, A, 4).queue(2, 1).step(2, A, 4, Some(2));
    let goals = judged.fact(Fact::Request(RequestFact::Retract { req: A, outputs: 2 })).0.goals();
    assert_eq!(goals, set(&[Goal::RetractBoundaryInFlight, Goal::LookaheadLevel]));
    judged.prepare(3, A, 4).queue(3, 1).step(3, A, 4, Some(2)).wait(3).row(3, A);
    assert!(judged.0.goals().contains(Goal::FirstDecodeIsBoundary));
    judged.prepare(4, A, 5).queue(4, 1).step(4, A, 5, Some(2)).wait(4).row(4, A);
    assert!(judged.0.goals().contains(Goal::BoundaryLevelLevel));
}

#[test]
fn evictions_are_counted_by_turn() {
    let mut judged = Judged::new();
    for turn in 0..2 {
        judged.fact(Fact::Run(RunFact::Turn { turn, at: AT })).free(1, Owner::Tree);
    }
    assert_eq!(judged.0.goals(), set(&[Goal::Eviction]));
    judged.free(2, Owner::Tree);
    assert_eq!(judged.0.goals(), set(&[Goal::Eviction, Goal::EvictionSeveral]));
}

#[test]
fn the_goal_of_a_hit_depends_on_the_donation_of_its_state() {
    let hit = Fact::Cache(CacheFact::Hit { req: B, source: SlotId(2), len: 4 });
    let donate = |finished, label| {
        let how = DonationOutcome { finished, existed: false };
        Fact::Cache(CacheFact::Donate { req: A, label, key_len: 4, slot: SlotId(2), how })
    };
    for (decoded, finished, goal) in [
        (true, true, Goal::HitOfDecode),
        (true, false, Goal::HitOfPrefill),
        // The request ended with its prefill.
        (false, true, Goal::HitOfPrefill),
    ] {
        let mut judged = Judged::new();
        if decoded {
            judged.prepare(1, A, 4).queue(1, 1).step(1, A, 4, Some(2)).wait(1).row(1, A);
        }
        let goals = judged.fact(donate(finished, 4)).fact(hit).0.goals();
        let of = [Goal::HitOfDecode, Goal::HitOfPrefill].map(|of| goals.contains(of));
        assert_eq!(of, [Goal::HitOfDecode, Goal::HitOfPrefill].map(|of| of == goal));
    }
    // No donation of the slot is in the record.
    assert_eq!(Judged::new().fact(hit).0.goals(), set(&[Goal::InheritedStart]));
    let mut judged = Judged::new();
    assert!(!judged.fact(donate(false, 4)).0.goals().contains(Goal::KeyFloored));
    assert!(judged.fact(donate(false, 7)).0.goals().contains(Goal::KeyFloored));
}
