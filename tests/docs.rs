//! The docs name what exists: every scenario file they mention, every link between them.

use std::path::Path;

fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec!["README.md".to_string(), "CHANGELOG.md".to_string()];
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

#[test]
fn the_docs_stand_alone() {
    for (page, text) in pages() {
        for word in ["../shared", "DESIGN.md", "STYLE.md"] {
            assert!(!text.contains(word), "{page} names {word}");
        }
    }
}
