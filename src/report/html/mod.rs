//! The page: one HTML file that shows a run under one rule or several, and why it went wrong.
//!
//! This module assembles head, styles, scripts and data. The page loads nothing from the network: a content policy in
//! it forbids it. The page is a pure function: the same runs give the same bytes.

mod column;
mod columns;
mod facts;
mod rows;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::Serialize;

use crate::escape;
use crate::numeric::Severity;
use crate::scene::Scene;

use super::{Run, RunJson, name, run_json};

use columns::SceneJson;
use facts::{CLASSES, PageKlJson, PageWords, outcomes};

/// The style sheet.
const STYLE: &str = include_str!("page.css");

/// The body. The scripts fill it in.
const BODY: &str = include_str!("page.html");

/// The scripts, in the order in which they run.
const SCRIPTS: [&str; 18] = [
    include_str!("base.js"),
    include_str!("data.js"),
    include_str!("view.js"),
    include_str!("words.js"),
    include_str!("lanes.js"),
    include_str!("axis.js"),
    include_str!("arrows.js"),
    include_str!("requests.js"),
    include_str!("slots.js"),
    include_str!("pick.js"),
    include_str!("panel.js"),
    include_str!("story.js"),
    include_str!("legend.js"),
    include_str!("head.js"),
    include_str!("plots.js"),
    include_str!("keys.js"),
    include_str!("pointer.js"),
    include_str!("main.js"),
];

/// The content policy: no fetch, only the styles and scripts of the file.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The input of a page.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The first comment of the scenario: its purpose.
    pub about: &'a str,
    /// The text of the scenario.
    pub source: &'a str,
    /// The runs, one a rule, at least one.
    pub runs: Vec<PageRun<'a>>,
    /// The run that is shown first.
    pub first: usize,
    /// The first and the last turn shown; all turns if not given.
    pub turns: Option<(u32, u32)>,
}

/// One run on the page.
#[derive(Clone, Debug)]
pub struct PageRun<'a> {
    /// The run as in the other reports.
    pub run: Run<'a>,
    /// Its scene.
    pub scene: &'a Scene,
    /// The KL divergence of its cache hits, if it was measured.
    pub severity: Option<&'a Severity>,
}

/// The data that all runs share, and the head of each run.
#[derive(Serialize)]
struct HeadJson<'a> {
    scenario: Cow<'a, str>,
    about: Cow<'a, str>,
    source: String,
    first: usize,
    turns: Option<(u32, u32)>,
    names: &'a [String],
    words: PageWords,
    runs: Vec<RunHeadJson<'a>>,
}

#[derive(Serialize)]
struct RunHeadJson<'a> {
    way: &'a str,
    replay: &'a str,
    /// Rows with a decision or a due boundary, by class.
    outcomes: [u64; CLASSES.len()],
    kl: Option<PageKlJson>,
    report: RunJson<'a>,
}

/// The page as the text of an HTML file.
///
/// # Panics
/// If there is no run.
pub fn page(page: &Page) -> String {
    let first = &page.runs[page.first].run;
    let verdict = name::verdict(first.judgement.verdict);
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"));
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n");
    out.push_str(&format!("<title>{verdict}: {} under {}</title>\n", text(first.scenario), text(first.rule)));
    out.push_str(&format!("<style>\n{STYLE}</style>\n</head>\n<body>\n"));
    out.push_str(&format!(
        "<noscript>\n<style>body > header, body > main {{ display: none }}</style>\n{}</noscript>\n",
        plain(page)
    ));
    out.push_str(BODY);
    data(&mut out, "page", &head(page));
    for of in &page.runs {
        data(&mut out, &format!("run-{}", of.run.rule), &SceneJson::new(of.scene));
    }
    out.push_str("<script>\n(() => {\n\"use strict\";\n");
    for script in SCRIPTS {
        out.push_str(script);
    }
    out.push_str("})();\n</script>\n</body>\n</html>\n");
    out
}

fn head<'a>(page: &'a Page) -> HeadJson<'a> {
    let run = |of: &'a PageRun| RunHeadJson {
        way: &of.run.way,
        replay: &of.run.replay,
        outcomes: outcomes(&of.run.judgement.boundaries),
        kl: of.severity.map(|severity| PageKlJson::new(severity, of.run.names)),
        report: run_json(&of.run),
    };
    let first = &page.runs[page.first].run;
    HeadJson {
        scenario: escape::line(first.scenario),
        about: escape::line(page.about),
        source: escape::lines(&page.source.replace("\r\n", "\n")).into_owned(),
        first: page.first,
        turns: page.turns,
        names: first.names,
        words: PageWords::new(),
        runs: page.runs.iter().map(run).collect(),
    }
}

/// A block of data for the scripts. `<` occurs in strings only and is escaped, so that no string ends the block.
fn data(out: &mut String, id: &str, value: &impl Serialize) {
    let json = serde_json::to_string(value).expect("strings, numbers and integer keys always serialize");
    let json = escape::json(&json).replace('<', "\\u003c");
    out.push_str(&format!("<script type=\"application/json\" id=\"{}\">{json}</script>\n", text(id)));
}

/// The page without scripts: verdicts and replay lines.
fn plain(page: &Page) -> String {
    let mut out = String::from("<p>This page needs scripts, which are off. The verdicts:</p>\n<ul>\n");
    for PageRun { run, .. } in &page.runs {
        let verdict = name::verdict(run.judgement.verdict);
        let findings = run.judgement.findings.len();
        let (rule, replay) = (text(run.rule), text(&run.replay));
        out.push_str(&format!("<li>{rule}: <b>{verdict}</b>, findings: {findings}; <code>{replay}</code></li>\n"));
    }
    out.push_str("</ul>\n");
    out
}

/// Text as HTML.
fn text(of: &str) -> String {
    escape::line(of).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
