//! Text and JSON of a random search (`fuzz`), and the merge of the reports of shards.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::escape;
use crate::judge::{FindingKind, Verdict};

use super::check::{goals, headline, whereabouts};
use super::layout::row;
use super::second_judge::{DISAGREEMENT, SecondJudgement};
use super::{name, style};

/// The result of a random search. Its JSON form is read back to merge shards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuzzReport {
    /// The scenario file, or the preset of the generator.
    pub source: String,
    /// A digest of the source.
    pub digest: String,
    /// The version of overlapsim.
    pub version: String,
    /// The strategy that draws answers.
    pub strategy: String,
    /// Whether paths in the scenario file may leave its directory (`--allow-outside`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_outside: bool,
    /// The first seed, and the one after the last.
    pub seeds: [u64; 2],
    /// The end of the seeds that were asked for, if `--max-time` ended the search before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds_end: Option<u64>,
    /// The index of the shard, from 0, and the number of shards; `[0, 1]` for the whole search.
    pub shard: [u64; 2],
    /// One for each rule.
    pub rules: Vec<FuzzRule>,
}

/// The runs of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuzzRule {
    /// The rule.
    pub rule: String,
    /// The worst verdict of any run.
    pub verdict: String,
    /// Runs.
    pub runs: u64,
    /// Runs by verdict.
    pub verdicts: Verdicts,
    /// Decode rows with L = 0 and with L = 1.
    pub lookahead: [u64; 2],
    /// Checkpoints due.
    pub due: u64,
    /// Checkpoints lost.
    pub lost: u64,
    /// One for each kind: the run with the least seed that found it.
    pub findings: Vec<FuzzFinding>,
    /// The bound that ended runs early, if one did: that of the run with the least seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<FuzzBound>,
    /// The comparison with the second judge, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_judge: Option<SecondJudgement>,
    /// Goals reached.
    pub goals: Vec<String>,
    /// Goals never reached.
    pub goals_missed: Vec<String>,
}

/// Runs by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdicts {
    /// Nothing wrong.
    pub clean: u64,
    /// Checkpoints lost.
    pub lossy: u64,
    /// Ended by a bound.
    pub inconclusive: u64,
    /// A cached state is not what its label says.
    pub corrupt: u64,
    /// An assertion or the accounting of the modelled system.
    pub broken: u64,
}

impl Verdicts {
    /// The counts, from best to worst.
    pub fn all(&self) -> [(Verdict, u64); 5] {
        let Verdicts { clean, lossy, inconclusive, corrupt, broken } = *self;
        [
            (Verdict::Clean, clean),
            (Verdict::Lossy, lossy),
            (Verdict::Inconclusive, inconclusive),
            (Verdict::Corrupt, corrupt),
            (Verdict::Broken, broken),
        ]
    }

    /// The worst of them: clean if there are none.
    pub fn worst(&self) -> Verdict {
        self.all().iter().rev().find(|(_, runs)| *runs > 0).map_or(Verdict::Clean, |(verdict, _)| *verdict)
    }
}

/// A kind of finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuzzFinding {
    /// The kind.
    pub kind: String,
    /// The length of the key, or the length lost.
    pub label: Option<u32>,
    /// The length of the content of the slot, in tokens.
    pub holds: Option<u32>,
    /// The choices of the run, for `run --choices`.
    pub choices: String,
    /// The file of the shrunk scenario.
    pub scenario: Option<String>,
    /// The request.
    pub request: Option<String>,
    /// The reason in words.
    pub reason: String,
    /// Runs that found one.
    pub runs: u64,
    /// The least seed of them.
    pub seed: u64,
    /// The command that replays it.
    pub replay: String,
}

/// Runs that a bound ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FuzzBound {
    /// Which bound, in words, of the run with the least seed.
    pub reason: String,
    /// Runs that a bound ended.
    pub runs: u64,
    /// The least seed of them.
    pub seed: u64,
    /// The choices of that run, for `run --choices`.
    pub choices: String,
}

impl FuzzBound {
    fn absorb(&mut self, other: &FuzzBound) {
        let runs = self.runs + other.runs;
        if other.seed < self.seed {
            *self = other.clone();
        }
        self.runs = runs;
    }
}

impl FuzzReport {
    /// The JSON form.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a report can be written");
        format!("{}\n", escape::json(&text))
    }

    /// Why no search can have written this report, as one that was damaged; `None` if one can have.
    pub fn contradiction(&self) -> Option<String> {
        let ([from, to], [nth, of]) = (self.seeds, self.shard);
        if nth >= of {
            return Some(format!("there is no shard {nth} of {of}"));
        }
        let seeds = to.saturating_sub(from.saturating_add(nth)).div_ceil(of);
        if self.rules.is_empty() {
            return Some("there is no rule".to_string());
        }
        let seed_of_no_run = |seed: u64| seed.checked_sub(from).is_none_or(|past| past % of != nth) || seed >= to;
        let findings = self.rules.iter().flat_map(|rule| &rule.findings);
        if let Some(finding) = findings.into_iter().find(|finding| seed_of_no_run(finding.seed)) {
            return Some(format!("seed {} is of another shard", finding.seed));
        }
        self.rules.iter().find_map(|rule| rule.contradiction(self.seeds, seeds))
    }

    /// Why `other` is not a shard of the same search; `None` if it is.
    pub fn differs_from(&self, other: &FuzzReport) -> Option<&'static str> {
        let rules = |report: &FuzzReport| report.rules.iter().map(|rule| rule.rule.clone()).collect::<Vec<_>>();
        let seconds =
            |report: &FuzzReport| report.rules.iter().map(|rule| rule.second_judge.is_some()).collect::<Vec<_>>();
        let checks = [
            (self.version == other.version, "another version of overlapsim wrote it"),
            (self.source == other.source && self.digest == other.digest, "it ran another scenario or preset"),
            (self.strategy == other.strategy, "its strategy differs"),
            (self.seeds == other.seeds, "its seeds differ"),
            (self.shard[1] == other.shard[1], "its number of shards differs"),
            (rules(self) == rules(other), "its rules differ"),
            (seconds(self) == seconds(other), "only one of them has the second judge"),
        ];
        checks.iter().find(|(same, _)| !same).map(|(_, why)| *why)
    }

    /// Adds another shard.
    pub fn absorb(&mut self, other: &FuzzReport) {
        for (sum, rule) in self.rules.iter_mut().zip(&other.rules) {
            sum.absorb(rule);
        }
    }
}

/// The largest count in a report of a shard: sums over 65,536 shards fit a `u64`.
const COUNT_MAX: u64 = 1 << 47;

impl FuzzRule {
    /// Why no search of this many seeds can have counted this.
    fn contradiction(&self, [from, to]: [u64; 2], seeds: u64) -> Option<String> {
        let Verdicts { clean, lossy, inconclusive, corrupt, broken } = self.verdicts;
        let counts =
            [clean, lossy, inconclusive, corrupt, broken, self.lookahead[0], self.lookahead[1], self.due, self.lost];
        if let Some(count) = counts.into_iter().find(|count| *count > COUNT_MAX) {
            return Some(format!("{count} is not a possible count"));
        }
        if self.lost > self.due {
            return Some(format!("{} of {} checkpoints are lost", self.lost, self.due));
        }
        let twice = |(at, finding): (usize, &FuzzFinding)| self.findings[..at].iter().any(|it| it.kind == finding.kind);
        if self.findings.iter().enumerate().any(twice) {
            return Some("a kind of finding is listed twice".to_string());
        }
        if let Some(goal) = self.goals.iter().find(|goal| self.goals_missed.contains(goal)) {
            return Some(format!("the goal {goal} is both reached and missed"));
        }
        let by_verdict = clean + lossy + inconclusive + corrupt + broken;
        if by_verdict != self.runs || self.runs != seeds {
            return Some(format!("{} runs, {by_verdict} verdicts, {seeds} seeds", self.runs));
        }
        if self.verdict != self.worst() {
            return Some(format!("`verdict` is not {}, the worst of the runs", self.worst()));
        }
        let worst = self.verdicts.worst();
        let fits = |runs: u64, seed: u64| (1..=self.runs).contains(&runs) && (from..to).contains(&seed);
        let known = |finding: &FuzzFinding| {
            name::kind_from_name(&finding.kind).is_some_and(|kind: FindingKind| kind.verdict() <= worst)
        };
        if !self.findings.iter().all(|finding| known(finding) && fits(finding.runs, finding.seed)) {
            return Some("a finding is of no run that is counted".to_string());
        }
        if self.bound.as_ref().is_some_and(|bound| !fits(bound.runs, bound.seed)) {
            return Some("a bound is of no run that is counted".to_string());
        }
        let Some(SecondJudgement { agreements, disagreement }) = &self.second_judge else { return None };
        let possible = agreements.all().iter().all(|(uses, _)| *uses <= COUNT_MAX)
            && disagreement.as_ref().is_none_or(|of| fits(of.runs, of.seed));
        (!possible).then(|| "the second judge is of no run that is counted".to_string())
    }

    fn absorb(&mut self, other: &FuzzRule) {
        self.runs += other.runs;
        let (a, b) = (&mut self.verdicts, &other.verdicts);
        a.clean += b.clean;
        a.lossy += b.lossy;
        a.inconclusive += b.inconclusive;
        a.corrupt += b.corrupt;
        a.broken += b.broken;
        for at in 0..2 {
            self.lookahead[at] += other.lookahead[at];
        }
        self.due += other.due;
        self.lost += other.lost;
        for finding in &other.findings {
            match self.findings.iter_mut().find(|known| known.kind == finding.kind) {
                None => self.findings.push(finding.clone()),
                Some(known) => {
                    let runs = known.runs + finding.runs;
                    if finding.seed < known.seed {
                        *known = finding.clone();
                    }
                    known.runs = runs;
                }
            }
        }
        match (&mut self.bound, &other.bound) {
            (Some(known), Some(other)) => known.absorb(other),
            (None, Some(_)) => self.bound.clone_from(&other.bound),
            (Some(_) | None, None) => {}
        }
        if let (Some(known), Some(other)) = (&mut self.second_judge, &other.second_judge) {
            known.absorb(other);
        }
        self.verdict = self.worst().to_string();
        let reached = |goal: &String| !other.goals.contains(goal);
        let (missed, found): (Vec<String>, Vec<String>) = self.goals_missed.drain(..).partition(reached);
        self.goals_missed = missed;
        self.goals.extend(found);
    }

    /// The worst verdict of any run, or that the judges disagree.
    pub fn worst(&self) -> &'static str {
        let disagree = self.second_judge.as_ref().is_some_and(|second| second.disagreement.is_some());
        if disagree { DISAGREEMENT } else { name::verdict(self.verdicts.worst()) }
    }

    /// Sorts findings and goals as in a report of the whole search.
    pub fn sort(&mut self, kinds: impl Fn(&str) -> usize, goals: impl Fn(&str) -> usize) {
        self.findings.sort_by_key(|finding| kinds(&finding.kind));
        self.goals.sort_by_key(|goal| goals(goal));
    }
}

/// The text of a random search.
pub fn fuzz_text(report: &FuzzReport) -> String {
    let [from, to] = report.seeds;
    let shard = match report.shard {
        [0, 1] => String::new(),
        [shard, of] => format!(", shard {shard} of {of}"),
    };
    let ended = if report.seeds_end.is_some() { " (--max-time ended the search)" } else { "" };
    let mut out = String::new();
    for (at, rule) in report.rules.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "{}   {} under {}, seeds {from}..{to}{ended}{shard}, {}\n",
            style::verdict_word(&rule.verdict),
            escape::line(&report.source),
            rule.rule,
            report.strategy
        );
        let verdicts = rule.verdicts.all();
        let words: Vec<String> = verdicts
            .iter()
            .filter(|(_, runs)| *runs > 0)
            .map(|(of, runs)| format!("{runs} {}", style::verdict(*of)))
            .collect();
        let words = if words.is_empty() { "none".to_string() } else { words.join(", ") };
        row(&mut out, "runs", &format!("{}: {words}", rule.runs));
        let [level, ahead] = rule.lookahead;
        let rows = level + ahead;
        let share = if rows == 0 { 0.0 } else { 100.0 * ahead as f64 / rows as f64 };
        row(&mut out, "results", &format!("{rows} decode rows, L=1 in {share:.1} %"));
        row(&mut out, "loss", &format!("{} of {} checkpoints due", rule.lost, rule.due));
        if let Some(FuzzBound { reason, runs, seed, choices }) = &rule.bound {
            let runs = if *runs == 1 { "1 run".to_string() } else { format!("{runs} runs") };
            row(
                &mut out,
                "bound",
                &format!("ended {runs}, first seed {seed} (choices {choices}): {}", escape::line(reason)),
            );
        }
        if let Some(second) = &rule.second_judge {
            second.text(&mut out);
        }
        if rule.findings.is_empty() {
            row(&mut out, "findings", "none");
        }
        for finding in &rule.findings {
            headline(&mut out, &finding.kind, finding.request.as_deref(), &finding.reason);
            let share = 100.0 * finding.runs as f64 / rule.runs.max(1) as f64;
            let runs = if finding.runs == 1 { "1 run".to_string() } else { format!("{} runs", finding.runs) };
            let _ = writeln!(out, "  in {runs} ({share:.2} %), first with seed {}", finding.seed);
            whereabouts(&mut out, &finding.replay, finding.scenario.as_deref());
        }
        out.push('\n');
        goals(&mut out, &rule.goals, &rule.goals_missed);
    }
    out
}
