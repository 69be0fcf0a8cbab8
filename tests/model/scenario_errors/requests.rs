//! Requests: their own values, the requests that they name, cycles.

use super::{requests, wrong};

#[test]
fn wrong_values_of_a_request_are_refused() {
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
    // The longest stop is valid by itself: its default of `max_new` is lowered to fit.
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
fn requests_that_name_no_request_or_too_much_of_it_are_refused() {
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
fn requests_that_wait_for_each_other_are_refused() {
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
