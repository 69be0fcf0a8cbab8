//! One history of a setup, as a setup that does the same by script alone.
//!
//! Inputs and choices of the history become arrivals by turn, ends, events and lists of accepted tokens. Everything
//! else follows from these. The script is run and compared with the history before it is returned: a script that does
//! something else is dropped.

use crate::engine::{ChoicePoint, Chooser, Scripted};
use crate::model::{
    Accept, Arrive, Cost, Costs, Ended, Engine, Event, Machine, Prompt, RequestSpec, Rule, Setup, Stop,
};
use crate::record::{FinishKind, ReqId, Sink};

use super::happened::{NotedRun, Noting};
use super::prompts::{ScriptPrompts, deal_fresh};
use super::trace;

/// Computes a bound on turns that a run of these requests and events does not reach as long as it makes progress.
pub type TurnsMax = fn(&[RequestSpec], &[Event]) -> u32;

/// Runs `setup` once with the answers of `chooser`, and returns a setup that does the same without a chooser.
///
/// Requests are in the order in which they were seen; those that were never seen are left out. The result is `None` for
/// a history that no script repeats:
/// - no request was seen;
/// - it ended by its bound on turns after idle turns, which a script skips;
/// - while nothing ran, a request that could not be admitted waited for some turns, and then it was aborted or another
///   request was seen: a script skips these turns as well;
/// - the chooser answered at a site that only recordings open (slots, admission, rows).
pub fn concrete(setup: &Setup, rule: &dyn Rule, chooser: &mut dyn Chooser, turns_max: TurnsMax) -> Option<Setup> {
    concrete_while(setup, rule, chooser, turns_max, &|| false)
}

/// As [`concrete`]. The result is also `None` if `stop` returns true before the script is found.
pub fn concrete_while(
    setup: &Setup,
    rule: &dyn Rule,
    chooser: &mut dyn Chooser,
    turns_max: TurnsMax,
    stop: &dyn Fn() -> bool,
) -> Option<Setup> {
    let stops_open = chooser.is_open(ChoicePoint::Stop);
    let mut notes = Noting::new(chooser);
    let mut happened = NotedRun::default();
    let ended = run(setup, rule, &mut notes, &mut happened, stop)?;
    if happened.seen.is_empty() {
        return None;
    }
    let history = History { setup, happened, stops_open };
    let events = history.events(&notes.refused, &notes.forced);
    let specs = history.specs(|req| notes.accepted.get(&req).map_or(&[], Vec::as_slice));
    // A request that was seen as soon as another had ended arrives `After` that one, unless this changes the order of
    // arrivals within a turn.
    [true, false].into_iter().map(|after| history.script(&specs, &events, after, ended, turns_max)).find(|script| {
        let mut again = NotedRun::default();
        run(script, rule, &mut Scripted, &mut again, stop).is_some()
            && trace::same(&history.happened.facts, &again.facts, |req| history.name(req))
    })
}

/// Runs a setup. The result is how the run ended, or `None` if it was stopped.
fn run(
    setup: &Setup,
    rule: &dyn Rule,
    mut chooser: &mut dyn Chooser,
    mut sink: &mut dyn Sink,
    stop: &dyn Fn() -> bool,
) -> Option<Ended> {
    Machine::new(setup, rule, &mut chooser, &mut sink).run_while(|_| !stop())
}

/// A history and its setup.
struct History<'a> {
    setup: &'a Setup,
    happened: NotedRun,
    stops_open: bool,
}

impl History<'_> {
    /// The place of a request in the script.
    fn name(&self, req: ReqId) -> ReqId {
        let place = self.happened.seen.iter().position(|seen| seen.0 == req);
        place.map_or(ReqId(u32::MAX), |place| ReqId(place as u32))
    }

    /// The events of the history, with the request ids of the setup.
    fn events(&self, refused: &[Event], forced: &[u32]) -> Vec<Event> {
        let mut events = self.happened.aborts.clone();
        events.extend(refused);
        for &turn in forced {
            // The forced retraction is the first one of its turn.
            let first = self.happened.retracts.iter().find(|(at, _)| *at == turn);
            events.extend(first.map(|&(turn, req)| Event::Retract { turn, req }));
        }
        events.sort_by_key(|event| event.at().0);
        events
    }

    /// The requests of the setup, with the ends and the accepted tokens of the history.
    fn specs<'n>(&self, accepted: impl Fn(ReqId) -> &'n [u32]) -> Vec<RequestSpec> {
        let mut specs = self.setup.requests.clone();
        for (i, spec) in specs.iter_mut().enumerate() {
            let req = ReqId(i as u32);
            if self.stops_open {
                spec.stop = match self.happened.ends.get(&req) {
                    Some(end) if end.kind == FinishKind::Token => Stop::Token(end.outputs),
                    // By length, or by an abort or a bound: no stop token may end the request before.
                    Some(_) | None => Stop::Length,
                };
            }
            spec.accept = self.accept(accepted(req));
        }
        specs
    }

    /// The accept lengths that a request must list, without those at the end that the engine gives anyway.
    fn accept(&self, accepted: &[u32]) -> Vec<u32> {
        let mut list = accepted.to_vec();
        let Some(Accept::Fixed(counts)) = engine(self.setup).spec.map(|spec| spec.accept) else { return list };
        while let Some(last) = list.len().checked_sub(1)
            && list[last] == counts[last % counts.len()]
        {
            list.pop();
        }
        list
    }

    fn script(&self, specs: &[RequestSpec], events: &[Event], after: bool, ended: Ended, turns_max: TurnsMax) -> Setup {
        let prompts = ScriptPrompts::new(self.setup, specs, &self.happened, after);
        let mut requests: Vec<RequestSpec> = Vec::with_capacity(self.happened.seen.len());
        for &(req, turn) in &self.happened.seen {
            let mut spec = specs[req.index()].clone();
            spec.arrive = prompts.arrive(req, turn);
            spec.prompt = prompts.prompt(req);
            refer(&mut spec, |req| self.name(req));
            requests.push(spec);
        }
        deal_fresh(&mut requests);
        let events: Vec<Event> = events.iter().map(|&event| renamed(event, |req| self.name(req))).collect();
        let mut engine = engine(self.setup);
        // While any request may end by a stop token, admission does not rely on lengths. The script must not either.
        engine.fixed_length_reserves_all &= !self.stops_open || requests.iter().all(|spec| spec.stop != Stop::Length);
        let turns_max = match ended {
            Ended::TurnsMax => self.setup.turns_max,
            Ended::Done | Ended::Asserted | Ended::Stalled => turns_max(&requests, &events),
        };
        let names = self.happened.seen.iter().map(|(req, _)| self.setup.names[req.index()].clone()).collect();
        Setup {
            engine,
            state: self.setup.state,
            costs: shortest(&self.setup.costs),
            requests,
            names,
            events,
            turns_max,
        }
    }
}

/// The engine, with a fixed list in place of seeded accept lengths.
fn engine(setup: &Setup) -> Engine {
    let mut engine = setup.engine.clone();
    if let Some(spec) = &mut engine.spec
        && matches!(spec.accept, Accept::Seeded(_))
    {
        spec.accept = Accept::Fixed(vec![1]);
    }
    engine
}

/// Renames the requests that a request refers to.
pub(super) fn refer(spec: &mut RequestSpec, name: impl Fn(ReqId) -> ReqId) {
    match &mut spec.arrive {
        Arrive::After(req) | Arrive::Before(req, _) => *req = name(*req),
        Arrive::Turn(_) | Arrive::At(_) => {}
    }
    match &mut spec.prompt {
        Prompt::Of { req, .. } => *req = name(*req),
        Prompt::Tokens(_) | Prompt::Fresh { .. } | Prompt::Blocks { .. } => {}
    }
}

/// The event with its request renamed.
pub(super) fn renamed(event: Event, name: impl Fn(ReqId) -> ReqId) -> Event {
    match event {
        Event::FailAlloc { turn, req } => Event::FailAlloc { turn, req: name(req) },
        Event::Abort { turn, req } => Event::Abort { turn, req: name(req) },
        Event::Retract { turn, req } => Event::Retract { turn, req: name(req) },
    }
}

/// The lower ends of all costs. No request of a script arrives by time, so durations change nothing.
fn shortest(costs: &Costs) -> Costs {
    let mut costs = costs.clone();
    for cost in costs.each_mut() {
        if let Cost::Uniform(lo, _) = *cost {
            *cost = Cost::Fixed(lo);
        }
    }
    costs
}
