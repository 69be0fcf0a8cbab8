//! Shrinking: how a finding becomes a small scenario.
//!
//! Three parts, each unaware of the next:
//! 1. [`history::smaller()`](smaller()) lists the setups that are smaller than a setup, each in one way, and
//!    [`history::measure()`](measure()) says how large a setup is. Both know setups only.
//! 2. `descend` goes down through such candidates as long as a test accepts one. It knows neither setups nor findings.
//! 3. [`shrink`], here, gives `descend` the test: a candidate is valid as a file, is smaller, and its scripted run shows the same
//!    kind of finding with a verdict that is no worse.
//!
//! `docs/shrinking.md` describes the steps. The script to begin with is written by [`history::concrete()`](crate::history::concrete()).

mod descend;

use crate::engine::Scripted;
use crate::history::{measure, smaller};
use crate::judge::{FindingKind, Verdict};
use crate::model::{Release, Rule, Setup, Strategy};
use crate::runner::{first_of, run_while};

use descend::descend;

/// The setup at the end of the descent from `setup`. In each setup on the way a scripted run under `rule` shows a finding of this
/// kind, with a verdict that is no worse than that of `setup`: a finding of a lossy run never becomes one of a corrupt run. `valid`
/// returns the setup that a scenario file would give for a candidate; `None` if the candidate cannot be written as one. At most
/// `tries_max` candidates are tried.
///
/// Release, strategy and overlap stay as they are. A setup that does not show the kind is returned unchanged.
///
/// # Panics
/// If the result does not show the kind, or has another release, strategy or overlap. Neither can happen while a run is a function
/// of its setup and no candidate changes the subject of the finding.
pub fn shrink(
    setup: Setup,
    rule: &dyn Rule,
    kind: FindingKind,
    valid: &dyn Fn(&Setup) -> Option<Setup>,
    tries_max: usize,
) -> Setup {
    shrink_while(setup, rule, kind, valid, tries_max, &|| false)
}

/// As [`shrink`], but ends early when `stop` returns true: the smallest setup by then.
///
/// # Panics
/// As [`shrink`].
pub fn shrink_while(
    setup: Setup,
    rule: &dyn Rule,
    kind: FindingKind,
    valid: &dyn Fn(&Setup) -> Option<Setup>,
    tries_max: usize,
    stop: &dyn Fn() -> bool,
) -> Setup {
    let Some(verdict) = shown(&setup, rule, kind, stop) else { return setup };
    let subject = subject(&setup);
    let no_worse = |setup: &Setup, stop: &dyn Fn() -> bool| {
        shown(setup, rule, kind, stop).is_some_and(|shown| is_no_worse(shown, verdict))
    };
    let (least, _) = descend(setup, tries_max, smaller, |before, candidate| {
        if stop() {
            return None;
        }
        let read = valid(&candidate)?;
        (measure(&read) < measure(before) && no_worse(&read, stop)).then_some(read)
    });
    assert!(no_worse(&least, &|| false), "the shrunk setup shows the kind of the finding");
    assert_eq!(self::subject(&least), subject, "the shrunk setup has the subject of the finding");
    least
}

/// The subject of a finding, beside its rule: release, strategy, overlap.
pub fn subject(setup: &Setup) -> (Release, Strategy, bool) {
    let engine = &setup.engine;
    (engine.release, engine.strategy, engine.overlap)
}

/// The verdict of a scripted run that ended before `stop` and has a finding of this kind.
fn shown(setup: &Setup, rule: &dyn Rule, kind: FindingKind, stop: &dyn Fn() -> bool) -> Option<Verdict> {
    let (judgement, whole) = run_while(setup, rule, &mut Scripted, &mut |_| !stop());
    first_of(&judgement, kind).filter(|_| whole).map(|_| judgement.verdict)
}

/// Whether a verdict is as bad as another one or better. A verdict other than inconclusive never becomes inconclusive.
fn is_no_worse(verdict: Verdict, than: Verdict) -> bool {
    verdict == than || verdict < than && verdict != Verdict::Inconclusive
}
