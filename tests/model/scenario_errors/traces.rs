//! Traces that a scenario names, and their rows.

use super::{RULES, fields, read, wrong};
use overlapsim::scenario::parse;

/// A scenario around a trace.
fn trace(fields: &str) -> String {
    format!("(\n    trace: ({fields}),\n)\n")
}

#[test]
fn wrong_traces_are_refused() {
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
    assert!(report.contains(&format!("azure-llm-2023-conv.500.csv:{}:29: ", error.line())), "{report}");
}

#[test]
fn a_wrong_row_of_a_trace_is_reported_at_its_place_in_the_trace() {
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
        (rows(&format!("{row}2023-11-16 18:15:47.0,§x,5")), "`ContextTokens` is not a whole number", "number"),
        (rows(&format!("{row}§2023-11-16 18:15:47.0,-")), "no `GeneratedTokens`", "every row"),
        (rows("2023-11-16 18:15:47.0,7,§+5"), "not a whole number", "number"),
        (rows("2023-11-16 18:15:47.0,7,§1.5"), "not a whole number", "from 1 to 16777216"),
        (rows("2023-11-16 18:15:47.0,7,§99999999999"), "`GeneratedTokens` is more", "at most 16777216"),
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
        (object.replace("600", "§513.5"), "`input_length` is not a whole number", "whole numbers"),
        (object.replace(": 5,", ": §1.5,"), "`timestamp` is not a whole number", "whole numbers"),
        (object.replace(": 2,", ": §-1,"), "`output_length` is not a whole number", "whole numbers"),
        (object.replace(": 2,", ": §16777217,"), "`output_length` is more than", "at most 16777216"),
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
