//! The table of `docs/releases.md` that says which recording proves which value of which release, cell by cell.

use std::collections::BTreeMap;
use std::path::Path;

use overlapsim::conform::{self, Archive, Difference, Options, Plan, Recording};
use overlapsim::model::{Engine, Release};
use overlapsim::runner;

fn options() -> Options<'static> {
    Options { plan: Plan::Own, rule: None, release: None, rules: &runner::rule_or_release, adjust: None }
}

fn sample() -> Vec<Recording> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/whole/releases.jsonl.gz");
    let mut archive = Archive::open(&path).unwrap();
    let mut segments = Vec::new();
    while let Some((_, segment)) = archive.next(|_| true) {
        segments.push(segment.unwrap());
    }
    segments
}

/// The cells of the table: field and release to the number of a recording, or none where it says `read`.
fn table() -> BTreeMap<(String, Release), Option<usize>> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/releases.md")).unwrap();
    let (_, section) = text.split_once("## What proves each").expect("the section is there");
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let mut cells = BTreeMap::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let parts: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let field = parts[0].trim_matches('`');
        for (release, cell) in Release::ALL.iter().zip(&parts[1..]) {
            let number = cell.strip_prefix('#').map(|number| number.parse().expect("a number of a recording"));
            assert!(number.is_some() || *cell == "read", "{row}");
            cells.insert((field.to_string(), *release), number);
        }
    }
    cells
}

fn differs(segment: &Recording, difference: &Difference) -> bool {
    let adjust = |engine: &mut Engine| difference.apply(engine);
    let changed = conform::check(segment, "", &Options { adjust: Some(&adjust), ..options() }).unwrap();
    changed.divergence.is_some()
}

#[test]
fn every_difference_has_a_row_and_every_proof_holds() {
    let segments = sample();
    let table = table();
    let mut named = 0;
    for release in Release::ALL {
        for difference in conform::differences(release) {
            let cell = table.get(&(difference.field.to_string(), release));
            let Some(number) = cell.unwrap_or_else(|| panic!("{} has no row", difference.field)) else { continue };
            let segment = &segments[*number];
            let recorded = conform::prepare(segment, &options()).unwrap().setup.engine.release;
            assert_eq!(recorded, release, "#{number}");
            assert_eq!(conform::check(segment, "", &options()).unwrap().divergence, None, "#{number}");
            assert!(differs(segment, &difference), "#{number} does not tell {difference:?}");
            named += 1;
        }
    }
    assert!(named > 50, "{named}");
}

#[test]
fn a_cell_marked_read_is_proved_by_no_recording_of_the_sample() {
    let segments = sample();
    let table = table();
    for segment in &segments {
        let release = conform::prepare(segment, &options()).unwrap().setup.engine.release;
        for difference in conform::differences(release) {
            if table[&(difference.field.to_string(), release)].is_none() {
                assert!(!differs(segment, &difference), "#{} tells {difference:?}: name it", segment.index);
            }
        }
    }
}

#[test]
fn the_differences_lead_from_any_release_to_any_other() {
    for from in Release::ALL {
        for to in Release::ALL {
            let (mut engine, target) = (Engine::preset(from), Engine::preset(to));
            for difference in conform::differences(from) {
                let mut same = target.clone();
                difference.apply(&mut same);
                if same == target {
                    difference.apply(&mut engine);
                }
            }
            engine.release = to;
            assert_eq!(engine, target, "{from:?} to {to:?}: a field is missing in the list of differences");
        }
    }
}
