//! A judge that is told at once against one that is told fact by fact.

mod records;

use super::*;
use crate::judge::Options;
use records::Small;

/// Both judges have the same state.
fn same(told: [Judge; 2]) {
    let [at_once, one_by_one] = told.map(|mut judge| {
        judge.requests.forget_memory();
        judge.account.check_counts();
        format!("{judge:?}")
    });
    if let Some(at) = at_once.bytes().zip(one_by_one.bytes()).position(|(one, other)| one != other) {
        let around = |all: &str| all[at.saturating_sub(300)..].chars().take(600).collect::<String>();
        panic!("at once: {}\none by one: {}", around(&at_once), around(&one_by_one));
    }
    assert_eq!(at_once.len(), one_by_one.len());
}

/// Both judges come to the same judgement.
fn same_end(told: [Judge; 2]) {
    let [at_once, one_by_one] = told.map(|judge| judge.finish(&[]));
    assert_eq!(at_once, one_by_one);
}

#[test]
fn what_is_told_at_once_is_judged_as_if_it_were_told_one_by_one() {
    for seed in 0..800 {
        let mut small = Small::new(seed);
        let judge = || Judge::new(Options { page_size: 1, keep_boundaries: true, keep_reasons: true });
        let mut told = [judge(), judge()];
        for _ in 0..40 {
            small.tell(&mut told);
        }
        println!("seed {seed}");
        same(told.clone());
        same_end(told);
    }
}
