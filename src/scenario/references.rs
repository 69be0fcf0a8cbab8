//! References between requests: every name must be known, and there must be no cycle.

use std::collections::VecDeque;

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Diagnostic;
use super::locate::PathStep;
use super::raw::{RawArrive, RawPrompt, RawRequest};
use super::requests::{RequestIndex, unknown_request};
use super::source::SourceText;
use super::words::quote;

/// The most members of a cycle that a message lists.
const LISTED: usize = 8;

/// The requests that a request names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refs {
    /// In `arrive`.
    pub arrive: Option<usize>,
    /// In `prompt`.
    pub prompt: Option<usize>,
}

/// Looks up every reference.
pub(super) fn resolve(
    source: &SourceText<'_>,
    index: &RequestIndex<'_>,
    names: &[String],
    requests: &[RawRequest],
) -> Result<Vec<Refs>, Diagnostic> {
    let mut refs = Vec::with_capacity(requests.len());
    for (at, request) in requests.iter().enumerate() {
        let look_up = |field, id: &str| match index.get(id) {
            Some(req) => Ok(Some(req.index())),
            None => Err(unknown_request(source, &id_path(at, field), id, names)),
        };
        let arrive = match &request.arrive {
            Some(RawArrive::After(id) | RawArrive::Before(id, _)) => look_up("arrive", id)?,
            Some(RawArrive::Turn(_) | RawArrive::At(_)) | None => None,
        };
        let prompt = match &request.prompt {
            RawPrompt::Extend(id, _) | RawPrompt::Prefix(id, _, _) => look_up("prompt", id)?,
            RawPrompt::Tokens(_) | RawPrompt::Fresh(_) => None,
        };
        refs.push(Refs { arrive, prompt });
    }
    Ok(refs)
}

/// An order in which every request comes after those that it names.
pub(super) fn order(source: &SourceText<'_>, requests: &[RawRequest], refs: &[Refs]) -> Result<Vec<usize>, Diagnostic> {
    let mut graph = DiGraph::<(), (), u32>::with_capacity(refs.len(), refs.len());
    for _ in refs {
        graph.add_node(());
    }
    for (at, refs) in refs.iter().enumerate() {
        for named in targets(*refs) {
            graph.add_edge(NodeIndex::new(named), NodeIndex::new(at), ());
        }
    }
    match toposort(&graph, None) {
        Ok(order) => Ok(order.into_iter().map(NodeIndex::index).collect()),
        Err(cycle) => Err(in_a_cycle(source, requests, refs, cycle.node_id().index())),
    }
}

/// The path of the id that a request names in `arrive` or `prompt`.
fn id_path(at: usize, field: &str) -> [PathStep<'_>; 4] {
    [PathStep::Field("requests"), PathStep::Item(at), PathStep::Field(field), PathStep::Item(0)]
}

fn targets(refs: Refs) -> impl Iterator<Item = usize> {
    refs.arrive.into_iter().chain(refs.prompt.filter(|prompt| Some(*prompt) != refs.arrive))
}

fn in_a_cycle(source: &SourceText<'_>, requests: &[RawRequest], refs: &[Refs], member: usize) -> Diagnostic {
    let mut cycle = shortest_cycle(refs, member);
    // The message begins with the request that is first in the file.
    let first = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or(0);
    cycle.rotate_left(first);
    let head = cycle[0];
    let next = *cycle.get(1).unwrap_or(&head);
    let field = if refs[head].arrive == Some(next) { "arrive" } else { "prompt" };
    let mut listed = cycle.iter().take(LISTED).map(|at| quote(&requests[*at].id)).collect::<Vec<_>>();
    if cycle.len() > LISTED {
        listed.push("..".into());
    }
    listed.push(quote(&requests[head].id));
    let message = format!("requests wait for each other in a cycle: {}", listed.join(" -> "));
    source.at(
        &id_path(head, field),
        message,
        "let one of them arrive by itself, at Turn(n) or At(\"..\"), with its own prompt",
    )
}

/// The members of a shortest cycle through a request, each naming the next.
fn shortest_cycle(refs: &[Refs], member: usize) -> Vec<usize> {
    let mut named_by = vec![None; refs.len()];
    let mut queue = VecDeque::from([member]);
    while let Some(at) = queue.pop_front() {
        for next in targets(refs[at]) {
            if named_by[next].is_none() {
                named_by[next] = Some(at);
                queue.push_back(next);
            }
        }
        if named_by[member].is_some() {
            break;
        }
    }
    let mut cycle = vec![member];
    let mut at = named_by[member];
    while let Some(before) = at.filter(|before| *before != member) {
        cycle.push(before);
        at = named_by[before];
    }
    cycle[1..].reverse();
    cycle
}
