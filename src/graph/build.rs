//! From a record to events and edges: a sink that adds an event for each phase, forward and copy.
//!
//! Owns which edge a fact stands for. Refuses to look at findings.

use std::collections::BTreeMap;

use petgraph::graph::{DiGraph, NodeIndex};

use crate::record::{
    BatchId, CacheFact, Fact, ForwardFact, GpuStream, Record, ReqId, RequestFact, RunFact, Sink, SlotId,
};

use super::{Access, Edge, Event, Lane, Order, Use, Work};

/// The graph of a record, without missing edges.
pub(super) fn build(record: &Record) -> DiGraph<Event, Edge> {
    let mut builder = Builder::default();
    record.replay(&mut builder);
    builder.graph
}

#[derive(Debug, Default)]
struct Builder {
    graph: DiGraph<Event, Edge>,
    turn: u32,
    now_ns: u64,
    /// The CPU event under way.
    open: Option<NodeIndex>,
    /// Whether it has issued or read anything, so that a wait that follows does not order that.
    acted: bool,
    cpu: Option<NodeIndex>,
    schedule: Option<NodeIndex>,
    /// Whether the schedule stream has issued anything since the last launch.
    issued: bool,
    forward: Option<NodeIndex>,
    copy: Option<NodeIndex>,
    /// The last forward of each batch, and the copy of its result.
    results: BTreeMap<BatchId, (NodeIndex, NodeIndex)>,
    /// The last forward that the CPU has waited for.
    known: Option<NodeIndex>,
    /// The last writer of each slot.
    writers: BTreeMap<SlotId, NodeIndex>,
}

impl Builder {
    fn event(&mut self, lane: Lane, work: Work, batch: Option<BatchId>, start_ns: u64, end_ns: u64) -> NodeIndex {
        let accesses = Vec::new();
        self.graph.add_node(Event { lane, work, batch, turn: self.turn, start_ns, end_ns, accesses })
    }

    fn order(&mut self, from: Option<NodeIndex>, to: NodeIndex, order: Order) {
        if let Some(from) = from {
            self.graph.add_edge(from, to, Edge { order, slots: Vec::new() });
        }
    }

    /// Begins a CPU event.
    fn begin(&mut self, work: Work, batch: Option<BatchId>) -> NodeIndex {
        self.close();
        let event = self.event(Lane::Cpu, work, batch, self.now_ns, self.now_ns);
        self.order(self.cpu, event, Order::Program);
        (self.open, self.cpu, self.acted) = (Some(event), Some(event), false);
        event
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.graph[open].end_ns = self.now_ns;
        }
    }

    /// The CPU event under way; a record written by hand may leave the phases out.
    fn cpu(&mut self) -> NodeIndex {
        match self.open {
            Some(open) => open,
            None => self.begin(Work::Cpu, None),
        }
    }

    /// What follows a wait is ordered after the forward, what went before is not: the phase is split if need be.
    fn wait(&mut self, batch: BatchId) {
        let mut event = self.cpu();
        if self.acted {
            let Event { work, batch, .. } = self.graph[event];
            event = self.begin(work, batch);
        }
        if let Some(&(forward, copy)) = self.results.get(&batch) {
            self.order(Some(copy), event, Order::Completion);
            self.known = self.known.max(Some(forward));
        }
    }

    fn launch(&mut self, batch: BatchId, work: Work, [start_ns, end_ns, copied_ns]: [u64; 3]) {
        let cpu = self.cpu();
        self.acted = true;
        let forward = self.event(Lane::Forward, work, Some(batch), start_ns, end_ns);
        self.order(Some(cpu), forward, Order::Launch);
        self.order(self.schedule.filter(|_| self.issued), forward, Order::Launch);
        self.order(self.forward, forward, Order::Stream);
        let copy = self.event(Lane::Copy, Work::ResultCopy, Some(batch), end_ns, copied_ns);
        self.order(Some(forward), copy, Order::Completion);
        self.order(self.copy, copy, Order::Stream);
        (self.forward, self.copy, self.issued) = (Some(forward), Some(copy), false);
        self.results.insert(batch, (forward, copy));
    }

    fn copy_now(&mut self, req: ReqId, from: SlotId, to: SlotId) {
        let cpu = self.cpu();
        self.acted = true;
        let event = self.event(Lane::Schedule, Work::StateCopy, None, self.now_ns, self.now_ns);
        self.order(Some(cpu), event, Order::Program);
        self.order(self.schedule, event, Order::Stream);
        (self.schedule, self.issued) = (Some(event), true);
        self.access(event, Use::Read, from, req, None);
        self.access(event, Use::Write, to, req, None);
    }

    /// The forward that effects belong to; before any launch they are the CPU's.
    fn effects(&mut self) -> NodeIndex {
        match self.forward {
            Some(forward) => forward,
            None => self.cpu(),
        }
    }

    fn access(&mut self, event: NodeIndex, how: Use, slot: SlotId, req: ReqId, len: Option<u32>) {
        self.graph[event].accesses.push(Access { slot, req, how, len });
        let writer = self.writers.get(&slot).copied();
        match (how.writes(), writer) {
            // The forward in flight writes over it: that is what later reads see, at worst.
            (true, Some(writer)) if self.graph[event].lane == Lane::Schedule && self.is_in_flight(writer) => {}
            (true, _) => {
                self.writers.insert(slot, event);
            }
            // A phase that caches what it has just had copied is drawn before that copy, which it issued.
            (false, Some(writer)) if writer < event => self.data(writer, event, slot),
            (false, _) => {}
        }
    }

    fn is_in_flight(&self, event: NodeIndex) -> bool {
        self.graph[event].lane == Lane::Forward && self.known < Some(event)
    }

    /// One edge for all slots that pass from one event to another.
    fn data(&mut self, from: NodeIndex, to: NodeIndex, slot: SlotId) {
        let same = self.graph.edges_connecting(from, to).find(|edge| edge.weight().order == Order::Data);
        let Some(edge) = same.map(|edge| petgraph::visit::EdgeRef::id(&edge)) else {
            self.graph.add_edge(from, to, Edge { order: Order::Data, slots: vec![slot] });
            return;
        };
        let slots = &mut self.graph[edge].slots;
        if let Err(place) = slots.binary_search(&slot) {
            slots.insert(place, slot);
        }
    }

    /// Advances an active slot, and keeps the state in a track slot if there is one.
    fn advance(&mut self, req: ReqId, slot: SlotId, to: u32, track: Option<(SlotId, u32)>) {
        let event = self.effects();
        self.access(event, Use::Read, slot, req, None);
        self.access(event, Use::Write, slot, req, Some(to));
        if let Some((track, len)) = track {
            self.access(event, Use::Keep, track, req, Some(len));
        }
    }
}

impl Sink for Builder {
    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Run(fact) => self.run_fact(fact),
            Fact::Request(fact) => self.request_fact(fact),
            Fact::Cache(fact) => self.cache_fact(fact),
            Fact::Forward(fact) => self.forward_fact(fact),
            Fact::Slot(_) | Fact::Page(_) | Fact::Batch(_) | Fact::Decision(_) | Fact::Probe(_) | Fact::Script(_) => {}
        }
    }
}

impl Builder {
    fn run_fact(&mut self, fact: RunFact) {
        match fact {
            RunFact::Turn { turn, at } => {
                self.now_ns = at.ns();
                self.close();
                self.turn = turn;
            }
            RunFact::Begin { phase, batch, at } => {
                self.now_ns = at.ns();
                self.begin(Work::Phase(phase), batch);
            }
            RunFact::End { at } => {
                self.now_ns = at.ns();
                self.close();
            }
            RunFact::Wait { batch, at } => {
                self.now_ns = at.ns();
                self.wait(batch);
            }
            RunFact::Done { at } => self.now_ns = at.ns(),
            RunFact::Assert { .. } | RunFact::Bound { .. } => {}
        }
    }

    fn request_fact(&mut self, fact: RequestFact) {
        match fact {
            RequestFact::Output { at, .. } => self.now_ns = at.ns(),
            RequestFact::Arrive { .. }
            | RequestFact::Admit { .. }
            | RequestFact::Prompt { .. }
            | RequestFact::MiddleChunk { .. }
            | RequestFact::Skip { .. }
            | RequestFact::Finish { .. }
            | RequestFact::Retract { .. }
            | RequestFact::Abort { .. } => {}
        }
    }

    fn cache_fact(&mut self, fact: CacheFact) {
        match fact {
            CacheFact::Donate { req, key_len, slot, .. } => {
                let event = self.cpu();
                self.acted = true;
                self.access(event, Use::Offer, slot, req, Some(key_len));
            }
            CacheFact::Match { .. }
            | CacheFact::Hit { .. }
            | CacheFact::Lock { .. }
            | CacheFact::Unlock { .. }
            | CacheFact::NoDonate { .. } => {}
        }
    }

    fn forward_fact(&mut self, fact: ForwardFact) {
        match fact {
            ForwardFact::Launch { batch, mode, start, end, copied, .. } => {
                self.launch(batch, Work::Forward(mode), [start.ns(), end.ns(), copied.ns()]);
            }
            ForwardFact::Clear { req, slot } => {
                let event = self.effects();
                self.access(event, Use::Write, slot, req, Some(0));
            }
            ForwardFact::CopyState { req, from, to, stream: GpuStream::Schedule } => self.copy_now(req, from, to),
            ForwardFact::CopyState { req, from, to, stream: GpuStream::Forward } => {
                let event = self.effects();
                self.access(event, Use::Read, from, req, None);
                self.access(event, Use::Write, to, req, None);
            }
            ForwardFact::Extend { req, slot, to, track, .. } | ForwardFact::Verify { req, slot, to, track, .. } => {
                self.advance(req, slot, to, track)
            }
            ForwardFact::Step { req, slot, k, track, .. } => self.advance(req, slot, k, track.map(|slot| (slot, k))),
            ForwardFact::Stream { .. } | ForwardFact::Sampled { .. } => {}
        }
    }
}
