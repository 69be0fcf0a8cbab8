//! The launch phase and the forward stream: effects in stream order, at the slots captured at prepare.
//!
//! Contents of slots are not kept here: they follow from the facts. What the machine needs of the model is the sampled
//! token, and that comes from the request's true tokens, never from a slot.

use crate::engine::{Chooser, Time};
use crate::record::{Fact, Mode, Phase, ReqId, Sink, Stream};

use super::batch::Batch;
use super::clock::{draw, draw_many};
use super::machine::Machine;

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Queues the forward of a batch. Returns when its result has been copied to the host.
    pub(super) fn launch(&mut self, batch: &Batch) -> Time {
        self.begin(Phase::Launch, Some(batch.id));
        self.spend(self.setup.costs.launch);
        let costs = &self.setup.costs;
        let rows = batch.reqs.len() as u32;
        let duration_ns = match batch.mode {
            Mode::Extend => {
                let tokens = batch.reqs.iter().map(|req| self.extend_len(*req)).sum();
                draw(self.chooser, costs.gpu_extend) + draw_many(self.chooser, costs.gpu_extend_token, tokens)
            }
            Mode::Decode => {
                draw(self.chooser, costs.gpu_decode) + draw_many(self.chooser, costs.gpu_decode_request, rows)
            }
        };
        let start = self.world.clock.cpu.max(self.world.clock.gpu_free);
        let end = start + duration_ns;
        let copied = end + draw(self.chooser, costs.result_copy);
        self.world.clock.gpu_free = end;
        self.sink.fact(Fact::Launch { batch: batch.id, mode: batch.mode, rows, start, end, copied });
        match batch.mode {
            Mode::Extend => self.forward_extend(batch),
            Mode::Decode => self.forward_decode(batch),
        }
        self.end();
        copied
    }

    fn extend_len(&self, req: ReqId) -> u32 {
        let it = &self.world.reqs[req.index()];
        it.extend_end - it.prefix_len
    }

    /// Clears, then copies, then each row: its active slot over the new tokens, its track slot on the way.
    fn forward_extend(&mut self, batch: &Batch) {
        for &req in &batch.reqs {
            let it = &mut self.world.reqs[req.index()];
            if it.cow_source.is_none() && std::mem::take(&mut it.needs_clear) {
                let slot = it.active.expect("a prefill row has an active slot");
                self.sink.fact(Fact::Clear { req, slot });
            }
        }
        for &req in &batch.reqs {
            let it = &mut self.world.reqs[req.index()];
            if let Some(from) = it.cow_source.take() {
                let to = it.active.expect("a prefill row has an active slot");
                self.sink.fact(Fact::Hit { req, source: from, len: it.prefix_len });
                self.sink.fact(Fact::CopyState { req, from, to, stream: Stream::Forward });
            }
        }
        for (i, &req) in batch.reqs.iter().enumerate() {
            let it = &self.world.reqs[req.index()];
            let slot = it.active.expect("a prefill row has an active slot");
            let (from, to) = (it.prefix_len, batch.seq_lens[i]);
            let track = batch.extend_track[i];
            self.sink.fact(Fact::Extend { batch: batch.id, req, slot, from, to, track });
            self.sample(req, to);
        }
    }

    /// Each row: its active slot over one token, then its track slot if the step is on the grid.
    fn forward_decode(&mut self, batch: &Batch) {
        for (i, &req) in batch.reqs.iter().enumerate() {
            let k = batch.seq_lens[i];
            let (slot, track) = batch.step_slots[i];
            self.sink.fact(Fact::Step { batch: batch.id, req, slot, k, track });
            self.sample(req, k);
        }
    }

    /// Samples the token after the first `len` tokens, unless an earlier forward did.
    fn sample(&mut self, req: ReqId, len: u32) {
        let it = &mut self.world.reqs[req.index()];
        if it.tokens.len() as u32 == len {
            let token = it.tip.sample();
            it.tokens.push(token);
            it.tip = it.tip.fold(token);
            self.sink.fact(Fact::Sampled { req, len, token });
        }
    }
}
