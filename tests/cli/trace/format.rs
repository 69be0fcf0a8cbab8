//! The rules of the trace-event format, and how viewers read it. Times are microseconds with three decimals, and no other number has
//! a fraction: that is a rule of this project. Here times are whole nanoseconds, as [`exact_times`] reads them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The thread that an event lies in.
type Thread = (u64, u64);

pub fn number(of: &Value, field: &str) -> u64 {
    of[field].as_u64().unwrap_or_else(|| panic!("{field} is a whole number of no less than 0: {of}"))
}

pub fn word<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap_or_else(|| panic!("{field} is a text: {of}"))
}

/// The text of a trace, with each time in whole nanoseconds. Panics at a time without three decimals.
pub fn exact_times(text: &str) -> String {
    let mut out = String::new();
    for part in text.split_inclusive([',', '}']) {
        let times = ["\"ts\":", "\"dur\":", "\"lands\":"];
        let time = times.into_iter().find_map(|field| Some((field, part.strip_prefix(field)?)));
        let Some((field, number)) = time else {
            out.push_str(part);
            continue;
        };
        let (number, behind) = number.split_at(number.len() - 1);
        let (whole, decimals) = number.split_once('.').unwrap_or_else(|| panic!("no decimals: {part}"));
        assert!(decimals.len() == 3 && (whole == "0" || !whole.starts_with('0')), "{part}");
        let ns = whole.parse::<u64>().unwrap() * 1000 + decimals.parse::<u64>().unwrap();
        out.push_str(&format!("{field}{ns}{behind}"));
    }
    out
}

fn has_no_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_u64() || number.is_i64(),
        Value::Array(list) => list.iter().all(has_no_fraction),
        Value::Object(fields) => fields.values().all(has_no_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// The names that metadata gives, each once; no thread has the number of another or of a process.
fn names(events: &[Value]) -> (BTreeMap<u64, String>, BTreeMap<Thread, String>) {
    let (mut processes, mut threads, mut sorted) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for event in events.iter().filter(|event| event["ph"] == "M") {
        let (pid, tid, args) = (number(event, "pid"), number(event, "tid"), &event["args"]);
        let again = match word(event, "name") {
            "process_name" => processes.insert(pid, word(args, "name").to_owned()).is_some(),
            "thread_name" => threads.insert((pid, tid), word(args, "name").to_owned()).is_some(),
            "process_sort_index" | "thread_sort_index" => {
                number(args, "sort_index");
                !sorted.insert((event["name"].to_string(), pid, tid))
            }
            other => panic!("no metadata is called {other}"),
        };
        assert!(!again, "named twice: {event}");
    }
    let tids: BTreeSet<u64> = threads.keys().map(|thread| thread.1).collect();
    assert_eq!(tids.len(), threads.len(), "two threads have the same number");
    assert!(tids.iter().all(|tid| *tid > 0 && !processes.contains_key(tid)), "a thread has the number of a process");
    assert_eq!(sorted.len(), processes.len() + threads.len());
    (processes, threads)
}

/// The fields that an event of its kind must have.
fn has_its_fields(event: &Value) {
    let fields: &[&str] = match word(event, "ph") {
        "M" => &["args"],
        "X" => &["ts", "dur", "cat", "args"],
        "i" => &["ts", "s", "cat", "args"],
        "C" => &["ts", "args"],
        "s" => &["ts", "id", "cat"],
        "t" | "f" => &["ts", "id", "cat", "bp"],
        other => panic!("no event has the letter {other}: {event}"),
    };
    let of = event.as_object().expect("an event is an object");
    let all = ["name", "ph", "pid", "tid", "cname"];
    for field in fields.iter().chain(&all[..4]) {
        assert!(of.contains_key(*field), "{field} is missing: {event}");
    }
    for field in of.keys().map(String::as_str) {
        assert!(fields.contains(&field) || all.contains(&field), "{field} has no meaning here: {event}");
    }
    for field in ["ts", "dur", "pid", "tid", "id"].into_iter().filter(|field| of.contains_key(*field)) {
        number(event, field);
    }
    assert!(!word(event, "name").is_empty());
    let one_of = |field: &str, words: &[&str]| {
        let right = of.get(field).is_none_or(|value| value.as_str().is_some_and(|word| words.contains(&word)));
        assert!(right, "{field} is none of {words:?}: {event}");
    };
    one_of("s", &["t", "p"]);
    one_of("bp", &["e"]);
    // Names that the viewers of the format reserve.
    one_of("cname", &["good", "bad", "terrible", "grey"]);
    if let Some(args) = of.get("args") {
        assert!(args.is_object(), "{event}");
        let counts = event["ph"] != "C" || args.as_object().unwrap().values().all(Value::is_u64);
        assert!(counts, "{event}");
    }
}

/// Reads events as viewers do: by time, those of one time in their order, a stack of slices in each thread. A slice holds its
/// beginning and not its end.
fn is_read_right(events: &[Value]) {
    let (processes, threads) = names(events);
    let mut timed: Vec<&Value> = events.iter().filter(|event| event["ph"] != "M").collect();
    timed.sort_by_key(|event| number(event, "ts"));
    let mut stacks: BTreeMap<Thread, Vec<(u64, u64, &Value)>> = BTreeMap::new();
    let mut arrows: BTreeMap<(String, u64), String> = BTreeMap::new();
    for event in timed {
        let (ts, pid, tid) = (number(event, "ts"), number(event, "pid"), number(event, "tid"));
        assert!(processes.contains_key(&pid) && threads.contains_key(&(pid, tid)), "nameless: {event}");
        let stack = stacks.entry((pid, tid)).or_default();
        match word(event, "ph") {
            "X" => {
                let end = ts + number(event, "dur");
                let over = |top: &(u64, u64, &Value)| top.1 < ts || top.1 == ts && !(top.0 == ts && end == ts);
                while stack.last().is_some_and(over) {
                    stack.pop();
                }
                if let Some(top) = stack.last() {
                    assert!(end <= top.1, "{event} begins in {} and ends after it", top.2);
                }
                stack.push((ts, end, event));
            }
            ph @ ("s" | "t" | "f") => {
                let id = number(event, "id");
                let (start, _, slice) = stack.last().unwrap_or_else(|| panic!("{event} lies in no slice"));
                assert!(*start == ts && slice["args"]["batch"] == id, "{event} lies in {slice}");
                let passed = arrows.entry((format!("{} {}", event["cat"], event["name"]), id)).or_default();
                assert_eq!(passed.is_empty(), ph == "s", "an arrow begins with `s` and only there: {event}");
                assert!(!passed.ends_with('f'), "the arrow had ended: {event}");
                passed.push_str(ph);
            }
            "i" | "C" => {}
            other => panic!("{other}"),
        }
    }
    for (arrow, passed) in arrows {
        assert!(["stf", "sf"].contains(&passed.as_str()), "{arrow:?} goes {passed}");
    }
}

/// Whether a trace keeps the rules of its format; panics at the first that is broken.
pub fn is_valid(events: &[Value]) {
    for event in events {
        assert!(has_no_fraction(event), "a number is not whole: {event}");
        has_its_fields(event);
    }
    is_read_right(events);
}
