//! Recordings that cannot be read.

use std::fs;

use super::{CASES, overlapsim, recordings, root, scratch, text};

#[test]
fn an_unreadable_recording_is_named_with_line_and_remedy_and_the_others_still_run() {
    let folder = scratch("unreadable");
    let whole = fs::read(root(CASES)).unwrap();
    let recording = &recordings(CASES)[0];
    let lines: Vec<&str> = recording.lines().collect();
    let mut wrong = lines.clone();
    wrong[4] = "{\"i\":3,\"ev\":";
    let cut = recording.len() - 20;
    let files: [(&str, Vec<u8>, &str); 9] = [
        ("cut.jsonl.gz", whole[..whole.len() / 2].to_vec(), "the compressed data ends too early"),
        ("damaged.jsonl.gz", [&whole[..5000], &[0u8; 4000], &whole[9000..]].concat(), "is damaged"),
        ("cut.jsonl", recording.as_bytes()[..cut].to_vec(), "ends in the middle of this line"),
        ("no-end.jsonl", (lines[..lines.len() - 1].join("\n") + "\n").into_bytes(), "stops without its `end`"),
        ("line.jsonl", (wrong.join("\n") + "\n").into_bytes(), "5: this line is not an event"),
        ("foreign.jsonl", b"{\"hello\":1}\n".to_vec(), "this is not a recording"),
        ("empty.jsonl", Vec::new(), "the file is empty"),
        ("bytes.jsonl", b"\xff\xfe\n".to_vec(), "this is not a recording"),
        ("old.jsonl", recording.replace("\"version\":\"0.5.", "\"version\":\"0.4.").into_bytes(), "--release"),
    ];
    for (name, bytes, expected) in &files {
        let file = folder.join(name);
        fs::write(&file, bytes).unwrap();
        let good = folder.join("good.jsonl");
        fs::write(&good, recording).unwrap();
        let out = overlapsim(&["conform", file.to_str().unwrap(), good.to_str().unwrap()]);
        let error = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{name}: {error}");
        assert!(error.contains(expected) && error.contains("help: "), "{name}: {error}");
        assert!(text(&out.stdout).contains(" agree, 0 differ"), "{name}: {}", text(&out.stdout));
        assert!(!text(&out.stdout).starts_with("0 recordings"), "{name}");
    }
    let gone = overlapsim(&["conform", folder.join("gone.jsonl").to_str().unwrap()]);
    assert_eq!(gone.status.code(), Some(2));
    let number = format!("{}#999", root(CASES).display());
    let none = overlapsim(&["conform", &number]);
    assert!(none.status.code() == Some(2) && text(&none.stderr).contains("no recording #999"));
}
