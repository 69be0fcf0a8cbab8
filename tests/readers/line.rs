//! Command lines: the words of one line each, parsed without being run; and the values of options by themselves. A line that is
//! refused says why.

use clap::{Args, Command, CommandFactory as _, Parser as _};
use overlapsim::cli::Cli;
use overlapsim::command::{batches, choices};
use overlapsim::conform::release_of;
use overlapsim::scenario::time_ns;

use super::soak::{Outcome, Reader, soak};

/// The arguments of a command.
pub fn parsed<A: Args>(words: &[&str]) -> A {
    let command = A::augment_args(Command::new("command").no_binary_name(true));
    let matches = command.try_get_matches_from(words).unwrap_or_else(|error| panic!("{error}"));
    A::from_arg_matches(&matches).expect("they were matched")
}

/// Values of all options, right and wrong.
const VALUES: &str = "0 1 -1 3..4 4..3 0..1000 0..18446744073709551615 .. 0.2.1 0x12 - 0x100000000 1x0 arrivals,stops all , release \
    mask-lookahead 80x24 1000x1000 0x0 x 30s 500ms 1e9s 10000000000s 1,10,100,1000 65536 65537 0/1 1/1 0/0 JOB_COMPLETION_INDEX/4 \
    0.5.16 v0.5.23 0.5 99.99.99 text json always never corrupt lossy FILE.ron ./- <right> < @x =";

struct CommandLines;

/// Every option and every possible value of a command and of those below it.
fn spelled(command: &Command, words: &mut Vec<String>) {
    for arg in command.get_arguments() {
        words.extend(arg.get_long().map(|long| format!("--{long}")));
        words.extend(arg.get_short().map(|short| format!("-{short}")));
        words.extend(arg.get_possible_values().iter().map(|value| value.get_name().to_string()));
    }
    for below in command.get_subcommands() {
        words.push(below.get_name().to_string());
        spelled(below, words);
    }
}

/// A line for every option of every command: the command, a file, the option and a value of it.
fn line_of_each() -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    let program = Cli::command();
    for command in program.get_subcommands() {
        let name = command.get_name();
        lines.push(format!("{name}\nFILE"));
        for arg in command.get_arguments() {
            let Some(long) = arg.get_long() else { continue };
            let first = arg.get_possible_values().first().map(|value| value.get_name().to_string());
            let value =
                if arg.get_action().takes_values() { first.unwrap_or("0..1".to_string()) } else { String::new() };
            lines.push(format!("{name}\nFILE\n--{long}\n{value}").trim_end().to_string());
        }
    }
    lines.into_iter().map(String::into_bytes).collect()
}

/// Reads the text as every kind of value that has no option of its own here.
fn values(text: &str) -> Vec<String> {
    let mut signs = Vec::new();
    match time_ns(text) {
        Ok(ns) => {
            assert_eq!(time_ns(&format!("{ns}ns")), Ok(ns), "{text}");
            signs.push("a time".to_string());
        }
        Err(why) => signs.push(why.to_string()),
    }
    match batches(text) {
        Ok(sizes) => {
            assert!(sizes.0.windows(2).all(|pair| pair[0] < pair[1]), "{text}: {sizes:?}");
            let words: Vec<String> = sizes.0.iter().map(u32::to_string).collect();
            assert_eq!(batches(&words.join(",")), Ok(sizes));
        }
        Err(why) => assert!(!why.is_empty()),
    }
    if let Ok(list) = choices(text)
        && list.0.len() <= 1000
        && !list.0.is_empty()
    {
        let words: Vec<String> = list.0.iter().map(u32::to_string).collect();
        assert_eq!(choices(&words.join(".")), Ok(list));
    }
    signs.extend(release_of(text).map(|(release, exact)| format!("{release:?} {exact}")));
    signs
}

impl Reader for CommandLines {
    const NAME: &'static str = "line";
    const INPUTS: u64 = 1500;
    /// A list of choices may have 100 million of them.
    const BYTES_MAX: usize = 1 << 30;

    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = VALUES.split_whitespace().map(str::to_string).collect();
        spelled(&Cli::command(), &mut words);
        words.extend(["\n".to_string(), "--".to_string(), "\n--".to_string()]);
        words
    }

    fn samples(&self) -> Vec<Vec<u8>> {
        line_of_each()
    }

    fn read(&mut self, input: &[u8]) -> Outcome {
        let text = String::from_utf8_lossy(input);
        let words: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
        let line = || std::iter::once("overlapsim").chain(words.iter().copied());
        let mut signs = words.last().map(|word| values(word)).unwrap_or_default();
        let parsed = Cli::try_parse_from(line());
        match (&parsed, Cli::try_parse_from(line())) {
            (Ok(first), Ok(second)) => assert_eq!(format!("{first:?}"), format!("{second:?}")),
            (Err(first), Err(second)) => {
                assert_eq!((first.kind(), first.to_string()), (second.kind(), second.to_string()));
                assert!(!first.to_string().is_empty() && (!first.use_stderr() || first.exit_code() == 2));
                signs.push(format!("{:?}", first.kind()));
            }
            (first, second) => panic!("{first:?} and then {second:?}"),
        }
        if parsed.is_ok() {
            signs.push(format!("{} with {} words", words[0], words.len().min(5)));
        }
        Outcome { accepted: parsed.is_ok(), signs }
    }
}

#[test]
fn command_lines() {
    soak(CommandLines);
}
