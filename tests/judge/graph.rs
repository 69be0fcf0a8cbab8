//! The happens-before graph: what it draws, and that the judge's two counters and its paths agree on every race.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use overlapsim::command::{Answers, GraphArgs, GraphFormat, OutsidePaths, graph_to_text};
use overlapsim::engine::{Scripted, Time};
use overlapsim::graph::{CUT_MAX, EdgeKind, EventGraph, Use, cut, dot, json};
use overlapsim::judge::{FindingKind, Judgement};
use overlapsim::model::{CopyOnWrite, Exhaustion, Setup, SlotFree, Snapshot};
use overlapsim::record::*;
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;
use overlapsim::scene::Lane;
use petgraph::algo::has_path_connecting;
use petgraph::graph::NodeIndex;
use petgraph::visit::{EdgeFiltered, EdgeRef as _};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

const WITH_RACES: [&str; 4] =
    ["torn-chunk-snapshot", "torn-hit-copy", "freed-slot-hit-copy", "freed-slot-deferred-free"];

fn path(name: &str) -> PathBuf {
    PathBuf::from(format!("scenarios/{name}.ron"))
}

fn run(setup: &Setup, rule: &str) -> (Record, Judgement) {
    let keep = Keep { record: true, ..Keep::default() };
    let outcome = runner::run_with(setup, runner::rule(rule).unwrap(), &mut Scripted, keep, None);
    (outcome.record.unwrap(), outcome.judgement)
}

fn load(name: &str) -> Setup {
    scenario::load(&path(name), &runner::rule_names()).unwrap_or_else(|_| panic!("{name}")).setup
}

fn text(name: &str, around: Option<usize>, format: GraphFormat) -> String {
    let args = GraphArgs {
        outside: OutsidePaths::default(),
        file: path(name),
        rule: None,
        seed: None,
        answers: Answers::default(),
        around,
        format,
    };
    graph_to_text(&args).unwrap()
}

/// Whether a path of ordering edges leads from one event to another.
fn is_ordered(events: &EventGraph, from: NodeIndex, to: NodeIndex) -> bool {
    let order = EdgeFiltered::from_fn(&events.graph, |edge| edge.weight().kind.is_order());
    has_path_connecting(&order, from, to, None)
}

/// The copies on the schedule stream that race by the graph: turn, request, and whether the read is torn.
fn races(events: &EventGraph) -> BTreeSet<(u32, ReqId, bool)> {
    let graph = &events.graph;
    let mut races = BTreeSet::new();
    let mut uses: BTreeMap<SlotId, Vec<(NodeIndex, bool)>> = BTreeMap::new();
    for at in graph.node_indices() {
        for access in &graph[at].accesses {
            let writes = access.how.writes();
            match graph[at].span.lane {
                Lane::Forward => uses.entry(access.slot).or_default().push((at, writes)),
                Lane::Schedule => {
                    let before = uses.get(&access.slot).into_iter().flatten();
                    // Two reads never race.
                    let racing = before.filter(|of| of.1 || writes).any(|of| !is_ordered(events, of.0, at));
                    races.extend(racing.then_some((graph[at].span.turn, access.req, access.how == Use::Read)));
                }
                Lane::Cpu | Lane::Copy => {}
            }
        }
    }
    races
}

/// The races that the judge found. It reports each kind once for a request, also if the request races again.
fn races_found(judgement: &Judgement) -> BTreeSet<(u32, ReqId, bool)> {
    let findings = judgement.findings.iter();
    let of = |kind| matches!(kind, FindingKind::Torn | FindingKind::UseAfterFree);
    findings.filter(|f| of(f.kind)).map(|f| (f.turn, f.req.unwrap(), f.kind == FindingKind::Torn)).collect()
}

#[test]
fn clocks_and_paths_agree_on_the_scenarios() {
    for name in WITH_RACES.into_iter().chain([
        "cache-hit-inherits",
        "no-buffer",
        "retraction",
        "spec-crossings-lazy",
        "abort-everywhere",
    ]) {
        let (record, judgement) = run(&load(name), "mask-lookahead");
        let events = EventGraph::new(&record, &judgement);
        assert_eq!(races(&events), races_found(&judgement), "{name}");
        let torn = |f: &&overlapsim::judge::Finding| matches!(f.kind, FindingKind::Torn | FindingKind::UseAfterFree);
        for (place, finding) in events.places.iter().zip(&judgement.findings).filter(|of| torn(&of.1)) {
            let (from, slot) = place.missing.expect("a race misses an edge");
            assert_eq!((finding.slot, is_ordered(&events, from, place.at.unwrap())), (Some(slot), false), "{name}");
        }
    }
}

#[test]
fn clocks_and_paths_agree_on_random_runs() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut seen = BTreeSet::new();
    for round in 0..300u32 {
        let mut setup = crate::common::setups::setups().new_tree(&mut runner).unwrap().current();
        let engine = &mut setup.engine;
        if engine.overlap {
            engine.snapshot = [Snapshot::Copy, Snapshot::HandOver][round as usize % 2];
            engine.chunked_prefill_size = Some(engine.page_size * (1 + round % 5));
        }
        engine.copy_on_write = [CopyOnWrite::Immediate, CopyOnWrite::Deferred][round as usize / 2 % 2];
        // So few slots that those just given back are taken again at once.
        engine.exhaustion = Exhaustion::Skip;
        engine.mamba_slots = engine.track_policy().slots_at_admission() + 1 + round % 4;
        engine.slot_free = [SlotFree::AtResult, SlotFree::Deferred][round as usize / 4 % 2];
        let (record, judgement) = run(&setup, "completed-mask");
        let events = EventGraph::new(&record, &judgement);
        for (place, finding) in events.places.iter().zip(&judgement.findings) {
            let race = matches!(finding.kind, FindingKind::Torn | FindingKind::UseAfterFree);
            if let (true, Some((from, at, _))) = (race, place.missing_edge()) {
                assert!(!is_ordered(&events, from, at), "an edge is missing that is there: {finding:?}");
            }
        }
        let (by_path, by_clock) = (races(&events), races_found(&judgement));
        // Of several uses after a free by one request only the first has a place.
        let first =
            |kind: &(u32, ReqId, bool)| kind.2 || by_clock.iter().all(|of| of.2 || of.1 != kind.1 || of == kind);
        let by_path: BTreeSet<_> = by_path.into_iter().filter(first).collect();
        assert_eq!(by_path, by_clock, "round {round}: {setup:?}");
        seen.extend(by_clock.iter().map(|of| of.2));
        let forward = events.graph.edge_references().all(|edge| edge.source() < edge.target());
        assert!(forward, "an edge points back in round {round}");
    }
    assert_eq!(seen.len(), 2, "both kinds of races come up");
}

#[test]
fn every_slot_is_read_from_its_last_write() {
    let (record, judgement) = run(&load("cache-hit-inherits"), "mask-lookahead");
    let events = EventGraph::new(&record, &judgement);
    for edge in events.graph.edge_references().filter(|edge| edge.weight().kind == EdgeKind::Data) {
        let (from, to) = (&events.graph[edge.source()], &events.graph[edge.target()]);
        for slot in &edge.weight().slots {
            assert!(from.slots().1.contains(slot) && to.slots().0.contains(slot));
        }
    }
    // The double fire: what should have been kept is drawn from the forward of step 4 to the release.
    let (from, slot) = events.places[0].missing.unwrap();
    let kept = events.graph[from].accesses.iter().find(|access| access.how == Use::Keep).unwrap();
    assert_eq!((kept.slot, kept.len, events.graph[from].span.lane), (slot, Some(4), Lane::Forward));
    assert_ne!(judgement.findings[0].slot, Some(slot));
}

fn is_number(text: &str) -> bool {
    text.parse::<usize>().is_ok()
}

/// Names of the legend, the lanes and the events, and edges, of a DOT text, by a reader of its own.
fn parse_dot(text: &str) -> (BTreeSet<String>, Vec<(String, String, String)>) {
    let (mut nodes, mut edges, mut depth, mut clusters) = (BTreeSet::new(), Vec::new(), 0i32, BTreeSet::new());
    for line in text.lines().map(str::trim) {
        let mut quoted = false;
        let mut bare = String::new();
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' if quoted => assert!(matches!(chars.next(), Some('"' | '\\' | 'n' | 'l')), "{line}"),
                '"' => quoted = !quoted,
                _ if quoted => {}
                c => bare.push(c),
            }
        }
        assert!(!quoted, "an open string: {line}");
        depth += bare.matches('{').count() as i32 - bare.matches('}').count() as i32;
        assert!(depth >= 0 && bare.matches('[').count() == bare.matches(']').count(), "{line}");
        let head = bare.split('[').next().unwrap().trim_end_matches(';').trim().to_string();
        if let Some((from, to)) = head.split_once(" -> ") {
            edges.push((from.to_string(), to.to_string(), bare.clone()));
        } else if head == "legend"
            || head.starts_with("lane_")
            || head[..1.min(head.len())] == *"n" && is_number(&head[1..])
        {
            assert!(nodes.insert(head), "declared twice: {line}");
        } else if let Some(cluster) = bare.strip_prefix("subgraph ") {
            assert!(clusters.insert(cluster.to_string()), "two clusters of a name");
        }
    }
    assert_eq!(depth, 0);
    assert!(text.starts_with("digraph ") && text.contains("rankdir=LR"));
    for (from, to, _) in &edges {
        assert!(nodes.contains(from) && nodes.contains(to), "{from} -> {to} names no node");
    }
    (nodes, edges)
}

#[test]
fn dot_is_well_formed_and_draws_missing_edges_dashed_and_red() {
    for name in WITH_RACES {
        let around = (name != "freed-slot-deferred-free").then_some(1);
        for around in [None, around] {
            let dot = text(name, around, GraphFormat::Dot);
            let (nodes, edges) = parse_dot(&dot);
            assert!(around.is_none() || nodes.len() <= 40, "{name}");
            let red = |of: &&(String, String, String)| of.2.contains("style=dashed");
            let missing = edges.iter().filter(red).count();
            assert!(edges.iter().filter(red).all(|of| of.2.contains("color=red")));
            assert_eq!(missing == 0, name == "freed-slot-deferred-free", "{name}");
            assert_eq!(dot, text(name, around, GraphFormat::Dot), "the same bytes again");
        }
    }
}

#[test]
fn dot_quotes_special_characters_in_names() {
    let (record, judgement) = run(&load("torn-hit-copy"), "token-len");
    let events = EventGraph::new(&record, &judgement);
    let names = ["a\"\\{".to_string(), "b\u{7}]".to_string(), "c -> d\n".to_string()];
    let (nodes, _) = parse_dot(&dot(&events, &names, "\"} -> \\"));
    // Four lanes and the legend.
    assert_eq!(nodes.len(), events.graph.node_count() + 5);
}

#[test]
fn json_has_the_documented_fields_in_order() {
    let whole = text("torn-hit-copy", None, GraphFormat::Json);
    let value: Value = serde_json::from_str(&whole).unwrap();
    let head = whole.find("\"label\"").unwrap();
    let order = ["id", "lane", "kind", "batch", "turn", "start_ns", "end_ns", "label"];
    let places: Vec<usize> = order.iter().map(|field| whole.find(&format!("\"{field}\"")).unwrap()).collect();
    assert!(places.is_sorted() && places.last() == Some(&head), "{places:?}");
    let nodes = value["nodes"].as_array().unwrap();
    let lanes: BTreeSet<&str> = nodes.iter().map(|node| node["lane"].as_str().unwrap()).collect();
    assert_eq!(lanes, BTreeSet::from(["cpu", "schedule", "forward", "copy"]));
    assert!(nodes.iter().all(|node| node["start_ns"].as_u64() <= node["end_ns"].as_u64()));
    let kinds: BTreeSet<&str> =
        value["edges"].as_array().unwrap().iter().map(|of| of["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, BTreeSet::from(["program", "stream", "launch", "completion", "data", "missing"]));
    let torn: Vec<&Value> = nodes.iter().filter(|node| node["findings"][0] == 1).collect();
    assert_eq!((torn.len(), &torn[0]["kind"], &torn[0]["turn"]), (1, &"state-copy".into(), &1.into()));
}

#[test]
fn a_cut_holds_the_nearest_events_and_is_bounded() {
    let (record, judgement) = run(&load("natural-jitter"), "mask-lookahead");
    let events = EventGraph::new(&record, &judgement);
    assert!(events.graph.node_count() > 3 * CUT_MAX && !judgement.findings.is_empty());
    for (index, finding) in judgement.findings.iter().enumerate() {
        let near = cut(&events, index, finding).unwrap();
        assert_eq!(near.graph.node_count(), CUT_MAX);
        let at = near.places[index].at.expect("the finding itself is in its cut");
        assert_eq!(near.graph[at].span.turn, finding.turn);
        assert_eq!(near.ids.iter().collect::<BTreeSet<_>>().len(), CUT_MAX);
        parse_dot(&dot(&near, &[], ""));
    }
    assert!(cut(&events, judgement.findings.len(), &judgement.findings[0]).is_none());
}

#[test]
fn wrong_arguments_are_refused_with_a_remedy() {
    let ask = |name: &str, rule: Option<&str>, around| {
        let rule = rule.map(str::to_string);
        graph_to_text(&GraphArgs {
            outside: OutsidePaths::default(),
            file: path(name),
            rule,
            seed: None,
            answers: Answers::default(),
            around,
            format: GraphFormat::Dot,
        })
    };
    let refusal = |name, rule, around| ask(name, rule, around).unwrap_err().0;
    assert!(refusal("torn-hit-copy", Some("all"), None).contains("help: name one rule"));
    assert!(refusal("torn-hit-copy", None, Some(0)).contains("the run has 3 findings"));
    assert!(refusal("torn-hit-copy", None, Some(4)).contains("there is no finding 4"));
    assert!(refusal("freed-slot-deferred-free", None, Some(1)).contains("leave out --around"));
    assert!(refusal("torn-hit-copy", Some("no-such"), None).contains("there is no rule"));
}

/// A record without phases, and one that makes no sense.
#[test]
fn records_written_by_hand_are_drawn_as_well() {
    let a = ReqId(0);
    let at = Time(5);
    let facts = [
        Fact::Forward(ForwardFact::Step { batch: BatchId(1), req: a, slot: SlotId(1), k: 1, track: None }),
        Fact::Run(RunFact::Wait { batch: BatchId(9), at }),
        Fact::Forward(ForwardFact::Launch {
            batch: BatchId(2),
            mode: ForwardMode::Decode,
            rows: 1,
            start: at,
            end: at,
            copied: at,
        }),
        Fact::Forward(ForwardFact::Step { batch: BatchId(2), req: a, slot: SlotId(1), k: 2, track: Some(SlotId(2)) }),
        Fact::Forward(ForwardFact::CopyState { req: a, from: SlotId(2), to: SlotId(1), stream: GpuStream::Schedule }),
        Fact::Run(RunFact::Wait { batch: BatchId(2), at }),
        Fact::Forward(ForwardFact::CopyState { req: a, from: SlotId(2), to: SlotId(3), stream: GpuStream::Schedule }),
        Fact::Forward(ForwardFact::Clear { req: a, slot: SlotId(3) }),
    ];
    let mut record = Record::default();
    facts.into_iter().for_each(|fact| record.fact(fact));
    let mut judge = overlapsim::judge::Judge::new(overlapsim::judge::JudgeOptions {
        page_size: 1,
        keep_boundaries: false,
        keep_reasons: true,
    });
    record.replay(&mut judge);
    let judgement = judge.finish(&[]);
    let events = EventGraph::new(&record, &judgement);
    let copies: Vec<NodeIndex> =
        events.graph.node_indices().filter(|&at| events.graph[at].span.lane == Lane::Schedule).collect();
    let forward = events.graph.node_indices().find(|&at| events.graph[at].span.lane == Lane::Forward).unwrap();
    // The wait between the two copies orders the second and not the first.
    assert_eq!(copies.iter().map(|&copy| is_ordered(&events, forward, copy)).collect::<Vec<_>>(), [false, true]);
    parse_dot(&dot(&events, &[], "by hand"));
    serde_json::from_str::<Value>(&json(&events, &[])).unwrap();
    let empty = EventGraph::new(&Record::default(), &judgement);
    assert!(empty.places.iter().all(|place| place.at.is_none()));
    parse_dot(&dot(&empty, &[], "nothing"));
}
