//! The first 500 rows of each public trace, under every rule in both buffered strategies: accounting must be clean.

use std::path::Path;

use overlapsim::judge::{FindingKind, Judgement};
use overlapsim::runner::{self, Keep};
use overlapsim::scenario::{self, Scenario};

const TRACES: [(&str, &str, &str); 4] = [
    ("AzureCsv", "azure-llm-2023-conv.500.csv", ""),
    ("AzureCsv", "azure-llm-2023-code.500.csv", ""),
    ("MooncakeJsonl", "mooncake-conversation.500.jsonl", "page_size: 64, kv_tokens: 2097152, mamba_slots: 512"),
    ("MooncakeJsonl", "mooncake-synthetic.500.jsonl", "page_size: 64, kv_tokens: 2097152, mamba_slots: 512"),
];

fn scenario(format: &str, file: &str, engine: &str, strategy: &str) -> Scenario {
    let text =
        format!("(engine: (strategy: {strategy}, {engine}), trace: (format: {format}, path: \"tests/data/{file}\"))");
    let base = Path::new(env!("CARGO_MANIFEST_DIR"));
    scenario::parse(file, &text, base, &runner::rule_names()).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

fn judge(scenario: &Scenario, rule: &str) -> Judgement {
    runner::run(&scenario.setup, runner::rule(rule).unwrap(), 0, Keep::default(), None).judgement
}

fn check(strategy: &str) {
    for (format, file, engine) in TRACES {
        let scenario = scenario(format, file, engine, strategy);
        assert_eq!(scenario.setup.requests.len(), 500);
        let wanted: u32 = scenario.setup.requests.iter().map(|spec| spec.max_new).sum();
        for rule in runner::rule_names() {
            let judgement = judge(&scenario, rule);
            for finding in &judgement.findings {
                let of_contents = matches!(
                    finding.kind,
                    FindingKind::Mislabelled
                        | FindingKind::Unwritten
                        | FindingKind::Aliased
                        | FindingKind::Inherited
                        | FindingKind::Lost
                );
                assert!(of_contents, "{file} {strategy} {rule}: {finding:?}");
            }
            let outputs: u32 = judgement.requests.iter().map(|outcome| outcome.outputs).sum();
            assert_eq!((outputs, judgement.bound), (wanted, None), "{file} {strategy} {rule}");
        }
    }
}

#[test]
fn traces_keep_accounts_clean_under_extra_buffer() {
    check("ExtraBuffer");
}

#[test]
fn traces_keep_accounts_clean_under_extra_buffer_lazy() {
    check("ExtraBufferLazy");
}

#[test]
fn equal_block_ids_are_prefix_hits() {
    let (format, file, engine) = TRACES[2];
    let judgement = judge(&scenario(format, file, engine, "ExtraBuffer"), "token-len");
    let hits = judgement.requests.iter().filter(|outcome| outcome.prefix_hit > 0).count();
    assert!(hits > 50, "{hits} hits");
}
