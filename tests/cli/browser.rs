//! The page of `report` in a real browser: what it draws against the scene, what keys, wheel and mouse do, both colour
//! schemes, paper, narrow windows. Pictures are kept in `target/screenshots/`.
//!
//! Without a browser on the machine, each test prints a `SKIPPED` line and passes: `tests/common/skip.rs`. To get one:
//! `.ci/run --install`.

use std::path::{Path, PathBuf};

use crate::common::browser::{Browser, base64};
use crate::common::skip::skipped;
use overlapsim::command::{Answers, OutsidePaths, ReportArgs, report_to_html};
use overlapsim::engine::Seeded;
use overlapsim::judge::{Class, Judgement};
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;
use overlapsim::scene::{Fit, Lane, Scene, Work};
use serde_json::{Value, json};

const WIDE: u32 = 5000;

fn work() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

fn start(name: &str) -> Option<Browser> {
    let browser = Browser::start(&work(), name);
    if browser.is_none() {
        skipped("chromium is not installed");
    }
    browser
}

/// Writes the page of a scenario and returns its path.
fn write(file: &str, rule: Option<&str>) -> PathBuf {
    let args = ReportArgs {
        outside: OutsidePaths::default(),
        file: file.into(),
        rule: rule.map(str::to_owned),
        seed: None,
        answers: Answers::default(),
        turns: None,
        output: PathBuf::new(),
    };
    let (html, _) = report_to_html(&args).expect("a page");
    let stem = Path::new(file).file_stem().expect("a name").to_string_lossy().into_owned();
    let path = work().join(format!("{stem}-{}-{:?}.html", rule.unwrap_or("own"), std::thread::current().id()));
    std::fs::write(&path, html).expect("the page can be written");
    path
}

fn paint(file: &str, rule: &str) -> (Scene, Judgement) {
    let scenario = scenario::load(Path::new(file), &runner::rule_names()).expect("a valid scenario");
    let rule = runner::rule(rule).expect("a rule");
    let keep = Keep { boundaries: true, ..Keep::default() };
    let judgement = runner::run(&scenario.setup, rule, scenario.seed, keep, None).judgement;
    let mut chooser = Seeded::new(scenario.seed);
    let scene = runner::scene(&scenario.setup, rule, &mut chooser, None, &judgement);
    (scene, judgement)
}

fn shots() -> PathBuf {
    let folder = work().join("../screenshots");
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    folder
}

#[test]
fn the_drawing_matches_scene_and_judgement() {
    let Some(mut browser) = start("drawn") else { return };
    browser.size(WIDE, 1200);
    let files = ["double-fire", "natural-jitter", "torn-chunk-snapshot", "spec-crossings", "retraction", "kl-row2"];
    for file in files.map(|name| format!("scenarios/{name}.ron")) {
        browser.open(&write(&file, Some("all")));
        let rules = runner::rule_names();
        for (index, rule) in rules.iter().enumerate() {
            let name = format!("{file} under {rule}");
            browser.click(&format!("#rules input[value='{index}']"));
            let (scene, judgement) = paint(&file, rule);
            boundaries(&mut browser, &scene, &judgement, &name);
            let wrong =
                scene.segments.iter().filter(|segment| segment.fit == Fit::Wrong && segment.end_ns > segment.start_ns);
            let tall = browser.eval("document.querySelector('#slots-box').scrollHeight <= document.querySelector('#slots-box').clientHeight");
            if tall == json!(true) {
                assert_eq!(browser.count("#slots rect.wrong"), wrong.count() as u64, "{name}: wrong segments");
            }
            let forwards = scene.spans.iter().filter(|span| span.lane == Lane::Forward);
            let waited = |batch| {
                scene
                    .spans
                    .iter()
                    .any(|span| span.batch == batch && span.work == Work::Phase(overlapsim::record::Phase::Result))
            };
            assert_eq!(
                browser.count(".flow"),
                forwards.filter(|span| waited(span.batch)).count() as u64,
                "{name}: arrows to results"
            );
            reads(&mut browser, &scene, &name);
            assert_eq!(browser.count("#findings .finding"), judgement.findings.len() as u64, "{name}: findings");
        }
    }
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

/// Checks that the signs in the rows of requests are the decisions of the judgement.
fn boundaries(browser: &mut Browser, scene: &Scene, judgement: &Judgement, name: &str) {
    let of = |class: Class| judgement.boundaries.iter().filter(|row| row.class == class).count() as u64;
    for (word, class) in [
        ("agree", Class::Agree),
        ("early", Class::Early),
        ("settled", Class::Settled),
        ("repeat", Class::Repeat),
        ("missed", Class::Missed),
        ("wrong-label", Class::WrongLabel),
        ("wrong-slot", Class::WrongSlot),
    ] {
        assert_eq!(browser.count(&format!("#requests .mk.c-{word}")), of(class), "{name}: {word}");
    }
    let writes = scene.steps.iter().filter(|step| step.due.is_some()).count() as u64;
    assert_eq!(browser.count("#requests .due"), writes, "{name}: steps that write a track slot");
}

/// Checks that every read of a value newer than at prepare has its arc, or is counted as too short for an arc.
fn reads(browser: &mut Browser, scene: &Scene, name: &str) {
    let newer = scene.arrows.iter().filter(|arrow| arrow.newer > 0).count() as u64;
    let changed = scene.arrows.iter().filter(|arrow| arrow.changed > 0).count() as u64;
    let note = browser.text("#lanes .note");
    let short: u64 = note.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
    assert_eq!(browser.count("#lanes .read") + short, newer, "{name}: reads, {note}");
    assert!(browser.count("#lanes .read.hot") <= changed, "{name}: reads that changed a decision");
    assert!(changed == 0 || short > 0 || browser.count("#lanes .read.hot") == changed, "{name}");
}

#[test]
fn a_hover_shows_a_click_pins_and_links_lead_on() {
    let Some(mut browser) = start("pin") else { return };
    browser.size(1500, 1200);
    browser.open(&write("scenarios/double-fire.ron", Some("all")));
    assert_eq!(browser.eval("document.querySelector('#tip').hidden"), json!(true));
    let repeat = browser.eval("[...document.querySelectorAll('#requests .cell')].findIndex((cell) => cell.nextElementSibling?.classList.contains('due'))");
    let step = browser.eval(&format!("document.querySelectorAll('#requests .cell')[{repeat}].dataset.i"));
    let cell = format!("#requests .cell[data-i='{}']", step.as_str().expect("a step"));
    let at = browser.middle(&cell);
    browser.mouse("mouseMoved", at);
    browser.settle();
    assert_eq!(browser.eval("document.querySelector('#tip').hidden"), json!(false));
    let tip = browser.text("#tip");
    for word in ["a, k 4", "repeat", "length 4 in slot s3", "label 4 in slot s4"] {
        assert!(tip.contains(word), "{word}: {tip}");
    }
    assert!(browser.count("#lanes .frame.hover") >= 4, "prepare, launch, forward, result of the batch light up");
    browser.click(&cell);
    let panel = browser.text("#panel");
    for word in
        ["lookahead L0", "committed at prepare4 tokens", "prepared in turn 3", "result in turn 4", "forward, 8.03 ms"]
    {
        assert!(panel.contains(word), "{word}: {panel}");
    }
    assert!(browser.count("#requests .frame.pinned") == 1 && browser.count("#slots .row-on") == 2);
    browser.click("#panel .go[data-kind='seg']");
    assert!(browser.text("#panel h2").contains("slot s"));
    browser.key("]");
    assert!(browser.text("#say").contains("slot s"), "what is pinned is said aloud");
    browser.key("Escape");
    assert!(browser.text("#panel").contains("How to read it"));
    browser.click("#lanes .sp[data-s]");
    assert!(browser.text("#panel").contains("takes"));
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

#[test]
fn the_panel_of_a_finding_shows_its_causes() {
    let Some(mut browser) = start("finding") else { return };
    browser.size(1500, 1200);
    browser.open(&write("scenarios/double-fire.ron", Some("all")));
    browser.click("#findings .finding");
    let panel = browser.text("#panel");
    for word in [
        "unwritten, a",
        "label 4, but no forward has written the slot",
        "(L 1) fires: label 4 in slot s3: early",
        "(L 0) fires: label 4 in slot s4: repeat",
        "s4 is donated under label 4",
    ] {
        assert!(panel.contains(word), "{word}: {panel}");
    }
    let replay = browser.text("#panel .replay code");
    assert_eq!(replay, "overlapsim run scenarios/double-fire.ron --rule mask-lookahead --timeline");
    browser.click("#panel .copy");
    browser.until("['copied', 'select it'].includes(document.querySelector('#panel .copy').textContent)", &json!(true));
    browser.open(&write("scenarios/natural-jitter.ron", None));
    let whole = brush(&mut browser);
    browser.key("n");
    browser.key("n");
    assert!(browser.text("#panel").contains("finding 2 of 5"));
    assert!(brush(&mut browser).1 < whole.1 / 3.0, "the picture goes to the place");
    browser.key("p");
    assert!(browser.text("#panel").contains("finding 1 of 5"));
    browser.key("b");
    let first = browser.text("#panel h2");
    browser.key("b");
    assert_ne!(browser.text("#panel h2"), first);
    browser.key("B");
    assert_eq!(browser.text("#panel h2"), first);
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

/// Start and width of the visible range in the overview.
fn brush(browser: &mut Browser) -> (f64, f64) {
    let of = browser.eval("['x', 'width'].map((name) => +document.querySelector('#map .brush').getAttribute(name))");
    (of[0].as_f64().expect("x"), of[1].as_f64().expect("width"))
}

#[test]
fn keys_wheel_and_drag_move_the_picture() {
    let Some(mut browser) = start("keys") else { return };
    browser.size(1500, 1200);
    browser.open(&write("scenarios/natural-jitter.ron", Some("all")));
    let whole = brush(&mut browser);
    browser.key("+");
    browser.key("+");
    let near = brush(&mut browser);
    assert!(near.1 < whole.1 / 2.0 && near.0 > whole.0);
    browser.key("l");
    let right = brush(&mut browser);
    assert!(right.0 > near.0 && (right.1 - near.1).abs() < 0.3);
    browser.key("ArrowLeft");
    assert!((brush(&mut browser).0 - near.0).abs() < 0.3);
    browser.key("-");
    assert!(brush(&mut browser).1 > near.1);
    browser.key("0");
    assert_eq!(brush(&mut browser), whole);

    // The wheel zooms at the pointer: what is under it stays.
    let at = browser.middle("#lanes");
    let under = "(() => { const c = document.querySelector('#cross').dataset.at; return c; })()";
    browser.mouse("mouseMoved", at);
    let before = browser.eval(under);
    browser.wheel(at, -400.0);
    browser.mouse("mouseMoved", (at.0, at.1 + 1.0));
    let number =
        |value: &Value| value.as_str().and_then(|text| text.split(' ').next()?.parse::<f64>().ok()).expect("a time");
    let after = browser.eval(under);
    assert!((number(&before) - number(&after)).abs() < 1.0, "{before} {after}");
    let zoomed = brush(&mut browser);
    assert!(zoomed.1 < whole.1 * 0.7);
    browser.mouse("mousePressed", at);
    for step in 1..=5 {
        let event = json!({"type": "mouseMoved", "x": at.0 + 40.0 * f64::from(step), "y": at.1, "button": "left", "buttons": 1});
        browser.call("Input.dispatchMouseEvent", event);
    }
    browser.mouse("mouseReleased", (at.0 + 200.0, at.1));
    browser.settle();
    assert!(brush(&mut browser).0 < zoomed.0, "dragging to the right shows what was before");

    // Another rule, the same place.
    let place = brush(&mut browser);
    browser.key("r");
    assert!(browser.text("#way").contains("completed-mask"));
    assert!((brush(&mut browser).1 - place.1).abs() < place.1 * 0.2);
    assert!(browser.text("#verdict").contains("clean"));
    browser.click("#rules input[value='0']");
    assert!(browser.text("#way").contains("committed-len") && browser.text("#verdict").contains("lossy"));
    browser.key("e");
    assert_eq!(browser.eval("document.querySelector('#even').getAttribute('aria-pressed')"), json!("false"));
    browser.key("?");
    assert_eq!(browser.eval("document.querySelector('#help').open"), json!(true));
    browser.key("Escape");
    browser.eval("document.querySelector('#help').close()");

    // Which reads are shown.
    browser.key("0");
    browser.eval("(() => { const s = document.querySelector('#reads'); s.value = 'none'; s.dispatchEvent(new Event('change', {bubbles: true})); })()");
    browser.settle();
    assert_eq!(browser.count("#lanes .read"), 0);
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

#[test]
fn everything_has_a_name_and_can_be_reached_by_keys() {
    let Some(mut browser) = start("names") else { return };
    browser.size(1500, 1200);
    browser.open(&write("scenarios/double-fire.ron", Some("all")));
    let nameless = "[...document.querySelectorAll('button, select, input, summary')].filter((e) => !(e.textContent.trim() || e.title || e.getAttribute('aria-label') || e.closest('label')?.textContent.trim())).length";
    assert_eq!(browser.eval(nameless), json!(0));
    let outside =
        "[...document.querySelectorAll('button, select, input, summary, #chart')].filter((e) => e.tabIndex < 0).length";
    assert_eq!(browser.eval(outside), json!(0));
    assert_eq!(browser.count("#chart[aria-label]"), 1);
    assert_eq!(browser.count("svg.pickable:not([aria-label])"), 0);
    assert_eq!(browser.eval("performance.getEntriesByType('resource').length"), json!(0), "nothing is fetched");
    browser.eval("document.querySelector('#findings .finding').focus()");
    browser.call(
        "Input.dispatchKeyEvent",
        json!({"type": "keyDown", "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13}),
    );
    browser.settle();
    assert!(browser.text("#panel").contains("finding 1 of 1"));
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

#[test]
fn the_page_fits_dark_light_paper_and_narrow_windows() {
    let Some(mut browser) = start("looks") else { return };
    let ground = "getComputedStyle(document.body).backgroundColor";
    let page = write("scenarios/natural-jitter.ron", Some("all"));
    browser.size(1500, 1200);
    browser.media("dark", "");
    browser.open(&page);
    let dark = browser.eval(ground);
    browser.media("light", "");
    let light = browser.eval(ground);
    assert_ne!(dark, light);
    browser.key("d");
    assert_eq!(browser.eval(ground), dark, "a choice outweighs the system");
    browser.key("n");
    browser.media("light", "print");
    assert_eq!(browser.eval(ground), json!("rgb(255, 255, 255)"), "paper is light");
    let shown = |selector: &str| format!("getComputedStyle(document.querySelector('{selector}')).display !== 'none'");
    assert_eq!(browser.eval(&shown("#tools")), json!(false));
    assert_eq!(browser.eval(&shown("#findings")), json!(true));
    let whole =
        "document.querySelector('#findings').scrollHeight <= document.querySelector('#findings').clientHeight + 1";
    assert_eq!(browser.eval(whole), json!(true), "all findings are on paper");
    browser.media("light", "");
    let pdf = browser.call("Page.printToPDF", json!({"printBackground": true}));
    assert!(base64(pdf["data"].as_str().expect("a document")).starts_with(b"%PDF"));

    let pages = ["double-fire", "torn-chunk-snapshot", "natural-jitter"]
        .map(|name| (name, write(&format!("scenarios/{name}.ron"), Some("all"))));
    for (width, scheme) in [(400, "light"), (400, "dark"), (800, "light"), (1500, "light"), (1500, "dark")] {
        browser.media(scheme, "");
        browser.size(width, 1000);
        for (name, page) in &pages {
            browser.open(page);
            browser.key("n");
            let over = browser.eval("document.documentElement.scrollWidth - innerWidth");
            assert!(over.as_i64().expect("a width") <= 0, "{name} is {over} wider than a window of {width}");
            assert!(browser.count("#requests .cell") > 0);
            browser.screenshot(&shots().join(format!("{name}-{width}-{scheme}.png")));
        }
    }
    assert_eq!(browser.troubles(), Vec::<String>::new());
}

#[test]
fn a_long_run_is_drawn_by_what_is_in_view() {
    let Some(mut browser) = start("long") else { return };
    let file = work().join("long.ron");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/azure-llm-2023-conv.500.csv");
    std::fs::copy(data, work().join("long.csv")).expect("the trace can be copied");
    let text =
        "(engine: (track_interval: 64, mamba_chunk: 64), trace: (format: AzureCsv, path: \"long.csv\", limit: 60))";
    std::fs::write(&file, text).expect("a scenario can be written");
    browser.size(1500, 1200);
    browser.open(&write(&file.to_string_lossy(), None));
    assert!(browser.count("*") < 6000, "{} elements", browser.count("*"));
    let mut most = 0;
    for key in ["+", "+", "+", "+", "+", "+", "l", "l", "e", "h", "-", "-", "0"] {
        browser.key(key);
        most = most.max(browser.count("*"));
    }
    assert!(most < 9000, "{most} elements");
    browser.screenshot(&shots().join("long-1500-light.png"));
    browser.key("n");
    browser.screenshot(&shots().join("long-finding-1500-light.png"));
    assert_eq!(browser.troubles(), Vec::<String>::new());
}
