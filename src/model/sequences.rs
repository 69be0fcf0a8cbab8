//! The streams of all prompts and outputs of a setup, made before any run.
//!
//! Owns the stream of the tokens of each request: its prompt, then its outputs. A prompt that takes another request's
//! tokens up to the end of that request has a stream of its own. The stream is attached when the request is seen.

use std::sync::Arc;

use crate::engine::Chooser;
use crate::record::{ForwardFact, Prefix, ReqId, Sink, StreamId, Streams};

use super::machine::Machine;
use super::request::ReqStage;
use super::setup::{Prompt, RequestSpec, Setup};
use super::world::World;

/// The streams of the tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// The prompt is the same in every run.
    Known {
        /// The stream of prompt and outputs.
        stream: StreamId,
        /// The prompt.
        prompt: Prefix,
    },
    /// The prompt takes tokens of another request, then fresh tokens.
    Attached {
        /// The stream of the fresh tokens.
        fresh: StreamId,
        /// The stream of the outputs.
        outputs: StreamId,
    },
    /// The prompt takes tokens of another request only. The outputs continue them.
    Taken,
}

/// The streams of a setup, and those of each request.
pub fn sequences(setup: &Setup) -> (Streams, Arc<[Sequence]>) {
    let mut streams = Streams::new();
    let mut sequences = vec![None; setup.requests.len()];
    for index in 0..setup.requests.len() {
        // A prompt is made after the prompt that it refers to. References have no cycles.
        let mut chain = vec![ReqId(index as u32)];
        while let Prompt::Of { req, .. } = setup.requests[chain[chain.len() - 1].index()].prompt
            && sequences[req.index()].is_none()
        {
            chain.push(req);
        }
        for req in chain.into_iter().rev() {
            if sequences[req.index()].is_none() {
                sequences[req.index()] = Some(sequence(setup, req, &sequences, &mut streams));
            }
        }
    }
    streams.seal();
    (streams, sequences.into_iter().map(|sequence| sequence.expect("every request has one")).collect())
}

/// The streams of one request. `known` has those of the request that its prompt refers to.
fn sequence(setup: &Setup, req: ReqId, known: &[Option<Sequence>], streams: &mut Streams) -> Sequence {
    let prompt = match &setup.requests[req.index()].prompt {
        Prompt::Tokens(tokens) => streams.listed(Prefix::EMPTY, tokens),
        Prompt::Fresh { fresh, len } => streams.consecutive(Prefix::EMPTY, *fresh, *len),
        Prompt::Blocks { firsts, block_len, len } => firsts.iter().fold(Prefix::EMPTY, |at, &first| {
            let count = (*len - at.len).min(*block_len);
            streams.consecutive(at, first, count)
        }),
        Prompt::Of { req: source, keep, fresh, len } => match (known[source.index()], keep) {
            (Some(Sequence::Known { stream: _, prompt }), Some(keep)) if *keep <= prompt.len => {
                let taken = streams.prefix(prompt.stream, *keep);
                streams.consecutive(taken, *fresh, *len)
            }
            _ if *len == 0 => return Sequence::Taken,
            _ => {
                let fresh = streams.detached(*fresh, *len);
                return Sequence::Attached { fresh, outputs: streams.detached_outputs() };
            }
        },
    };
    Sequence::Known { stream: streams.outputs(prompt), prompt }
}

impl<C: Chooser, S: Sink> Machine<'_, C, S> {
    /// Emits the streams that were made or attached since the last call.
    pub(super) fn emit_streams(&mut self) {
        let World { streams, streams_emitted, attached, .. } = &mut *self.world;
        let lineage = streams.lineage();
        let new = (*streams_emitted..lineage.count()).map(StreamId).filter(|&stream| stream != StreamId::ROOT);
        for stream in attached.drain(..).chain(new) {
            self.sink.fact(ForwardFact::Stream { stream, parent: lineage.parent(stream) }.into());
        }
        *streams_emitted = lineage.count();
    }
}

impl World {
    /// The stream and the prompt of a request that is seen now.
    pub(super) fn sequence_of(&mut self, setup: &Setup, req: ReqId) -> (StreamId, Prefix) {
        let sequence = self.sequences[req.index()];
        if let Sequence::Known { stream, prompt } = sequence {
            return (stream, prompt);
        }
        let prompt = self.prompt_now(setup, req);
        match sequence {
            Sequence::Attached { fresh, outputs } if self.streams.prefix(fresh, prompt.len) == prompt => {
                if self.streams.attached_to(outputs).is_none() {
                    self.streams.attach(outputs, prompt);
                    self.attached.push(outputs);
                }
                (outputs, prompt)
            }
            Sequence::Attached { .. } | Sequence::Taken | Sequence::Known { .. } => {
                (self.streams.outputs(prompt), prompt)
            }
        }
    }

    /// Whether an unseen request takes its prompt from the tokens of request `index`.
    pub(super) fn is_needed(&self, setup: &Setup, index: usize) -> bool {
        let of_it = |spec: &RequestSpec| matches!(spec.prompt, Prompt::Of { req, .. } if req.index() == index);
        let mut all = setup.requests.iter().zip(&self.reqs);
        all.any(|(spec, it)| it.stage == ReqStage::Unseen && of_it(spec))
    }

    /// The prompt of a request that is seen now. If it takes tokens of a request that is unseen as well, they come from
    /// the prompt of that request.
    fn prompt_now(&mut self, setup: &Setup, req: ReqId) -> Prefix {
        let mut chain = vec![req];
        let mut at = loop {
            let last = chain[chain.len() - 1];
            let Prompt::Of { req: source, .. } = setup.requests[last.index()].prompt else {
                unreachable!("every prompt but one that takes another request's tokens is known from the start")
            };
            let it = &self.reqs[source.index()];
            match self.sequences[source.index()] {
                _ if it.stage != ReqStage::Unseen => break self.streams.prefix(it.stream, it.known_len()),
                Sequence::Known { prompt, .. } => break prompt,
                Sequence::Attached { .. } | Sequence::Taken => chain.push(source),
            }
        };
        for req in chain.into_iter().rev() {
            let Prompt::Of { keep, fresh, len, .. } = setup.requests[req.index()].prompt else { continue };
            let taken = self.streams.prefix(at.stream, keep.map_or(at.len, |keep| keep.min(at.len)));
            at = match self.sequences[req.index()] {
                Sequence::Attached { fresh: own, .. } => match self.streams.attached_to(own) {
                    None => {
                        self.streams.attach(own, taken);
                        self.attached.push(own);
                        self.streams.prefix(own, taken.len + len)
                    }
                    Some(parent) if parent == taken => self.streams.prefix(own, taken.len + len),
                    Some(_) => self.streams.consecutive(taken, fresh, len),
                },
                Sequence::Known { .. } | Sequence::Taken => taken,
            };
        }
        at
    }
}
