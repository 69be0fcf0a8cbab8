//! The exhaustive search of a setup under a rule: machine and judge as a `System`, with a fingerprint for each state.

use educe::Educe;

use crate::engine::{Chooser, OpenPoints};
use crate::judge::{Finding, FindingKind, Goal, Judge, JudgeOptions, Judgement, Verdict, finding_verdict};
use crate::model::{Ended, Machine, Reductions, Rule, Setup, World};
use crate::record::{Encoding, fingerprint};
use crate::search::{self, Bound, Explored, Order, Path, Replay, SearchLimits, StepOutcome, System};

use super::{Keep, run_while, run_with};

/// What `check` is asked to do.
pub struct CheckSpec<'a> {
    /// The setup.
    pub setup: &'a Setup,
    /// The rule.
    pub rule: &'a dyn Rule,
    /// The questions that are open.
    pub open: &'a OpenPoints,
    /// Which state is next.
    pub order: Order,
    /// Compare whole states, not only what can matter later.
    pub unreduced: bool,
    /// Threads; the report does not depend on their number.
    pub jobs: usize,
}

/// A kind of finding, and the first path to it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The finding, as a replay of `path` shows it.
    pub finding: Finding,
    /// The path to it.
    pub path: Path,
    /// The number of transitions that found one of this kind.
    pub times: u64,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The rule.
    pub rule: &'static str,
    /// The worst verdict of any run; inconclusive if the search was cut short and found nothing worse.
    pub verdict: Verdict,
    /// Counts.
    pub explored: Explored<FindingKind>,
    /// The bound that ended the search before it was complete, in words.
    pub bound: Option<String>,
    /// The number of permutations of interchangeable requests.
    pub symmetries: u64,
    /// By kind.
    pub findings: Vec<Found>,
}

impl Checked {
    /// Whether no bound ended the search.
    pub fn is_complete(&self) -> bool {
        self.explored.bound.is_none()
    }
}

/// Searches all timings.
pub fn check(check: &CheckSpec<'_>, limits: SearchLimits<'_>) -> Checked {
    let CheckSpec { setup, rule, open, order, unreduced, jobs } = *check;
    let timings = Timings { setup, rule, reductions: Reductions::new(setup, open), unreduced };
    let explored = search::explore(&timings, open, order, jobs, limits);
    let findings: Vec<Found> = explored
        .found
        .iter()
        .map(|(&kind, (path, times))| {
            let mut chooser = Replay::new(open, &path.answers, None);
            // The path to the finding is always replayed in full; the turns after it only within the time limit.
            let go_on = &mut |turns| turns < path.steps || !(limits.stop)(explored.unique);
            let (judgement, _) = run_while(setup, rule, &mut chooser, go_on);
            let finding = first_of(&judgement, kind).expect("a replay of its choices shows what the search found");
            Found { finding: finding.clone(), path: path.clone(), times: *times }
        })
        .collect();
    let worst = findings.iter().map(|found| finding_verdict(&found.finding)).max().unwrap_or(Verdict::Clean);
    let bound = bound_of(&explored, |path| {
        let mut chooser = Replay::new(open, &path.answers, None);
        run_with(setup, rule, &mut chooser, Keep::default(), None).bound
    });
    let verdict = if explored.bound.is_some() { worst.max(Verdict::Inconclusive) } else { worst };
    Checked { rule: rule.name(), verdict, explored, bound, symmetries: Reductions::symmetries(setup), findings }
}

/// The first finding of a kind that is a fault of its own.
pub fn first_of(judgement: &Judgement, kind: FindingKind) -> Option<&Finding> {
    judgement.findings.iter().find(|finding| counts(finding) && finding.kind == kind)
}

/// The kinds of the findings that are faults of their own, each once.
pub(super) fn kinds(findings: &[Finding]) -> Vec<FindingKind> {
    if findings.is_empty() {
        return Vec::new();
    }
    let mut kinds: Vec<FindingKind> =
        findings.iter().filter(|finding| counts(finding)).map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Whether a finding is a fault of its own.
pub fn counts(finding: &Finding) -> bool {
    finding.kind != FindingKind::Inherited || finding.root.is_none()
}

/// A machine and its judge between two turns.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub struct SearchState {
    world: Box<World>,
    judge: Judge,
    /// Turns taken, as `turns_max` counts them: turn numbers jump where nothing happens.
    turns: u32,
}

/// All timings of a setup.
struct Timings<'a> {
    setup: &'a Setup,
    rule: &'a dyn Rule,
    reductions: Reductions,
    unreduced: bool,
}

impl System for Timings<'_> {
    type State = Box<SearchState>;
    type Kind = FindingKind;
    type Scratch = Encoding;

    fn start(&self) -> Box<SearchState> {
        let options =
            JudgeOptions { page_size: self.setup.engine.page_size, keep_boundaries: false, keep_reasons: false };
        Box::new(SearchState { world: Box::new(World::new(self.setup)), judge: Judge::new(options), turns: 0 })
    }

    fn step(
        &self,
        state: Box<SearchState>,
        chooser: &mut impl Chooser,
    ) -> (Box<SearchState>, StepOutcome<FindingKind>) {
        let mut after = state;
        let mut machine = Machine::resume(self.setup, self.rule, chooser, &mut after.judge, after.world);
        let ended = machine.turn();
        after.world = machine.into_world();
        after.turns += 1;
        let cut_short = ended.is_none() && after.turns >= self.setup.turns_max;
        let over = ended.is_some() || cut_short;
        let (findings, mut goals) = after.judge.take_findings(ended.is_some());
        if cut_short {
            goals.insert(Goal::Bound);
        }
        let bounds = [
            (ended == Some(Ended::Stalled), Cut::Stalled),
            (cut_short, Cut::Turns),
            (after.judge.is_overflow(), Cut::NotFollowed),
        ];
        let cut = bounds.iter().find(|(hit, _)| *hit).map(|(_, cut)| *cut as u8);
        (after, StepOutcome { over, cut, found: kinds(&findings), goals: goals.bits() })
    }

    fn scratch(&self) -> Encoding {
        Reductions::encoding(self.setup)
    }

    fn fingerprint(&self, state: &Box<SearchState>, encoding: &mut Encoding) -> u128 {
        let SearchState { world, judge, turns: _ } = &**state;
        if self.unreduced {
            return fingerprint(
                format!("{}{}", world.unreduced(self.setup, self.reductions), judge.unreduced()).as_bytes(),
            );
        }
        encoding.begin();
        world.encode_queues(self.setup, self.reductions, encoding);
        world.encode_rest(self.setup, self.reductions, judge.names(), encoding);
        judge.encode(encoding);
        encoding.fingerprint()
    }
}

/// The bounds that can end a run within a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Waiting requests can never be admitted.
    Stalled,
    /// The bound on turns.
    Turns,
    /// The run names more than the judge follows.
    NotFollowed,
}

/// The bound that ended a search, in words. A bound within a run is described by `shows`, of the first run that it
/// ended.
fn bound_of(explored: &Explored<FindingKind>, shows: impl Fn(&Path) -> Option<String>) -> Option<String> {
    let text = match explored.bound? {
        Bound::States => "the most states (--max-states)".to_string(),
        Bound::Stopped => "the time (--max-time)".to_string(),
        Bound::Answers => {
            "one turn with more open questions than can be answered in every way: let less happen at once".to_string()
        }
        Bound::Cut => {
            let bounds = explored.cuts.values().map(|(path, times)| {
                let times = if *times == 1 { "1 timing".to_string() } else { format!("{times} timings") };
                let words = shows(path).expect("a replay of its choices is ended by a bound, too");
                format!("a bound within {times}: {words}")
            });
            bounds.collect::<Vec<_>>().join("; and by ")
        }
    };
    Some(text)
}
