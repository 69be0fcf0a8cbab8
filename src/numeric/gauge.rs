//! The gauge: a sink that emulates the numbers in every slot and compares, after every cache hit, what the model reads
//! from the request's slot with what it reads after a cold prefill.
//!
//! Owns the meaning of the forward effects in numbers. Refuses decisions, owners and times: a slot keeps what was written
//! into it whoever takes it, and a wrong state is compared like a right one.

use crate::model::Ssm;
use crate::record::{BatchId, Fact, ReqId, Sink, SlotId, Token};

use super::divergence::{argmax, kl};
use super::live::{Compared, Requests, Watch};
use super::scan::Scan;
use super::severity::{HitKl, Severity};
use super::ssm::Weights;
use super::store::{Content, Store};

/// Follows a run in numbers.
#[derive(Clone, Debug)]
pub struct Gauge {
    weights: Weights,
    chunk_len: u32,
    store: Store,
    requests: Requests,
    turn: u32,
    severity: Severity,
}

impl Gauge {
    /// A gauge that has seen nothing, for an engine whose prefill scans in chunks of `chunk_len` tokens.
    ///
    /// # Panics
    /// If a size of the model is 0 or above its limit, or `chunk_len` is 0.
    pub fn new(ssm: Ssm, chunk_len: u32) -> Gauge {
        assert!(chunk_len > 0, "chunks of no token");
        let weights = Weights::new(ssm);
        let store = Store::new(weights.dim());
        Gauge { weights, chunk_len, store, requests: Requests::default(), turn: 0, severity: Severity::default() }
    }

    /// The numbers.
    pub fn finish(self) -> Severity {
        self.severity
    }

    /// A cached state is about to be copied into the active slot of a request.
    fn hit(&mut self, req: ReqId, source: SlotId, label: u32) {
        let held = self.store.provenance(source);
        let Some(live) = self.requests.get(req) else { return };
        live.unwatch();
        let source_right = held.is_some() && held == live.truth(label);
        live.hit = Some(HitKl::new(req, label, source_right));
    }

    /// The prefill of a request is launched: if it starts from a cached state, that is a hit from now on.
    fn start(&mut self, req: ReqId) {
        let Some(live) = self.requests.known(req) else { return };
        let Some(hit) = live.hit.take() else { return };
        let cold = Scan::new(&self.store.zero().h, self.chunk_len);
        live.watch = Some(Watch { hit: self.severity.hits.len(), cold });
        self.severity.hits.push(HitKl { turn: self.turn, ..hit });
    }

    /// A prefill row: a scan over a run of tokens, and the state on the way if it is tracked.
    fn extend(&mut self, req: ReqId, slot: SlotId, run: (u32, u32), track: Option<(SlotId, u32)>) {
        let Some(live) = self.requests.get(req) else { return };
        let (from, to) = run;
        let mut content = self.store.take(slot);
        let mut kept = content.clone();
        match live.tokens.get(from as usize..to as usize) {
            Some(tokens) => {
                let mut scan = Scan::new(&content.h, self.chunk_len);
                for (len, &token) in (from + 1..).zip(tokens) {
                    scan.push(&self.weights, token);
                    content.of = content.of.map(|state| state.fold(token));
                    if track.is_some_and(|(_, at)| at == len) {
                        kept = Content { h: scan.state(), of: content.of };
                    }
                }
                content.h = scan.state();
            }
            None => (content.of, kept.of) = (None, None),
        }
        self.store.write(slot, content);
        if let Some((slot, _)) = track.filter(|(_, at)| (from..=to).contains(at)) {
            self.store.write(slot, kept);
        }
    }

    /// One step of the recurrence, the k-th token of a request.
    fn step(&mut self, req: ReqId, slot: SlotId, k: u32, track: Option<SlotId>) {
        let Some(live) = self.requests.get(req) else { return };
        let mut content = self.store.take(slot);
        match k.checked_sub(1).and_then(|at| live.tokens.get(at as usize)) {
            Some(&token) => {
                self.weights.step(&mut content.h, token);
                content.of = content.of.map(|state| state.fold(token));
            }
            None => content.of = None,
        }
        if let Some(kept) = track {
            self.store.write(kept, content.clone());
        }
        self.store.write(slot, content);
    }

    /// A verify row: the recurrence over the run that it accepted.
    fn verify(&mut self, batch: BatchId, req: ReqId, slot: SlotId, run: (u32, u32), track: Option<(SlotId, u32)>) {
        let told = self.requests.known(req).map_or(0, |live| live.tokens.len() as u32);
        let (from, to) = run;
        for k in from.saturating_add(1)..=to.min(told) {
            let kept = track.filter(|(_, at)| *at == k).map(|(slot, _)| slot);
            self.step(req, slot, k, kept);
            self.compare(batch, req, slot, k);
        }
        if to > told {
            self.step(req, slot, to, track.map(|(slot, _)| slot));
        }
    }

    /// Compares the output that follows the first `len` tokens, if the request runs on a cached state.
    fn compare(&mut self, batch: BatchId, req: ReqId, slot: SlotId, len: u32) {
        let Some(live) = self.requests.known(req) else { return };
        let Some(watch) = &mut live.watch else { return };
        let known = live.tokens.len() >= len as usize && watch.cold.len() <= len;
        if !known || self.store.provenance(slot).is_none() {
            return;
        }
        // The scan's states do not depend on what follows: going on is the same, bit for bit, as starting again.
        for &token in &live.tokens[watch.cold.len() as usize..len as usize] {
            watch.cold.push(&self.weights, token);
        }
        let cold = self.weights.logits(&watch.cold.state());
        let cached = self.weights.logits(&self.store.read(slot).h);
        let differs = argmax(&cold) != argmax(&cached);
        let compared = Compared { batch, hit: watch.hit, kl: kl(&cold, &cached), differs };
        live.awaits(compared);
    }
}

impl Sink for Gauge {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Turn { turn, .. } => self.turn = turn,
            Fact::Hit { req, source, len } => self.hit(req, source, len),
            Fact::Clear { req, slot } => {
                self.store.clear(slot);
                if let Some(live) = self.requests.known(req) {
                    // Starts from nothing. If it hits the cache, that follows.
                    live.unwatch();
                }
            }
            Fact::CopyState { from, to, .. } => {
                let content = self.store.read(from);
                self.store.write(to, content);
            }
            Fact::Extend { batch, req, slot, from, to, track } => {
                self.start(req);
                self.extend(req, slot, (from, to), track);
                self.compare(batch, req, slot, to);
            }
            Fact::Step { batch, req, slot, k, track } => {
                self.step(req, slot, k, track);
                self.compare(batch, req, slot, k);
            }
            Fact::Verify { batch, req, slot, from, to, track, .. } => self.verify(batch, req, slot, (from, to), track),
            Fact::Output { batch, req, outputs, .. } => {
                if let Some(live) = self.requests.known(req) {
                    live.output(batch, outputs, &mut self.severity);
                }
            }
            // Whether a request has finished is told before its row: if it has, the end is among its last outputs.
            Fact::Row { req, .. } => {
                if let Some(live) = self.requests.known(req) {
                    live.settle(u32::MAX, &mut self.severity);
                }
            }
            Fact::Finish { req, outputs, .. } => {
                if let Some(live) = self.requests.known(req) {
                    live.settle(outputs, &mut self.severity);
                }
                self.requests.forget(req);
            }
            Fact::Retract { req, .. } => {
                if let Some(live) = self.requests.known(req) {
                    live.unwatch();
                }
            }
            Fact::Stream { .. }
            | Fact::Prompt { .. }
            | Fact::Sampled { .. }
            | Fact::Begin { .. }
            | Fact::End { .. }
            | Fact::Arrive { .. }
            | Fact::Match { .. }
            | Fact::Admit { .. }
            | Fact::SlotAlloc { .. }
            | Fact::SlotRefused { .. }
            | Fact::SlotMove { .. }
            | Fact::SlotFree { .. }
            | Fact::PageAlloc { .. }
            | Fact::PageMove { .. }
            | Fact::PageFree { .. }
            | Fact::Lock { .. }
            | Fact::Unlock { .. }
            | Fact::PrepareExtend { .. }
            | Fact::PrepareDecode { .. }
            | Fact::Mix { .. }
            | Fact::MiddleChunk { .. }
            | Fact::Read { .. }
            | Fact::Fields { .. }
            | Fact::Arrays { .. }
            | Fact::HostMasks { .. }
            | Fact::MasksDropped { .. }
            | Fact::Launch { .. }
            | Fact::Wait { .. }
            | Fact::Skip { .. }
            | Fact::Flip { .. }
            | Fact::Donate { .. }
            | Fact::NoDonate { .. }
            | Fact::TrackRefused { .. }
            | Fact::Assert { .. }
            | Fact::Latched { .. }
            | Fact::PinMissed { .. }
            | Fact::PinEnded { .. }
            | Fact::Abort { .. }
            | Fact::EventUnused { .. }
            | Fact::Bound { .. }
            | Fact::Done { .. } => {}
        }
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn tokens(&mut self, req: ReqId, from: u32, tokens: &[Token]) {
        let Some(live) = self.requests.get(req) else { return };
        if from == 0 {
            live.tokens = tokens.to_vec();
            return;
        }
        for (len, &token) in (from..).zip(tokens) {
            live.sampled(len, token);
        }
    }
}
