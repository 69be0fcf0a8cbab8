//! Completion scripts and man pages, made from the clap structs. Writes nothing.

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::{Cli, examples};

/// The script with which a shell completes command lines.
pub(super) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "overlapsim", &mut script);
    text(script)
}

/// The man pages by the names of their files: the program, then its commands in the order of its help.
pub(super) fn man() -> Vec<(String, String)> {
    let mut program = Cli::command();
    program.build();
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    std::iter::once(&program).chain(commands).map(page).collect()
}

fn page(command: &Command) -> (String, String) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_string();
    let man = Man::new(command.clone());
    // Written by hand, without the date.
    let title = format!(".TH {name} 1 \"\" \"overlapsim {}\"\n", env!("CARGO_PKG_VERSION"));
    let mut page = title.into_bytes();
    let sections = [
        Man::render_name_section,
        Man::render_synopsis_section,
        Man::render_description_section,
        Man::render_options_section,
    ];
    for section in sections {
        section(&man, &mut page).expect("memory can be written");
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page).expect("memory can be written");
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    let (lines, notes) = examples::parts(&after);
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    lines.iter().for_each(|line| {
        roff.text([roman(*line)]);
    });
    roff.control("fi", []);
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]).text([roman(notes)]);
    }
    roff.to_writer(&mut page).expect("memory can be written");
    (format!("{name}.1"), text(page))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("help is UTF-8")
}
