//! Makes a setup smaller as long as a rule still shows the same kind of fault in it.

use crate::engine::Scripted;
use crate::history::{measure, smaller};
use crate::judge::{FindingKind, Verdict};
use crate::model::{Release, Rule, Setup, Strategy};
use crate::search;

use super::{first_of, run_while};

/// The smallest setup on the way down from `setup` in which `rule` shows a fault of this kind by script alone, with a
/// verdict that is no worse: what only loses checkpoints goes on to only lose them. `valid` says what a file would make of
/// a candidate, if it may stand in one. At most `tries_max` candidates are tried.
///
/// The release, the strategy and overlap stay as they are. A setup that does not show the kind comes back unchanged.
///
/// # Panics
/// If the result does not show the kind, or is about another release, strategy or overlap: neither can happen while a run
/// is a function of its setup and no candidate changes what the finding is about.
pub fn reduce(
    setup: Setup,
    rule: &dyn Rule,
    kind: FindingKind,
    valid: &dyn Fn(&Setup) -> Option<Setup>,
    tries_max: usize,
) -> Setup {
    reduce_while(setup, rule, kind, valid, tries_max, &|| false)
}

/// As [`reduce`], until `stop` says so: the smallest setup by then.
///
/// # Panics
/// As [`reduce`].
pub fn reduce_while(
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
    let (least, _) = search::shrink(setup, tries_max, smaller, |before, candidate| {
        if stop() {
            return None;
        }
        let read = valid(&candidate)?;
        (measure(&read) < measure(before) && no_worse(&read, stop)).then_some(read)
    });
    assert!(no_worse(&least, &|| false), "a setup that was kept shows what it was kept for");
    assert_eq!(self::subject(&least), subject, "a setup that was kept is about what the finding is about");
    least
}

/// What a finding is about, beside its rule: release, strategy, overlap.
pub fn subject(setup: &Setup) -> (Release, Strategy, bool) {
    let engine = &setup.engine;
    (engine.release, engine.strategy, engine.overlap)
}

/// The verdict of a scripted run, if it has a fault of this kind and came to its end before it was stopped.
fn shown(setup: &Setup, rule: &dyn Rule, kind: FindingKind, stop: &dyn Fn() -> bool) -> Option<Verdict> {
    let (judgement, whole) = run_while(setup, rule, &mut Scripted, &mut |_| !stop());
    first_of(&judgement, kind).filter(|_| whole).map(|_| judgement.verdict)
}

/// A run that a bound cut short is of a class of its own.
fn is_no_worse(verdict: Verdict, than: Verdict) -> bool {
    verdict == than || verdict < than && verdict != Verdict::Inconclusive
}
