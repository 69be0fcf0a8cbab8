//! The scene of a run compared with its judgement, for every scenario and rule.

use std::path::Path;

use overlapsim::engine::Seeded;
use overlapsim::judge::{FindingKind, Judge, JudgeOptions, Judgement};
use overlapsim::model::Machine;
use overlapsim::record::{CacheFact, Fact, ForwardMode, Owner, RequestFact, RequestFields, Sink};
use overlapsim::runner::{self, Keep};
use overlapsim::scenario::{self, Scenario};
use overlapsim::scene::{Fit, JudgedView, Lane, RequestStatus, Scene, Work};

/// Every short scenario, with its scene and judgement under every rule.
fn each(mut look: impl FnMut(&str, &Scenario, &Scene, &Judgement)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<_> = ["", "findings", "check"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder of scenarios"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .collect();
    files.sort();
    for file in files {
        let scenario = scenario::load(&file, &runner::rule_names()).expect("a valid scenario");
        for rule in runner::rule_names().into_iter().filter_map(runner::rule) {
            let (scene, judgement) = paint(&scenario, rule.name(), None);
            look(&format!("{} under {}", file.display(), rule.name()), &scenario, &scene, &judgement);
        }
    }
}

fn paint(scenario: &Scenario, rule: &str, turns: Option<(u32, u32)>) -> (Scene, Judgement) {
    let rule = runner::rule(rule).expect("a known rule");
    let keep = Keep { boundaries: true, ..Keep::default() };
    let judgement = runner::run(&scenario.setup, rule, scenario.seed, keep, None).judgement;
    let mut chooser = Seeded::new(scenario.seed);
    let turns = turns.map(|(from, to)| from..=to);
    let scene = runner::scene(&scenario.setup, rule, &mut chooser, turns, &judgement);
    (scene, judgement)
}

#[test]
fn steps_decisions_and_donations_are_those_of_the_judgement() {
    each(|name, _, scene, judgement| {
        let rows = scene.steps.iter().filter(|step| step.lookahead.is_some()).count() as u64;
        assert_eq!(rows, judgement.decode_results, "{name}: decode rows");
        let fired = scene.steps.iter().filter(|step| step.fired.is_some()).count();
        assert_eq!(fired, judgement.boundaries.iter().filter(|of| of.fired).count(), "{name}: firings");
        let classed = scene.steps.iter().filter(|step| step.class.is_some()).count();
        assert_eq!(classed, judgement.boundaries.len(), "{name}: classes");
        for of in &judgement.boundaries {
            let step = scene.steps.iter().find(|step| (step.batch, step.req) == (of.batch, of.req)).expect(name);
            assert_eq!(step.class, Some(of.class), "{name}");
            // A verify may go on beyond the boundary that it crosses.
            assert!(step.k == of.k || step.mode == ForwardMode::Verify && step.k >= of.k, "{name}: {step:?}");
            assert_eq!(step.due.map(|due| due.0), of.due, "{name}: what was due");
        }
        assert_eq!(scene.donations.len() as u64, judgement.checkpoints.donated, "{name}: donations");
        let by_lookahead = |l| scene.steps.iter().filter(|step| step.lookahead == Some(l)).count() as u64;
        for (&l, &count) in &judgement.lookahead {
            assert_eq!(by_lookahead(l), count, "{name}: L={l}");
        }
        for (life, outcome) in scene.lives.iter().zip(&judgement.requests) {
            assert_eq!((life.outputs, life.finish), (outcome.outputs, outcome.finish), "{name}");
        }
    });
}

#[test]
fn the_spans_of_a_lane_follow_each_other() {
    each(|name, _, scene, _| {
        for lane in [Lane::Cpu, Lane::Forward, Lane::Copy] {
            let mut end_ns = 0;
            for span in scene.spans.iter().filter(|span| span.lane == lane) {
                assert!(span.start_ns >= end_ns && span.end_ns >= span.start_ns, "{name}: {span:?}");
                end_ns = span.end_ns;
            }
        }
        for step in &scene.steps {
            let span = |at: Option<usize>| at.map(|at| scene.spans[at]);
            assert!(span(step.prepare).is_some_and(|span| span.lane == Lane::Cpu), "{name}: {step:?}");
            let forward = span(step.forward);
            let launched = forward.is_some_and(|it| it.lane == Lane::Forward && it.batch == Some(step.batch));
            assert!(launched || step.forward.is_none() && step.result.is_none(), "{name}: {step:?}");
        }
        for arrow in &scene.arrows {
            assert!(arrow.from.is_none_or(|from| from <= arrow.to), "{name}: {arrow:?}");
            assert!(arrow.newer >= arrow.changed && arrow.rows >= arrow.newer, "{name}: {arrow:?}");
            assert!(matches!(scene.spans[arrow.to].work, Work::Phase(_)), "{name}: {arrow:?}");
        }
    });
}

/// A newer read must point to a write that came after the prepare of what is read for; the others to one before it.
#[test]
fn a_newer_value_was_written_after_the_prepare() {
    each(|name, _, scene, _| {
        for arrow in &scene.arrows {
            let batch = scene.spans[arrow.to].batch.expect("a result is one of a batch");
            let step = scene.steps.iter().find(|step| (step.batch, step.req) == (batch, arrow.req));
            let (Some(from), Some(step)) = (arrow.from, step) else { continue };
            let prepare = step.prepare.expect("it was prepared");
            if arrow.newer == arrow.rows {
                assert!(from >= prepare, "{name}: newer than prepare {prepare}, {arrow:?}");
            }
        }
    });
}

#[test]
fn a_slot_is_red_where_the_judge_found_its_state_wrong() {
    each(|name, _, scene, judgement| {
        let offered = [FindingKind::Mislabelled, FindingKind::Unwritten, FindingKind::Foreign, FindingKind::Inherited];
        let red = |slot| scene.segments.iter().any(|it| it.slot == slot && it.fit == Fit::Wrong);
        for finding in judgement.findings.iter().filter(|finding| offered.contains(&finding.kind)) {
            let slot = finding.slot.expect("a state lies in a slot");
            let cached = scene.donations.iter().any(|of| of.slot == slot && !of.existed);
            assert!(!cached || red(slot), "{name}: {slot} is not red for {finding:?}");
        }
        for donation in scene.donations.iter().filter(|of| !of.existed) {
            // What the tree holds from then on is what was donated, right or wrong.
            let at = scene.spans[donation.span].end_ns;
            let held =
                |it: &&overlapsim::scene::SlotSegment| it.slot == donation.slot && it.label == Some(donation.key_len);
            let after = scene.segments.iter().filter(held).find(|it| it.end_ns >= at && it.fit != Fit::Exposed);
            let red = after.is_some_and(|it| it.fit == Fit::Wrong);
            assert!(after.is_none() || donation.right != red, "{name}: {donation:?} {after:?}");
        }
        let wrong = scene.segments.iter().filter(|it| it.fit == Fit::Wrong).count();
        let clean = judgement.findings.iter().all(|finding| finding.kind == FindingKind::Lost);
        assert!(!(clean && wrong > 0), "{name}: {wrong} red segments in a run without a fault");
    });
}

#[test]
fn segments_of_a_slot_join_and_a_window_shows_what_the_whole_does() {
    each(|name, scenario, scene, judgement| {
        let mut last: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
        for it in &scene.segments {
            let before = last.insert(it.slot.0, it.end_ns);
            assert!(before.is_none_or(|end_ns| end_ns == it.start_ns), "{name}: {it:?}");
        }
        let Some(middle) = scene.turns.get(scene.turns.len() / 2) else { return };
        let rule = name.rsplit(' ').next().expect("a name ends with the rule");
        let (part, _) = paint(scenario, rule, Some((middle.turn, middle.turn + 2)));
        let inside = |turn: u32| (middle.turn..=middle.turn + 2).contains(&turn);
        let spans: Vec<_> = scene.spans.iter().filter(|span| inside(span.turn)).copied().collect();
        assert_eq!(part.spans, spans, "{name}");
        let turns: Vec<_> = scene.turns.iter().filter(|turn| inside(turn.turn)).copied().collect();
        assert_eq!(part.turns, turns, "{name}");
        assert_eq!(part.places.len(), judgement.findings.len(), "{name}");
    });
}

/// A run with the live view before each fact.
struct Looking<'a> {
    view: JudgedView,
    name: &'a str,
    exposed: u32,
}

impl Sink for Looking<'_> {
    fn fact(&mut self, fact: Fact) {
        // The state of a slot just before its donation is what the audit compares.
        let offer = if let Fact::Cache(CacheFact::Donate { slot, .. }) = fact { Some(slot) } else { None };
        let offer = offer.filter(|&slot| matches!(self.view.live_view.owner(slot), Some(Owner::Track(..))));
        let before = offer.map(|slot| (self.view.slot(slot), slot));
        self.view.fact(fact);
        let audited = before.and_then(|(now, slot)| Some((now, self.view.judge.holds_donation(slot)?)));
        if let Some((slot, right)) = audited {
            let wrong = !right;
            assert_eq!(slot.fit, if wrong { Fit::Exposed } else { Fit::Right }, "{}: {fact:?} of {slot:?}", self.name);
            self.exposed += u32::from(wrong);
        }
        if let Fact::Request(RequestFact::Retract { req, .. }) = fact {
            let it = self.view.live_view.reqs()[req.index()];
            assert_eq!(
                (it.status, it.k, it.fields),
                (RequestStatus::Waiting, 0, RequestFields::default()),
                "{}",
                self.name
            );
        }
    }
}

#[test]
fn a_slot_is_exposed_just_when_its_donation_would_be_wrong() {
    let mut exposed = 0;
    each(|name, scenario, _, _| {
        let judge = Judge::new(JudgeOptions {
            page_size: scenario.setup.engine.page_size,
            keep_boundaries: false,
            keep_reasons: true,
        });
        let mut looking = Looking { view: JudgedView::new(judge), name, exposed: 0 };
        let rule = runner::rule(name.rsplit(' ').next().expect("a rule")).expect("a known rule");
        let mut chooser = Seeded::new(scenario.seed);
        Machine::new(&scenario.setup, rule, &mut chooser, &mut looking).with_probe(true).run();
        exposed += looking.exposed;
    });
    assert!(exposed > 10, "{exposed} wrong donations");
}

#[test]
fn the_last_phase_ends_with_the_run() {
    each(|name, scenario, scene, _| {
        let rule = runner::rule(name.rsplit(' ').next().expect("a rule")).expect("a known rule");
        let judge = Judge::new(JudgeOptions {
            page_size: scenario.setup.engine.page_size,
            keep_boundaries: false,
            keep_reasons: true,
        });
        let mut view = JudgedView::new(judge);
        runner::replay(&scenario.setup, rule, &mut Seeded::new(scenario.seed), &mut view);
        let last = scene.spans.iter().rfind(|span| span.lane == Lane::Cpu).expect("a phase");
        assert_eq!(last.end_ns, view.live_view.now.ns(), "{name}");
    });
}
