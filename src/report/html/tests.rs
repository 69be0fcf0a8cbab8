//! The page as text: complete, without network, deterministic, and safe against any text of a scenario.

use crate::numeric::{HitKl, Severity};
use crate::record::{BatchId, BoundaryCheck, ForwardMode, Owner, Phase, ReqId, SharedField, SlotId};
use crate::report::fixture::Fixture;
use crate::scene::{Arrow, DonationMark, Fit, Lane, RequestLife, RequestStep, Scene, SlotSegment, Span, TurnAt, Work};

use super::*;

/// A step of one request, its forward and its result.
fn scene() -> Scene {
    let span = |lane, work, start_ns, end_ns| Span { lane, work, batch: Some(BatchId(4)), turn: 3, start_ns, end_ns };
    let step = RequestStep {
        req: ReqId(0),
        batch: BatchId(4),
        mode: ForwardMode::Decode,
        from: 3,
        k: 4,
        prepare: Some(0),
        forward: Some(1),
        result: Some(2),
        committed_at_prepare: 4,
        committed_at_result: Some(5),
        lookahead: Some(1),
        due: Some((SlotId(3), 4)),
        check: BoundaryCheck::Mask,
        fired: Some((Some(4), Some(SlotId(4)))),
        class: Some(crate::judge::Class::Repeat),
        outputs: Some(4),
        skipped: None,
    };
    let segment = SlotSegment {
        slot: SlotId(4),
        turn: 3,
        start_ns: 0,
        end_ns: 900,
        owner: Some(Owner::Track(ReqId(0), 1)),
        holds: None,
        writer: None,
        label: Some(4),
        fit: Fit::Wrong,
        lands_ns: None,
    };
    Scene {
        turns: vec![TurnAt { turn: 3, at_ns: 0, rows: 1, slots_used: 3, slots_cached: 0, waiting: 0 }],
        spans: vec![
            span(Lane::Cpu, Work::Phase(Phase::Prepare), 0, 100),
            span(Lane::Forward, Work::Forward(ForwardMode::Decode), 100, 800),
            span(Lane::Cpu, Work::Phase(Phase::Result), 800, 900),
        ],
        steps: vec![step],
        segments: vec![segment],
        arrows: vec![Arrow {
            field: SharedField::KvCommittedLen,
            from: Some(0),
            to: 2,
            req: ReqId(0),
            rows: 1,
            newer: 1,
            changed: 1,
        }],
        lives: vec![RequestLife { arrived_ns: Some(0), prompt_len: 1, ..RequestLife::default() }],
        donations: vec![DonationMark {
            req: ReqId(0),
            label: 4,
            key_len: 4,
            slot: SlotId(4),
            span: 2,
            finished: true,
            existed: false,
            right: false,
        }],
        places: vec![Some(2)],
        end_ns: 900,
    }
}

fn with(source: &str, names: [&str; 2]) -> String {
    let mut fixture = Fixture::double_fire();
    fixture.names = names.map(str::to_owned).to_vec();
    let scene = scene();
    let hit = HitKl {
        req: ReqId(1),
        turn: 3,
        label: 4,
        source_right: false,
        positions: 2,
        sum: 0.5,
        max: 0.4,
        first_difference: Some(1),
    };
    let severity = Severity { hits: vec![hit], first_difference: None };
    let run = |rule| PageRun { run: fixture.run(rule), scene: &scene, severity: Some(&severity) };
    page(&Page { about: "Why.", source, runs: vec![run("token-len"), run("mask-lookahead")], first: 1, turns: None })
}

/// The data of a page by its id.
fn block(page: &str, id: &str) -> serde_json::Value {
    let start = format!("<script type=\"application/json\" id=\"{id}\">");
    let rest = page.split(&start).nth(1).expect("the block is there");
    serde_json::from_str(rest.split("</script>").next().unwrap()).expect("it is JSON")
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    assert_eq!(with("Scenario()", ["a", "b"]), with("Scenario()", ["a", "b"]));
}

#[test]
fn nothing_leaves_the_file() {
    let page = with("Scenario()", ["a", "b"]);
    for word in ["http:", "https:", "//fonts", "@import", "url(h", "src=", "eval(", "new Function"] {
        assert!(!page.contains(word), "the page has {word}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn what_stands_in_a_scenario_ends_no_script_and_starts_no_element() {
    let bad = "</script><script>alert(1)</script><!--\u{2028}";
    let name = "<x1>&\"";
    let page = with(bad, [name, "b"]);
    assert_eq!(page.matches("</script").count(), with("", ["a", "b"]).matches("</script").count());
    assert!(!page.contains("alert(1)</script>") && !page.contains("<x1>") && !page.contains("<!--"));
    let head = block(&page, "page");
    assert_eq!(head["source"], bad.replace('\u{2028}', "\\u{2028}"));
    assert_eq!(head["names"][0], name);
    assert_eq!(head["runs"][0]["report"]["findings"][0]["request"], name);
}

#[test]
fn the_numbers_of_a_run_stand_in_its_block() {
    let page = with("", ["a", "b"]);
    let run = block(&page, "run-mask-lookahead");
    assert_eq!(run["end"], 900);
    assert_eq!(run["spans"]["n"], 3);
    assert_eq!(run["steps"]["k"], 4);
    assert_eq!(run["steps"]["lookahead"], 2);
    assert_eq!(run["marks"]["label"], 4);
    assert_eq!(run["segments"]["holds"], -1);
    assert_eq!(run["places"], serde_json::json!([2]));
    let head = block(&page, "page");
    assert_eq!(head["first"], 1);
    assert_eq!(head["runs"][1]["outcomes"], serde_json::json!([0, 0, 1, 0, 0, 0, 1]));
    assert_eq!(head["runs"][1]["kl"]["hits"][0]["avg"], 0.25);
    assert_eq!(head["words"]["works"][5], "wait");
    assert_eq!(head["words"]["works"][7], "decode");
}

#[test]
fn readers_without_scripts_get_the_verdicts() {
    let page = with("", ["a", "b"]);
    let plain = page.split("<noscript>").nth(1).and_then(|rest| rest.split("</noscript>").next()).unwrap();
    assert!(plain.contains("mask-lookahead: <b>corrupt</b>"), "{plain}");
    assert!(plain.contains("overlapsim run scenarios/double-fire.ron --rule token-len"), "{plain}");
}
