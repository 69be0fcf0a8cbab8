//! `cost`: steady decode against values that were computed by hand, where the CPU is the longer, and what is printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use overlapsim::command::{CostArgs, Format, OutsidePaths, batches, cost_to_text};
use overlapsim::metrics::CostRun;
use overlapsim::runner::{self, SteadyCost};
use overlapsim::scenario::{self, Scenario};
use overlapsim::workload::{DecodeTable, RequestShape, shapes};

/// No boundary comes within these lengths. A CPU step of n requests takes 210 + n * (5 + 7 + check) ns: 10 + 20 + 100 + 50 + 30,
/// and rows; a check is 3 ns computed and 1 ns from a mask. A prefill of n requests takes 500 + n * 8 * 2 ns.
fn scenario(engine: &str, gpu: &str) -> Scenario {
    let text = format!(
        "(engine: (track_interval: 256{engine}), costs: (ingest: Fixed(10), plan: Fixed(20), prepare: Fixed(100),
            prepare_request: Fixed(5), launch: Fixed(50), result: Fixed(30), result_request: Fixed(7),
            check_recompute: Fixed(3), check_mask: Fixed(1), gpu_extend: Fixed(500), gpu_extend_token: Fixed(2),
            result_copy: Fixed(15), {gpu}),
          requests: [(id: \"a\", prompt: Fresh(8), stop: Length(40))])"
    );
    scenario::parse("a.ron", &text, Path::new(""), &runner::rule_names()).expect("a scenario")
}

fn run(scenario: &Scenario, batch: u32, rule: &str) -> CostRun {
    let shapes = shapes(&scenario.setup, None);
    let cost = SteadyCost { setup: &scenario.setup, shapes: &shapes, decode: None, seed: 0 };
    let rule = runner::rule(rule).expect("a rule");
    cost.runs(&[batch], &[rule], 1, &|| ()).remove(0).expect("it is run").remove(0)
}

#[test]
fn a_gpu_that_is_longer_hides_the_cpu() {
    let scenario = scenario("", "gpu_decode: Fixed(1_000), gpu_decode_request: Fixed(25)");
    let run = run(&scenario, 4, "committed-len");
    assert_eq!((run.cpu_step_ns, run.gpu_step_ns, run.turn_ns), (210 + 4 * 15, 1_100, 1_100));
    assert_eq!((run.longer, run.overlap_percent, run.gpu_idle_ns), ("gpu", 100.0, 0));
    assert_eq!(run.tokens_per_s, 3_636_363.6, "4 tokens in 1100 ns");
    // 39 decode steps, and one more that is launched before the last output is known. The first is launched with the result of the
    // prefill, and two are the warm-up.
    assert_eq!((run.steps, run.masks, run.stopped), (37, false, None));
    assert_eq!((run.itl_ns.p50, run.itl_ns.p90), (Some(1_100), Some(1_100)));
}

#[test]
fn a_cpu_that_is_longer_leaves_the_gpu_idle() {
    let scenario = scenario("", "gpu_decode: Fixed(100), gpu_decode_request: Fixed(5)");
    let recompute = run(&scenario, 4, "committed-len");
    assert_eq!((recompute.cpu_step_ns, recompute.gpu_step_ns, recompute.turn_ns), (270, 120, 270));
    assert_eq!((recompute.longer, recompute.overlap_percent), ("cpu", 100.0));
    assert_eq!(recompute.gpu_idle_ns, recompute.steps * (270 - 120));
    assert_eq!(recompute.gpu_idle_percent, 55.6);
    let mask = run(&scenario, 4, "mask-lookahead");
    assert_eq!((mask.cpu_step_ns, mask.turn_ns, mask.masks), (262, 262, true));
    assert_eq!(mask.tokens_per_s, 15_267_175.6, "4 tokens in 262 ns");
    // 10 + 20 + 100 + 4 * 5 + 50 to the launch, 500 + 32 * 2 of prefill and 15 of its copy, 30 of its result, and 7 for each row: the
    // result of a prefill is checked by no rule.
    let first = 200 + 564 + 15 + 30;
    assert_eq!((mask.ttft_ns.p50, mask.ttft_ns.p99), (Some(first + 2 * 7), Some(first + 4 * 7)));
    // The first token comes when the CPU has waited for the prefill; all others a CPU step apart.
    assert_eq!((recompute.itl_ns.p50, mask.itl_ns.p50), (Some(270), Some(262)));
}

#[test]
fn with_equal_steps_cpu_and_gpu_wait_for_each_others_copies() {
    let scenario = scenario("", "gpu_decode: Fixed(270), gpu_decode_request: Fixed(0)");
    let run = run(&scenario, 4, "committed-len");
    assert_eq!((run.cpu_step_ns, run.gpu_step_ns), (270, 270));
    // Two turns are one CPU step, one forward and one copy.
    assert!((277..=278).contains(&run.turn_ns), "{}", run.turn_ns);
    assert_eq!((run.longer, run.limit, run.result_copy_ns), ("gpu", "copy", 15));
}

#[test]
fn a_turn_is_as_long_as_its_limit_says() {
    // A CPU step of 270 ns beside forwards and copies of any length.
    for overlap in [true, false] {
        for gpu in [100, 250, 255, 256, 270, 284, 285, 290, 600] {
            for copy in [0, 15, 100, 900] {
                let engine = format!(", overlap: {overlap}");
                let mut scenario =
                    scenario(&engine, &format!("gpu_decode: Fixed({gpu}), gpu_decode_request: Fixed(0)"));
                scenario.setup.costs.result_copy = overlapsim::model::Cost::Fixed(copy);
                let run = run(&scenario, 4, "committed-len");
                let expected = match run.limit {
                    "cpu" => run.cpu_step_ns,
                    "gpu" => run.gpu_step_ns,
                    "copy" => (run.cpu_step_ns + run.gpu_step_ns + run.result_copy_ns) / 2,
                    limit => {
                        assert!(limit == "sum" && !overlap, "{limit}");
                        run.cpu_step_ns + run.gpu_step_ns + run.result_copy_ns
                    }
                };
                // Of an odd number of steps the last is no pair.
                let off = run.turn_ns.abs_diff(expected);
                assert!(
                    off <= copy / run.steps + 1,
                    "{overlap} {gpu} {copy}: {} is no {expected} {}",
                    run.turn_ns,
                    run.limit
                );
            }
        }
    }
}

#[test]
fn without_overlap_nothing_is_hidden() {
    let scenario = scenario(", overlap: false", "gpu_decode: Fixed(100), gpu_decode_request: Fixed(5)");
    let run = run(&scenario, 4, "committed-len");
    assert_eq!((run.cpu_step_ns, run.gpu_step_ns, run.turn_ns), (270, 120, 270 + 120 + 15));
    assert_eq!((run.overlap_percent, run.gpu_idle_ns), (0.0, run.steps * (270 + 15)));
}

#[test]
fn the_batch_size_at_which_the_cpu_becomes_the_longer_is_exact() {
    // 210 + 15 n, or 13 n from masks, against 400 + 5 n, and against a table that is crossed three times: it goes on by 33.3 a row from
    // 200 at 1, by 3 from 500 at 10, by 47 from 560 at 30.
    let scenario = scenario("", "gpu_decode: Fixed(400), gpu_decode_request: Fixed(5)");
    let shapes = [RequestShape { prompt: 8, outputs: 12 }];
    let rules = ["committed-len", "mask-lookahead"].map(|name| runner::rule(name).expect("a rule"));
    let table = DecodeTable::new(vec![(1, 200), (10, 500), (30, 560), (50, 1500)]);
    let straight = [vec![[20, 60]], vec![[24, 60]]];
    let crooked = [vec![[1, 2], [22, 33]], vec![[1, 2], [27, 31]]];
    for (decode, expected) in [(None, straight), (Some(&table), crooked)] {
        let cost = SteadyCost { setup: &scenario.setup, shapes: &shapes, decode, seed: 0 };
        let found = cost.cpu_longer(60, &rules, &mut vec![BTreeMap::new(); 2], 2).expect("every size has steps");
        for (at, rule) in rules.iter().enumerate() {
            let all: Vec<u32> = (1..=60).collect();
            let runs = cost.runs(&all, &[*rule], 2, &|| ());
            let run = |batch: &u32| &runs[*batch as usize - 1].as_ref().expect("it is run")[0];
            let longer = |batch: &u32| run(batch).longer == "cpu";
            let here: Vec<u32> = all.iter().copied().filter(longer).collect();
            let there: Vec<u32> = found[at].iter().flat_map(|&[from, to]| from..=to).collect();
            assert_eq!(here, there, "{}", rule.name());
            assert_eq!(found[at], expected[at], "{}", rule.name());
        }
    }
}

fn args(file: &str, list: &str) -> CostArgs {
    let batches = batches(list).expect("batch sizes");
    let file = PathBuf::from(format!("scenarios/{file}.ron"));
    CostArgs {
        outside: OutsidePaths::default(),
        file,
        batches,
        rule: None,
        cpu: None,
        gpu: None,
        outputs: None,
        seed: None,
        format: Format::Text,
    }
}

fn compare(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new("../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn text_and_json_match_the_snapshots() {
    for file in ["steady-decode", "cpu-bound-decode"] {
        let (text, _) = cost_to_text(&args(file, "1,10,100,1000")).expect("it is measured");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        compare(&format!("cost.{file}"), &text);
    }
    let (rule, format) = (Some("mask-lookahead".to_string()), Format::Json);
    let json = CostArgs { rule, format, ..args("cpu-bound-decode", "100") };
    compare("cost.cpu-bound-decode.json", &cost_to_text(&json).expect("it is measured").0);
}

#[test]
fn presets_of_the_command_line_are_those_of_the_file() {
    // Which rules is no matter.
    let rule = Some("mask-lookahead".to_string());
    let of_file = CostArgs { rule: rule.clone(), ..args("steady-decode", "64,100") };
    let of_file = cost_to_text(&of_file).expect("it is measured").0;
    let (cpu, gpu) = (Some("python-0.5.17".to_string()), Some("h100x8-80b-a3b".to_string()));
    let named = CostArgs { cpu, gpu, rule, ..args("cpu-bound-decode", "64,100") };
    let named = cost_to_text(&named).expect("it is measured").0;
    assert_eq!(of_file.split_once('\n').map(|parts| parts.1), named.split_once('\n').map(|parts| parts.1));
}

#[test]
fn the_times_measured_at_1000_requests_are_simulated() {
    // Steps without a boundary: 64 + 20 tokens on a grid of 256.
    let text = "(costs: (cpu: \"python-0.5.17\"), requests: [(id: \"a\", prompt: Fresh(64), stop: Length(20))])";
    let scenario = scenario::parse("a.ron", text, Path::new(""), &runner::rule_names()).expect("a scenario");
    let [recompute, mask] = ["committed-len", "mask-lookahead"].map(|rule| run(&scenario, 1000, rule).cpu_step_ns);
    // Ingest, plan and launch, and the measured prepare and result processing.
    assert_eq!(recompute, 20_000 + 50_000 + 220_000 + 820_000 + 3_390_000);
    assert_eq!(mask, 20_000 + 50_000 + 220_000 + 820_000 + 2_570_000);
}

#[test]
fn decode_costs_over_a_preset_put_its_table_out_of_use() {
    let costs = |set: &str| {
        let text = format!(
            "(costs: (cpu: \"python-0.5.17\", gpu: \"h100x8-80b-a3b\"{set}),
              requests: [(id: \"a\", prompt: Fresh(8), stop: Length(40))])"
        );
        of(&format!("set-{}", set.len()), &text, "100", "mask-lookahead").expect("it is run")
    };
    let warned =
        |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").contains("not the table of the preset");
    assert!(!warned(&costs("")) && !warned(&costs(", result_copy: Fixed(9)")));
    assert!(warned(&costs(", gpu_decode_request: Fixed(70_580)")));
}

#[test]
fn where_batches_are_never_full_no_limit_of_the_cpu_is_reported() {
    let engine = ", release: V0_5_17, chunked_prefill_size: 2048, mixed_chunk: true";
    let mut scenario = scenario(engine, "gpu_decode: Fixed(3), gpu_decode_request: Fixed(0)");
    scenario.setup.requests[0].prompt = overlapsim::model::Prompt::Fresh { fresh: 1, len: 160 };
    let shapes = shapes(&scenario.setup, None);
    let cost = SteadyCost { setup: &scenario.setup, shapes: &shapes, decode: None, seed: 0 };
    let rules = [runner::rule("mask-lookahead").expect("a rule")];
    let mut known = vec![BTreeMap::new()];
    let largest = cost.largest(1, 4096, &rules, &mut known);
    assert!((2..4096).contains(&largest), "{largest}");
    assert_eq!(cost.cpu_longer(largest, &rules, &mut known, 1), Ok(vec![vec![[1, largest]]]));
    assert!(cost.cpu_longer(4096, &rules, &mut known, 1).is_err());
}

/// Of a scenario of its own.
fn of(name: &str, text: &str, list: &str, rule: &str) -> Result<String, String> {
    let dir = std::env::temp_dir().join(format!("overlapsim-cost-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory of its own");
    let file = dir.join("a.ron");
    std::fs::write(&file, text).expect("a scenario");
    let args = CostArgs { file: file.clone(), rule: Some(rule.to_owned()), ..args("steady-decode", list) };
    let said = cost_to_text(&args).map(|(text, exit)| format!("{text}exit: {exit:?}\n")).map_err(|failure| failure.0);
    std::fs::remove_dir_all(&dir).expect("it is there");
    let short = |text: String| text.replace(&*file.to_string_lossy(), "a.ron");
    said.map(short).map_err(short)
}

/// Costs at which a run is short, and requests of three shapes.
fn three(engine: &str, more: &str) -> String {
    format!(
        "(engine: ({engine}), costs: (cpu: \"python-0.5.17\"), {more}
          requests: [(id: \"a\", prompt: Fresh(8), stop: Length(40)), (id: \"b\", prompt: Fresh(160), stop: Length(12)),
                     (id: \"c\", prompt: Fresh(16), stop: Length(40))])"
    )
}

#[test]
fn batch_sizes_that_cannot_be_reached_are_refused_with_the_reason() {
    // More tokens than are held; and rows that leave no room in a chunk.
    let mut all = String::new();
    let great = "(costs: (cpu: \"python-0.5.17\"), requests: [(id: \"a\", prompt: Fresh(1024), stop: Length(8))])";
    let mixed = "release: V0_5_17, mixed_chunk: true, chunked_prefill_size: 64";
    for (name, text, list) in [
        ("great", great.to_owned(), "4,65536,40000"),
        ("great-alone", great.to_owned(), "65536"),
        ("mixed", three(mixed, ""), "2,3,8,64,65"),
        ("mixed-alone", three(mixed, ""), "64"),
        ("serial-turns", three("overlap: false", "turns_max: 100,"), "1,2,3"),
        ("no-slots", three("strategy: NoBuffer, overlap: false", ""), "3"),
        ("few-outputs", three("", "").replace("Length(12)", "Length(2)"), "1,2"),
    ] {
        let said = of(name, &text, list, "completed-mask,mask-lookahead,completed-mask").unwrap_or_else(|why| why);
        all += &format!("== {name}, --batch {list}\n\n{said}\n");
    }
    compare("cost.refused", &all);
}

#[test]
fn the_remedy_of_a_refusal_works() {
    let rule = [runner::rule("paired").expect("a rule")];
    for (chunk, batch) in [(64, 40), (64, 64), (128, 100), (48, 3)] {
        let engine = format!(", release: V0_5_17, mixed_chunk: true, chunked_prefill_size: {chunk}");
        let scenario = scenario(&engine, "gpu_decode: Fixed(3), gpu_decode_request: Fixed(0)");
        let with = |outputs: u32| {
            let shapes = [RequestShape { prompt: 160, outputs }];
            let cost = SteadyCost { setup: &scenario.setup, shapes: &shapes, decode: None, seed: 0 };
            let why = cost.runs(&[batch], &rule, 1, &|| ()).remove(0).err()?;
            Some(why.remedy(&scenario.setup.engine, &shapes, batch))
        };
        let remedy = with(4).expect("few outputs");
        let more = remedy.split("--outputs ").nth(1).and_then(|rest| rest.split(',').next()).expect("a number");
        assert_eq!(with(more.parse().expect("a number")), None, "{chunk} {batch} {more}");
    }
}
