//! The soundness of `check` rests on complete encodings: where a state is encoded, every struct is destructured field by field, so
//! that a new field does not compile until it is handled.

use std::path::Path;

/// Files, and the structs that each of them destructures.
const LISTS: [(&str, &[&str]); 19] = [
    ("src/model/encoding/mod.rs", &["World", "MachineClock"]),
    ("src/model/encoding/batch.rs", &["Batch", "PendingResult", "RowMasks"]),
    ("src/model/encoding/request.rs", &["Req", "ReqPages"]),
    ("src/model/arrivals.rs", &["ArrivalQueue", "DueArrival"]),
    ("src/model/budget.rs", &["TokenRatio"]),
    ("src/model/pages.rs", &["PagePool"]),
    ("src/model/slots.rs", &["SlotPool"]),
    ("src/model/reductions.rs", &["RequestSpec"]),
    ("src/model/radix/encoding.rs", &["Radix", "TreeNode"]),
    ("src/model/radix/lock.rs", &["Lock"]),
    ("src/judge/encoding.rs", &["Judge", "Storage", "LiveRequest", "Hit"]),
    ("src/judge/storage/owners.rs", &["Owners"]),
    ("src/judge/storage/pages.rs", &["PageOwners"]),
    ("src/judge/storage/clock.rs", &["LaunchClock"]),
    ("src/judge/storage/contents/encoding.rs", &["Contents", "Slot", "TreeDonation"]),
    ("src/judge/decision/mod.rs", &["DecisionDiff", "Bookkeeping"]),
    ("src/judge/decision/classify.rs", &["RecordedLens"]),
    ("src/judge/decision/loss.rs", &["DueCheckpoints", "DueCheckpoint"]),
    ("src/judge/decision/window.rs", &["StepWindow", "WindowStep"]),
];

/// The patterns that destructure a struct in a text, without blanks: the text between the braces, and the text after them.
fn patterns<'t>(text: &'t str, name: &str) -> Vec<(&'t str, &'t str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(&format!("{name}{{")) {
        let is_whole = !text[..at].ends_with(|c: char| c == '_' || c == ':' || c.is_ascii_uppercase());
        let inside = &text[at + name.len() + 1..];
        let mut depth = 1;
        let end = inside.find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        if let Some(end) = end.filter(|_| is_whole) {
            found.push((&inside[..end], &inside[end + 1..]));
        }
    }
    found
}

/// The text without comments and blanks.
fn bare(text: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_string();
    text.lines().map(code).collect::<String>().split_whitespace().collect()
}

#[test]
fn where_a_search_writes_a_state_every_field_is_named() {
    for (file, names) in LISTS {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("the file is there");
        let text = bare(text.split("#[cfg(test)]\nmod ").next().unwrap_or_default());
        for name in names {
            let whole = |(inside, after): &(&str, &str)| {
                let is_pattern = after.starts_with('=') && !after.starts_with("==")
                    || after.starts_with("in")
                    || after.starts_with(")=>");
                is_pattern && !inside.ends_with("..")
            };
            let is_some = |(inside, after): &(&str, &str)| after.starts_with(")=") && !inside.ends_with("..");
            let all = patterns(&text, name);
            assert!(all.iter().any(|it| whole(it) || is_some(it)), "{file} takes no {name} apart: {all:?}");
        }
    }
    let encodings = LISTS.iter().map(|(file, _)| *file).filter(|file| file.contains("/encoding"));
    for file in encodings {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("the file is there");
        assert!(!bare(&text).contains("..}"), "{file} leaves fields out without a word");
    }
}
