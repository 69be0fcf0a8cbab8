//! Events, and what is expected of a run, of its requests and of every timing.

use super::{fields, read, wrong};

#[test]
fn wrong_events_and_expectations_of_a_run_are_refused() {
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
fn wrong_expectations_of_requests_and_numbers_are_refused() {
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
fn wrong_expectations_of_every_timing_are_refused() {
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
