//! The timeline of records written by hand.

use super::*;
use crate::judge::FindingKind;
use crate::record::{BatchFact, BoundaryCheck, CacheFact, DecisionFact, Entry, Fact, Record, RunFact};
use crate::report::fixture::{A, Fixture, finding, nothing};
use crate::report::layout::WIDTH;
use crate::report::plain;

fn drawn(record: &Record, names: &[String], judgement: &Judgement) -> String {
    let mut text = String::new();
    draw(record, names, judgement, None, &mut |part| {
        text.push_str(&plain(part));
        true
    });
    text
}

fn draw(
    record: &Record,
    names: &[String],
    judgement: &Judgement,
    turns: Option<RangeInclusive<u32>>,
    out: &mut dyn FnMut(&str) -> bool,
) {
    let mut timeline = Timeline::new(names, judgement, turns, out);
    record.replay(&mut timeline);
    timeline.end();
}

#[test]
fn only_the_turns_asked_for_are_drawn() {
    let fixture = Fixture::double_fire();
    let mut text = String::new();
    draw(&fixture.record, &fixture.names, &fixture.judgement, Some(3..=4), &mut |part| {
        text.push_str(&plain(part));
        true
    });
    let whole = drawn(&fixture.record, &fixture.names, &fixture.judgement);
    let from = whole.find("\nturn 3 ").unwrap();
    let to = whole.find("\nturn 5 ").unwrap_or(whole.len());
    assert_eq!(text, format!("{LEGEND}{}", &whole[from..to]));
}

#[test]
fn the_double_fire_is_there_to_see() {
    let fixture = Fixture::double_fire();
    let text = drawn(&fixture.record, &fixture.names, &fixture.judgement);
    let expected = "
turn 3  144.000us .. 204.000us
  CPU |ingest|plan|prepare b4|launch b4|wait b3             |result b3|
  GPU =b3 decode=========================================][b4 decode===
  prepare b4  decode, on the GPU 198.000us .. 258.000us
    *.  a  k 4  C 4  active s2  track s3  next 0
  result b3  decode
    .!  a  k 3  L 1  C 4  mask  early  none->4@s3  next 0->1  out 3

turn 4  204.000us .. 264.000us
  CPU |ingest|plan|prepare b5|launch b5|wait b4             |result b4|
  GPU =b4 decode=========================================][b5 extend===
  b arrives, prompt of 1
  b takes s6 (active), s7 (track), s8 (track)
  prepare b5  extend, on the GPU 258.000us .. 318.000us
    ..  b  tokens 0..1  C 1  active s6
  result b4  decode
    *!  a  k 4  L 1->0  C 4  wrote s3  mask  repeat  4@s3->4@s4  next 1->0  out 4  ends: token
         donates s4 under label 4  <-- WRONG: unwritten, holds nothing
         frees s2, s3

turn 5  264.000us .. 324.000us
";
    assert!(text.contains(expected), "{text}");
    let end = "
turn 6  324.000us .. 384.000us
  CPU |ingest|plan|wait b6             |result b6|
  GPU =b6 decode=====================]
  result b6  decode
    ..  b  skipped: the request had ended
  done at 384.000us
";
    assert!(text.ends_with(end), "{text}");
    assert!(text.is_ascii() && text.lines().all(|line| line.len() <= WIDTH && line == line.trim_end()));
}

#[test]
fn ten_requests_are_ten_lines() {
    let names: Vec<String> = (0..10).map(|index| format!("request-{index}")).collect();
    let prepare = |index| {
        Fact::Batch(BatchFact::PrepareDecode {
            batch: BatchId(123),
            req: ReqId(index),
            k: 97 + index * 3,
            decode_batch_idx: 1,
            kv_committed_len: 97 + index * 3,
            active: SlotId(index * 3),
            track: (index == 1).then_some(SlotId(4)),
            next_track_idx: Some(1),
        })
    };
    let row = |index| {
        Fact::Decision(DecisionFact::Row {
            batch: BatchId(123),
            req: ReqId(index),
            lookahead: 1,
            kv_committed_len: 98 + index * 3,
            check: BoundaryCheck::MaskLost,
            decision: None,
        })
    };
    let facts = (0..10).map(prepare).chain((0..10).map(row));
    let record = Record { entries: facts.map(Entry::Fact).collect() };
    let expected = "
turn 0  0.000us .. 0.000us
  CPU |
  GPU
  prepare b123  decode
    ..  request-0  k 97   C 97   active s0             next 1
    *.  request-1  k 100  C 100  active s3   track s4  next 1
    ..  request-2  k 103  C 103  active s6             next 1
";
    let text = drawn(&record, &names, &nothing());
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("    *.  request-1  k 100  L 1  C 101  wrote s4  mask lost\n"), "{text}");
    assert_eq!(text.matches("request-").count(), 20);
}

#[test]
fn findings_without_a_line_of_their_own_close_their_turn() {
    let mut judgement = nothing();
    judgement.findings = vec![finding(FindingKind::Lost, 4), finding(FindingKind::Leak, 0)];
    judgement.findings[1].turn = 9;
    let at = Time(5);
    let facts = [
        Fact::Run(RunFact::Turn { turn: 4, at }),
        Fact::Cache(CacheFact::Hit { req: A, source: SlotId(7), len: 4 }),
        Fact::Run(RunFact::Done { at }),
    ];
    let record = Record { entries: facts.into_iter().map(Entry::Fact).collect() };
    let text = drawn(&record, &["a".to_owned()], &judgement);
    let expected = "
turn 4  0.005us .. 0.005us
  CPU |
  GPU
  a hits the cache: length 4, state from s7
  done at 0.005us
  WRONG: lost: request a, label 4

WRONG: turn 9, leak: request a, label 0
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn nothing_is_drawn_for_a_reader_who_has_left() {
    let fixture = Fixture::double_fire();
    let mut parts = Vec::new();
    draw(&fixture.record, &fixture.names, &fixture.judgement, None, &mut |part| {
        parts.push(part.to_owned());
        parts.len() < 2
    });
    assert_eq!(parts.len(), 2, "the legend and one turn");
    assert!(parts[1].starts_with("\nturn 0 "), "{}", parts[1]);
}
