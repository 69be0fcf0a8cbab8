//! Builds the graph of a record: a sink that adds an event for each phase, forward and copy, and the edges between
//! them. Findings are not used here.

use std::collections::BTreeMap;

use petgraph::graph::{DiGraph, NodeIndex};

use crate::record::{
    BatchId, CacheFact, Fact, ForwardFact, GpuStream, Record, ReqId, RequestFact, RunFact, Sink, SlotId,
};
use crate::scene::{Lane, Span, Work};

use super::{Access, Edge, EdgeKind, GraphEvent, Use};

/// The graph of a record, without edges of kind [`EdgeKind::Missing`].
pub(super) fn build(record: &Record) -> DiGraph<GraphEvent, Edge> {
    let mut builder = Builder::default();
    record.replay(&mut builder);
    builder.graph
}

#[derive(Debug, Default)]
struct Builder {
    graph: DiGraph<GraphEvent, Edge>,
    turn: u32,
    now_ns: u64,
    /// The CPU event that has not ended.
    open: Option<NodeIndex>,
    /// Whether that event has issued work or read a slot. A later wait in the same phase must not order that work.
    acted: bool,
    /// The last event of each lane.
    cpu: Option<NodeIndex>,
    schedule: Option<NodeIndex>,
    /// Whether the schedule stream has issued work since the last launch.
    issued: bool,
    forward: Option<NodeIndex>,
    copy: Option<NodeIndex>,
    /// By batch: its last forward, and the copy of its result.
    results: BTreeMap<BatchId, (NodeIndex, NodeIndex)>,
    /// The last forward that the CPU has waited for.
    completed: Option<NodeIndex>,
    /// The last writer of each slot.
    writers: BTreeMap<SlotId, NodeIndex>,
}

impl Builder {
    fn event(&mut self, lane: Lane, work: Work, batch: Option<BatchId>, start_ns: u64, end_ns: u64) -> NodeIndex {
        let accesses = Vec::new();
        self.graph
            .add_node(GraphEvent { span: Span { lane, work, batch, turn: self.turn, start_ns, end_ns }, accesses })
    }

    fn edge(&mut self, from: Option<NodeIndex>, to: NodeIndex, kind: EdgeKind) {
        if let Some(from) = from {
            self.graph.add_edge(from, to, Edge { kind, slots: Vec::new() });
        }
    }

    /// Begins a CPU event.
    fn begin(&mut self, work: Work, batch: Option<BatchId>) -> NodeIndex {
        self.close();
        let event = self.event(Lane::Cpu, work, batch, self.now_ns, self.now_ns);
        self.edge(self.cpu, event, EdgeKind::Program);
        (self.open, self.cpu, self.acted) = (Some(event), Some(event), false);
        event
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.graph[open].span.end_ns = self.now_ns;
        }
    }

    /// The present CPU event. A record written by hand may have no phases; then a new event is added.
    fn cpu(&mut self) -> NodeIndex {
        match self.open {
            Some(open) => open,
            None => self.begin(Work::Cpu, None),
        }
    }

    /// The CPU waits for a batch. Only later work of the phase is ordered after the forward, so a phase that has
    /// already issued work or read a slot is split into two events.
    fn wait(&mut self, batch: BatchId) {
        let mut event = self.cpu();
        if self.acted {
            let Span { work, batch, .. } = self.graph[event].span;
            event = self.begin(work, batch);
        }
        if let Some(&(forward, copy)) = self.results.get(&batch) {
            self.edge(Some(copy), event, EdgeKind::Completion);
            self.completed = self.completed.max(Some(forward));
        }
    }

    fn launch(&mut self, batch: BatchId, work: Work, [start_ns, end_ns, copied_ns]: [u64; 3]) {
        let cpu = self.cpu();
        self.acted = true;
        let forward = self.event(Lane::Forward, work, Some(batch), start_ns, end_ns);
        self.edge(Some(cpu), forward, EdgeKind::Launch);
        self.edge(self.schedule.filter(|_| self.issued), forward, EdgeKind::Launch);
        self.edge(self.forward, forward, EdgeKind::Stream);
        let copy = self.event(Lane::Copy, Work::ResultCopy, Some(batch), end_ns, copied_ns);
        self.edge(Some(forward), copy, EdgeKind::Completion);
        self.edge(self.copy, copy, EdgeKind::Stream);
        (self.forward, self.copy, self.issued) = (Some(forward), Some(copy), false);
        self.results.insert(batch, (forward, copy));
    }

    fn copy_now(&mut self, req: ReqId, from: SlotId, to: SlotId) {
        let cpu = self.cpu();
        self.acted = true;
        let event = self.event(Lane::Schedule, Work::StateCopy, None, self.now_ns, self.now_ns);
        self.edge(Some(cpu), event, EdgeKind::Program);
        self.edge(self.schedule, event, EdgeKind::Stream);
        (self.schedule, self.issued) = (Some(event), true);
        self.access(event, Use::Read, from, req, None);
        self.access(event, Use::Write, to, req, None);
    }

    /// The event of forward effects: the last forward, or the CPU event before any launch.
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
            // A forward in flight will overwrite the slot; later reads may see the forward's write, so it stays the
            // writer.
            (true, Some(writer)) if self.graph[event].span.lane == Lane::Schedule && self.is_in_flight(writer) => {}
            (true, _) => {
                self.writers.insert(slot, event);
            }
            // A phase may cache a slot whose copy it has just issued. The copy comes later in the graph, so there is no
            // edge.
            (false, Some(writer)) if writer < event => self.data(writer, event, slot),
            (false, _) => {}
        }
    }

    fn is_in_flight(&self, event: NodeIndex) -> bool {
        self.graph[event].span.lane == Lane::Forward && self.completed < Some(event)
    }

    /// Adds a slot to the data edge between two events. Two events have at most one data edge.
    fn data(&mut self, from: NodeIndex, to: NodeIndex, slot: SlotId) {
        let same = self.graph.edges_connecting(from, to).find(|edge| edge.weight().kind == EdgeKind::Data);
        let Some(edge) = same.map(|edge| petgraph::visit::EdgeRef::id(&edge)) else {
            self.graph.add_edge(from, to, Edge { kind: EdgeKind::Data, slots: vec![slot] });
            return;
        };
        let slots = &mut self.graph[edge].slots;
        if let Err(place) = slots.binary_search(&slot) {
            slots.insert(place, slot);
        }
    }

    /// A forward advances an active slot, and writes a checkpoint to the track slot, if there is one.
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
                self.advance(req, slot, to, track);
            }
            ForwardFact::Step { req, slot, k, track, .. } => self.advance(req, slot, k, track.map(|slot| (slot, k))),
            ForwardFact::Stream { .. } | ForwardFact::Sampled { .. } => {}
        }
    }
}
