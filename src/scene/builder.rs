//! From facts to a scene: a sink that adds spans, steps, segments and arrows.
//!
//! Contents of slots and classes of decisions come from the judge, which gets the same facts.

mod facts;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::judge::{Class, FindingKind, Judgement};
use crate::record::{BatchId, BoundaryCheck, ForwardMode, Owner, Phase, ReqId, SlotId};

use super::reads::Reads;
use super::{
    DonationMark, JudgedView, Lane, RequestLife, RequestStatus, RequestStep, RequestView, Scene, SlotSegment, SlotView,
    Span, TurnAt, Work,
};

/// A scene under construction: a sink for the facts of one run.
#[derive(Debug)]
pub struct SceneBuilder {
    view: JudgedView,
    scene: Scene,
    /// The turns that the scene includes; all if not given.
    turns: Option<RangeInclusive<u32>>,
    /// Whether the scene includes the turn under way.
    included: bool,
    /// The CPU span under way.
    cpu: Option<usize>,
    /// The forward to which effects belong.
    forward: Option<usize>,
    /// Rows whose result has not been processed, and the rows of the result under way.
    steps: BTreeMap<(BatchId, ReqId), usize>,
    /// The open segments, by slot.
    open: Vec<Option<SlotSegment>>,
    /// Slots that facts have touched since the last [`SceneBuilder::update_segments`].
    touched: Vec<SlotId>,
    reads: Reads,
    /// By finding: the CPU span in which it was found.
    found: Vec<Option<usize>>,
}

impl SceneBuilder {
    /// Adds the facts that follow those of `view`, if their turn is one of `turns`; all if not given.
    pub fn new(view: JudgedView, turns: Option<RangeInclusive<u32>>) -> SceneBuilder {
        let (scene, included, cpu, forward, steps, open, touched, reads) = Default::default();
        // The scene leaves earlier findings out.
        let found = vec![None; view.judge.finding_count()];
        SceneBuilder { view, scene, turns, included, cpu, forward, steps, open, touched, reads, found }
    }

    /// Judge and live view after the facts so far.
    pub fn view(&self) -> &JudgedView {
        &self.view
    }

    /// The scene, with the classes and findings of the judgement of the run.
    pub fn finish(mut self, judgement: &Judgement) -> Scene {
        // An assertion ends the run in the middle of a phase.
        self.close_cpu(self.view.live_view.now.ns());
        self.end_turn();
        self.stop();
        let SceneBuilder { mut scene, view, found: spans_found, .. } = self;
        let first = scene.turns.first().map_or(0, |turn| turn.turn);
        let last = scene.turns.last().map_or(0, |turn| turn.turn);
        let from = judgement.boundaries.partition_point(|of| of.turn < first);
        let to = judgement.boundaries.partition_point(|of| of.turn <= last);
        let classes: BTreeMap<(BatchId, ReqId), Class> =
            judgement.boundaries[from..to].iter().map(|of| ((of.batch, of.req), of.class)).collect();
        for step in &mut scene.steps {
            step.class = classes.get(&(step.batch, step.req)).copied().filter(|_| step.result.is_some());
        }
        let place = |turn: u32, phase: Phase| {
            let from = scene.spans.partition_point(|span| span.turn < turn);
            let to = scene.spans.partition_point(|span| span.turn <= turn);
            let fits = |span: &Span| span.work == Work::Phase(phase);
            let found = (from..to).rev().find(|&at| fits(&scene.spans[at]));
            found.or_else(|| (from..to).rev().find(|&at| scene.spans[at].lane == Lane::Cpu))
        };
        // A loss is found at the end of its request, but its place is where the checkpoint was due.
        scene.places = judgement
            .findings
            .iter()
            .enumerate()
            .map(|(nth, finding)| {
                let found = spans_found.get(nth).copied().flatten();
                found
                    .filter(|&span| scene.spans[span].turn == finding.turn && finding.kind != FindingKind::Lost)
                    .or_else(|| place(finding.turn, finding.phase))
            })
            .collect();
        scene.end_ns = scene.spans.iter().map(|span| span.end_ns).max().unwrap_or(0);
        scene.lives.resize(view.live_view.reqs().len(), RequestLife::default());
        for (life, now) in scene.lives.iter_mut().zip(view.live_view.reqs()) {
            let RequestView { prompt_len, hit, outputs, finish, retracted, .. } = *now;
            *life = RequestLife { prompt_len, hit, outputs, finish, retracted, ..*life };
        }
        scene
    }

    fn begin_turn(&mut self, turn: u32, at_ns: u64) {
        self.end_turn();
        let included = self.turns.as_ref().is_none_or(|turns| turns.contains(&turn));
        if self.included && !included {
            self.stop();
        } else if !self.included && included {
            self.touched.extend(self.view.live_view.slot_ids());
        }
        self.included = included;
        (self.cpu, self.forward) = (None, None);
        if included {
            self.scene.turns.push(TurnAt { turn, at_ns, rows: 0, slots_used: 0, slots_cached: 0, waiting: 0 });
        }
    }

    fn end_turn(&mut self) {
        if !self.included {
            return;
        }
        let live_view = &self.view.live_view;
        let Some(turn) = self.scene.turns.last_mut() else { return };
        let owners = live_view.slot_ids().filter_map(|slot| live_view.owner(slot));
        (turn.slots_used, turn.slots_cached) =
            owners.fold((0, 0), |(used, cached), owner| (used + 1, cached + u32::from(owner == Owner::Tree)));
        turn.waiting = live_view.reqs().iter().filter(|it| it.status == RequestStatus::Waiting).count() as u32;
    }

    /// Closes open segments and reads.
    fn stop(&mut self) {
        let now_ns = self.view.live_view.now.ns();
        for mut segment in self.open.iter_mut().filter_map(Option::take) {
            segment.end_ns = now_ns;
            self.scene.segments.push(segment);
        }
        self.steps.clear();
        self.scene.arrows.extend(self.reads.close());
        self.included = false;
    }

    fn span(&mut self, lane: Lane, work: Work, batch: Option<BatchId>, start_ns: u64, end_ns: u64) -> Option<usize> {
        if !self.included {
            return None;
        }
        self.scene.spans.push(Span { lane, work, batch, turn: self.view.live_view.turn, start_ns, end_ns });
        Some(self.scene.spans.len() - 1)
    }

    fn close_cpu(&mut self, at_ns: u64) {
        if let Some(cpu) = self.cpu.take() {
            self.scene.spans[cpu].end_ns = at_ns;
        }
    }

    /// Splits the phase under way: its part up to `at_ns` is a wait.
    fn wait(&mut self, batch: BatchId, at_ns: u64) {
        let Some(cpu) = self.cpu else { return };
        let span = self.scene.spans[cpu];
        if at_ns > span.start_ns {
            self.scene.spans[cpu] = Span { work: Work::Wait, batch: Some(batch), end_ns: at_ns, ..span };
            self.cpu = self.span(Lane::Cpu, span.work, span.batch, at_ns, at_ns);
        }
    }

    fn prepare(&mut self, batch: BatchId, req: ReqId, (mode, from, k, committed): (ForwardMode, u32, u32, u32)) {
        if !self.included {
            return;
        }
        self.steps.insert((batch, req), self.scene.steps.len());
        self.scene.steps.push(RequestStep {
            req,
            batch,
            mode,
            from,
            k,
            prepare: self.cpu,
            forward: None,
            result: None,
            committed_at_prepare: committed,
            committed_at_result: None,
            lookahead: None,
            due: None,
            check: BoundaryCheck::None,
            fired: None,
            class: None,
            outputs: None,
            skipped: None,
        });
    }

    /// Moves the rows of a decode batch to the prefill batch in which they ride along.
    fn mix(&mut self, batch: BatchId, decode: BatchId) {
        let rows = (decode, ReqId(0))..=(decode, ReqId(u32::MAX));
        let rows: Vec<(ReqId, usize)> = self.steps.range(rows).map(|(key, &at)| (key.1, at)).collect();
        for (req, at) in rows {
            self.steps.remove(&(decode, req));
            self.steps.insert((batch, req), at);
            self.scene.steps[at].batch = batch;
        }
    }

    fn step(&mut self, batch: BatchId, req: ReqId) -> Option<&mut RequestStep> {
        let at = *self.steps.get(&(batch, req))?;
        self.scene.steps.get_mut(at)
    }

    fn effect(&mut self, batch: BatchId, req: ReqId, due: Option<(SlotId, u32)>) {
        let forward = self.forward;
        if let Some(step) = self.step(batch, req) {
            (step.forward, step.due) = (forward, due);
        }
    }

    /// A row of the result under way.
    fn result(&mut self, batch: BatchId, req: ReqId) -> Option<&mut RequestStep> {
        let cpu = self.cpu;
        let step = self.step(batch, req)?;
        step.result = cpu;
        Some(step)
    }

    fn life(&mut self, req: ReqId) -> &mut RequestLife {
        if req.index() >= self.scene.lives.len() {
            self.scene.lives.resize(req.index() + 1, RequestLife::default());
        }
        &mut self.scene.lives[req.index()]
    }

    fn donate(&mut self, donation: DonationMark) {
        if self.included {
            self.scene.donations.push(donation);
        }
    }

    /// Begins a segment for each touched slot that has changed.
    fn update_segments(&mut self) {
        if !self.included {
            return self.touched.clear();
        }
        let now_ns = self.view.live_view.now.ns();
        for slot in std::mem::take(&mut self.touched) {
            let SlotView { owner, holds, writer, label, fit, lands } = self.view.slot(slot);
            let lands_ns = lands.map(|(_, end)| end.ns()).filter(|&end_ns| end_ns > now_ns);
            let turn = self.view.live_view.turn;
            let (start_ns, end_ns) = (now_ns, now_ns);
            let segment = SlotSegment { slot, turn, start_ns, end_ns, owner, holds, writer, label, fit, lands_ns };
            if slot.index() >= self.open.len() {
                self.open.resize(slot.index() + 1, None);
            }
            let open = &mut self.open[slot.index()];
            let same = |it: &SlotSegment| {
                (it.owner, it.holds, it.writer, it.label, it.fit) == (owner, holds, writer, label, fit)
            };
            if open.as_ref().is_some_and(same) {
                continue;
            }
            if let Some(mut last) = open.replace(segment) {
                last.end_ns = now_ns;
                // A segment of no length is an intermediate step.
                if last.end_ns > last.start_ns {
                    self.scene.segments.push(last);
                }
            }
        }
    }

    /// Touches the slots whose label may have changed.
    fn touch_kept(&mut self, req: ReqId) {
        if let Some(it) = self.view.live_view.reqs().get(req.index()) {
            self.touched.extend(it.track.into_iter().flatten());
        }
    }
}
