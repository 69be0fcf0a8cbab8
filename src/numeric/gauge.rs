//! The gauge: a sink that emulates the numbers in every slot. After a cache hit it compares the logits from the
//! request's slot with the logits after a cold prefill.
//!
//! Only effects of forwards and copies change numbers; decisions, owners and times have no influence. A slot keeps its
//! content when its owner changes, and a wrong state is compared like a right one.

use crate::model::Ssm;
use crate::record::{
    BatchId, CacheFact, DecisionFact, Fact, ForwardFact, ReqId, RequestFact, RunFact, Sink, SlotId, Token,
};

use super::divergence::{argmax, kl};
use super::requests::{ComparedOutput, GaugedRequests, HitComparison};
use super::scan::Scan;
use super::severity::{HitKl, Severity};
use super::ssm::Weights;
use super::store::{NumericState, Store};

/// Computes the numbers of a run from its facts.
#[derive(Clone, Debug)]
pub struct Gauge {
    weights: Weights,
    chunk_len: u32,
    store: Store,
    requests: GaugedRequests,
    turn: u32,
    severity: Severity,
}

impl Gauge {
    /// An empty gauge for an engine whose prefill scans in chunks of `chunk_len` tokens.
    ///
    /// # Panics
    /// If a size of the model is 0 or above its limit, or `chunk_len` is 0.
    pub fn new(ssm: Ssm, chunk_len: u32) -> Gauge {
        assert!(chunk_len > 0, "chunks of no token");
        let weights = Weights::new(ssm);
        let store = Store::new(weights.dim());
        Gauge { weights, chunk_len, store, requests: GaugedRequests::default(), turn: 0, severity: Severity::default() }
    }

    /// The results.
    pub fn finish(self) -> Severity {
        self.severity
    }

    /// A request hits the cache: the state in `source` will be copied into its active slot.
    fn hit(&mut self, req: ReqId, source: SlotId, label: u32) {
        let held = self.store.provenance(source);
        let Some(live) = self.requests.get(req) else { return };
        live.stop_comparison();
        let source_right = held.is_some() && held == live.truth(label);
        live.hit = Some(HitKl::new(req, label, source_right));
    }

    /// The prefill of a request is launched. If it starts from a cached state, the comparison of that hit starts.
    fn start(&mut self, req: ReqId) {
        let Some(live) = self.requests.known(req) else { return };
        let Some(hit) = live.hit.take() else { return };
        let cold = Scan::new(&self.store.zero().h, self.chunk_len);
        live.comparison = Some(HitComparison { hit: self.severity.hits.len(), cold });
        self.severity.hits.push(HitKl { turn: self.turn, ..hit });
    }

    /// A prefill row: a scan over tokens `from..to`. If `track` names a length on the way, that state goes to the track
    /// slot.
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
                    content.provenance = content.provenance.map(|state| state.fold(token));
                    if track.is_some_and(|(_, at)| at == len) {
                        kept = NumericState { h: scan.state(), provenance: content.provenance };
                    }
                }
                content.h = scan.state();
            }
            None => (content.provenance, kept.provenance) = (None, None),
        }
        self.store.write(slot, content);
        if let Some((slot, _)) = track.filter(|(_, at)| (from..=to).contains(at)) {
            self.store.write(slot, kept);
        }
    }

    /// A decode row: one step of the recurrence, with the k-th token of the request.
    fn step(&mut self, req: ReqId, slot: SlotId, k: u32, track: Option<SlotId>) {
        let Some(live) = self.requests.get(req) else { return };
        let mut content = self.store.take(slot);
        match k.checked_sub(1).and_then(|at| live.tokens.get(at as usize)) {
            Some(&token) => {
                self.weights.step(&mut content.h, token);
                content.provenance = content.provenance.map(|state| state.fold(token));
            }
            None => content.provenance = None,
        }
        if let Some(kept) = track {
            self.store.write(kept, content.clone());
        }
        self.store.write(slot, content);
    }

    /// A verify row: the recurrence over the accepted tokens.
    fn verify(&mut self, batch: BatchId, req: ReqId, slot: SlotId, run: (u32, u32), track: Option<(SlotId, u32)>) {
        let tokens_known = self.requests.known(req).map_or(0, |live| live.tokens.len() as u32);
        let (from, to) = run;
        for k in from.saturating_add(1)..=to.min(tokens_known) {
            let kept = track.filter(|(_, at)| *at == k).map(|(slot, _)| slot);
            self.step(req, slot, k, kept);
            self.compare(batch, req, slot, k);
        }
        if to > tokens_known {
            self.step(req, slot, to, track.map(|(slot, _)| slot));
        }
    }

    /// Compares the logits after the first `len` tokens, if the request runs on a cached state.
    fn compare(&mut self, batch: BatchId, req: ReqId, slot: SlotId, len: u32) {
        let Some(live) = self.requests.known(req) else { return };
        let Some(comparison) = &mut live.comparison else { return };
        let known = live.tokens.len() >= len as usize && comparison.cold.len() <= len;
        if !known || self.store.provenance(slot).is_none() {
            return;
        }
        // States of a scan do not depend on later tokens, so continuing the scan gives the same bits as a new scan.
        for &token in &live.tokens[comparison.cold.len() as usize..len as usize] {
            comparison.cold.push(&self.weights, token);
        }
        let cold = self.weights.logits(&comparison.cold.state());
        let cached = self.weights.logits(&self.store.read(slot).h);
        let differs = argmax(&cold) != argmax(&cached);
        let compared = ComparedOutput { batch, hit: comparison.hit, kl: kl(&cold, &cached), differs };
        live.push_awaited(compared);
    }
}

impl Sink for Gauge {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Run(fact) => self.run_fact(fact),
            Fact::Request(fact) => self.request_fact(fact),
            Fact::Cache(fact) => self.cache_fact(fact),
            Fact::Forward(fact) => self.forward_fact(fact),
            Fact::Decision(fact) => self.decision_fact(fact),
            Fact::Slot(_) | Fact::Page(_) | Fact::Batch(_) | Fact::Probe(_) | Fact::Script(_) => {}
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

impl Gauge {
    fn run_fact(&mut self, fact: RunFact) {
        match fact {
            RunFact::Turn { turn, .. } => self.turn = turn,
            RunFact::Begin { .. }
            | RunFact::End { .. }
            | RunFact::Wait { .. }
            | RunFact::Assert { .. }
            | RunFact::Bound { .. }
            | RunFact::Done { .. } => {}
        }
    }

    fn request_fact(&mut self, fact: RequestFact) {
        match fact {
            RequestFact::Output { batch, req, outputs, .. } => {
                if let Some(live) = self.requests.known(req) {
                    live.output(batch, outputs, &mut self.severity);
                }
            }
            RequestFact::Finish { req, outputs, .. } => {
                if let Some(live) = self.requests.known(req) {
                    live.flush(outputs, &mut self.severity);
                }
                self.requests.forget(req);
            }
            RequestFact::Retract { req, .. } => {
                if let Some(live) = self.requests.known(req) {
                    live.stop_comparison();
                }
            }
            RequestFact::Prompt { .. }
            | RequestFact::Arrive { .. }
            | RequestFact::Admit { .. }
            | RequestFact::MiddleChunk { .. }
            | RequestFact::Skip { .. }
            | RequestFact::Abort { .. } => {}
        }
    }

    fn cache_fact(&mut self, fact: CacheFact) {
        match fact {
            CacheFact::Hit { req, source, len } => self.hit(req, source, len),
            CacheFact::Match { .. }
            | CacheFact::Lock { .. }
            | CacheFact::Unlock { .. }
            | CacheFact::Donate { .. }
            | CacheFact::NoDonate { .. } => {}
        }
    }

    fn forward_fact(&mut self, fact: ForwardFact) {
        match fact {
            ForwardFact::Clear { req, slot } => {
                self.store.clear(slot);
                if let Some(live) = self.requests.known(req) {
                    // The request starts from a zero state; a hit comes after this fact.
                    live.stop_comparison();
                }
            }
            ForwardFact::CopyState { from, to, .. } => {
                let content = self.store.read(from);
                self.store.write(to, content);
            }
            ForwardFact::Extend { batch, req, slot, from, to, track } => {
                self.start(req);
                self.extend(req, slot, (from, to), track);
                self.compare(batch, req, slot, to);
            }
            ForwardFact::Step { batch, req, slot, k, track } => {
                self.step(req, slot, k, track);
                self.compare(batch, req, slot, k);
            }
            ForwardFact::Verify { batch, req, slot, from, to, track, .. } => {
                self.verify(batch, req, slot, (from, to), track);
            }
            ForwardFact::Stream { .. } | ForwardFact::Sampled { .. } | ForwardFact::Launch { .. } => {}
        }
    }

    fn decision_fact(&mut self, fact: DecisionFact) {
        match fact {
            // `Finish` comes before the `Row` of its result, so a request that is still known has kept all outputs.
            DecisionFact::Row { req, .. } => {
                if let Some(live) = self.requests.known(req) {
                    live.flush(u32::MAX, &mut self.severity);
                }
            }
            DecisionFact::Flip { .. } => {}
        }
    }
}
