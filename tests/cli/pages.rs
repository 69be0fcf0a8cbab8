//! Pages generated from the clap structs: help with examples, completion scripts, man pages.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use clap::CommandFactory as _;
use overlapsim::cli::Cli;

fn overlapsim(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlapsim"));
    command.args(args).stdin(Stdio::null()).output().expect("the binary runs")
}

fn out(output: &Output) -> String {
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// The names of all commands.
fn commands() -> Vec<String> {
    let names: Vec<String> = Cli::command().get_subcommands().map(|command| command.get_name().to_string()).collect();
    assert!(names.len() >= 13, "{names:?}");
    names
}

#[test]
fn a_completion_script_knows_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = out(&overlapsim(&["completions", shell]));
        for command in commands() {
            assert!(script.contains(&command), "{shell} does not know {command}");
        }
        assert!(script.contains("max-states"), "{shell} does not know an option");
    }
}

#[test]
fn bash_accepts_the_completion_script() {
    use std::io::Write as _;
    let script = out(&overlapsim(&["completions", "bash"]));
    let bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    // Without bash there is nothing to test.
    let Ok(mut bash) = bash else { return };
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let checked = bash.wait_with_output().unwrap();
    assert!(checked.status.success() && checked.stderr.is_empty(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_overlapsim"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

/// A directory that does not exist yet.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("overlapsim-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn every_command_has_a_man_page() {
    let folder = folder("man");
    let below = folder.join("man1");
    let said = out(&overlapsim(&["man", below.to_str().unwrap()]));
    let names: Vec<String> = commands().iter().map(|name| format!("-{name}")).chain([String::new()]).collect();
    assert!(said.ends_with(&format!("man1: {} man pages written\n", names.len())), "{said}");
    for name in &names {
        let page = std::fs::read_to_string(below.join(format!("overlapsim{name}.1"))).expect("a page");
        assert!(page.starts_with(&format!(".TH overlapsim{name} 1 ")), "{page}");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS", ".SH EXAMPLES\n.nf\noverlapsim "]
        {
            assert!(page.contains(section), "{section} is missing: {page}");
        }
    }
    assert_eq!(std::fs::read_dir(&below).unwrap().count(), names.len(), "and nothing else is left behind");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn man_pages_that_cannot_be_written_are_a_mistake() {
    let folder = folder("man-file");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    let output = overlapsim(&["man", file.to_str().unwrap()]);
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("error: ") && err.contains("help: "), "{err}");
    std::fs::remove_dir_all(folder).unwrap();
}
