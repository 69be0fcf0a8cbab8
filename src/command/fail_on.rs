//! From which verdict on a command fails: the only place that makes an exit code of verdicts.

use crate::judge::{Finding, FindingKind, Judgement, Verdict, finding_verdict};
use crate::record::ReqId;
use crate::runner::counts;

use super::output::Exit;

/// The least verdict that a command ends with exit code 1 for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// Exit code 1 for lossy, corrupt and broken; 3 for inconclusive.
    Lossy,
    /// Exit code 1 for corrupt and broken; 3 for inconclusive.
    #[default]
    Corrupt,
    /// Exit code 0 whatever was found, inconclusive included; 2 for a mistake as ever.
    Never,
}

impl FailOn {
    /// The exit of runs with these verdicts: the worst of them; good if there are none.
    pub fn exit(self, verdicts: impl IntoIterator<Item = Verdict>) -> Exit {
        verdicts.into_iter().map(|verdict| self.exit_of_one(verdict)).max().unwrap_or(Exit::Good)
    }

    /// The exit of a command in which something differs from what it should be: an expectation, a recording.
    pub fn exit_of_difference(self, differs: bool) -> Exit {
        match self {
            FailOn::Lossy | FailOn::Corrupt if differs => Exit::Found,
            FailOn::Lossy | FailOn::Corrupt | FailOn::Never => Exit::Good,
        }
    }

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            FailOn::Lossy => "lossy",
            FailOn::Corrupt => "corrupt",
            FailOn::Never => "never",
        }
    }

    fn exit_of_one(self, verdict: Verdict) -> Exit {
        match (self, verdict) {
            (FailOn::Never, _) | (FailOn::Lossy | FailOn::Corrupt, Verdict::Clean) => Exit::Good,
            (FailOn::Corrupt, Verdict::Lossy) => Exit::Good,
            (FailOn::Lossy, Verdict::Lossy) => Exit::Found,
            (FailOn::Lossy | FailOn::Corrupt, Verdict::Inconclusive) => Exit::Inconclusive,
            (FailOn::Lossy | FailOn::Corrupt, Verdict::Corrupt | Verdict::Broken) => Exit::Found,
        }
    }
}

/// The verdict of a run and the verdict of each of its findings alone: a bound that ends a run makes it inconclusive, and does
/// not undo a loss that was found before. What a running request had not recorded when the bound came could still have been.
pub(super) fn verdicts(judgement: &Judgement) -> impl Iterator<Item = Verdict> {
    let has_ended = |req: ReqId| judgement.requests.get(req.index()).is_some_and(|outcome| outcome.finish.is_some());
    let is_sure = move |finding: &&Finding| {
        finding.kind != FindingKind::Lost || judgement.bound.is_none() || finding.req.is_some_and(has_ended)
    };
    let findings = judgement.findings.iter().filter(|finding| counts(finding)).filter(is_sure).map(finding_verdict);
    std::iter::once(judgement.verdict).chain(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERDICTS: [Verdict; 5] =
        [Verdict::Clean, Verdict::Lossy, Verdict::Inconclusive, Verdict::Corrupt, Verdict::Broken];

    #[test]
    fn exit_codes_follow_the_verdict_and_what_fails() {
        let codes = |fail_on: FailOn| VERDICTS.map(|verdict| fail_on.exit([verdict]).code());
        assert_eq!(codes(FailOn::Lossy), [0, 1, 3, 1, 1]);
        assert_eq!(codes(FailOn::default()), [0, 0, 3, 1, 1]);
        assert_eq!(codes(FailOn::Never), [0; 5]);
    }

    #[test]
    fn the_worst_of_several_counts() {
        let of = |fail_on: FailOn, verdicts: &[Verdict]| fail_on.exit(verdicts.iter().copied()).code();
        assert_eq!(of(FailOn::Lossy, &[Verdict::Lossy, Verdict::Inconclusive]), 1);
        assert_eq!(of(FailOn::Corrupt, &[Verdict::Lossy, Verdict::Inconclusive]), 3);
        assert_eq!(of(FailOn::Corrupt, &[]), 0);
        assert_eq!([FailOn::Lossy, FailOn::Never].map(|it| it.exit_of_difference(true).code()), [1, 0]);
    }
}
