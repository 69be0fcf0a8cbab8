//! The picture around every finding of every scenario: small, well formed, and with the right missing edge.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::skip::skipped;
use overlapsim::command::{Answers, GraphArgs, GraphFormat, OutsidePaths, graph_to_text};
use overlapsim::engine::Scripted;
use overlapsim::graph::{Absent, CUT_MAX, EventGraph, Use, cut, dot, title};
use overlapsim::judge::FindingKind;
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;
use overlapsim::scene::Lane;

/// Most nodes of a picture, lanes and legend among them.
const NODES_MAX: usize = 40;

fn scenarios() -> Vec<PathBuf> {
    let folders = ["scenarios", "scenarios/findings", "scenarios/check"];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    files
}

fn around(file: &Path, rule: &str, number: usize) -> String {
    let (file, rule, around) = (file.to_path_buf(), Some(rule.to_owned()), Some(number));
    graph_to_text(&GraphArgs {
        outside: OutsidePaths::default(),
        file,
        rule,
        seed: None,
        answers: Answers::default(),
        around,
        format: GraphFormat::Dot,
    })
    .unwrap()
}

/// Lines of a DOT text that declare a node, by its name, and those that draw an edge.
fn parts(text: &str) -> (Vec<&str>, Vec<&str>) {
    let lines = text.lines().map(str::trim).filter(|line| line.contains(" ["));
    let (edges, nodes): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.split('[').next().unwrap().contains(" -> "));
    let names = nodes.into_iter().map(|line| line.split(' ').next().unwrap());
    (names.filter(|name| !matches!(*name, "node" | "edge")).collect(), edges)
}

/// The output of Graphviz for a text, or `None` if it is not installed.
fn graphviz(format: &str, text: &str) -> Option<String> {
    let dot =
        Command::new("dot").arg(format).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut dot) = dot else {
        skipped("the part with Graphviz: it is not installed");
        return None;
    };
    let mut input = dot.stdin.take().unwrap();
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = dot.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    // Missing fonts are no error of the text.
    assert!(output.status.success() && !errors.contains("syntax error"), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_finding_of_every_scenario_has_its_picture() {
    let (mut all, mut pictures) = (String::new(), 0);
    let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
    for file in scenarios() {
        let setup = scenario::load(&file, &runner::rule_names()).unwrap_or_else(|_| panic!("{file:?}")).setup;
        for rule in runner::rule_names() {
            let keep = Keep { record: true, ..Keep::default() };
            let outcome = runner::run_with(&setup, runner::rule(rule).unwrap(), &mut Scripted, keep, None);
            let findings = outcome.judgement.findings.clone();
            let events = EventGraph::new(&outcome.record.unwrap(), &outcome.judgement);
            for (index, finding) in findings.iter().enumerate() {
                let what = format!("{file:?} under {rule}, finding {}", index + 1);
                let near = cut(&events, index, finding).unwrap_or_else(|| panic!("{what} has no place"));
                let words = title(&events, index, &findings, &setup.names);
                let text = dot(&near, &setup.names, &words);
                assert_eq!(text, dot(&near, &setup.names, &words), "{what}");

                let (nodes, edges) = parts(&text);
                assert!(near.graph.node_count() <= CUT_MAX && nodes.len() <= NODES_MAX, "{what}: {}", nodes.len());
                assert_eq!(nodes.iter().collect::<BTreeSet<_>>().len(), nodes.len(), "{what}: a name twice");
                let lanes: BTreeSet<Lane> = near.graph.node_weights().map(|event| event.span.lane).collect();
                assert_eq!(text.matches("subgraph cluster_").count(), lanes.len(), "{what}");
                assert_eq!(text.matches("FINDING ").count(), 1, "{what}");

                let red: Vec<&&str> = edges.iter().filter(|edge| edge.contains("color=red")).collect();
                let dashed: Vec<&&str> = edges.iter().filter(|edge| edge.contains("style=dashed")).collect();
                assert_eq!(red, dashed, "{what}");
                let place = events.places[index];
                match place.missing {
                    Ok((from, slot)) => {
                        let at = place.at.unwrap();
                        assert_eq!(red.len(), 1, "{what}");
                        let drawn = format!("n{} -> n{} [", from.index(), at.index());
                        assert!(red[0].starts_with(&drawn) && red[0].contains(&format!("missing {slot}")), "{what}");
                        assert!(words.contains("missing (red, dashed)"), "{what}");
                        let of = &events.graph[from].accesses;
                        let meant = match finding.kind {
                            FindingKind::Torn | FindingKind::UseAfterFree => {
                                of.iter().any(|access| Some(access.slot) == finding.slot)
                            }
                            _ => of.iter().any(|access| {
                                (access.how, access.slot, access.len) == (Use::Keep, slot, finding.label)
                            }),
                        };
                        assert!(meant && events.graph[from].span.lane == Lane::Forward, "{what}");
                        with.insert(finding.kind);
                    }
                    Err(absent) => {
                        assert!(red.is_empty() && words.contains("no edge is missing: "), "{what}");
                        assert_ne!(absent, Absent::Unplaced, "{what}");
                        without.insert((finding.kind, absent));
                    }
                }
                all.push_str(&text);
                pictures += 1;
            }
        }
    }
    println!("{pictures} pictures; with a missing edge: {with:?}; without: {without:?}");
    assert!(pictures > 200 && with.len() >= 6 && without.len() >= 4);
    if let Some(read) = graphviz("-Tcanon", &all) {
        assert_eq!(read.matches("digraph overlapsim").count(), pictures);
    }
}

/// A finding at an offer is at the phase that offers, not at the forward that writes the slot.
#[test]
fn a_wrong_offer_is_drawn_where_it_is_offered() {
    let text = around(Path::new("scenarios/lazy-prefill-donates-late.ron"), "mask-lookahead", 1);
    let found = text.lines().find(|line| line.contains("FINDING 1: mislabelled")).unwrap();
    assert!(found.contains("result b1") && found.contains("a donates 4 in s4"), "{found}");
}

/// Asks Graphviz where it puts things: bands from top to bottom, and time from left to right.
#[test]
fn graphviz_draws_bands_in_order_and_time_to_the_right() {
    let cases = [
        ("torn-chunk-snapshot", "mask-lookahead", 1),
        ("torn-hit-copy", "mask-lookahead", 1),
        ("freed-slot-hit-copy", "mask-lookahead", 1),
        ("double-fire", "mask-lookahead", 1),
        ("natural-jitter", "mask-lookahead", 3),
        ("lazy-prefill-donates-late", "mask-lookahead", 1),
    ];
    for (name, rule, number) in cases {
        let file = PathBuf::from(format!("scenarios/{name}.ron"));
        let Some(plain) = graphviz("-Tplain", &around(&file, rule, number)) else { return };
        let setup = scenario::load(&file, &runner::rule_names()).unwrap_or_else(|_| panic!("{name}")).setup;
        let keep = Keep { record: true, ..Keep::default() };
        let outcome = runner::run_with(&setup, runner::rule(rule).unwrap(), &mut Scripted, keep, None);
        let events = EventGraph::new(&outcome.record.unwrap(), &outcome.judgement);
        // Thousandths of an inch, from the left and from the bottom.
        let mut places: BTreeMap<usize, [i64; 2]> = BTreeMap::new();
        for line in plain.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["node", node, x, y, ..] = words.as_slice()
                && let Some(id) = node.strip_prefix('n').and_then(|id| id.parse().ok())
            {
                places.insert(id, [x, y].map(|at| (at.parse::<f64>().unwrap() * 1000.0) as i64));
            }
        }
        assert!(places.len() > 10, "{name}");
        for (&a, [left, up]) in &places {
            for (&b, [right, down]) in &places {
                let of = |id: usize| (events.when_ns[id], events.graph.node_weights().nth(id).unwrap().span.lane);
                let [(before, upper), (after, lower)] = [of(a), of(b)];
                assert!(before >= after || left < right, "{name}: n{a} is before n{b}");
                assert!(upper >= lower || up > down, "{name}: n{a} is in a lane above that of n{b}");
            }
        }
    }
}

#[test]
fn pictures_match_the_snapshots() {
    for (name, number) in [("torn-chunk-snapshot", 1), ("freed-slot-hit-copy", 1), ("lazy-prefill-donates-late", 1)] {
        let text = around(&PathBuf::from(format!("scenarios/{name}.ron")), "mask-lookahead", number);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(Path::new("../../snapshots"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("graph.{name}.{number}"), text));
    }
}
