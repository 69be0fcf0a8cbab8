//! The renderers on judgements written by hand.

use crate::judge::{Class, ClassCounts, Finding, FindingKind, Judgement, Verdict};
use crate::record::{ReqId, SlotId};

use super::fixture::{Fixture, finding, nothing};
use super::*;

#[test]
fn text_of_a_double_fire() {
    let fixture = Fixture::double_fire();
    let expected = "\
corrupt   scenarios/double-fire.ron under mask-lookahead, seed 0

turns        7
results      3 decode rows, L=0: 1, L=1: 2
decisions    1 agree, 1 early, 0 settled, 1 repeat, 0 missed, 0 wrong-label, 0 wrong-slot
checkpoints  1 due, 1 recorded, 0 lost, 0 skipped, 1 donated
mask reuse   3 reused, 0 recomputed, 40 bytes of masks
findings     1 unwritten (in turn 4)

1. unwritten: request a, label 4, holds nothing, slot s4
   turn 4, result: slot s4 was donated under length 4, but nothing has been written to it since a
     got it
   replay: overlapsim run scenarios/double-fire.ron --rule mask-lookahead --timeline

cost of loss: none

virtual time        p50        p90        p99
  ttft         84.000us  120.000us  120.000us
  tpot         60.000us   60.000us   60.000us
  e2e         120.000us  264.000us  264.000us
  makespan 384.000us, 5 output tokens, 13020.8 per second
";
    assert_eq!(plain(&run_text(&fixture.run("mask-lookahead"))), expected);
}

#[test]
fn text_says_what_was_lost_and_what_to_doubt() {
    let mut fixture = Fixture::double_fire();
    let of = &mut fixture.judgement;
    of.findings = (1..=25).map(|index| finding(FindingKind::Lost, index * 4)).collect();
    of.findings[2] = Finding { root: Some(0), holds: Some(8), ..finding(FindingKind::Inherited, 9) };
    of.verdict = Verdict::Lossy;
    of.checkpoints.lost = 24;
    of.checkpoints.cost_tokens = 1;
    of.mask_reuse.lost = 3;
    of.pins_missed = vec![ReqId(1)];
    of.pins_ended = vec![ReqId(0)];
    of.bound = Some(true);
    let mut run = fixture.run("committed-len");
    run.warnings.push("the caller's own".to_owned());
    let text = run_text(&run);
    let text = plain(&text);
    assert!(text.contains("findings     24 lost (first in turn 4), 1 inherited (in turn 4)\n"));
    assert!(text.contains("3. inherited: request a, label 9, holds 8\n   turn 4, result: because (from finding 1)\n"));
    assert_eq!(text.matches(". lost: ").count(), 20);
    let end = "
... and 4 more lost (see --format json)

cost of loss: 1 token to recompute (24 due checkpoints never recorded)
mask reuse lost: 3 rows recomputed because the masks of their batch were dropped: slower, not wrong
warning: pin missed: the prefill of b did not take the turn that it was pinned to
warning: pin ended: a arrived in the next turn, because the request that it was pinned to had ended
warning: stalled: requests are waiting that can never be admitted
warning: the caller's own

virtual time ";
    assert!(text.contains(end), "{text}");
}

#[test]
fn json_has_the_documented_fields_in_order() {
    let fixture = Fixture::double_fire();
    let run = fixture.run("mask-lookahead");
    let expected = concat!(
        r#"{"scenario":"scenarios/double-fire.ron","rule":"mask-lookahead","verdict":"corrupt","turns":7,"#,
        r#""decode_results":3,"lookahead":{"0":1,"1":2},"#,
        r#""decisions":{"agree":1,"early":1,"settled":0,"repeat":1,"missed":0,"wrong_label":0,"wrong_slot":0},"#,
        r#""checkpoints":{"due":1,"recorded":1,"lost":0,"skipped":0,"donated":1,"cost_tokens":0},"#,
        r#""mask_reuse":{"reused":3,"recomputed":0,"bytes":40,"lost":0},"#,
        r#""findings":[{"kind":"unwritten","request":"a","turn":4,"label":4,"holds":null,"slot":4,"#,
        r#""reason":"slot s4 was donated under length 4, but nothing has been written to it since a got it","#,
        r#""phase":"result","root":null,"#,
        r#""replay":"overlapsim run scenarios/double-fire.ron --rule mask-lookahead --timeline","overwritten":null}],"#,
        r#""requests":[{"id":"a","prefix_hit":0,"outputs":4,"finish":"token"},"#,
        r#"{"id":"b","prefix_hit":0,"outputs":1,"finish":"length"}],"#,
        r#""time":{"makespan_ns":384000,"ttft_ns":{"p50":84000,"p90":120000,"p99":120000},"#,
        r#""tpot_ns":{"p50":60000,"p90":60000,"p99":60000},"e2e_ns":{"p50":120000,"p90":264000,"p99":264000},"#,
        r#""output_tokens_per_s":13020.8,"output_tokens":5},"warnings":[],"bound":null,"seed":0}"#,
    );
    assert_eq!(serde_json::to_string(&run_json(&run)).unwrap(), expected);
}

#[test]
fn json_of_nothing_keeps_its_shape() {
    let judgement = Judgement { bound: Some(false), lookahead: [(2, 1)].into(), ..nothing() };
    let timing = Timing::default();
    let fixture = Fixture::double_fire();
    let run = Run { judgement: &judgement, timing: &timing, ..fixture.run("paired") };
    let text = runs_json(&[run.clone(), run]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let one = &value[1];
    assert_eq!(one["lookahead"], serde_json::json!({"0": 0, "1": 0, "2": 1}));
    assert_eq!(one["requests"][1], serde_json::json!({"id": "b", "prefix_hit": 0, "outputs": 0, "finish": null}));
    assert_eq!(one["time"]["tpot_ns"], serde_json::json!({"p50": null, "p90": null, "p99": null}));
    assert_eq!(one["bound"], "turns");
    assert!(text.ends_with("]\n"));
}

#[test]
fn diff_shows_only_what_differs() {
    let fixture = Fixture::double_fire();
    let agreeing = |mut of: Judgement| {
        of.boundaries.remove(0);
        of.boundaries[0].class = Class::Agree;
        of.boundaries[0].slot = Some(SlotId(3));
        of.findings.clear();
        of.verdict = Verdict::Clean;
        of.decisions = ClassCounts { agree: 3, ..ClassCounts::default() };
        of
    };
    let clean = agreeing(fixture.judgement.clone());
    let lossy = Judgement { bound: Some(false), ..clean.clone() };
    let runs = [
        fixture.run("mask-lookahead"),
        Run { judgement: &clean, ..fixture.run("token-len") },
        Run { judgement: &lossy, ..fixture.run("paired") },
    ];
    let expected = "\
scenarios/double-fire.ron under 3 rules, seed 0

request    k  turn  L  mask-lookahead  token-len   paired
a          3     3  1  early 4@s3      -           -
a          4     4  0  repeat 4@s4     agree 4@s3  agree 4@s3

verdict                corrupt         clean       clean
unwritten              1               -           -

warning: the run reached turns_max: later turns were not judged (paired)
";
    assert_eq!(plain(&diff_text(&runs)), expected);
    let expected = "\
scenarios/double-fire.ron under 1 rule, seed 0

request  k  turn  L  token-len
every boundary decision agrees under every rule

verdict              clean
";
    assert_eq!(plain(&diff_text(&runs[1..2])), expected);
}

#[test]
fn what_is_inherited_from_an_unwritten_slot_holds_nothing_either() {
    let mut fixture = Fixture::double_fire();
    let slot = fixture.judgement.findings[0].slot;
    let heir = |slot| Finding { root: Some(0), holds: Some(0), slot, ..finding(FindingKind::Inherited, 4) };
    fixture.judgement.findings.extend([heir(slot), heir(Some(SlotId(9)))]);
    let run = fixture.run("mask-lookahead");
    let text = run_text(&run);
    let text = plain(&text);
    assert!(text.contains("2. inherited: request a, label 4, holds nothing, slot s4\n"), "{text}");
    assert!(text.contains("3. inherited: request a, label 4, holds 0, slot s9\n"), "{text}");
    let json = serde_json::to_value(run_json(&run)).unwrap();
    assert_eq!((&json["findings"][1]["holds"], &json["findings"][2]["holds"]), (&serde_json::Value::Null, &0.into()));
}

#[test]
fn diff_says_which_assertion_failed() {
    let fixture = Fixture::double_fire();
    let mut judgement = nothing();
    judgement.findings = vec![Finding { label: None, slot: None, ..finding(FindingKind::Assertion, 0) }];
    let runs = [fixture.run("mask-lookahead"), Run { judgement: &judgement, ..fixture.run("paired") }];
    let text = diff_text(&runs[1..]);
    let text = plain(&text);
    assert!(text.ends_with("\nassertion: request a (turn 4, result): because\n"), "{text}");
}
