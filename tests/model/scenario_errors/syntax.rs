//! Broken text, unknown and missing names, values of the wrong type.

use super::{fields, requests, wrong};

#[test]
fn broken_text_is_refused_with_a_remedy() {
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
fn unknown_and_missing_names_are_refused() {
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
fn values_of_the_wrong_type_are_refused() {
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
