//! The pages that walk through commands: every command is run in order, and prints what the page shows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fenced block: its language and its lines.
fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                blocks.push((language.to_owned(), Vec::new()));
            }
        } else if let Some(block) = blocks.last_mut().filter(|_| inside) {
            block.1.push(line.to_owned());
        }
    }
    blocks
}

/// A copy of the scenarios in a new directory.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    for part in ["", "check"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(part);
        let to = folder.join("scenarios").join(part);
        std::fs::create_dir_all(&to).expect("a folder");
        for entry in std::fs::read_dir(from).expect("scenarios") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                std::fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
            }
        }
    }
    folder
}

/// Runs a line as a shell does, as far as the page uses one: quotes, and a file behind `>`.
fn run(line: &str, folder: &Path) -> String {
    let (line, file) = line.split_once(" > ").map_or((line, None), |(line, file)| (line, Some(file)));
    let mut words: Vec<String> = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    assert_eq!(words.remove(0), "overlapsim", "{line}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
    let output = command.args(&words).current_dir(folder).stdin(Stdio::null()).output().expect("the binary runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {error}");
    if let Some(file) = file {
        std::fs::write(folder.join(file), &output.stdout).expect("a file");
    }
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_commands_of_the_tutorial_print_what_it_shows() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tutorial.md")).expect("the page");
    let folder = folder("tutorial");
    let (mut printed, mut commands, mut shown) = (String::new(), 0, 0);
    for (language, lines) in blocks(&text) {
        if language == "sh" {
            for line in &lines {
                printed = run(line, &folder);
                commands += 1;
            }
        } else {
            // Three dots stand for lines left out; the other lines come in this order.
            let mut rest = printed.as_str();
            for part in lines.split(|line| line == "...") {
                let part = part.join("\n");
                let at = rest.find(&part).unwrap_or_else(|| panic!("the page shows\n{part}\nof\n{printed}"));
                rest = &rest[at + part.len()..];
                shown += 1;
            }
        }
    }
    assert!(commands > 10 && shown > 8, "{commands} commands, {shown} parts");
    for file in ["step.ron", "step-explored-1.ron", "step.html", "step.json", "step.dot"] {
        assert!(folder.join(file).metadata().is_ok_and(|it| it.len() > 100), "{file}");
    }
    std::fs::remove_dir_all(folder).expect("it was there");
}

#[test]
fn the_page_on_the_explorer_shows_its_screen() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/explore.md")).expect("the page");
    let blocks = blocks(&text);
    let screen = blocks.iter().find(|block| block.0 == "text").expect("a screen").1.join("\n");
    let printed = run("overlapsim explore scenarios/double-fire.ron --script f", &folder("screen"));
    assert_eq!(printed.trim_end(), screen);
}
