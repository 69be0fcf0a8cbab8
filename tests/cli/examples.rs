//! Every example of every `--help` is run: its files and options exist, and it ends in short time.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use clap::CommandFactory as _;
use overlapsim::cli::Cli;

/// The examples of the program and of every command.
fn helps() -> Vec<(String, Vec<String>)> {
    let mut program = Cli::command();
    program.build();
    let named = |command: &clap::Command| {
        let name = command.get_name().to_string();
        let help = command.get_after_long_help().or(command.get_after_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{name} --help has no examples"));
        let lines = examples.lines().take_while(|line| !line.is_empty());
        (name, lines.map(|line| line.trim().to_string()).collect())
    };
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    std::iter::once(&program).chain(commands).map(named).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

/// A copy of what examples name, in a directory of its own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-examples-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    for part in ["scenarios", "tests/recordings"] {
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(part), &folder.join(part));
    }
    folder
}

/// Runs a command line without a shell: a file behind `>` or a command behind `|` gets nothing, a home directory is within the folder.
fn run(line: &str, folder: &Path) -> Output {
    let home = folder.join("home").to_str().unwrap().to_string();
    let line = line.split(" > ").next().unwrap().split(" | ").next().unwrap();
    // There is no terminal here: an empty script of keys replaces it.
    let no_keys =
        if line.starts_with("overlapsim explore ") && !line.contains("--script") { " --script g" } else { "" };
    let line = format!("{line}{no_keys}");
    let mut words = line.split(' ').map(|word| word.replacen('~', &home, 1));
    assert_eq!(words.next().as_deref(), Some("overlapsim"), "{line}");
    Command::new(env!("CARGO_BIN_EXE_overlapsim"))
        .args(words)
        .env("JOB_COMPLETION_INDEX", "3")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs")
}

/// The reports that `merge` adds up: two shards, in a directory of one and in one of each.
fn reports(folder: &Path) {
    for shard in ["0", "1"] {
        let line = format!("overlapsim fuzz --generate small --seeds 0..8 --shard {shard}/2 --out node-{shard}");
        assert!(run(&line, folder).stderr.is_empty());
        copy(&folder.join(format!("node-{shard}")), &folder.join("reports"));
    }
}

#[test]
fn every_example_of_every_help_is_run() {
    let work = |(name, examples): (String, Vec<String>)| {
        assert!(!examples.is_empty(), "{name} --help has no examples");
        let folder = folder(&name);
        if name == "merge" {
            reports(&folder);
        }
        for line in &examples {
            let output = run(line, &folder);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {:?} {error}", output.status.code());
            assert!(error.is_empty(), "{line}: {error}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    };
    std::thread::scope(|scope| {
        for help in helps() {
            scope.spawn(|| work(help));
        }
    });
}

#[test]
fn the_help_that_is_printed_has_the_examples() {
    for (name, examples) in helps() {
        let args = if name == "overlapsim" { vec!["--help"] } else { vec![&name[..], "--help"] };
        let output = Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(args).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}");
        for line in examples {
            assert!(text.contains(&line), "{name} --help does not show `{line}`");
        }
    }
}
