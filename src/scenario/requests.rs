//! The `requests` block: names, ends, prompts and arrivals, each checked alone and against the others.

use std::collections::BTreeMap;

use super::Diagnostic;
use super::arrivals::ResolvedArrivals;
use super::ends::RequestEnd;
use super::limits::REQUESTS_MAX;
use super::locate::PathStep;
use super::prompts::{ResolvedPrompts, req_id};
use super::raw::RawRequest;
use super::references;
use super::source::SourceText;
use super::words::{instead_of, quote};
use crate::escape;
use crate::model::{Engine, RequestSpec};
use crate::record::ReqId;

/// The requests of a setup and their names.
pub(super) struct RequestList {
    pub specs: Vec<RequestSpec>,
    pub names: Vec<String>,
}

/// Request ids by name.
pub(super) struct RequestIndex<'a>(BTreeMap<&'a str, ReqId>);

impl<'a> RequestIndex<'a> {
    pub fn new(names: &'a [String]) -> Self {
        RequestIndex(names.iter().enumerate().map(|(at, name)| (name.as_str(), req_id(at))).collect())
    }

    pub fn get(&self, name: &str) -> Option<ReqId> {
        self.0.get(name).copied()
    }
}

/// An error about a name at a path that no request has.
pub(super) fn unknown_request(
    source: &SourceText<'_>,
    path: &[PathStep<'_>],
    id: &str,
    names: &[String],
) -> Diagnostic {
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    source.at(path, format!("there is no request {}", quote(id)), instead_of(id, &known, "the requests are"))
}

/// Checks the list of requests.
pub(super) fn validate(
    source: &SourceText<'_>,
    engine: &Engine,
    raw: &[RawRequest],
) -> Result<RequestList, Diagnostic> {
    let names = names(source, raw)?;
    let ends =
        raw.iter().enumerate().map(|(at, raw)| RequestEnd::of(source, at, raw)).collect::<Result<Vec<_>, _>>()?;
    let refs = references::resolve(source, &RequestIndex::new(&names), &names, raw)?;
    let order = references::order(source, raw, &refs)?;
    let mut prompts = ResolvedPrompts::new(source, raw)?;
    let mut arrivals = ResolvedArrivals::new(raw.len());
    for at in order {
        prompts.fill(source, at, &raw[at], refs[at], ends[at].outputs)?;
        arrivals.fill(source, at, raw, refs[at], &prompts, &ends)?;
    }
    for (at, end) in ends.iter().enumerate() {
        let path = [PathStep::Field("requests"), PathStep::Item(at), PathStep::Field("prompt")];
        if let Some((message, remedy)) = beyond_the_pool(engine, &names[at], prompts.len[at], end.max_new) {
            return Err(source.at(&path, message, remedy));
        }
    }
    let accepts =
        raw.iter().enumerate().map(|(at, raw)| accept(source, engine, at, raw)).collect::<Result<Vec<_>, _>>()?;
    let parts = arrivals.of.into_iter().zip(prompts.of).zip(ends).zip(accepts);
    let specs = parts.map(|(((arrive, prompt), end), accept)| RequestSpec {
        arrive,
        prompt,
        stop: end.stop,
        max_new: end.max_new,
        accept,
    });
    Ok(RequestList { specs: specs.collect(), names })
}

/// The accept lengths of the verifies of a request, if they are given.
fn accept(source: &SourceText<'_>, engine: &Engine, at: usize, raw: &RawRequest) -> Result<Vec<u32>, Diagnostic> {
    let Some(given) = &raw.accepts else { return Ok(Vec::new()) };
    let path = [PathStep::Field("requests"), PathStep::Item(at), PathStep::Field("accepts")];
    let Some(spec) = &engine.spec else {
        let message = "`accepts` needs speculative decoding, which is off";
        return Err(source.at(
            &path,
            message,
            "set `engine: (spec: (draft: 3, accept: Fixed([1])))`, or drop `accepts`",
        ));
    };
    let most = spec.accept_max();
    if let Some(nth) = given.iter().position(|count| !(1..=most).contains(count)) {
        let [requests, item, accept] = path;
        let message = format!("a verify of {} draft tokens cannot accept {}", spec.draft, given[nth]);
        return Err(source.at(&[requests, item, accept, PathStep::Item(nth)], message, format!("give 1 to {most}")));
    }
    Ok(given.clone())
}

/// Why a request can never be admitted, and the remedy. Admission needs room for its prompt, its outputs and a spare
/// page.
pub(super) fn beyond_the_pool(engine: &Engine, name: &str, prompt: u32, max_new: u32) -> Option<(String, String)> {
    let page = u64::from(engine.page_size);
    let reserve = engine.spec.as_ref().map_or(0, |spec| spec.reserve() + spec.accept_max());
    let tokens = u64::from(prompt) + u64::from(max_new) + u64::from(reserve);
    let need = tokens.div_ceil(page) * page + page;
    if need < u64::from(engine.kv_tokens) {
        return None;
    }
    let message = format!(
        "the KV pool is too small for {}: {prompt} prompt tokens, up to {max_new} outputs, a spare page and one more \
         token exceed `kv_tokens` {}",
        quote(name),
        engine.kv_tokens
    );
    Some((message, format!("set `kv_tokens` to at least {}", need + page)))
}

fn names(source: &SourceText<'_>, raw: &[RawRequest]) -> Result<Vec<String>, Diagnostic> {
    let list = [PathStep::Field("requests")];
    if raw.is_empty() {
        let remedy = "give at least one, such as (id: \"a\", prompt: Fresh(1), stop: Length(4))";
        return Err(source.at(&list, "the list of requests is empty", remedy));
    }
    if raw.len() > REQUESTS_MAX {
        let message = format!("{} requests are more than the simulator holds", raw.len());
        return Err(source.at(&list, message, format!("give at most {REQUESTS_MAX}")));
    }
    let mut seen = BTreeMap::new();
    for (at, request) in raw.iter().enumerate() {
        let path = [PathStep::Field("requests"), PathStep::Item(at), PathStep::Field("id")];
        if request.id.is_empty() {
            return Err(source.at(&path, "the id is empty", "give every request a name, such as \"a\""));
        }
        if !request.id.chars().all(escape::is_printable) {
            let message = format!("the id {} has a character that cannot be printed", quote(&request.id));
            let remedy = "reports print it as it is: leave control characters, line breaks, invisible ones and blanks of other kinds out";
            return Err(source.at(&path, message, remedy));
        }
        if let Some(before) = seen.insert(request.id.as_str(), at) {
            let message =
                format!("the id {} is given twice: request {} of the list has it", quote(&request.id), before + 1);
            return Err(source.at(&path, message, "give every request a name of its own"));
        }
    }
    Ok(raw.iter().map(|request| request.id.clone()).collect())
}
