//! The text form of `jitter`: the verdict of each pattern under each rule, then the outcomes, with a line for all
//! patterns of the same outcome. In 100 columns.

use std::cmp::Reverse;

use crate::escape;
use crate::judge::Verdict;

use super::super::layout::{align, count, wrap};
use super::super::name;
use super::cells::{cells, words};
use super::cubes::cubes;
use super::{JitterPattern, JitterReport, JitterRule, JitterRun};

/// Patterns that are printed one by one, and lines of one table.
const SHOWN_MAX: usize = 64;

/// The report as text.
pub fn jitter_text(report: &JitterReport) -> String {
    let mut out = String::new();
    head(&mut out, report);
    if let [one] = report.patterns.as_slice() {
        out.push('\n');
        single(&mut out, report, &one.runs);
    } else if report.patterns.iter().flat_map(|of| &of.runs).any(|run| run.came_about) {
        out.push_str(&format!("{SIGNS}\n\n"));
        // With more patterns, the tables below are shorter.
        if report.patterns.len() <= SHOWN_MAX {
            matrix(&mut out, report);
        }
        let tables: Vec<String> = alike(report).iter().map(|rules| outcomes(report, rules)).collect();
        out.push_str(&tables.join("\n"));
    }
    others(&mut out, report);
    foot(&mut out, report);
    out
}

fn head(out: &mut String, report: &JitterReport) {
    let JitterReport { scenario, request, prompt, grid, first_step, last_step, boundaries, seed, .. } = report;
    let patterns = count(report.patterns.len() as u64, "lookahead pattern");
    let rules = count(report.rules.len() as u64, "rule");
    out.push_str(&format!("{}: {patterns} around {request} under {rules}, seed {seed}\n\n", escape::line(scenario)));
    let steps = if first_step == last_step {
        format!("the result of step {first_step}")
    } else {
        format!("the results of steps {first_step} to {last_step}")
    };
    let boundary = match boundaries.as_slice() {
        [] => "none of them a boundary".to_owned(),
        [one] => format!("boundary {one}"),
        several => format!("boundaries {}", words(several.iter().map(u32::to_string), ", ")),
    };
    wrap(out, 0, &format!("L of {steps} of {request}, prompt of {prompt}, G = {grid}: {boundary}"));
    if let Some(own) = &report.as_it_stands {
        wrap(out, 0, &format!("unchanged, the scenario has {own}"));
    }
    if !report.stand_ins.is_empty() {
        let names = report.stand_ins.join(", ");
        let (are, they) = if report.stand_ins.len() == 1 {
            ("is", "It makes a 0, and is")
        } else {
            ("are", "They make a 0, and are")
        };
        let text = format!("{names} {are} pinned there by the scenario. {they} removed where a pattern has a 1.");
        wrap(out, 0, &text);
    }
}

/// The signs of the tables.
const SIGNS: &str = "b: result of a boundary   .: clean   -: pattern not reached   x: lookahead 0 or 1";

/// A mark above every place of a pattern: `b` at a boundary.
fn ruler(report: &JitterReport) -> String {
    let mark = |k| if report.boundaries.contains(&k) { 'b' } else { '.' };
    (report.first_step..=report.last_step).map(mark).collect()
}

/// A row for each pattern that came about, with the verdict of every rule. `.` is clean.
fn matrix(out: &mut String, report: &JitterReport) {
    let mut rows = vec![vec![ruler(report)]];
    rows[0].extend(report.rules.iter().map(|of| of.rule.to_owned()));
    for of in report.patterns.iter().filter(|of| of.runs.iter().any(|run| run.came_about)) {
        let mut row = vec![of.pattern.clone()];
        row.extend(of.runs.iter().map(|run| match (run.came_about, run.verdict) {
            (false, _) => "-".to_owned(),
            (true, Verdict::Clean) => ".".to_owned(),
            (true, verdict) => name::verdict(verdict).to_owned(),
        }));
        rows.push(row);
    }
    lines(out, &rows);
    out.push('\n');
}

/// The rules in groups of equal outcomes for every pattern.
fn alike(report: &JitterReport) -> Vec<Vec<usize>> {
    let same = |a: usize, b: usize| {
        report.patterns.iter().all(|of| {
            let (a, b) = (&of.runs[a], &of.runs[b]);
            (a.came_about, &a.came_out, cells(a, report)) == (b.came_about, &b.came_out, cells(b, report))
        })
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for rule in 0..report.rules.len() {
        match groups.iter_mut().find(|group| same(group[0], rule)) {
            Some(group) => group.push(rule),
            None => groups.push(vec![rule]),
        }
    }
    groups
}

/// The outcomes of all patterns under rules of one group, the worst first.
fn outcomes(report: &JitterReport, rules: &[usize]) -> String {
    let mut out = String::new();
    let names: Vec<&str> = rules.iter().map(|&rule| report.rules[rule].rule).collect();
    wrap(&mut out, 0, &format!("{}: {}", rule_words(report, &names), sum(&report.rules[rules[0]])));
    let mut groups: Vec<(Verdict, [String; 3], Vec<&str>)> = Vec::new();
    for of in &report.patterns {
        let run = &of.runs[rules[0]];
        if !run.came_about {
            continue;
        }
        let cells = cells(run, report);
        match groups.iter_mut().find(|group| group.0 == run.verdict && group.1 == cells) {
            Some(group) => group.2.push(&of.pattern),
            None => groups.push((run.verdict, cells, vec![&of.pattern])),
        }
    }
    if groups.is_empty() {
        return out;
    }
    groups.sort_by_key(|group| Reverse(group.0));
    let mut rows = vec![[&ruler(report), "verdict", "fires at", "donates", "findings"].map(str::to_owned).to_vec()];
    for (verdict, cells, patterns) in groups {
        for line in cubes(&patterns) {
            let mut row = vec![line, name::verdict(verdict).to_owned()];
            row.extend(cells.iter().cloned());
            rows.push(row);
        }
    }
    limited(&mut out, rows);
    out
}

/// The outcomes of one pattern: a line for each rule.
fn single(out: &mut String, report: &JitterReport, runs: &[JitterRun]) {
    let pattern = &report.patterns[0].pattern;
    out.push_str(&format!("{}\n{pattern}\n\n", ruler(report)));
    let mut rows = vec![["rule", "verdict", "fires at", "donates", "findings"].map(str::to_owned).to_vec()];
    for run in runs.iter().filter(|run| run.came_about) {
        let mut row = vec![run.rule.to_owned(), name::verdict(run.verdict).to_owned()];
        row.extend(cells(run, report));
        rows.push(row);
    }
    if rows.len() > 1 {
        lines(out, &rows);
    }
}

/// The patterns that were not reached, and those reached instead.
fn others(out: &mut String, report: &JitterReport) {
    let mut groups: Vec<([String; 3], Vec<&str>)> = Vec::new();
    let mut asked = 0;
    for of in &report.patterns {
        let here = came_instead(report, &of.runs);
        asked += u64::from(!here.is_empty());
        for cells in here {
            match groups.iter_mut().find(|group| group.0 == cells) {
                Some(group) => group.1.push(&of.pattern),
                None => groups.push((cells, vec![&of.pattern])),
            }
        }
    }
    if groups.is_empty() {
        return;
    }
    let all = count(report.patterns.len() as u64, "pattern");
    let why =
        "a filler was not admitted in its turn, another request took a turn, or the step has no result of its own";
    out.push('\n');
    wrap(out, 0, &format!("{asked} of {all} not reached: {why}"));
    let mut rows = vec![["pattern", "reached instead", "rules", "worst verdict"].map(str::to_owned).to_vec()];
    for (cells, patterns) in groups {
        for line in cubes(&patterns) {
            let mut row = vec![line];
            row.extend(cells.iter().cloned());
            rows.push(row);
        }
    }
    limited(out, rows);
}

/// For one pattern: the patterns reached instead, the rules, and the worst verdict under them.
fn came_instead(report: &JitterReport, runs: &[JitterRun]) -> Vec<[String; 3]> {
    let mut groups: Vec<Vec<&JitterRun>> = Vec::new();
    for run in runs.iter().filter(|run| !run.came_about) {
        match groups.iter_mut().find(|group| group[0].came_out == run.came_out) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    let names = |group: &[&JitterRun]| rule_words(report, &group.iter().map(|run| run.rule).collect::<Vec<_>>());
    let row = |group: Vec<&JitterRun>| {
        let worst = group.iter().map(|run| run.verdict).max().unwrap_or(Verdict::Clean);
        let such: Vec<&JitterRun> = group.iter().copied().filter(|run| run.verdict == worst).collect();
        let whose = if such.len() == group.len() { String::new() } else { format!(" under {}", names(&such)) };
        [group[0].came_out.clone(), names(&group), format!("{}{whose}", name::verdict(worst))]
    };
    groups.into_iter().map(row).collect()
}

/// Rules by name, or `every rule`.
fn rule_words(report: &JitterReport, rules: &[&str]) -> String {
    if rules.len() == report.rules.len() && rules.len() > 1 { "every rule".to_owned() } else { rules.join(", ") }
}

/// Warnings, and the command for the worst run.
fn foot(out: &mut String, report: &JitterReport) {
    if !report.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &report.warnings {
        wrap(out, 0, &format!("warning: {warning}"));
    }
    let worst = report.worst();
    if let Some(path) = &report.written {
        out.push_str(&format!("\nwritten to {}\n", escape::line(path)));
        let run = worst.map(|(_, run)| run).or_else(|| report.patterns.first()?.runs.first());
        if let Some(run) = run {
            // Never wrapped: a line to copy.
            out.push_str(&format!("replay: {}\n", run.replay));
        }
    } else if let Some((pattern, run)) = worst {
        let JitterPattern { pattern, write, .. } = &report.patterns[pattern];
        let verdict = name::verdict(run.verdict);
        let came = if run.came_about { String::new() } else { format!(", which became {}", run.came_out) };
        out.push_str(&format!(
            "\nthe first {verdict} pattern, {pattern}{came}, as a scenario:\n  {write}\n  {}\n",
            run.replay
        ));
    }
}

impl JitterReport {
    /// The first of the worst runs, with the index of its pattern; `None` if all are clean. Includes patterns not
    /// reached.
    pub fn worst(&self) -> Option<(usize, &JitterRun)> {
        let all = self.patterns.iter().enumerate().flat_map(|(at, of)| of.runs.iter().map(move |run| (at, run)));
        let bad = all.filter(|(_, run)| run.verdict != Verdict::Clean);
        bad.fold(None, |worst, next| match worst {
            Some((_, run)) if run.verdict >= next.1.verdict => worst,
            Some(_) | None => Some(next),
        })
    }
}

fn sum(of: &JitterRule) -> String {
    let mut text = format!("{} clean, {} lossy, {} corrupt, {} broken", of.clean, of.lossy, of.corrupt, of.broken);
    if of.inconclusive > 0 {
        text.push_str(&format!(", {} inconclusive", of.inconclusive));
    }
    if of.did_not_come_about > 0 {
        text.push_str(&format!("; {} not reached", of.did_not_come_about));
    }
    text
}

fn lines(out: &mut String, rows: &[Vec<String>]) {
    for line in align(rows, &[]) {
        out.push_str(&line);
        out.push('\n');
    }
}

fn limited(out: &mut String, mut rows: Vec<Vec<String>>) {
    let more = rows.len().saturating_sub(SHOWN_MAX + 1);
    rows.truncate(SHOWN_MAX + 1);
    lines(out, &rows);
    if more > 0 {
        out.push_str(&format!("... and {} (see --format json)\n", count(more as u64, "more line")));
    }
}
