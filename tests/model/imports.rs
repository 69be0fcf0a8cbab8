//! The allowed imports between modules, as data: no arrow points back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Each module with the paths that it may name after `crate::`. A module may always name itself.
const TABLE: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("escape", &[]),
    ("packed", &[]),
    ("reading", &["packed"]),
    ("record", &["engine::Time"]),
    ("numeric", &["model::Ssm", "record"]),
    ("model", &["engine", "record"]),
    ("rule", &["model", "record"]),
    ("judge", &["record"]),
    ("metrics", &["engine::Time", "judge", "record"]),
    ("scene", &["engine::Time", "judge", "record"]),
    ("scenario", &["engine::Time", "escape", "model", "numeric", "reading", "record", "workload"]),
    ("workload", &["engine::Choice", "engine::ChoicePoint", "engine::Chooser", "engine::Time", "model", "record"]),
    ("conform", &["engine", "escape", "judge", "model", "packed", "reading", "record"]),
    (
        "report",
        &[
            "conform",
            "engine::Choice",
            "engine::ChoicePoint",
            "engine::Time",
            "escape",
            "judge",
            "metrics",
            "numeric",
            "record",
            "scene",
        ],
    ),
    ("graph", &["escape", "judge", "record", "report::name", "scene"]),
    ("search", &["engine"]),
    ("history", &["engine", "model", "record"]),
    (
        "runner",
        &["engine", "history", "judge", "metrics", "model", "numeric", "record", "rule", "scene", "search", "workload"],
    ),
    ("shrink", &["engine::Scripted", "history", "judge", "model", "runner"]),
    (
        "command",
        &[
            "conform", "engine", "escape", "graph", "history", "judge", "metrics", "model", "numeric", "reading",
            "record", "report", "runner", "scenario", "scene", "search", "shrink", "tui", "workload",
        ],
    ),
    ("tui", &["engine", "escape", "judge", "model", "record", "report", "runner", "scene"]),
    ("cli", &["command", "escape", "report::style"]),
];

/// The rules by type name: only `runner` may name one outside `rule`.
const RULES: &[&str] = &["CommittedLen", "TokenLen", "MaskLookahead", "CompletedMask", "Paired"];

fn sources() -> BTreeMap<String, Vec<(PathBuf, String)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules: BTreeMap<String, Vec<(PathBuf, String)>> = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path.strip_prefix(&root).unwrap();
                let module = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_string();
                let text = std::fs::read_to_string(&path).unwrap();
                modules.entry(module).or_default().push((path, text));
            }
        }
    }
    modules
}

/// The paths after each `crate::` in code, doc comments and tests left out.
fn imports(text: &str) -> Vec<String> {
    let code: String =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect();
    let ends = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
    code.split("crate::").skip(1).map(|rest| rest.split(ends).next().unwrap_or("").to_string()).collect()
}

#[test]
fn every_import_is_in_the_table() {
    let table: BTreeMap<&str, &[&str]> = TABLE.iter().copied().collect();
    let modules = sources();
    let mut wrong = Vec::new();
    for (module, files) in &modules {
        if module == "lib" || module == "main" {
            continue;
        }
        let Some(allowed) = table.get(module.as_str()) else {
            wrong.push(format!("module {module} is not in the table"));
            continue;
        };
        for (path, text) in files {
            let own_tests = path.ends_with("tests.rs") || path.iter().any(|part| part == "tests");
            for import in imports(text) {
                let same = import.split("::").next() == Some(module);
                let fits = |entry: &&str| import == **entry || import.starts_with(&format!("{entry}::"));
                if !same && !allowed.iter().any(fits) && !own_tests {
                    wrong.push(format!("{} imports crate::{import}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for module in table.keys() {
        assert!(modules.contains_key(*module), "the table names {module}, which does not exist");
    }
}

/// A file that the module above it does not declare is never compiled, and goes stale unseen.
#[test]
fn every_source_file_is_a_module() {
    let texts: BTreeMap<PathBuf, String> = sources().into_values().flatten().collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in texts.keys().filter(|path| !path.ends_with("src/lib.rs") && !path.ends_with("src/main.rs")) {
        let module = if path.ends_with("mod.rs") { path.parent().expect("a folder") } else { path };
        let folder = module.parent().expect("a folder");
        let above = if folder == root { root.join("lib.rs") } else { folder.join("mod.rs") };
        let above = texts.get(&above).or_else(|| texts.get(&folder.with_extension("rs"))).expect("a module above");
        let declaration = format!("mod {};", module.file_stem().expect("a name").to_string_lossy());
        let is_declared = above.lines().any(|line| line == declaration || line.ends_with(&format!(" {declaration}")));
        assert!(is_declared, "{} is in no module", path.display());
    }
}

#[test]
fn only_the_runner_names_a_concrete_rule() {
    let mut wrong = Vec::new();
    for (module, files) in sources() {
        if module == "rule" || module == "runner" || module == "lib" {
            continue;
        }
        for (path, text) in files {
            let named = RULES.iter().find(|rule| imports(&text).iter().any(|import| import.ends_with(*rule)));
            if let Some(rule) = named {
                wrong.push(format!("{} names {rule}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_wall_clock_environment_or_hash_map_order() {
    let forbidden =
        ["HashMap", "HashSet", "SystemTime", "env::var", "thread_local", "static mut", "RefCell", "Instant::now"];
    let mut wrong = Vec::new();
    for (module, files) in sources() {
        for (path, text) in files {
            // Only the progress bar and `--max-time` read the clock, and only the number of a shard comes from the environment.
            if module == "command" && (path.ends_with("progress.rs") || path.ends_with("shard.rs")) {
                continue;
            }
            // The visited set is never iterated.
            let hashes = (!path.ends_with("search/visited.rs")).then_some("hashbrown");
            for word in forbidden.into_iter().chain(hashes) {
                if text.lines().any(|line| !line.trim_start().starts_with("//") && line.contains(word)) {
                    wrong.push(format!("{} uses {word}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is printed goes through one place, which escapes what a terminal would not show; and a path is escaped where it is
/// put into a text.
#[test]
fn only_one_place_prints() {
    let forbidden = ["print!(", "println!(", "dbg!(", "io::stdout", "io::stderr", ".display()"];
    let mut wrong = Vec::new();
    for (path, text) in sources().into_values().flatten() {
        if path.ends_with("command/output.rs") {
            continue;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            // Whether it is a terminal may be asked elsewhere.
            let prints = forbidden.iter().any(|word| line.contains(word)) && !line.contains(".is_terminal()");
            if prints {
                wrong.push(format!("{}: {line}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
