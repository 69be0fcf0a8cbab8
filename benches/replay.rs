//! Replay speed with the judge on: decode results a second at several batch sizes, and a whole public trace where it is
//! at hand.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use overlapsim::runner::{self, Keep};
use overlapsim::scenario;

#[path = "common/decode.rs"]
mod decode;

fn batches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replay");
    for batch in [1u32, 8, 64, 512] {
        let setup = decode::setup(batch, 65536 / batch);
        let rule = runner::rule(runner::DEFAULT_RULE).expect("the default rule exists");
        group.throughput(Throughput::Elements(65536));
        group.bench_function(BenchmarkId::new("batch", batch), |bencher| {
            bencher.iter(|| black_box(runner::run(&setup, rule, 0, Keep::default(), None).judgement.decode_results));
        });
    }
    group.finish();
}

fn whole_trace(criterion: &mut Criterion) {
    let path = "../shared/data/azure-llm-2023-conv.csv";
    if !Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists() {
        eprintln!("skipped: the whole trace is not at hand ({path})");
        return;
    }
    let text = format!("(trace: (format: AzureCsv, path: \"{path}\"))");
    let base = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenario = scenario::parse("azure", &text, base, &runner::rule_names()).expect("the trace can be read");
    let rule = runner::rule(runner::DEFAULT_RULE).expect("the default rule exists");
    let mut group = criterion.benchmark_group("trace");
    group.sample_size(10);
    group.throughput(Throughput::Elements(4_088_665));
    group.bench_function("azure-conversation", |bencher| {
        bencher
            .iter(|| black_box(runner::run(&scenario.setup, rule, 0, Keep::default(), None).judgement.decode_results));
    });
    group.finish();
}

criterion_group!(benches, batches, whole_trace);
criterion_main!(benches);
