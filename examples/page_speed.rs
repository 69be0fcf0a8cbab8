//! How fast the page of `report` is in a real browser: until it is drawn, and for every key that zooms or pans.
//!
//! ```text
//! cargo run --release --example page_speed -- [SCENARIO]
//! ```
//!
//! Without a scenario it takes one of about 5,000 turns from the traces in `tests/data/`. Prints wall time on this machine, in ms;
//! judges nothing. Needs a chromium.

#[path = "../tests/common/browser.rs"]
mod browser;

use std::path::{Path, PathBuf};

use browser::Browser;
use overlapsim::command::{OutsidePaths, ReportArgs, report_to_html};

/// What is pressed: in, along, out, the other scale, and all of it again.
const KEYS: &str = "0 + + + + + + + + l l l h h - - - - - - - - 0 e + + + + + + l l h - - - - 0";

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let work = root.join("target");
    let file = std::env::args().nth(1).map_or_else(|| long(root, &work), PathBuf::from);
    let page = work.join("page-speed.html");
    let (rule, seed, answers, turns) = Default::default();
    let (html, _) = report_to_html(&ReportArgs {
        outside: OutsidePaths { allow_outside: true },
        file,
        rule,
        seed,
        answers,
        turns,
        output: page.clone(),
    })
    .expect("a page");
    std::fs::write(&page, &html).expect("the page can be written");
    let Some(mut browser) = Browser::start(&work, "speed") else {
        println!("there is no chromium on this machine");
        return;
    };
    browser.size(1500, 1200);
    browser.open(&page);
    println!("page         {} kB", html.len() / 1000);
    let paint = browser
        .eval("performance.getEntriesByType('paint').find((p) => p.name === 'first-contentful-paint').startTime");
    let drawn = browser.eval("performance.getEntriesByType('navigation')[0].loadEventEnd");
    println!("first paint  {:.0} ms, all drawn {:.0} ms", paint.as_f64().unwrap_or(0.0), drawn.as_f64().unwrap_or(0.0));
    let mut all = Vec::new();
    for key in KEYS.split(' ') {
        let took = browser.eval(&format!(
            "(async () => {{ const t = performance.now(); \
             document.getElementById('chart').dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}})); \
             await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))); \
             return performance.now() - t; }})()"
        ));
        all.push((took.as_f64().unwrap_or(0.0), key));
    }
    let words: Vec<String> = all.iter().map(|(ms, key)| format!("{key}:{ms:.0}")).collect();
    println!("frames       {} ms", words.join(" "));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("median {:.0} ms, most {:.0} ms", all[all.len() / 2].0, all[all.len() - 1].0);
}

/// A scenario of about 5,000 turns with some twenty rows a batch.
fn long(root: &Path, work: &Path) -> PathBuf {
    let data = root.join("tests/data/azure-llm-2023-conv.500.csv");
    let text = format!(
        "Scenario(engine: (track_interval: 64, mamba_chunk: 64), trace: (format: AzureCsv, path: {data:?}, limit: 350, \
         time_scale: 0.5))"
    );
    let file = work.join("page-speed.ron");
    std::fs::write(&file, text).expect("a scenario can be written");
    file
}
