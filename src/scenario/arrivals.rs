//! When requests are first seen, and whether the outputs that a prompt uses exist by then.

use super::Diagnostic;
use super::duration::parse_ns;
use super::ends::RequestEnd;
use super::limits::TURN_MAX;
use super::locate::PathStep;
use super::prompts::{ResolvedPrompts, req_id};
use super::raw::{RawArrive, RawRequest};
use super::references::Refs;
use super::source::SourceText;
use super::words::quote;
use crate::engine::Time;
use crate::model::Arrive;

/// The arrivals of all requests. A request is filled in after those that it names.
pub(super) struct ResolvedArrivals {
    /// The arrivals themselves.
    pub of: Vec<Arrive>,
}

impl ResolvedArrivals {
    pub fn new(count: usize) -> Self {
        ResolvedArrivals { of: vec![Arrive::Turn(0); count] }
    }

    /// Fills in one arrival. The requests that it and its prompt name are filled in already.
    pub fn fill(
        &mut self,
        source: &SourceText<'_>,
        at: usize,
        raw: &[RawRequest],
        refs: Refs,
        prompts: &ResolvedPrompts,
        ends: &[RequestEnd],
    ) -> Result<(), Diagnostic> {
        let needs = prompts.needs[at];
        let Some(given) = &raw[at].arrive else {
            self.of[at] = needs.map_or(Arrive::Turn(0), |needs| Arrive::After(req_id(needs)));
            return Ok(());
        };
        let named = refs.arrive.unwrap_or(at);
        let arrive = match given {
            RawArrive::Turn(turn) => turn_of(source, at, *turn)?,
            RawArrive::At(text) => time_of(source, at, text)?,
            RawArrive::After(_) => Arrive::After(req_id(named)),
            RawArrive::Before(id, step) => {
                let prompt = prompts.len[named];
                step_of(source, at, id, *step, (prompt, prompt + ends[named].max_new))?;
                Arrive::Before(req_id(named), *step)
            }
        };
        if let Some(needs) = needs.filter(|needs| !self.comes_after(arrive, *needs)) {
            let other = quote(&raw[needs].id);
            let message = format!("the prompt uses outputs of {other}, which may not exist when this request arrives");
            let remedy = format!("write `arrive: After({other})`, or leave `arrive` out");
            return Err(source.at(&arrive_path(at), message, remedy));
        }
        self.of[at] = arrive;
        Ok(())
    }

    /// Whether a request with this arrival is seen only after `needs` has finished, in every timing.
    fn comes_after(&self, arrive: Arrive, needs: usize) -> bool {
        let mut arrive = arrive;
        // Every turn follows a reference, and references are without cycles.
        loop {
            arrive = match arrive {
                Arrive::After(req) if req.index() == needs => return true,
                Arrive::After(req) | Arrive::Before(req, _) => self.of[req.index()],
                Arrive::Turn(_) | Arrive::At(_) => return false,
            };
        }
    }
}

fn turn_of(source: &SourceText<'_>, at: usize, turn: u32) -> Result<Arrive, Diagnostic> {
    if turn > TURN_MAX {
        let message = format!("turn {turn} is beyond any run");
        return Err(source.at(&argument_path(at, 0), message, format!("give a turn of at most {TURN_MAX}")));
    }
    Ok(Arrive::Turn(turn))
}

fn time_of(source: &SourceText<'_>, at: usize, text: &str) -> Result<Arrive, Diagnostic> {
    let ns = parse_ns(text).map_err(|why| {
        let remedy = "write a number and one of ns, us, ms, s, such as \"12.5ms\"; at most 10^9 s";
        source.at(&argument_path(at, 0), format!("the time {} {why}", quote(text)), remedy)
    })?;
    Ok(Arrive::At(Time(ns)))
}

/// Checks a decode step that an arrival waits for: above the prompt, and not beyond the last output.
fn step_of(
    source: &SourceText<'_>,
    at: usize,
    id: &str,
    step: u32,
    (prompt, last): (u32, u32),
) -> Result<(), Diagnostic> {
    let message = if step <= prompt {
        format!("{} has a prompt of {prompt}: D{step} is no decode step of it", quote(id))
    } else if step > last {
        format!("{} has at most {last} tokens, prompt and outputs: D{step} never comes", quote(id))
    } else {
        return Ok(());
    };
    Err(source.at(&argument_path(at, 1), message, format!("give a length from {} to {last}", prompt + 1)))
}

fn arrive_path(at: usize) -> [PathStep<'static>; 3] {
    [PathStep::Field("requests"), PathStep::Item(at), PathStep::Field("arrive")]
}

fn argument_path(at: usize, nth: usize) -> [PathStep<'static>; 4] {
    [PathStep::Field("requests"), PathStep::Item(at), PathStep::Field("arrive"), PathStep::Item(nth)]
}
