//! The words for open choices of the machine and their answers.

use crate::engine::Choice;
use crate::engine::ChoicePoint::*;
use crate::record::ReqId;

use super::name;

/// The question of a choice.
pub fn question(names: &[String], choice: Choice) -> String {
    let request = || name::request(names, ReqId(choice.subject));
    match choice.point {
        Arrival => format!("whether {} is seen now", request()),
        Stop => format!("whether this output of {} is a stop token", request()),
        Abort => format!("whether {} is aborted", request()),
        Retract => "which request is retracted (0: none)".to_string(),
        AllocFailure => format!("whether the second slot of {} is refused", request()),
        Accept => format!("how many draft tokens of {} are accepted", request()),
        Order => "which arriving request is queued next".to_string(),
        Turn | Admission | Candidate | Admit | Chunk | Decode | Row | Short | Retracted | Mix | Sample | Slot
        | Generate => format!("about {}", choice.point.name()),
    }
}

/// An answer to a choice.
pub fn answer(choice: Choice, answer: u32) -> String {
    let word = match (choice.point, answer) {
        (Arrival, 0) => "later",
        (Arrival, _) => "now",
        (Stop | Abort, 0) => "no",
        (Stop | Abort, _) => "yes",
        (AllocFailure, 0) => "granted",
        (AllocFailure, _) => "refused",
        (Retract, 0) => "none",
        (Retract, 1) => "the first in retraction order",
        (Retract, nth) => return format!("number {nth} in retraction order"),
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
