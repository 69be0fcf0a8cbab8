//! The launch phase and the forward stream: the effects of a forward in stream order, at the slots captured at prepare.
//!
//! The machine keeps no contents of slots: they follow from the facts. It needs only the sampled token, and that comes
//! from the true tokens of the request, never from a slot.

use crate::engine::{ChoicePoint, Chooser, Time};
use crate::record::{
    CacheFact, ForwardFact, ForwardMode, GpuStream, Phase, PreparedRow, ReqId, RowFacts, Sink, SlotId, StepRow,
};

use super::batch::{Batch, Prefill, Rows};
use super::clock::{draw, draw_many};
use super::machine::Machine;
use super::setup::SlotFree;
use super::world::World;

/// Every token is below this number.
const TOKEN_END: u32 = 1 << 31;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Queues the forward of a batch. Returns the time at which its result is on the host, and the accepted tokens of
    /// each verify row.
    pub(super) fn launch(&mut self, batch: &Batch) -> (Time, Rows<u32>) {
        self.begin(Phase::Launch, Some(batch.id));
        self.spend(self.setup.costs.launch);
        let costs = &self.setup.costs;
        let rows = batch.reqs.len() as u32;
        let duration_ns = match batch.mode {
            ForwardMode::Extend | ForwardMode::Mixed => {
                let tokens =
                    batch.seq_lens.iter().sum::<u32>() - batch.prefills.iter().map(|row| row.prefix_len).sum::<u32>();
                let tokens = tokens - self.tail_context(batch);
                draw(self.chooser, costs.gpu_extend) + draw_many(self.chooser, costs.gpu_extend_token, tokens)
            }
            ForwardMode::Decode | ForwardMode::Verify => {
                draw(self.chooser, costs.gpu_decode) + draw_many(self.chooser, costs.gpu_decode_request, rows)
            }
        };
        let start = self.world.clock.cpu.max(self.world.clock.gpu_free);
        let end = start + duration_ns;
        let copied = end + draw(self.chooser, costs.result_copy);
        self.world.clock.gpu_free = end;
        self.emit(ForwardFact::Launch { batch: batch.id, mode: batch.mode, rows, start, end, copied });
        let mut accepted = Rows::new();
        match batch.mode {
            ForwardMode::Extend | ForwardMode::Mixed => self.forward_extend(batch),
            ForwardMode::Decode => self.forward_decode(batch),
            ForwardMode::Verify => accepted = self.forward_verify(batch),
        }
        self.end();
        (copied, accepted)
    }

    /// Tokens of the decode rows of a mixed batch that the forward does not compute: all but one of each row.
    fn tail_context(&self, batch: &Batch) -> u32 {
        batch.seq_lens[batch.prefills.len()..].iter().map(|k| k - 1).sum()
    }

    /// A prefill forward: clears active slots, copies the states of hits, then advances each row over its new tokens
    /// and writes its track slot on the way.
    fn forward_extend(&mut self, batch: &Batch) {
        for &req in &batch.reqs {
            let it = &mut self.world.reqs[req.index()];
            if it.cow_source.is_none() && std::mem::take(&mut it.needs_clear) {
                let slot = it.active.expect("a prefill row has an active slot");
                self.emit(ForwardFact::Clear { req, slot });
            }
        }
        for &req in &batch.reqs {
            self.copy_hit(req, GpuStream::Forward);
        }
        for (i, &Prefill { prefix_len: from, track }) in batch.prefills.iter().enumerate() {
            let req = batch.reqs[i];
            let slot = self.world.reqs[req.index()].active.expect("a prefill row has an active slot");
            let to = batch.seq_lens[i];
            self.emit(ForwardFact::Extend { batch: batch.id, req, slot, from, to, track });
            self.sample(req, to);
        }
        self.forward_decode(batch);
    }

    /// Copies the state of a hit into the active slot, if the request has a hit to copy.
    pub(super) fn copy_hit(&mut self, req: ReqId, stream: GpuStream) {
        let it = &mut self.world.reqs[req.index()];
        if let Some(from) = it.cow_source.take() {
            let to = it.active.expect("a hit has an active slot");
            self.sink.fact(CacheFact::Hit { req, source: from, len: it.prefix_len }.into());
            self.emit(ForwardFact::CopyState { req, from, to, stream });
        }
    }

    /// A decode forward: each row advances its active slot by one token, then copies it to its track slot if the step
    /// is on the grid. A row whose request has finished runs on the padding slot if the engine masks it.
    fn forward_decode(&mut self, batch: &Batch) {
        let masks = self.setup.engine.slot_free == SlotFree::Masked;
        let spells = self.spells();
        self.stepped.clear();
        for &PreparedRow { req, k, active, track, .. } in &batch.prepared {
            let it = &mut self.world.reqs[req.index()];
            let masked = masks && it.finished();
            let (slot, track) = if masked { (SlotId(0), None) } else { (active, track) };
            if spells {
                self.emit(ForwardFact::Step { batch: batch.id, req, slot, k, track });
                self.sample(req, k);
                continue;
            }
            // A forward launched before a retraction may have sampled this token.
            let is_new = it.known == k;
            it.known += u32::from(is_new);
            let sampled = is_new.then_some(it.stream);
            self.stepped.push(StepRow { req, k, slot, track, sampled });
        }
        if !self.stepped.is_empty() {
            self.sink.rows(RowFacts::Stepped(batch.id, &self.stepped));
        }
    }

    /// Samples the token after the first `len` tokens, unless an earlier forward has sampled it.
    pub(super) fn sample(&mut self, req: ReqId, len: u32) {
        if self.world.reqs[req.index()].known != len {
            return;
        }
        if self.spells() {
            self.spell_sample(req, len);
        }
        let it = self.req(req);
        it.known += 1;
        let stream = it.stream;
        self.emit(ForwardFact::Sampled { req, len, stream });
    }

    /// Samples a token by its value: the model's own, unless the chooser answers another one.
    fn spell_sample(&mut self, req: ReqId, len: u32) {
        let own = self.world.reqs[req.index()].tip.sample();
        let token = self.ask(ChoicePoint::Sample, req.0, TOKEN_END, own);
        let World { reqs, streams, .. } = &mut *self.world;
        let it = &mut reqs[req.index()];
        it.tip = it.tip.fold(token);
        if token != own || !streams.is_outputs(it.stream) {
            it.stream = streams.follow(streams.prefix(it.stream, len), token);
            self.emit_streams();
        }
        if self.tokens {
            self.sink.tokens(req, len, &[token]);
        }
    }

    /// Whether tokens are handled by their values: the sink wants them, or the chooser may answer them.
    pub(super) fn spells(&self) -> bool {
        self.tokens || self.chooser.is_open(ChoicePoint::Sample)
    }
}
