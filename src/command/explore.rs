//! `explore`: the explorer in a terminal, or its screen as text after a script of keys.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use crate::escape;
use crate::history;
use crate::model::{Rule, Setup, Vary};
use crate::runner::{self, Keep, Session};
use crate::scenario::{self, Scenario};
use crate::search::Replay;
use crate::tui::{self, App, Effect, Key, Theme};

use super::expectation::expectation;
use super::finding::file_word;
use super::input::{OutsidePaths, all_rules, load, rules};
use super::line::{Choices, choices, replay_line, replay_line_of, vary};
use super::memory::{Kept, RunLength, fits};
use super::mistake::hint;
use super::output::{Exit, Failure, is_coloured, print};
use super::replay_spec::{ReplaySpec, does_not_fit};
use super::values;
use super::write_scenario::write_new_scenario;

/// A script of keys.
#[derive(Clone, Debug)]
pub struct KeyScript(pub Vec<Key>);

/// Reads a script of keys.
///
/// # Errors
/// The error and its remedy, in words for the command line.
pub(super) fn key_script(text: &str) -> Result<KeyScript, String> {
    tui::parse(text).map(KeyScript).map_err(|why| hint(&why, "the keys are those that ? shows"))
}

/// Step through a run in the terminal, change its choices, and see the effect
#[derive(Clone, Debug, clap::Args)]
pub struct ExploreArgs {
    /// The scenario file
    pub file: PathBuf,
    /// What the scenario may name beside itself
    #[command(flatten)]
    pub outside: OutsidePaths,
    /// The rule to begin with, by name; `release` for the rule that the scenario's release shipped with [default: the
    /// scenario's own, or mask-lookahead]
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// The seed of drawn durations [default: the scenario's own, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number)]
    pub seed: Option<u64>,
    /// The answers to begin with, in the form that reports of findings print
    #[arg(long, value_name = "LIST", value_parser = choices, allow_hyphen_values = true)]
    pub choices: Option<Choices>,
    /// The open questions: names with commas between, as in arrivals,stops, or all [default: the scenario's `vary`, or
    /// everything if that opens nothing]
    #[arg(long, value_name = "NAMES", value_parser = vary)]
    pub vary: Option<Vary>,
    /// Press these keys, print the screen as text, and exit: characters, and names in angle brackets such as `<right>`
    /// and `<enter>`
    #[arg(long, value_name = "KEYS", value_parser = key_script)]
    pub script: Option<KeyScript>,
    /// With --script: columns and rows of the screen
    #[arg(long, value_name = "WxH", requires = "script", default_value = "80x24", value_parser = values::size)]
    pub size: (u16, u16),
    /// Draw with ASCII characters only
    #[arg(long)]
    pub ascii: bool,
    /// The directory for histories that the key w writes
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
}

/// Shows the explorer, or prints its screen.
///
/// # Errors
/// A scenario that cannot be read, more or less than one rule, choices that do not fit, or no terminal to draw on.
pub fn explore(args: &ExploreArgs) -> Result<Exit, Failure> {
    if args.script.is_some() {
        print(&explore_to_text(args)?)?;
        return Ok(Exit::Good);
    }
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let help = "help: run it in one, or give the keys with --script; `run --timeline` prints the whole history";
        return Err(Failure(format!("error: explore needs a terminal for input and output\n{help}\n")));
    }
    let scenario = load(&args.file, args.outside)?;
    let theme = Theme { ascii: args.ascii, colour: is_coloured() };
    let mut host = Host::new(&scenario, args)?;
    let mut app = host.app(theme)?;
    tui::show(&mut app, &mut |app, effect| host.serve(app, effect))
        .map_err(|trouble| Failure(format!("error: {trouble}\nhelp: try --script, or another terminal\n")))?;
    let line = host.replay(app.session());
    print(&format!("{line}\n"))?;
    Ok(Exit::Good)
}

/// The screen after the keys of the script.
///
/// # Errors
/// As [`explore`].
pub fn explore_to_text(args: &ExploreArgs) -> Result<String, Failure> {
    let scenario = load(&args.file, args.outside)?;
    let mut host = Host::new(&scenario, args)?;
    let mut app = host.app(Theme { ascii: args.ascii, colour: false })?;
    let (width, height) = args.size;
    app.resize(width, height);
    for &key in args.script.iter().flat_map(|script| &script.0) {
        match app.update(key) {
            Effect::Quit => break,
            Effect::None => {}
            effect @ (Effect::Save | Effect::Replay) => host.serve(&mut app, effect),
        }
    }
    Ok(tui::screen(&app, width, height))
}

/// The caller of the explorer: writes files and replay commands for it.
struct Host<'a> {
    scenario: &'a Scenario,
    args: &'a ExploreArgs,
    rule: &'static dyn Rule,
    vary: Vary,
}

impl<'a> Host<'a> {
    fn new(scenario: &'a Scenario, args: &'a ExploreArgs) -> Result<Host<'a>, Failure> {
        let rules = rules(scenario, args.rule.as_deref())?;
        let [rule] = rules.as_slice() else {
            let help = "help: name the rule to begin with; the key r switches to the next";
            return Err(Failure(format!("error: the explorer shows one rule at a time\n{help}\n")));
        };
        // Admission trusts no length while any output may be a stop token, so opening `stops` may change the scripted
        // run.
        let everything = Vary { stops: !scenario.setup.engine.fixed_length_reserves_all, ..Vary::ALL };
        let own = if scenario.vary.is_nothing() { everything } else { scenario.vary };
        let vary = args.vary.unwrap_or(own);
        let bytes = RunLength::of(&scenario.setup, vary.stops).bytes(Kept::EXPLORER);
        fits(bytes, "the explorer", "shorten the scenario: fewer requests or outputs, `turns_max`, or `trace.limit`")?;
        Ok(Host { scenario, args, rule: *rule, vary })
    }

    fn seed(&self) -> u64 {
        self.args.seed.unwrap_or(self.scenario.seed)
    }

    fn app(&self, theme: Theme) -> Result<App<'a>, Failure> {
        let answers = self.args.choices.clone().unwrap_or_default().0;
        let session = Session::new(&self.scenario.setup, self.rule, self.vary.open(), self.seed(), answers);
        if let Some(misfit) = session.misfit() {
            return Err(does_not_fit(self.scenario, self.rule, misfit));
        }
        let title = self.args.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(App::new(title, &self.scenario.setup.names, session, all_rules(), theme))
    }

    fn serve(&mut self, app: &mut App<'a>, effect: Effect) {
        match effect {
            Effect::Replay => {
                let text = format!("{}\n\nIt is also printed when the explorer ends.", self.replay(app.session()));
                app.show("replay this history", &text);
            }
            Effect::Save => match self.save(app.session()) {
                Ok(text) => app.show("written", &text),
                Err(Failure(text)) => app.show("not written", &text),
            },
            Effect::None | Effect::Quit => {}
        }
    }

    /// The command that replays the history.
    fn replay(&self, session: &Session) -> String {
        let answers = session.answers();
        let scripted = answers.is_empty() && self.scenario.vary.is_nothing() && self.args.vary.is_none();
        let spec = ReplaySpec {
            seed: (!scripted || self.args.seed.is_some()).then(|| self.seed()),
            choices: (!scripted).then_some(answers),
            vary: (!scripted && self.vary != self.scenario.vary).then_some(self.vary),
        };
        replay_line_of(self.scenario, session.rule().name(), spec)
    }

    /// Writes the history as a scenario without open questions, with the outcome under every rule as its expectations.
    fn save(&self, session: &Session) -> Result<String, Failure> {
        let Scenario { setup, name, .. } = self.scenario;
        let open = session.open().clone();
        let mut chooser = Replay::new(&open, session.answers(), Some(session.seed()));
        let script = history::concrete(setup, session.rule(), &mut chooser, scenario::turns_max);
        // No request of the script arrives by time, so durations decide nothing. The costs are kept, so they are drawn
        // as here.
        let as_here = |script: Setup| Setup { costs: setup.costs.clone(), ..script };
        let Some(script) = script.map(as_here).and_then(|script| scenario::as_read(&script)) else {
            let help = format!("help: this replays it: {}", self.replay(session));
            return Err(Failure(format!("error: no script repeats this history\n{help}\n")));
        };
        let judged =
            |rule: &'static dyn Rule| runner::run(&script, rule, session.seed(), Keep::default(), None).judgement;
        let expect = all_rules().into_iter().map(|rule| expectation(rule, &judged(rule), &script.names)).collect();
        let saved = Scenario {
            title: format!("A history of {name} that was found in the explorer, under {}.", session.rule().name()),
            rule: Some(session.rule().name().to_string()),
            seed: session.seed(),
            expect,
            ..Scenario::of(script)
        };
        let path = loop {
            let path = free_path(&self.args.out, &file_word(name));
            // Another process may have taken the name in the meantime.
            if write_new_scenario(&path, &saved)? {
                break path;
            }
        };
        let line = replay_line(&path, session.rule().name(), ReplaySpec::default());
        Ok(format!("{}\n\n{line}", escape::path(&path)))
    }
}

/// The first path that is not taken.
fn free_path(folder: &Path, name: &str) -> PathBuf {
    let path = |nth: u32| folder.join(format!("{name}-explored-{nth}.ron"));
    (1..).map(path).find(|path| !path.exists()).expect("some number is free")
}
