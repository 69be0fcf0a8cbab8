//! How long a step of the explorer takes on a long history, beside running it from the start.
//!
//! One step is a key and the frame after it. `start` is what a step would cost without states kept on the way.

use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use overlapsim::engine::{OpenPoints, Seeded};
use overlapsim::record::Record;
use overlapsim::runner::{self, Session};
use overlapsim::scenario;
use overlapsim::tui::{App, Key, Theme, screen};

/// About ten thousand turns of eight requests, with a prefill now and then.
fn text() -> String {
    let long: Vec<String> =
        (0..4).map(|at| format!("(id: \"long{at}\", prompt: Fresh(40), stop: Length(9900)),")).collect();
    let short: Vec<String> = (0..200)
        .map(|at| format!("(id: \"short{at}\", arrive: Turn({}), prompt: Fresh(9), stop: Length(8)),", at * 49))
        .collect();
    format!(
        "(engine: (track_interval: 64, mamba_chunk: 64, mamba_slots: 64, kv_tokens: 60000), requests: [{}{}])",
        long.concat(),
        short.concat()
    )
}

fn steps(criterion: &mut Criterion) {
    let scenario = scenario::parse("long", &text(), Path::new("."), &runner::rule_names()).expect("a valid scenario");
    let rule = runner::rule("mask-lookahead").expect("a known rule");
    let app = || {
        let session = Session::new(&scenario.setup, rule, OpenPoints::default(), scenario.seed, Vec::new());
        let theme = Theme { ascii: false, colour: true };
        let mut app = App::new("long".to_owned(), &scenario.setup.names, session, vec![rule], theme);
        app.update(Key::Char('G'));
        app
    };
    let mut group = criterion.benchmark_group("explore");
    group.sample_size(20);
    println!("{} turns", app().session().turns());
    for (name, keys) in [
        ("turn back", &[Key::Up][..]),
        ("phase back and forward", &[Key::Left, Key::Right]),
        ("result back", &[Key::Char('[')]),
        ("boundary back", &[Key::Char('B')]),
        ("end, start", &[Key::Char('g'), Key::Char('G')]),
    ] {
        let mut app = app();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for &key in keys {
                    app.update(key);
                    screen(&app, 80, 24);
                }
            });
        });
    }
    group.bench_function("from the start", |bencher| {
        bencher.iter(|| runner::replay(&scenario.setup, rule, &mut Seeded::new(0), &mut None::<Record>));
    });
    group.bench_function("open", |bencher| bencher.iter(app));
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
