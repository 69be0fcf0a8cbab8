//! The docs name what exists: every scenario file they mention, every link between them.

use std::path::Path;

fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<String> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(String::from).to_vec();
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().to_string();
        if name.ends_with(".md") {
            pages.push(format!("docs/{name}"));
        }
    }
    pages.sort();
    pages.into_iter().map(|page| (page.clone(), std::fs::read_to_string(root.join(page)).unwrap())).collect()
}

#[test]
fn every_scenario_that_the_docs_name_exists() {
    for (page, text) in pages() {
        for part in text.split("scenarios/").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || "-._".contains(*c)).collect();
            if let Some(name) = name.strip_suffix(".ron") {
                assert!(Path::new("scenarios").join(format!("{name}.ron")).exists(), "{page} names {name}.ron");
            }
        }
    }
}

#[test]
fn every_link_between_the_docs_leads_somewhere() {
    for (page, text) in pages() {
        let folder = Path::new(&page).parent().unwrap();
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or("");
            let file = target.split('#').next().unwrap_or("");
            if !file.is_empty() && !file.contains("://") {
                assert!(folder.join(file).exists(), "{page} links to {target}");
            }
        }
    }
}

/// The anchors of a page: its headings in small letters, punctuation left out, blanks as hyphens.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    headings.map(|line| line.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn every_anchor_that_the_docs_link_to_exists() {
    for (page, text) in pages() {
        let folder = Path::new(&page).parent().unwrap();
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or("");
            let Some((file, anchor)) = target.split_once('#') else { continue };
            if file.contains("://") {
                continue;
            }
            let linked =
                if file.is_empty() { text.clone() } else { std::fs::read_to_string(folder.join(file)).unwrap() };
            assert!(anchors(&linked).iter().any(|it| it == anchor), "{page} links to {target}");
        }
    }
}

#[test]
fn the_docs_stand_alone() {
    for (page, text) in pages() {
        for word in ["../shared", "DESIGN.md", "STYLE.md"] {
            assert!(!text.contains(word), "{page} names {word}");
        }
    }
}

/// The fenced blocks of a page that are in some language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or("").to_string()).collect()
}

#[test]
fn every_example_of_the_format_is_read() {
    let rules = overlapsim::runner::rule_names();
    let text = std::fs::read_to_string("docs/scenario-format.md").unwrap();
    let examples = blocks(&text, "ron");
    assert!(examples.len() > 5);
    for example in examples {
        let read = overlapsim::scenario::parse("example.ron", &example, Path::new("tests/data"), &rules);
        let wrong = example.contains("that the configuration forbids");
        assert_eq!(read.is_err(), wrong, "{example}\n{read:?}");
    }
}

#[test]
fn the_page_on_output_shows_what_is_printed() {
    let text = std::fs::read_to_string("docs/output.md").unwrap();
    let printed = |args: &[&str]| {
        let command = std::process::Command::new(env!("CARGO_BIN_EXE_overlapsim")).args(args).output().unwrap();
        String::from_utf8(command.stdout).unwrap()
    };
    let timeline = printed(&["run", "scenarios/double-fire.ron", "--timeline"]);
    let diff = printed(&["diff", "scenarios/double-fire.ron"]);
    let shown = blocks(&text, "text");
    assert_eq!(shown.len(), 4);
    assert!(timeline.contains(&shown[0]), "{timeline}");
    assert_eq!(diff, shown[1]);
    assert_eq!(printed(&["jitter", "scenarios/double-fire.ron"]), shown[2]);
    assert_eq!(printed(&["conform", "tests/recordings/whole"]), shown[3]);
}

/// The command lines of a file in `scale/`, with the words that a shell or a cluster puts in.
fn commands(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(Path::new("scale").join(file)).unwrap();
    let put_in = [("\"$@\"", ""), ("$seeds", "0..9"), ("$i", "3"), ("JOB_COMPLETION_INDEX", "3"), ("\"", "")];
    let text = put_in.iter().fold(text, |text, (word, value)| text.replace(word, value));
    let text = text.replace("SLURM_ARRAY_TASK_ID", "3");
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("overlapsim "));
    lines.map(|line| line.split('>').next().unwrap().split_whitespace().map(String::from).collect()).collect()
}

#[test]
fn the_files_of_campaigns_are_well_formed() {
    use clap::Parser as _;
    let (mut scripts, mut shards, mut merges) = (0, 0, 0);
    for entry in std::fs::read_dir("scale").unwrap() {
        let file = entry.unwrap().file_name().to_string_lossy().to_string();
        if file.ends_with(".sh") {
            scripts += 1;
            let checked = std::process::Command::new("bash").args(["-n", &format!("scale/{file}")]).status().unwrap();
            assert!(checked.success(), "{file}");
        }
        for command in commands(&file) {
            shards += usize::from(command[1] == "fuzz" && command.contains(&"--shard".to_string()));
            merges += usize::from(command[1] == "merge");
            overlapsim::cli::Cli::try_parse_from(&command)
                .unwrap_or_else(|error| panic!("{file}: {command:?}: {error}"));
        }
    }
    assert_eq!((scripts, shards, merges), (3, 3, 3));
}

#[test]
fn shards_on_one_machine_add_up_to_the_bytes_of_the_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let binary = Path::new(env!("CARGO_BIN_EXE_overlapsim"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let folder = std::env::temp_dir().join(format!("overlapsim-docs-{}", std::process::id()));
    let within = |name: &str| {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    };
    let options = ["--rule", "committed-len"];
    let sum = std::process::Command::new("sh")
        .arg(root.join("scale/local.sh"))
        .arg("0..60")
        .args(options)
        .env("PATH", path)
        .current_dir(within("shards"))
        .output()
        .unwrap();
    let whole = std::process::Command::new(binary)
        .args(["fuzz", "--generate", "small", "--seeds", "0..60", "--out", "reports"])
        .args(options)
        .current_dir(within("whole"))
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(sum.stderr.is_empty(), "{}", String::from_utf8_lossy(&sum.stderr));
    assert_eq!(String::from_utf8_lossy(&sum.stdout), String::from_utf8_lossy(&whole.stdout));
    assert_eq!(sum.status.code(), whole.status.code());
}
