//! The open questions of the machine and their answers, in words.

use crate::engine::Choice;
use crate::engine::ChoicePoint::*;
use crate::record::ReqId;

use super::name;

/// What is asked.
pub fn question(names: &[String], choice: Choice) -> String {
    let request = || name::request(names, ReqId(choice.subject));
    match choice.point {
        Arrival => format!("whether {} is seen now", request()),
        Stop => format!("whether this output of {} is a stop token", request()),
        Abort => format!("whether {} is aborted", request()),
        Retract => "who is retracted, 0 for nobody".to_string(),
        AllocFailure => format!("whether the second slot of {} is refused", request()),
        Accept => format!("how many draft tokens of {} are accepted", request()),
        Order => "who of those seen now is next in the queue".to_string(),
        Turn | Admission | Candidate | Admit | Chunk | Decode | Row | Short | Retracted | Mix | Sample | Slot
        | Generate => format!("about {}", choice.point.name()),
    }
}

/// An answer to it.
pub fn answer(choice: Choice, answer: u32) -> String {
    let word = match (choice.point, answer) {
        (Arrival, 0) => "later",
        (Arrival, _) => "now",
        (Stop | Abort, 0) => "no",
        (Stop | Abort, _) => "yes",
        (AllocFailure, 0) => "granted",
        (AllocFailure, _) => "refused",
        (Retract, 0) => "nobody",
        (Retract, 1) => "the least worth keeping",
        (Retract, nth) => return format!("number {nth} from the least worth keeping"),
        (Order, 0) => "the first",
        (Order, nth) => return format!("number {}", nth + 1),
        (
            Turn | Accept | Admission | Candidate | Admit | Chunk | Decode | Row | Short | Retracted | Mix | Sample
            | Slot | Generate,
            _,
        ) => return answer.to_string(),
    };
    word.to_string()
}
