//! Every mistake in a scenario is told with its place, its line and a remedy, and no text makes the reader panic.

use std::path::Path;

use overlapsim::scenario::{Diagnostic, Scenario, parse};
use proptest::prelude::*;

const RULES: [&str; 5] = ["committed-len", "token-len", "mask-lookahead", "completed-mask", "paired"];
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn read(text: &str) -> Result<Scenario, Diagnostic> {
    parse("dir/case.ron", text, Path::new(DATA), &RULES)
}

/// A scenario around some requests.
fn requests(list: &str) -> String {
    format!("// Why.\nScenario(\n    requests: [\n{list}\n    ],\n)\n")
}

/// A scenario with one request around other fields.
fn fields(fields: &str) -> String {
    format!("(\n    {fields}\n    requests: [(id: \"a\", prompt: Fresh(1), stop: Length(4))],\n)\n")
}

/// A scenario around a trace.
fn trace(fields: &str) -> String {
    format!("(\n    trace: ({fields}),\n)\n")
}

/// The text holds a `§` before what is wrong: the diagnostic must point there, with this message and remedy, whatever
/// the line breaks and with a byte order mark in front.
#[track_caller]
fn wrong(text: &str, message: &str, remedy: &str) {
    let before = text.split('§').next().unwrap_or("");
    let (line, column) =
        (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or("").chars().count() + 1);
    let text = text.replace('§', "");
    for text in [text.clone(), format!("\u{feff}{}", text.replace('\n', "\r\n")), text.trim_end().to_string()] {
        let error = read(&text).expect_err("the scenario is wrong");
        let report = error.render(false);
        assert_eq!((error.line(), error.column()), (line, column), "\n{report}");
        assert!(error.message().contains(message), "want {message:?} in\n{report}");
        assert!(error.remedy().contains(remedy), "want {remedy:?} in\n{report}");
        assert!(report.contains(&format!("dir/case.ron:{line}:{column}")), "\n{report}");
        assert!(report.contains(&format!("  help: {}", error.remedy())), "\n{report}");
        let source = text.trim_start_matches('\u{feff}').lines().nth(line - 1).unwrap_or("").trim();
        assert!(source.len() > 150 || report.contains(source), "\n{report}");
        assert!(
            source.is_empty() || report.lines().any(|line| line.contains(": ") && line.contains('^')),
            "\n{report}"
        );
    }
}

#[test]
fn the_report_has_file_line_column_source_and_help() {
    let text = requests("        (id: \"a\", prompt: Fresh(1), stop: Length(0)),");
    let report = read(&text).expect_err("no outputs").render(false);
    let expected = concat!(
        "  x the request stops after no outputs\n",
        "   ,-[dir/case.ron:4:43]\n",
        " 4 |         (id: \"a\", prompt: Fresh(1), stop: Length(0)),\n",
        "   :                                           ^^^^^^^^^\n",
        "   `----\n",
        "  help: every request has at least one\n",
    );
    assert_eq!(report, expected);
    let color = read(&text).expect_err("no outputs").render(true);
    assert!(color.contains("\u{1b}[") && color.contains("dir/case.ron:4:43"), "{color}");
}

#[test]
fn broken_text() {
    wrong("§", "no scenario", "requests");
    wrong("// only a comment§", "no scenario", "requests");
    wrong("(requests: [(id: \"a\", prompt: Fresh(1), stop: Length(4))§", "ends in the middle", "close");
    wrong("(requests: [(id: \"a\" §prompt: Fresh(1), stop: Length(4))])", "missing before this", "`,`");
    wrong("(requests: [(id §\"a\", prompt: Fresh(1), stop: Length(4))])", "colon", "name: value");
    wrong("(requests: [(id: §\"a, prompt: Fresh(1), stop: Length(4))])", "quote", "close it");
    wrong("(requests: [(id: \"a\", prompt: Fresh(1), stop: Length(4)§}])", "does not close", "inner one first");
    wrong(
        "(requests: [(id: \"a\", prompt: Fresh(1), stop: Length(4))]) §extra",
        "follows the end",
        "take the rest out",
    );
    wrong("(requests: [(id: \"a\", prompt: Fresh(1, §2), stop: Length(4))])", "bracket", "one too many");
    wrong("§/* (requests: [])", "comment", "*/");
    wrong("§Scene(requests: [])", "Scene", "leave");
}

#[test]
fn unknown_and_missing_names() {
    wrong(&fields("§request: [],"), "no field `request`", "did you mean `requests`?");
    wrong(&fields("engine: (§track_intervall: 4),"), "no field `track_intervall`", "did you mean `track_interval`?");
    wrong(&fields("vary: (§arrival: true),"), "no field `arrival`", "did you mean `arrivals`?");
    wrong(&fields("vary: (stops: §1),"), "`stops`", "write `stops: true`");
    wrong(&fields("§choices: [0, 1],"), "no field `choices`", "--choices 0.1.2");
    wrong(&fields("§aborts: [],"), "no field `aborts`", "write it as an event");
    wrong(
        &fields("engine: (page_size: §4, spec: (draft: 1, accept: Fixed([1]))),"),
        "pages of one token",
        "`page_size: 1`",
    );
    wrong(&fields("engine: (spec: (draft: §0, accept: Fixed([1]))),"), "a draft of 0", "give 1 to");
    wrong(&fields("engine: (spec: (draft: 2, accept: §Fixed([4]))),"), "no verify can reach", "1 to 3");
    wrong(&fields("engine: (spec: (draft: 2, accept: §Seeded(1.5))),"), "no probability", "0.0 to 1.0");
    wrong(&fields("§zebra: 1,"), "no field `zebra`", "the fields here are: `engine`");
    wrong(&fields("costs: (§gpu_decod: Fixed(1)),"), "gpu_decod", "did you mean `gpu_decode`?");
    wrong(&fields("seed: 1, §seed: 2,"), "given twice", "keep one");
    wrong(&fields("engine: (release: §V0_5_19),"), "V0_5_19", "did you mean `V0_5_1");
    wrong(&fields("engine: (strategy: §Extrabuffer),"), "Extrabuffer", "did you mean `ExtraBuffer`?");
    wrong(&fields("expect: [(rule: \"token-len\", verdict: §Fine)],"), "Fine", "`Clean`, `Lossy`");
    wrong(&fields("expect: [§(rule: \"token-len\")],"), "`verdict` is missing", "Clean, Lossy");
    let list = "(id: \"a\", prompt: Fresh(1), stop: Length(4)), §(id: \"b\", prompt: Fresh(1))";
    wrong(&requests(list), "`stop` is missing", "Token(4) or Length(4)");
    wrong(&requests("§(prompt: Fresh(1), stop: Length(1))"), "`id` is missing", "id: \"a\"");
    wrong(
        &requests("(id: \"a\", arrive: §Turm(1), prompt: Fresh(1), stop: Length(1))"),
        "Turm",
        "did you mean `Turn`?",
    );
    wrong("§(engine: (release: V0_5_16))", "no requests", "add `requests");
    let list = "expect: [(rule: \"token-len\", verdict: Lossy, findings: [(kind: \"lost\", §reason: \"x\")])],";
    wrong(&fields(list), "no field `reason`", "leave out `reason`");
}

#[test]
fn wrong_types() {
    wrong(&fields("engine: (track_interval: §\"4\"),"), "`track_interval` cannot be read", "`track_interval: 64`");
    wrong(&fields("engine: (track_interval: §-4),"), "`track_interval` cannot be read", "`track_interval: 64`");
    wrong(&fields("engine: (kv_tokens: §5000000000),"), "too large", "`kv_tokens: 64`");
    wrong(&fields("engine: (overlap: §1),"), "neither `true` nor `false`", "`overlap: true`");
    wrong(&fields("engine: (conservativeness: §true),"), "not a number", "1.0");
    wrong(&fields("engine: §[],"), "`engine` cannot be read", "`engine: (");
    wrong(&fields("rule: §4,"), "not a text in quotes", "mask-lookahead");
    wrong(&fields("costs: (plan: §4),"), "plan", "Fixed(");
    wrong("(requests: §(id: \"a\"))", "not a list", "requests: [");
    wrong("§{\"requests\": []}", "the scenario is written in `{..}`", "round brackets");
    wrong(&fields("engine: §{track_interval: 4},"), "`engine` is written in `{..}`", "round brackets");
    wrong("§[]", "the scenario cannot be read", "Scenario(");
    wrong("§7", "the scenario cannot be read", "Scenario(");
    let list = "(id: \"a\", prompt: Fresh(1), stop: Length(4)),\n  (id: §7, prompt: Fresh(1), stop: Length(4))";
    wrong(&requests(list), "`id` cannot be read", "\"a\"");
    wrong(
        &requests("(id: \"a\", arrive: Before(\"a\", §\"x\"), prompt: Fresh(1), stop: Length(4))"),
        "arrive",
        "Before(",
    );
    wrong(
        &requests("(id: \"a\", prompt: Extend(§\"a\"), stop: Length(4))"),
        "`Extend` takes 2 values, 1 given",
        "Fresh(",
    );
    wrong(&requests("(id: \"a\", prompt: Tokens([1, 2, §x]), stop: Length(4))"), "prompt", "Tokens(");
    wrong(&requests("(id: \"a\", prompt: Fresh(1), stop: Length(§1.5))"), "\"1.5\" is not a value", "whole number");
    wrong(&fields("engine: (track_interval: §4.5),"), "\"4.5\" is not a value", "whole number");
    wrong(&fields("engine: (overlap: §truee),"), "overlap", "true");
    wrong(&fields("engine: (kv_tokens: §4k),"), "\"4k\" is not a value", "whole number");
}

#[test]
fn engine_limits() {
    wrong(&fields("engine: (track_interval: §0),"), "`track_interval` is 0", "at least 1");
    wrong(&fields("engine: (page_size: §0),"), "`page_size` is 0", "at least 1");
    wrong(&fields("engine: (mamba_slots: §0),"), "`mamba_slots` is 0", "at least 1");
    wrong(&fields("engine: (kv_tokens: §4000000000),"), "more than the simulator holds", "at most");
    wrong(
        &fields("engine: (track_interval: §6, page_size: 4),"),
        "off the page grid",
        "`track_interval: 4` or `track_interval: 8`",
    );
    wrong(
        &fields("engine: (page_size: §3, kv_tokens: 300),"),
        "off the page grid",
        "`track_interval: 255` or `track_interval: 258`",
    );
    wrong(
        &fields("engine: (page_size: 64, kv_tokens: §1000),"),
        "whole number of pages",
        "`kv_tokens: 960` or `kv_tokens: 1024`",
    );
    wrong(
        &fields("engine: (mamba_chunk: §65537, page_size: 65536, track_interval: 65536),"),
        "common multiple",
        "powers of two",
    );
    wrong(
        &fields("engine: (release: V0_5_23, mamba_chunk: §65537, track_interval: 65536),"),
        "common multiple",
        "powers",
    );
    wrong(&fields("engine: (strategy: §NoBuffer),"), "overlap on", "`overlap: false`");
    wrong(&fields("engine: (strategy: NoBuffer, overlap: §true),"), "overlap on", "`overlap: false`");
    wrong(&fields("engine: (strategy: NoBuffer, overlap: false, page_size: §2),"), "page of 2", "`page_size: 1`");
    wrong(&fields("engine: (strategy: ExtraBufferLazy, overlap: §false),"), "overlap off", "`overlap: true`");
    wrong(
        &fields("engine: (strategy: ExtraBufferLazy, overlap: §false),"),
        "overlap off",
        "0.5.18 and 0.5.23 accept the pair",
    );
    wrong(&fields("engine: (mamba_slots: §2),"), "too few for one request", "at least 4");
    wrong(&fields("engine: (strategy: ExtraBufferLazy, mamba_slots: §1),"), "too few for one request", "at least 3");
    wrong(&fields("engine: (mixed_chunk: §true),"), "ride along only", "set `chunked_prefill_size` too");
    wrong(&fields("engine: (chunked_prefill_size: §0),"), "a chunk of 0 tokens", "from 1 to");
    wrong(&fields("engine: (page_size: 4, chunked_prefill_size: §3),"), "less than a page of 4", "from 4 to");
    wrong(
        &fields("engine: (page_size: 4, chunked_prefill_size: §6),"),
        "within a page of 4",
        "multiple of `page_size`, such as 4",
    );
    wrong(&fields("engine: (conservativeness: §-1.0),"), "conservativeness", "1.0");
    wrong(&fields("engine: (conservativeness: §inf),"), "conservativeness", "1.0");
    wrong(&fields("engine: (conservativeness: §NaN),"), "conservativeness", "1.0");
    wrong(&fields("costs: (\n  plan: Fixed(5),\n  launch: §Uniform(7, 6)),"), "7 is above 6", "Uniform(6, 7)");
    wrong(
        &fields("costs: (plan: Fixed(5), cpu: §\"pyton-0.5.17\"),"),
        "there is no CPU preset \"pyton-0.5.17\"",
        "did you mean `python-0.5.17`? the CPU presets are: `python-0.5.17`, `python-0.5.16`",
    );
    wrong(&fields("costs: (gpu: §\"python-0.5.17\"),"), "no GPU preset", "the GPU presets are: `h100x8-80b-a3b`");
    wrong(&fields("costs: (cpu: §python),"), "not", "");
    wrong(&fields("costs: (launch: §Fixed(99999999999)),"), "more than a cost may be", "nanoseconds");
    wrong(&fields("turns_max: §0,"), "`turns_max` is 0", "at least 1");
}

#[test]
fn requests_alone() {
    wrong("(requests: §[])", "empty", "at least one");
    wrong(&requests("(id: §\"\", prompt: Fresh(1), stop: Length(1))"), "id is empty", "name");
    for c in ["\\u{1b}[2J", "\\n", "\\t", "\\u{85}", "\\u{202e}", "\\u{200b}"] {
        let text = requests(&format!("(id: §\"a{c}\", prompt: Fresh(1), stop: Length(1))"));
        wrong(&text, "a character that cannot be printed", "leave control characters");
    }
    let twice = "(id: \"a\", prompt: Fresh(1), stop: Length(4)),\n  (id: §\"a\", prompt: Fresh(1), stop: Length(4))";
    wrong(&requests(twice), "\"a\" is given twice", "a name of its own");
    wrong(&requests("(id: \"a\", prompt: §Fresh(0), stop: Length(1))"), "prompt is empty", "at least one token");
    wrong(&requests("(id: \"a\", prompt: §Tokens([]), stop: Length(1))"), "prompt is empty", "at least one token");
    wrong(&requests("(id: \"a\", prompt: Tokens([1, §2147483648]), stop: Length(1))"), "too large", "below 2^31");
    wrong(
        &requests("(id: \"a\", prompt: §Fresh(4000000000), stop: Length(1))"),
        "more than the simulator holds",
        "at most",
    );
    wrong(&requests("(id: \"a\", prompt: Fresh(1), stop: §Length(0))"), "no outputs", "at least one");
    wrong(&requests("(id: \"a\", prompt: Fresh(1), stop: §Token(0))"), "no outputs", "at least one");
    wrong(
        &requests("(id: \"a\", prompt: Fresh(1), stop: §Token(4294967295))"),
        "4294967295 outputs",
        "at most 16777216",
    );
    // Nothing is wrong with the longest stop: its default of `max_new` gives way.
    wrong(
        &requests("(id: \"a\", prompt: §Fresh(1), stop: Token(16777216))"),
        "up to 16777216 outputs",
        "at least 16777219",
    );
    wrong(&requests("(id: \"a\", prompt: Fresh(1), stop: Token(4), max_new: §0)"), "`max_new` is 0", "at least one");
    wrong(&requests("(id: \"a\", prompt: Fresh(1), stop: Token(4), max_new: §3)"), "end by length", "at least 4");
    wrong(
        &requests("(id: \"a\", prompt: Fresh(1), stop: Length(4), max_new: §5)"),
        "contradicts",
        "leave out `max_new`",
    );
    wrong(
        &requests("(id: \"a\", arrive: Turn(§4294967295), prompt: Fresh(1), stop: Length(4))"),
        "beyond any run",
        "at most",
    );
    for time in ["12", "ms", "-1ms", "1.5ns", "1 min", "99999999999s", "1.2.3ms", "\\u{1b}"] {
        wrong(
            &requests(&format!("(id: \"a\", arrive: At(§\"{time}\"), prompt: Fresh(1), stop: Length(4))")),
            "time",
            "12.5ms",
        );
    }
    let small = "engine: (kv_tokens: 64),\n  requests: [(id: \"a\", prompt: §Fresh(58), stop: Length(5))]";
    wrong(&format!("({small})"), "KV pool is too small for \"a\"", "at least 65");
    let small =
        "engine: (kv_tokens: 64, page_size: 16),\n  requests: [(id: \"a\", prompt: §Fresh(32), stop: Length(1))]";
    wrong(&format!("({small})"), "KV pool is too small", "at least 80");
}

#[test]
fn requests_that_name_others() {
    let a = "(id: \"a\", prompt: Fresh(4), stop: Token(3)),\n  ";
    let with = |text: &str| requests(&format!("{a}{text}"));
    wrong(
        &with("(id: \"b\", arrive: After(§\"c\"), prompt: Fresh(1), stop: Length(1))"),
        "no request \"c\"",
        "did you mean `",
    );
    wrong(&with("(id: \"b\", arrive: Before(§\"zebra\", 5), prompt: Fresh(1), stop: Length(1))"), "zebra", "`a`, `b`");
    wrong(&with("(id: \"b\", prompt: Extend(§\"q\", 1), stop: Length(1))"), "no request \"q\"", "requests are");
    wrong(&with("(id: \"b\", prompt: Prefix(§\"\", 1, 1), stop: Length(1))"), "no request", "requests are");
    wrong(
        &with("(id: \"b\", arrive: Before(\"a\", §4), prompt: Fresh(1), stop: Length(1))"),
        "prompt of 4",
        "from 5 to 23",
    );
    wrong(
        &with("(id: \"b\", arrive: Before(\"a\", §24), prompt: Fresh(1), stop: Length(1))"),
        "never comes",
        "from 5 to 23",
    );
    wrong(&with("(id: \"b\", prompt: Prefix(\"a\", §8, 1), stop: Length(1))"), "no prefix of 8", "at most 7");
    wrong(&with("(id: \"b\", prompt: §Prefix(\"a\", 0, 0), stop: Length(1))"), "prompt is empty", "at least one");
    for arrive in ["Turn(0)", "At(\"5ms\")", "Before(\"a\", 6)", "Before(\"c\", 6)", "After(\"c\")"] {
        for prompt in ["Extend(\"a\", 1)", "Prefix(\"a\", 5, 1)"] {
            let b = format!("(id: \"b\", arrive: §{arrive}, prompt: {prompt}, stop: Length(1)),");
            let c = "(id: \"c\", prompt: Fresh(4), stop: Length(4))";
            wrong(&with(&format!("{b}\n{c}")), "uses outputs of \"a\"", "write `arrive: After(\"a\")`");
        }
    }
    let deep = "(id: \"b\", prompt: Extend(\"a\", 4), stop: Length(1)),
        (id: \"c\", arrive: §Turn(3), prompt: Prefix(\"b\", 6, 1), stop: Length(1))";
    wrong(&with(deep), "uses outputs of \"a\"", "After(\"a\")");
}

#[test]
fn cycles() {
    wrong(
        &requests("(id: \"a\", arrive: After(§\"a\"), prompt: Fresh(1), stop: Length(1))"),
        "in a cycle: \"a\" -> \"a\"",
        "arrive by itself",
    );
    wrong(
        &requests("(id: \"a\", prompt: Extend(§\"a\", 2), stop: Length(1))"),
        "in a cycle: \"a\" -> \"a\"",
        "arrive by itself",
    );
    let three = "(id: \"x\", prompt: Fresh(1), stop: Length(1)),
        (id: \"a\", arrive: After(\"x\"), prompt: Prefix(§\"c\", 1, 2), stop: Length(1)),
        (id: \"b\", arrive: Before(\"a\", 4), prompt: Fresh(1), stop: Length(1)),
        (id: \"c\", arrive: After(\"b\"), prompt: Fresh(1), stop: Length(1)),
        (id: \"d\", arrive: After(\"c\"), prompt: Fresh(1), stop: Length(1))";
    wrong(&requests(three), "in a cycle: \"a\" -> \"c\" -> \"b\" -> \"a\"", "arrive by itself");
}

#[test]
fn events_and_expectations() {
    let lazy = "engine: (strategy: ExtraBufferLazy), ";
    for act in ["Abort", "Retract", "FailAlloc"] {
        wrong(&fields(&format!("{lazy}events: [(turn: 1, do: {act}(§\"b\"))],")), "no request \"b\"", "`a`");
    }
    wrong(&fields("events: [(turn: 1, do: §Pause(\"a\"))],"), "Pause", "`Abort`, `Retract`, `FailAlloc`");
    wrong(&fields(&format!("{lazy}events: [(turn: §4000000000, do: FailAlloc(\"a\"))],")), "beyond any run", "at most");
    wrong(&fields("events: [(turn: 1, do: §FailAlloc(\"a\"))],"), "nothing to refuse", "ExtraBufferLazy");
    wrong(&fields("rule: §\"mask-lookahed\","), "no rule \"mask-lookahed\"", "did you mean `mask-lookahead`?");
    wrong(
        &fields("expect: [(rule: §\"oracle\", verdict: Clean)],"),
        "no rule \"oracle\"",
        "`committed-len`, `token-len`",
    );
    let twice = "expect: [(rule: \"token-len\", verdict: Clean), (rule: §\"token-len\", verdict: Clean)],";
    wrong(&fields(twice), "expected twice", "one entry");
    let finding =
        |finding: &str| fields(&format!("expect: [(rule: \"token-len\", verdict: Corrupt, findings: [{finding}])],"));
    wrong(&finding("(kind: \"lost\"), (kind: §\"unwriten\")"), "no kind of finding", "did you mean `unwritten`?");
    wrong(&finding("(kind: §\"inherited\")"), "no kind of finding", "never listed");
    wrong(&finding("(kind: \"lost\", request: §\"b\")"), "no request \"b\"", "`a`");
    let clean = "expect: [(rule: \"token-len\", verdict: §Clean, findings: [(kind: \"lost\")])],";
    wrong(&fields(clean), "a clean run has no findings", "verdict");
}

#[test]
fn expectations_of_requests_and_numbers() {
    let expect = |more: &str| fields(&format!("expect: [(rule: \"paired\", verdict: Clean, {more})],"));
    let request = |entries: &str| expect(&format!("requests: [{entries}]"));
    wrong(&request("(id: §\"b\", outputs: 4)"), "no request \"b\"", "`a`");
    wrong(&request("(id: \"a\", outputs: 4), (id: §\"a\", admitted: 0)"), "expected twice", "one entry");
    wrong(&expect("requests: §4"), "`requests` cannot be read", "`requests: [(id: \"a\", outputs: 4)]`");
    wrong(&request("§(id: \"a\")"), "nothing is expected of the request \"a\"", "`ended`");
    wrong(&request("§(outputs: 4)"), "`id` is missing", "id: \"a\"");
    wrong(&request("(id: \"a\", outputs: §-1)"), "`outputs` cannot be read", "`outputs: 4`");
    wrong(&request("(id: \"a\", ended: §Stop)"), "Stop", "`Token`, `Length`, `Abort`, `Unfinished`");
    wrong(&request("(id: \"a\", §prefix: 4)"), "no field `prefix`", "`prefix_hit`");
    wrong(&expect("evictions: §\"2\""), "`evictions` cannot be read", "`evictions: 4`");
    wrong(&expect("leaks: §1"), "a run that leaks is broken", "`verdict: Broken`");
    let all = "requests: [(id: \"a\", outputs: 4, prefix_hit: 0, admitted: 0, ended: Length)], evictions: 0, leaks: 0";
    assert!(read(&expect(all)).is_ok());
}

#[test]
fn expectations_of_every_timing() {
    let every = |entry: &str| fields(&format!("vary: (stops: true), expect_every: [{entry}],"));
    let closed = "§expect_every: [(rule: \"token-len\", verdict: Clean, kinds: [])],";
    for vary in ["", "vary: (), ", "vary: (arrivals: false), "] {
        wrong(&fields(&format!("{vary}{closed}")), "nothing is open", "vary: (arrivals: true)");
    }
    wrong(&every("(rule: §\"token-le\", verdict: Clean)"), "no rule \"token-le\"", "did you mean `token-len`?");
    let twice = "(rule: \"paired\", verdict: Clean), (rule: §\"paired\", verdict: Clean)";
    wrong(&every(twice), "expected twice", "one entry");
    let kinds =
        |verdict: &str, kinds: &str| every(&format!("(rule: \"paired\", verdict: {verdict}, kinds: [{kinds}])"));
    wrong(&kinds("Lossy", "\"lost\", §\"aliasd\""), "no kind of finding \"aliasd\"", "did you mean `aliased`?");
    wrong(&kinds("Corrupt", "§\"inherited\""), "no kind of finding", "never listed");
    wrong(&kinds("Lossy", "\"lost\", §\"lost\""), "listed twice", "each kind once");
    wrong(&kinds("§Clean", "\"lost\""), "no timing shows a finding", "`verdict: Lossy`");
    wrong(&kinds("§Corrupt", ""), "no kind of finding is listed", "`verdict: Clean`");
    wrong(&kinds("§Corrupt", "\"lost\""), "make the verdict Lossy, not Corrupt", "`verdict: Lossy`");
    wrong(&kinds("§Lossy", "\"lost\", \"torn\""), "make the verdict Corrupt", "`verdict: Corrupt`");
    wrong(&kinds("§Corrupt", "\"leak\", \"torn\""), "make the verdict Broken", "`verdict: Broken`");
    wrong(&kinds("§Inconclusive", ""), "proves nothing", "Clean, Lossy, Corrupt or Broken");
    wrong(&every("(rule: \"paired\", verdict: Clean, §findings: [])"), "no field `findings`", "`kinds`");
    wrong(&kinds("Lossy", "§lost"), "cannot be read", "kinds: [\"lost\"");
    assert!(read(&kinds("Broken", "\"leak\", \"torn\", \"lost\"").replace('§', "")).is_ok());
}

#[test]
fn traces() {
    let azure = "format: AzureCsv, path: \"azure-llm-2023-conv.500.csv\"";
    wrong(&fields(&format!("§trace: ({azure}),")), "both given", "one of them");
    wrong(&trace("format: AzureCsv, path: §\"nowhere.csv\""), "there is no such file", "relative to the scenario");
    wrong(&trace("format: AzureCsv, path: §\"a\\u{0}b\""), "cannot read the trace", "relative to the scenario");
    wrong(&trace("format: §Csv, path: \"nowhere.csv\""), "Csv", "AzureCsv");
    wrong(&trace(&format!("{azure}, limit: §0")), "`limit` is 0", "at least 1");
    wrong(&trace(&format!("{azure}, time_scale: §-1.0")), "time_scale", "0.5");
    wrong(&trace(&format!("{azure}, time_scale: §1e-20")), "12 decimals", "0.5");
    let error = read(&format!("(engine: (kv_tokens: 2048), trace: ({azure}))")).expect_err("a long row");
    assert!(error.file().ends_with("azure-llm-2023-conv.500.csv"), "{}", error.file());
    let report = error.render(false);
    assert!(report.contains("KV pool is too small for \"t"), "{report}");
    assert!(report.contains("help: set `kv_tokens` to at least "), "{report}");
    assert!(report.contains(&format!("azure-llm-2023-conv.500.csv:{}:29]", error.line())), "{report}");
}

#[test]
fn bad_trace_rows_are_told_in_the_trace() {
    let head = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";
    let rows = |rows: &str| format!("{head}{rows}");
    let row = "2023-11-16 18:15:46.6805900,374,44\r\n";
    let azure = [
        ("§".to_string(), "begins with no header", "first line"),
        (format!("§\n{head}"), "begins with no header", "first line"),
        ("§timestamp,ContextTokens,GeneratedTokens\n".into(), "no column `TIMESTAMP`", "first line"),
        ("§TIMESTAMP,ContextTokens\n".into(), "no column `GeneratedTokens`", "first line"),
        (format!("§{head}"), "no rows", "at least one"),
        (rows(&format!("{row}§2023-11-16 18:15:47.0,5\r\n")), "no `GeneratedTokens`", "every row"),
        (rows(&format!("{row}§\r\n{row}")), "the row is empty", "take the empty line out"),
        (rows(&format!("{row}2023-11-16 18:15:47.0,§x,5")), "\"x\", not a whole number", "number"),
        (rows(&format!("{row}§2023-11-16 18:15:47.0,-")), "no `GeneratedTokens`", "every row"),
        (rows("2023-11-16 18:15:47.0,7,§+5"), "not a whole number", "number"),
        (rows("2023-11-16 18:15:47.0,7,§1.5"), "not a whole number", "from 1 to 16777216"),
        (rows("2023-11-16 18:15:47.0,7,§99999999999"), "`GeneratedTokens` is 99999999999, more", "at most 16777216"),
        (rows("2023-11-16 18:15:47.0,7,§99999999999999999999"), "more than the simulator holds", "take the row out"),
        (rows("2023-11-16 18:15:47.0,§0,5"), "`ContextTokens` is 0", "take the row out"),
        (rows("2023-11-16 18:15:47.0,7,§0"), "`GeneratedTokens` is 0", "take the row out"),
        (rows("§2023-11-31 18:15:47.0,7,5"), "not a timestamp", "2023-11-16"),
        (rows(&format!("{row}§2023-11-16 18:15:46.6805899,7,5")), "earlier", "sort"),
        (rows("2023-11-16 18:15:47.0,§20000000,5"), "more than the simulator holds", "take the row out"),
    ];
    let object = "{\"timestamp\": 5, \"input_length\": 600, \"output_length\": 2, \"hash_ids\": [0, 1]}\n";
    let mooncake = [
        ("§".to_string(), "no rows", "at least one"),
        (format!("{object}{{\"timestamp\": 5, \"input_len§"), "cannot be read", "cut short"),
        (format!("{object}{{§timestamp: 5}}"), "cannot be read", "one JSON object"),
        (object.replace("600", "§513.5"), "`input_length` is 513.5, not a whole number", "whole numbers"),
        (object.replace(": 5,", ": §1.5,"), "`timestamp` is 1.5, not a whole number", "whole numbers"),
        (object.replace(": 2,", ": §-1,"), "`output_length` is -1, not a whole number", "whole numbers"),
        (object.replace(": 2,", ": §16777217,"), "`output_length` is 16777217, more than", "at most 16777216"),
        (object.replace("600", "§0"), "`input_length` is 0", "take the row out"),
        (object.replace(": 2,", ": §0,"), "`output_length` is 0", "take the row out"),
        (object.replace("600", "512").replace("[", "§["), "2 `hash_ids` do not cover 512", "list 1 ids"),
        (format!("{object}{}", object.replace(": 5", ": §4")), "earlier", "sort"),
        (
            object.replace("}", ", \"output_length\": 7}").replace("output_length\": 7", "output_length§\": 7"),
            "duplicate field",
            "whole numbers",
        ),
        (
            object.replace("]}\n", "]§}").replace(", \"hash_ids\": [0, 1]", ""),
            "missing field `hash_ids`",
            "whole numbers",
        ),
        (object.replace("}\n", "} §{}"), "trailing characters", "one JSON object"),
    ];
    let dir = std::env::temp_dir().join(format!("overlapsim-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory for traces");
    let cases = azure.iter().map(|case| ("AzureCsv", case)).chain(mooncake.iter().map(|case| ("MooncakeJsonl", case)));
    for (format, (text, message, remedy)) in cases {
        let loose = message.contains("missing");
        let before = text.split('§').next().unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        std::fs::write(dir.join("trace.txt"), text.replace('§', "")).expect("a trace");
        let scenario = format!("(trace: (format: {format}, path: \"trace.txt\"))");
        let error = parse("case.ron", &scenario, &dir, &RULES).expect_err("a bad row");
        let report = error.render(false);
        assert!(error.file().ends_with("trace.txt"), "{report}");
        assert_eq!(error.line(), line, "{report}");
        assert!(loose || error.column() == column, "column {column}\n{report}");
        assert!(error.message().contains(message), "want {message:?} in\n{report}");
        assert!(error.remedy().contains(remedy), "want {remedy:?} in\n{report}");
    }
    std::fs::remove_dir_all(&dir).expect("the directory goes away");
}

/// Texts that use every part of the format, for the mutations below.
fn samples() -> Vec<String> {
    let whole = r##"// Why this file exists.
Scenario(
    engine: (release: V0_5_23, strategy: ExtraBufferLazy, track_interval: 4, mamba_chunk: 4, grid: Lcm, overlap: true,
        kv_tokens: 4_096, conservativeness: 0.7, result_queue: Alias, tombstone_lock: Skip),
    costs: (plan: Fixed(50_000), gpu_decode: Uniform(7, 9)), /* a comment /* in a comment */ */
    seed: 7, rule: r#"mask-lookahead"#, turns_max: 900,
    requests: [
        (id: "a", arrive: Turn(0), prompt: Fresh(1), stop: Token(4), max_new: Some(40)),
        (id: "b", arrive: Before("a", 5), prompt: Tokens([1, 2, 1005]), stop: Length(1)),
        (id: "c", prompt: Extend("a", 4), stop: Length(2)), // after a
        (id: "d\u{e9}", arrive: At("12.5ms"), prompt: Prefix("c", 1, 0), stop: Length(2)),
    ],
    events: [(turn: 7, do: FailAlloc("a"))],
    expect: [(rule: "mask-lookahead", verdict: Corrupt, findings: [(kind: "unwritten", request: "a", label: 4)])],
)
"##;
    let trace = r#"(trace: (format: MooncakeJsonl, path: "mooncake-synthetic.500.jsonl", limit: 9, time_scale: 0.5),
        engine: (kv_tokens: 1048576))"#;
    vec![whole.to_string(), trace.to_string()]
}

/// Reads a text that may be anything. A mistake must have a place in the text and a report.
fn survives(text: &str) {
    match read(text) {
        Ok(scenario) => {
            assert!(!scenario.setup.requests.is_empty());
            assert_eq!(scenario.setup.requests.len(), scenario.setup.names.len());
        }
        Err(error) => {
            let report = error.render(false);
            assert!(!error.remedy().is_empty() && report.contains("help: "), "{report}");
            assert!(!report.contains('\u{1b}'), "{report}");
            if error.file() == "dir/case.ron" {
                let line = text.split('\n').nth(error.line() - 1).expect("the line is in the text");
                assert!(error.column() <= line.chars().count() + 1, "{report}");
            }
        }
    }
}

#[test]
fn the_samples_are_sound() {
    for text in samples() {
        read(&text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    }
}

#[test]
fn every_truncation_is_survived() {
    for text in samples() {
        for (at, _) in text.char_indices() {
            survives(&text[..at]);
            survives(&text[at..]);
        }
    }
}

/// What mutations put in: tokens of the format, extreme numbers, and characters that are easy to get wrong.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "'",
    "//",
    "/*",
    "*/",
    "#",
    "r#\"",
    "b\"",
    "\\",
    "\n",
    "\r",
    "\0",
    "\t",
    "\u{1b}[31m",
    "\u{feff}",
    "é",
    "\u{10ffff}",
    "0",
    "-1",
    "4294967295",
    "18446744073709551616",
    "1e999",
    "NaN",
    "None",
    "Some(",
    "\"a\"",
    "\"c\"",
    "Extend(\"c\", 1)",
    "After(\"b\")",
    "id:",
    "vary:",
    "#![enable(unwrap_newtypes)]",
];

#[derive(Clone, Debug)]
enum Mutation {
    Cut(usize, usize),
    Insert(usize, usize),
    Move(usize, usize, usize),
    Number(usize, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = 0..4096_usize;
    prop_oneof![
        (at.clone(), 1..40_usize).prop_map(|(at, len)| Mutation::Cut(at, len)),
        (at.clone(), 0..PIECES.len()).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        (at.clone(), 1..60_usize, at.clone()).prop_map(|(from, len, to)| Mutation::Move(from, len, to)),
        (at, 25..30_usize).prop_map(|(at, piece)| Mutation::Number(at, piece)),
    ]
}

fn mutate(text: &str, mutation: &Mutation) -> String {
    let chars: Vec<char> = text.chars().collect();
    let count = chars.len().max(1);
    let slice = |from: usize, to: usize| {
        chars[from.min(chars.len())..to.min(chars.len()).max(from.min(chars.len()))].iter().collect::<String>()
    };
    match mutation {
        Mutation::Cut(at, len) => slice(0, at % count) + &slice(at % count + len, usize::MAX),
        Mutation::Insert(at, piece) => slice(0, at % count) + PIECES[*piece] + &slice(at % count, usize::MAX),
        Mutation::Move(from, len, to) => {
            slice(0, to % count) + &slice(from % count, from % count + len) + &slice(to % count, usize::MAX)
        }
        Mutation::Number(at, piece) => {
            let from = (at % count..chars.len()).find(|at| chars[*at].is_ascii_digit()).unwrap_or(chars.len());
            let to = (from..chars.len()).find(|at| !chars[*at].is_ascii_digit()).unwrap_or(chars.len());
            slice(0, from) + PIECES[*piece] + &slice(to, usize::MAX)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutations_are_survived(sample in 0..2_usize, mutations in prop::collection::vec(mutation(), 1..6)) {
        let text = mutations.iter().fold(samples()[sample].clone(), |text, mutation| mutate(&text, mutation));
        survives(&text);
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,80}") {
        survives(&text);
    }
}
