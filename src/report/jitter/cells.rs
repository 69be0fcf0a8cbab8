//! The cells of one run: where the rule fired, what the request donated at its end, and the findings.

use super::{JitterFinding, JitterReport, JitterRun};

/// Firings and findings that one cell names.
const NAMED_MAX: usize = 4;

/// The cells of a run: firings, donation, findings.
pub(super) fn cells(run: &JitterRun, report: &JitterReport) -> [String; 3] {
    let within = |k: &u32| (report.first_step.saturating_sub(1)..=report.last_step).contains(k);
    let near: Vec<String> =
        run.fired.iter().filter(|it| within(&it.k)).map(|it| format!("{} {}", it.k, it.class)).collect();
    let far = run.fired.len() - near.len();
    let mut fired = some(near);
    if far > 0 {
        fired.push_str(&format!(" (and {far} outside)"));
    }
    let key = run.key.filter(|&key| run.label != Some(key)).map_or(String::new(), |key| format!(" as {key}"));
    let donated = match (run.label, &run.holds_words, run.not_offered) {
        (Some(label), None, _) => format!("{label}{key}"),
        (Some(label), Some(holds), _) => format!("{label}{key}, holds {holds}"),
        (None, _, Some(why)) => why.to_owned(),
        (None, _, None) => "not ended".to_owned(),
    };
    [fired, donated, findings(run, report)]
}

/// The findings: those of the request first, then those of other requests by kind.
fn findings(run: &JitterRun, report: &JitterReport) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    let own = |of: &&JitterFinding| of.request.as_deref() == Some(&report.request);
    let (mine, others): (Vec<&JitterFinding>, Vec<&JitterFinding>) = run.findings.iter().partition(own);
    let mine = mine.into_iter().map(|of| finding(of, run));
    for word in mine.chain(others.into_iter().map(|of| format!("other requests: {}", of.kind))) {
        match kinds.iter_mut().find(|(known, _)| *known == word) {
            Some((_, times)) => *times += 1,
            None => kinds.push((word, 1)),
        }
    }
    let word = |(word, times): (String, usize)| if times > 1 { format!("{word} ({times})") } else { word };
    some(kinds.into_iter().map(word).collect())
}

/// A kind of finding, with its label if the donation column does not show it.
fn finding(of: &JitterFinding, run: &JitterRun) -> String {
    let is_held = run.holds_words.is_some() && of.label == run.key;
    match of.label.filter(|_| !is_held) {
        Some(label) => format!("{} {label}", of.kind),
        None => of.kind.to_owned(),
    }
}

/// Joins parts.
pub(super) fn words(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}

/// The first few, and how many more.
fn some(parts: Vec<String>) -> String {
    let more = parts.len().saturating_sub(NAMED_MAX);
    let mut text = if parts.is_empty() { "-".to_owned() } else { words(parts.into_iter().take(NAMED_MAX), ", ") };
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
