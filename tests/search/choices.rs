//! `run --choices`: which lists fit, and what is said of those that do not.

use super::tools::{Folder, INTERLEAVED, overlapsim, texts};

fn run(folder: &Folder, choices: &str) -> (Option<i32>, String, String) {
    let args = ["run", "x.ron", "--rule", "mask-lookahead", "--choices", choices];
    let output = overlapsim(folder.path(), &args);
    let (text, error) = texts(&output);
    (output.status.code(), text, error)
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("x.ron", INTERLEAVED);
    folder
}

#[test]
fn where_a_list_ends_the_script_goes_on() {
    let folder = folder("ends");
    let (code, none, error) = run(&folder, "-");
    assert!(code == Some(0) && error.is_empty(), "{error}");
    // What is printed of a run names its list, in its first line too.
    let bare =
        |text: &str| text.lines().skip(1).filter(|line| !line.contains("--choices")).collect::<Vec<_>>().join("\n");
    let plain = texts(&overlapsim(folder.path(), &["run", "x.ron", "--rule", "mask-lookahead"])).0;
    assert_eq!(bare(&none), bare(&plain));
    // In turn 0 all are asked, and by script all are seen.
    let (_, script, _) = run(&folder, "1.1.1.1");
    assert_eq!(bare(&script), bare(&none));
    let (_, other, error) = run(&folder, "1.0");
    assert!(error.is_empty() && bare(&other) != bare(&none), "{error}{other}");
}

#[test]
fn an_answer_that_the_question_does_not_have_is_refused() {
    let folder = folder("large");
    let (code, text, error) = run(&folder, "1.7");
    assert!(code == Some(2) && text.is_empty(), "{text}");
    let said = ["choice 2 is 7", "under mask-lookahead", "in turn 0", "whether b is seen now", "0 to 1", "help: "];
    assert!(said.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn a_list_that_is_too_long_is_refused() {
    let folder = folder("long");
    let (code, text, error) = run(&folder, &["1"; 400].join("."));
    assert!(code == Some(2) && text.is_empty(), "{text}");
    assert!(error.contains("the run is over after ") && error.contains(" choices, in turn "), "{error}");
}

#[test]
fn where_nothing_is_open_every_list_is_too_long() {
    let folder = Folder::new("closed");
    folder.write("x.ron", &INTERLEAVED.replace("vary: (arrivals: true, stops: true),", ""));
    let (code, _, error) = run(&folder, "0");
    assert_eq!(code, Some(2));
    assert!(
        error.contains("choice 1 is 0") && error.contains("leaves nothing open") && error.contains("vary"),
        "{error}"
    );
    assert_eq!(run(&folder, "-").0, Some(0));
}

#[test]
fn what_is_no_list_is_refused() {
    let folder = folder("garbage");
    for (garbage, said) in [
        ("1..2", "choice 2 is ``"),
        ("x", "choice 1 is `x`"),
        ("1.-1", "choice 2 is `-1`"),
        ("", ""),
        ("4294967296", ""),
    ] {
        let (code, text, error) = run(&folder, garbage);
        assert!(code == Some(2) && text.is_empty() && error.contains(said), "{garbage}: {error}");
    }
}
