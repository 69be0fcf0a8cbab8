//! States that are taken for one have one future: whatever can happen and be found after one of them, by whatever steps, can
//! happen and be found after the other. The futures are compared in the graph of all states, label by label; so what is left out of a state is
//! looked for at every state, not only where it would change a verdict.

use std::collections::{BTreeMap, BTreeSet};

use overlapsim::engine::OpenPoints;
use overlapsim::judge::{FindingKind, Judge, JudgeOptions};
use overlapsim::model::{Machine, Reductions, Rule, Setup, World};
use overlapsim::record::{
    BatchFact, CacheFact, DecisionFact, Encoding, Fact, ForwardFact, Owner, RequestFact, Sink, SlotFact, Tee,
    fingerprint,
};
use overlapsim::runner::counts;
use overlapsim::scenario::{self, Scenario};
use overlapsim::search::Enumerate;

use super::features::Case;
use super::reduction::rules;
use super::small::{Dice, PAIRS, small};

/// Further seeds, beside those that ask for each pair of traits.
const FURTHER: [u64; 6] = [523, 592, 647, 1138, 1236, 3012];
/// Most states of each.
const STATES_MAX: usize = 300;

/// What one step comes to: the kinds found, what happened, whether a bound cut it, and the next state if there is one.
type Step<T> = (BTreeSet<FindingKind>, u128, bool, Option<T>);

/// What happens in a step, without the names of requests, slots, pages and batches, and without times.
#[derive(Default)]
struct Happened(String);

impl Sink for Happened {
    fn fact(&mut self, fact: Fact) {
        let text = match fact {
            Fact::Forward(ForwardFact::Launch { mode, rows, .. }) => format!("launch {mode:?} {rows}"),
            Fact::Forward(ForwardFact::Extend { from, to, track, .. }) => {
                format!("extend {from} {to} {:?}", track.map(|(_, len)| len))
            }
            Fact::Forward(ForwardFact::Step { k, track, .. }) => format!("step {k} {}", track.is_some()),
            Fact::Forward(ForwardFact::Verify { from, to, track, .. }) => {
                format!("verify {from} {to} {:?}", track.map(|(_, len)| len))
            }
            Fact::Decision(DecisionFact::Row { lookahead, .. }) => format!("row {lookahead}"),
            Fact::Cache(CacheFact::Hit { len, .. }) => format!("hit {len}"),
            Fact::Cache(CacheFact::Donate { label, key_len, .. }) => format!("donate {label} {key_len}"),
            Fact::Cache(CacheFact::NoDonate { why, .. }) => format!("none {why:?}"),
            Fact::Request(RequestFact::Finish { kind, outputs, .. }) => format!("finish {kind:?} {outputs}"),
            Fact::Request(RequestFact::Retract { outputs, .. }) => format!("retract {outputs}"),
            Fact::Slot(SlotFact::Refused { count, .. }) => format!("refused {count}"),
            Fact::Batch(BatchFact::TrackRefused { k, in_place, .. }) => format!("no track {k} {in_place}"),
            Fact::Slot(SlotFact::Free { owner: Owner::Tree, .. }) => "evict".to_string(),
            _ => return,
        };
        self.0.push_str(&text);
        self.0.push('\n');
    }
}

#[derive(Clone)]
struct SearchState {
    world: World,
    judge: Judge,
}

struct System<'a> {
    setup: &'a Setup,
    rule: &'a dyn Rule,
    reductions: Reductions,
    encoding: Encoding,
}

impl System<'_> {
    /// What tells a state from others when nothing is left out.
    fn unreduced(&self, at: &SearchState) -> u128 {
        fingerprint(format!("{}{}", at.world.unreduced(self.setup, self.reductions), at.judge.unreduced()).as_bytes())
    }

    /// What tells a state from those with another future.
    fn print(&mut self, at: &SearchState) -> u128 {
        self.encoding.begin();
        at.world.encode_queues(self.setup, self.reductions, &mut self.encoding);
        at.world.encode_rest(self.setup, self.reductions, at.judge.names(), &mut self.encoding);
        at.judge.encode(&mut self.encoding);
        self.encoding.fingerprint()
    }

    /// Takes every step from a state.
    fn steps(&self, from: &SearchState, open: &OpenPoints) -> Vec<Step<SearchState>> {
        let mut steps = Vec::new();
        let mut chooser = Enumerate::new(open);
        chooser.begin();
        loop {
            let SearchState { world, judge } = from.clone();
            let mut sink = Tee(judge, Happened::default());
            let mut machine = Machine::resume(self.setup, self.rule, &mut chooser, &mut sink, world.into());
            let ended = machine.turn();
            let world = machine.into_world();
            let Tee(mut judge, Happened(happened)) = sink;
            let findings = judge.take_findings(ended.is_some()).0;
            let kinds = findings.iter().filter(|finding| counts(finding)).map(|finding| finding.kind).collect();
            let over = ended.is_some() || world.turn() >= self.setup.turns_max;
            let at = SearchState { world: *world, judge };
            let cut = at.judge.is_truncated() || ended.is_none() && over;
            steps.push((kinds, fingerprint(happened.as_bytes()), cut, (!over).then_some(at)));
            if !chooser.advance() {
                return steps;
            }
        }
    }
}

/// A state of the graph: what it is taken for, and where its steps lead.
struct Node {
    print: u128,
    steps: BTreeSet<Step<usize>>,
}

/// All states, if they are not too many.
fn graph(system: &mut System, open: &OpenPoints, states_max: usize) -> Option<Vec<Node>> {
    let options = JudgeOptions { page_size: system.setup.engine.page_size, keep_boundaries: false, keep_reasons: true };
    let start = SearchState { world: World::new(system.setup), judge: Judge::new(options) };
    let mut places = BTreeMap::from([(system.unreduced(&start), 0)]);
    let mut moments = vec![start];
    let mut nodes = Vec::new();
    while let Some(at) = moments.get(nodes.len()).cloned() {
        let mut steps = BTreeSet::new();
        for (kinds, happened, cut, next) in system.steps(&at, open) {
            let place = next.map(|next| {
                *places.entry(system.unreduced(&next)).or_insert_with(|| {
                    moments.push(next);
                    moments.len() - 1
                })
            });
            steps.insert((kinds, happened, cut, place));
        }
        if moments.len() > states_max {
            return None;
        }
        nodes.push(Node { print: system.print(&at), steps });
    }
    Some(nodes)
}

/// For each state the number of its future: the coarsest parting of states such that those of one part have the same
/// steps to the same parts.
fn futures(nodes: &[Node]) -> Vec<usize> {
    let (mut parts, mut count) = (vec![0; nodes.len()], 1);
    loop {
        let mut numbers = BTreeMap::new();
        let part = |(at, node): (usize, &Node)| {
            let to = |(kinds, happened, cut, next): &Step<usize>| {
                (kinds.clone(), *happened, *cut, next.map(|next| parts[next]))
            };
            let steps: BTreeSet<Step<usize>> = node.steps.iter().map(to).collect();
            let new = numbers.len();
            *numbers.entry((parts[at], steps)).or_insert(new)
        };
        let finer: Vec<usize> = nodes.iter().enumerate().map(part).collect();
        if numbers.len() == count {
            return finer;
        }
        (parts, count) = (finer, numbers.len());
    }
}

/// Looks at the states of a setup. Returns how many there are, and how many of them are taken for another.
pub fn look(name: &str, case: &Case, states_max: usize) -> Option<[usize; 2]> {
    let Case { setup, rule, vary } = *case;
    let open = &vary.open();
    let mut system =
        System { setup, rule, reductions: Reductions::new(setup, open), encoding: Reductions::encoding(setup) };
    let nodes = graph(&mut system, open, states_max)?;
    let mut known = BTreeMap::new();
    for (node, future) in nodes.iter().zip(futures(&nodes)) {
        if *known.entry(node.print).or_insert(future) != future {
            let text = scenario::write(&Scenario::of(setup.clone()));
            panic!("{name} under {}, {open:?}: two states with two futures are taken for one\n{text}", rule.name());
        }
    }
    Some([nodes.len(), nodes.len() - known.len()])
}

fn look_at_all(seeds: impl Iterator<Item = u64>) {
    let mut sum = [0, 0];
    for seed in seeds {
        let Some((setup, vary)) = small(seed) else { continue };
        for rule in rules(&mut Dice(seed), &setup) {
            let case = Case { setup: &setup, rule, vary };
            let looked = look(&format!("seed {seed}"), &case, STATES_MAX).unwrap_or_default();
            sum = [sum[0] + looked[0], sum[1] + looked[1]];
        }
    }
    assert!(sum[0] > 5_000 && sum[1] > 1_000, "{sum:?}");
}

#[test]
fn states_taken_for_one_have_one_future() {
    look_at_all((0..PAIRS).step_by(2));
}

#[test]
fn states_taken_for_one_have_one_future_in_others() {
    look_at_all((1..PAIRS).step_by(2).chain(FURTHER));
}
