//! Scripts of keys for `explore`. Every script that can be read gives a screen of the size asked for, the same the second time.

use std::path::Path;

use overlapsim::model::Vary;
use overlapsim::runner::{self, Session};
use overlapsim::scenario::{self, Scenario};
use overlapsim::tui::{self, App, Effect, Key, Theme};

use super::soak::{Outcome, Reader, shape, soak};

/// The most keys that are pressed, so that a script takes bounded time.
const KEYS_MAX: usize = 120;

/// The scenarios in turn, and the sizes of the screen.
const SCENARIOS: [&str; 5] =
    ["double-fire.ron", "retraction.ron", "abort-everywhere.ron", "spec-crossings.ron", "check/interleaved.ron"];
const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (40, 10), (3, 3)];

struct Keys {
    scenarios: Vec<Scenario>,
}

impl Keys {
    fn new() -> Keys {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let rules = runner::rule_names();
        let load = |name: &&str| scenario::load(&root.join(name), &rules).expect("a scenario");
        Keys { scenarios: SCENARIOS.iter().map(load).collect() }
    }
}

/// The screen after some keys, and what the caller was asked to do.
fn screen(scenario: &Scenario, keys: &[Key], (width, height): (u16, u16)) -> (String, usize) {
    let rule = runner::rule(runner::DEFAULT_RULE).expect("a rule");
    let rules = runner::rule_names().into_iter().map(|name| runner::rule(name).expect("a rule")).collect();
    let open = Vary { stops: !scenario.setup.engine.fixed_length_reserves_all, ..Vary::ALL }.open();
    let session = Session::new(&scenario.setup, rule, open, scenario.seed, Vec::new());
    let theme = Theme { ascii: keys.len().is_multiple_of(2), colour: false };
    let mut app = App::new("case.ron".to_string(), &scenario.setup.names, session, rules, theme);
    app.resize(width, height);
    let mut asked = 0;
    for key in keys {
        match app.update(*key) {
            Effect::Quit => break,
            Effect::None => {}
            Effect::Save | Effect::Replay => asked += 1,
        }
    }
    (tui::screen(&app, width, height), asked)
}

impl Reader for Keys {
    const NAME: &'static str = "keys";
    const INPUTS: u64 = 500;

    fn words(&self) -> Vec<String> {
        let words = "h l j k [ ] b B d D f F o O g G c u U r R m = w p z ? q <left> <right> <up> <down> <pgup> <pgdn> <tab> <enter> \
            <esc> <lt> jjjc<right><enter> fm= <nowhere> < > 0 9";
        words.split_whitespace().map(str::to_string).collect()
    }

    fn read(&mut self, input: &[u8]) -> Outcome {
        let script = String::from_utf8_lossy(input);
        let script = script.trim_end_matches('\n').replace('\0', "");
        let keys = match tui::parse(&script) {
            Ok(keys) => keys,
            Err(why) => {
                assert!(!why.is_empty());
                return Outcome::refused(&why);
            }
        };
        if keys.len() > KEYS_MAX {
            return Outcome { accepted: true, signs: Vec::new() };
        }
        let pick = script.len();
        let scenario = &self.scenarios[pick % SCENARIOS.len()];
        let size = SIZES[pick / SCENARIOS.len() % SIZES.len()];
        let (first, asked) = screen(scenario, &keys, size);
        assert_eq!((&first, asked), (&screen(scenario, &keys, size).0, asked), "the second screen differs");
        assert_eq!(first.lines().count(), usize::from(size.1), "{first}");
        assert!(first.lines().all(|line| line.chars().count() <= usize::from(size.0)), "{first}");
        let title = first.lines().next().map(shape).unwrap_or_default();
        Outcome { accepted: true, signs: vec![format!("{title}, {}", asked.min(2))] }
    }
}

#[test]
fn scripts_of_keys() {
    soak(Keys::new());
}
