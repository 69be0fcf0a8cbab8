//! The open questions of the machine and their answers, in words.

use crate::engine::Choice;
use crate::record::ReqId;

use super::name;

/// What is asked.
pub fn question(names: &[String], choice: Choice) -> String {
    let request = || name::request(names, ReqId(choice.subject));
    match choice.site {
        "arrival" => format!("whether {} is seen now", request()),
        "stop" => format!("whether this output of {} is a stop token", request()),
        "abort" => format!("whether {} is aborted", request()),
        "retract" => "who is retracted, 0 for nobody".to_string(),
        "alloc_failure" => format!("whether the second slot of {} is refused", request()),
        "accept" => format!("how many draft tokens of {} are accepted", request()),
        "order" => "who of those seen now is next in the queue".to_string(),
        site => format!("about {site}"),
    }
}

/// An answer to it.
pub fn answer(choice: Choice, answer: u32) -> String {
    let word = match (choice.site, answer) {
        ("arrival", 0) => "later",
        ("arrival", _) => "now",
        ("stop" | "abort", 0) => "no",
        ("stop" | "abort", _) => "yes",
        ("alloc_failure", 0) => "granted",
        ("alloc_failure", _) => "refused",
        ("retract", 0) => "nobody",
        ("retract", 1) => "the least worth keeping",
        ("retract", nth) => return format!("number {nth} from the least worth keeping"),
        ("order", 0) => "the first",
        ("order", nth) => return format!("number {}", nth + 1),
        (_, answer) => return answer.to_string(),
    };
    word.to_string()
}
