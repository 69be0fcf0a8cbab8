//! Words of command lines, as replay lines print them and as the command line reads them: choices, open questions,
//! paths.

use std::ffi::OsStr;
use std::path::Path;

use crate::escape;
use crate::model::Vary;
use crate::scenario::{Outside, Scenario};

use super::mistake::hint;
use super::replay_spec::ReplaySpec;

/// The command that replays a run of a scenario that was read.
pub(super) fn replay_line_of(scenario: &Scenario, rule: &str, spec: ReplaySpec<'_>) -> String {
    replay_line_in((&scenario.path, scenario.outside), rule, spec)
}

/// The command that replays a run of a scenario file whose paths may or may not leave its directory.
pub(super) fn replay_line_in((path, outside): (&Path, Outside), rule: &str, spec: ReplaySpec<'_>) -> String {
    format!("{}{}", replay_line(path, rule, spec), outside_word(outside))
}

/// The option without which a scenario could not be read, with a blank before it.
pub(super) fn outside_word(outside: Outside) -> &'static str {
    match outside {
        Outside::Allowed => " --allow-outside",
        Outside::Refused => "",
    }
}

/// The command that replays a run of a scenario that names no other files.
pub(super) fn replay_line(path: &Path, rule: &str, spec: ReplaySpec<'_>) -> String {
    let ReplaySpec { seed, choices, vary } = spec;
    let vary = vary.map_or(String::new(), |vary| format!(" --vary {}", vary_word(vary)));
    let choices = choices.map_or(String::new(), |choices| format!(" --choices {}", choices_word(choices)));
    let seed = seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
    format!("overlapsim run {} --rule {rule}{seed}{vary}{choices} --timeline", shell_word(path))
}

/// The open questions as one word: `arrivals,stops`, or `all` for everything.
pub(super) fn vary_word(vary: Vary) -> String {
    if vary == Vary::ALL {
        return "all".to_string();
    }
    let open = vary.fields().into_iter().filter(|field| field.2).map(|field| field.0);
    open.collect::<Vec<_>>().join(",")
}

/// Reads the open questions from one word.
///
/// # Errors
/// A name that is not a question.
pub(super) fn vary(word: &str) -> Result<Vary, String> {
    if word == "all" {
        return Ok(Vary::ALL);
    }
    let names: Vec<&str> = word.split(',').map(str::trim).collect();
    Vary::of_names(&names).map_err(|name| {
        let known = Vary::ALL.fields().map(|field| field.0).join(", ");
        let help = format!("give one or more of {known}, with commas between, or all");
        hint(&format!("no question is called `{name}`"), &help)
    })
}

/// The shortest run of equal choices that is written as `0x12`.
const RUN_MIN: usize = 5;
/// The most choices in a list.
const CHOICES_MAX: usize = 100_000_000;

/// A list of choices as one word: `0.2.1`, `0x12` for twelve times 0, and `-` for the empty list.
pub(super) fn choices_word(choices: &[u32]) -> String {
    if choices.is_empty() {
        return "-".to_string();
    }
    let runs = choices.chunk_by(|one, next| one == next);
    let words = runs.flat_map(|run| match run.len() {
        RUN_MIN.. => vec![format!("{}x{}", run[0], run.len())],
        _ => run.iter().map(u32::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(".")
}

/// Reads a list of choices from one word.
///
/// # Errors
/// The error and its remedy, in words for the command line.
pub fn choices(word: &str) -> Result<Choices, String> {
    let help = "give numbers with dots between, as reports write them: 0.2.1, 0x12 for twelve times 0, or - for none";
    let mut list = Vec::new();
    for part in word.split('.').filter(|_| word != "-") {
        let (answer, times) = part.split_once('x').unwrap_or((part, "1"));
        let Some((answer, times)) = answer.parse::<u32>().ok().zip(times.parse::<usize>().ok()) else {
            return Err(hint(&format!("choice {} is `{part}`, not a number such as 0", list.len() + 1), help));
        };
        if times == 0 || times > CHOICES_MAX - list.len() {
            return Err(hint(&format!("`{part}` is not a possible number of choices"), help));
        }
        list.resize(list.len() + times, answer);
    }
    Ok(Choices(list))
}

/// A list of choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(pub Vec<u32>);

/// A path as a word of a shell command: quoted where needed, and never like an option.
pub(super) fn shell_word(path: &Path) -> String {
    let dot = if path.as_os_str().as_encoded_bytes().starts_with(b"-") { "./" } else { "" };
    format!("{dot}{}", quoted(path.as_os_str()))
}

/// A text as a word of a shell command, quoted where needed. Bytes that are not UTF-8, and characters that cannot be
/// printed, are escaped in the form that bash, zsh and ksh read.
pub(super) fn quoted(text: &OsStr) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    match text.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Some(text) if text.chars().all(escape::is_printable) => format!("'{}'", text.replace('\'', r"'\''")),
        Some(_) | None => {
            let spelled = text.as_encoded_bytes().iter().map(|&byte| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(byte)),
                b' '..=b'~' => char::from(byte).to_string(),
                // Always three digits, so that a digit that follows is not read as part of the escape.
                _ => format!("\\{byte:03o}"),
            });
            format!("$'{}'", spelled.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_only_if_it_must_be() {
        let line = replay_line(Path::new("scenarios/x.ron"), "token-len", ReplaySpec::default());
        assert_eq!(line, "overlapsim run scenarios/x.ron --rule token-len --timeline");
        let line =
            replay_line(Path::new("it's here.ron"), "token-len", ReplaySpec { seed: Some(7), ..ReplaySpec::default() });
        assert_eq!(line, r"overlapsim run 'it'\''s here.ron' --rule token-len --seed 7 --timeline");
    }

    #[test]
    fn a_list_of_choices_is_one_word() {
        let runs = [vec![1], vec![0; 17], vec![1; 4], vec![3; 5]].concat();
        assert_eq!(choices_word(&runs), "1.0x17.1.1.1.1.3x5");
        for list in [vec![], vec![0], vec![1, 0, 12], runs] {
            assert_eq!(choices(&choices_word(&list)), Ok(Choices(list)));
        }
        assert!(choices("1..2").is_err_and(|why| why.starts_with("choice 2 is ``, not a number such as 0\n")));
        assert!(choices("1.x").is_err() && choices("").is_err() && choices("-1").is_err());
    }

    #[test]
    fn what_is_open_is_one_word() {
        let some = Vary { arrivals: true, stops: true, ..Vary::default() };
        for of in [some, Vary::ALL] {
            assert_eq!(vary(&vary_word(of)), Ok(of));
        }
        assert_eq!(vary_word(some), "arrivals,stops");
        assert!(vary("arrival").is_err_and(|why| why.contains("`arrival`") && why.contains("arrivals, stops")));
    }

    #[test]
    fn no_path_looks_like_an_option_or_tears_the_line() {
        let word = |path: &str| shell_word(Path::new(path));
        assert_eq!(word("-x.ron"), "./-x.ron");
        assert_eq!(word("- x.ron"), "./'- x.ron'");
        assert_eq!(word("a\n1'\\é.ron"), r"$'a\0121\'\\\303\251.ron'");
        assert_eq!(word("é.ron"), "'é.ron'");
        assert_eq!(word(""), "''");
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_is_spelled_out() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = OsStr::from_bytes(b"x\xff.ron");
        assert_eq!(shell_word(Path::new(name)), r"$'x\377.ron'");
    }
}
