//! The text form of `cost`: three tables with a row for each batch size and rule, and the batch sizes at which a CPU
//! step is longer than a GPU step. In 100 columns.

use super::super::layout::{align, count, span, wrap};
use super::super::style;
use super::{CostBatch, CostReport, CpuLonger};
use crate::escape;
use crate::metrics::{CostRun, Quantiles, percent};

/// The report as text.
pub fn cost_text(report: &CostReport) -> String {
    let mut out = String::new();
    head(&mut out, report);
    steps(&mut out, report);
    latencies(&mut out, report);
    saved(&mut out, report);
    cpu_longer(&mut out, report);
    if !report.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &report.warnings {
        wrap(&mut out, 0, &style::warning(warning));
    }
    out
}

fn head(out: &mut String, report: &CostReport) {
    let CostReport { scenario, seed, batches, .. } = report;
    let sizes = count(batches.len() as u64, "batch size");
    let rules = count(report.cpu_longer.len() as u64, "rule");
    out.push_str(&format!("{}: {sizes} under {rules}, seed {seed}\n\n", escape::line(scenario)));
    let whose = |preset: &Option<String>| preset.clone().unwrap_or_else(|| "of the scenario".to_owned());
    let overlap = if report.overlap { "on" } else { "off" };
    wrap(out, 0, &format!("CPU {}, GPU {}; overlap {overlap}", whose(&report.cpu), whose(&report.gpu)));
    requests(out, report);
    let same = |rule: usize| (rule != report.first_alike(rule)).then_some((rule, report.first_alike(rule)));
    let name = |rule: usize| report.cpu_longer[rule].rule;
    let alike: Vec<String> = (0..report.cpu_longer.len())
        .filter_map(same)
        .map(|(rule, first)| format!("{} as {}", name(rule), name(first)))
        .collect();
    if !alike.is_empty() {
        wrap(out, 0, &format!("equal in every number, not shown below: {}", alike.join(", ")));
    }
}

/// The requests of the measured batches. A small batch does not have all requests of the scenario.
fn requests(out: &mut String, report: &CostReport) {
    let range = |[least, most]: [u32; 2]| if least == most { least.to_string() } else { format!("{least} to {most}") };
    let words = |of: &CostBatch| format!("a prompt of {} and {} outputs", range(of.prompt), range(of.outputs));
    let measured: Vec<&CostBatch> = report.measured().collect();
    let alike = |a: &&CostBatch, b: &&CostBatch| (a.prompt, a.outputs) == (b.prompt, b.outputs);
    let groups: Vec<&[&CostBatch]> = measured.chunk_by(alike).collect();
    if let [one] = groups[..] {
        wrap(out, 0, &format!("each request has {}; all arrive at the start", words(one[0])));
        return;
    }
    let given = count(report.requests.into(), "request");
    wrap(out, 0, &format!("a batch repeats the {given} of the scenario in order; all arrive at the start"));
    let row = |of: &&[&CostBatch]| {
        let sizes = range([of[0].batch, of[of.len() - 1].batch]);
        vec![format!("  batch {sizes}"), format!("each request has {}", words(of[0]))]
    };
    for line in align(&groups.iter().map(row).collect::<Vec<_>>(), &[]) {
        out.push_str(&format!("{line}\n"));
    }
}

/// The rules that have a row: of rules with equal numbers, the first.
fn shown(report: &CostReport) -> Vec<usize> {
    (0..report.cpu_longer.len()).filter(|&rule| report.first_alike(rule) == rule).collect()
}

/// A row for each rule of each batch size, with a blank line between batch sizes.
fn table(out: &mut String, head: &[&str], report: &CostReport, cells: impl Fn(&CostRun) -> Vec<String>) {
    let mut rows = vec![head.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>()];
    let shown = shown(report);
    for batch in report.measured() {
        for run in shown.iter().map(|&rule| &batch.runs[rule]) {
            let mut row = vec![batch.batch.to_string(), run.rule.to_owned()];
            row.extend(cells(run));
            rows.push(row);
        }
    }
    lines(out, &rows, report.measured().map(|_| shown.len()), head.len());
}

/// Rows below a head, in groups.
fn lines(out: &mut String, rows: &[Vec<String>], groups: impl Iterator<Item = usize>, columns: usize) {
    let right: Vec<usize> = (0..columns).filter(|&column| column != 1).collect();
    let lines = align(rows, &right);
    let mut lines = lines.iter();
    let mut put = |out: &mut String| out.extend(lines.next().map(|line| format!("{line}\n")));
    put(out);
    for (at, group) in groups.filter(|group| *group > 0).enumerate() {
        if at > 0 {
            out.push('\n');
        }
        (0..group).for_each(|_| put(out));
    }
}

fn steps(out: &mut String, report: &CostReport) {
    out.push('\n');
    let turns = |steps: &dyn Fn(&mut dyn Iterator<Item = u64>) -> Option<u64>| {
        steps(&mut report.measured().flat_map(|batch| &batch.runs).map(|run| run.steps)).unwrap_or(0)
    };
    let (least, most) = (turns(&|steps| steps.min()), turns(&|steps| steps.max()));
    let of = if least == most { most.to_string() } else { format!("{least} to {most}") };
    wrap(out, 0, &format!("steady decode with all requests in the batch: means over {of} steps"));
    let head = ["batch", "rule", "cpu", "gpu", "turn", "limit", "hidden", "gpu idle", "", "tokens/s"];
    table(out, &head, report, |run| match run.steps {
        0 => vec!["-".to_owned(); 8],
        _ => vec![
            span(run.cpu_step_ns),
            span(run.gpu_step_ns),
            span(run.turn_ns),
            run.limit.to_owned(),
            format!("{:.1}%", run.overlap_percent),
            span(run.gpu_idle_ns),
            format!("{:.1}%", run.gpu_idle_percent),
            format!("{:.1}", run.tokens_per_s),
        ],
    });
    let refused =
        |batch: &CostBatch| batch.refused.as_ref().map(|why| format!("{:>5}  not measured: {why}\n", batch.batch));
    let refused: String = report.batches.iter().filter_map(refused).collect();
    if !refused.is_empty() {
        out.push_str(&format!("\n{refused}"));
    }
    limits(out, report);
}

/// Notes on turns that are not as long as the longer of the two steps.
fn limits(out: &mut String, report: &CostReport) {
    let runs: Vec<&CostRun> = report.measured().flat_map(|batch| &batch.runs).collect();
    let copies = || runs.iter().filter(|run| run.limit == "copy").map(|run| run.result_copy_ns);
    if let Some((least, most)) = copies().min().zip(copies().max()) {
        let copy = if least == most { span(most) } else { format!("{} to {}", span(least), span(most)) };
        let words = "limit copy: a batch waits for the result of the batch before last; two turns take a CPU step, a forward, and the \
                     copy of its result to the host";
        wrap(out, 0, &format!("{words}, {copy}"));
    }
    if runs.iter().any(|run| run.limit == "sum") {
        let words =
            "limit sum: overlap is off; a turn takes a CPU step, a forward, and the copy of its result to the host";
        wrap(out, 0, words);
    }
}

fn latencies(out: &mut String, report: &CostReport) {
    out.push('\n');
    wrap(
        out,
        0,
        "time between two tokens: tpot is the mean of a request, (last output - first output) / (outputs - 1); itl is each gap of each \
         request",
    );
    let head = ["batch", "rule", "ttft p50", "p99", "tpot p50", "p99", "itl p50", "p99"];
    let cell = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), span);
    table(out, &head, report, |run| {
        let pair = |of: &Quantiles| [cell(of.p50), cell(of.p99)];
        [&run.ttft_ns, &run.tpot_ns, &run.itl_ns].into_iter().flat_map(pair).collect()
    });
}

fn saved(out: &mut String, report: &CostReport) {
    let Some(beside) = report.batches.iter().flat_map(|batch| &batch.saved).map(|saved| saved.beside).next() else {
        return;
    };
    out.push('\n');
    wrap(out, 0, &format!("savings by reading masks, compared with {beside}: per CPU step and per turn"));
    let head = ["batch", "rule", "cpu", "", "turn", "effect"];
    let shown: Vec<&str> = shown(report).into_iter().map(|rule| report.cpu_longer[rule].rule).collect();
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut groups = Vec::new();
    for batch in &report.batches {
        let before = rows.len();
        let cpu_of = |rule| batch.runs.iter().find(|run| run.rule == rule).map_or(0, |run| run.cpu_step_ns);
        for of in batch.saved.iter().filter(|of| shown.contains(&of.rule)) {
            let share = percent(of.cpu_step_ns.into(), cpu_of(of.beside));
            let run = batch.runs.iter().find(|run| run.rule == of.rule);
            let spare_ns = run.map_or(0, |run| run.gpu_step_ns.saturating_sub(run.cpu_step_ns));
            let arrives = match of.faster_percent {
                more if more >= 0.1 => format!("{more:.1}% more tokens/s"),
                less if less <= -0.1 => format!("{:.1}% fewer tokens/s", -less),
                _ if of.turn_ns > 0 => "less than 0.1% more tokens/s".to_owned(),
                _ if of.turn_ns < 0 => "less than 0.1% fewer tokens/s".to_owned(),
                _ if of.cpu_step_ns > 0 => format!("hidden, {} to spare", span(spare_ns)),
                _ => "nothing".to_owned(),
            };
            rows.push(vec![
                batch.batch.to_string(),
                of.rule.to_owned(),
                signed(of.cpu_step_ns),
                format!("{share:.1}%"),
                signed(of.turn_ns),
                arrives,
            ]);
        }
        groups.push(rows.len() - before);
    }
    lines(out, &rows, groups.into_iter(), 5);
}

fn signed(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{}", span(ns.unsigned_abs()))
}

fn cpu_longer(out: &mut String, report: &CostReport) {
    if report.cpu_longer.is_empty() {
        return;
    }
    out.push('\n');
    wrap(out, 0, &format!("batch sizes (of 1 to {}) at which a CPU step is longer than a GPU step", report.searched));
    let words = |of: &CpuLonger| vec![of.rule.to_owned(), ranges(&of.batches, report.searched)];
    for line in align(&shown(report).into_iter().map(|rule| words(&report.cpu_longer[rule])).collect::<Vec<_>>(), &[]) {
        out.push_str(&format!("{line}\n"));
    }
}

/// Ranges of batch sizes in words.
fn ranges(batches: &[[u32; 2]], searched: u32) -> String {
    let one = |&[from, to]: &[u32; 2]| match (from, to) {
        (1, to) if to == searched => "all".to_owned(),
        (from, to) if to == searched => format!("from {from} on"),
        (1, to) => format!("up to {to}"),
        (from, to) if from == to => format!("at {from}"),
        (from, to) => format!("{from} to {to}"),
    };
    match batches {
        [] => format!("none up to {searched}"),
        batches => batches.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}
