//! The exit code of verdicts, and the option that sets it: from which verdict on a command fails.

use crate::judge::{Finding, FindingKind, Judgement, Verdict, finding_verdict};
use crate::record::ReqId;
use crate::runner::counts;

use super::output::Exit;

/// The least severe verdict for which a command ends with exit code 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// Exit code 1 for lossy, corrupt and broken; 3 for inconclusive.
    Lossy,
    /// Exit code 1 for corrupt and broken; 3 for inconclusive.
    #[default]
    Corrupt,
    /// Exit code 0 for every verdict, inconclusive included; a mistake still gives 2.
    Never,
}

impl FailOn {
    /// The exit of runs with these verdicts: the worst of them; good if there are none.
    pub fn exit(self, verdicts: impl IntoIterator<Item = Verdict>) -> Exit {
        verdicts.into_iter().map(|verdict| self.exit_of_one(verdict)).max().unwrap_or(Exit::Good)
    }

    /// The exit of a command that compares: whether an expectation failed, or a recording differs.
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

/// The verdict of a run, and the verdict of each of its findings alone. A bound that ends a run makes the run
/// inconclusive, but a loss that was found before remains. A lost checkpoint of a request that was still running does
/// not count: the request could have recorded it after the bound.
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
