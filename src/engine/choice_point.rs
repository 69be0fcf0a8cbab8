//! The closed list of choice points: every kind of question that a machine or a generator asks a chooser.

/// What a question is about. The list is part of the contract between a machine and its choosers, as data: the code of
/// this module does not use the meaning of a point.
///
/// * [`ChoicePoint::Turn`] is a notice.
/// * [`ChoicePoint::Arrival`] to [`ChoicePoint::Accept`] are inputs from outside; a scenario opens them by `vary`.
/// * [`ChoicePoint::Admission`] to [`ChoicePoint::Slot`] are decisions of the scheduler and the model. They are asked
///   only of
///   a chooser that opens them, as the replay of a recording does; their default is the machine's own decision.
/// * [`ChoicePoint::Generate`] is asked before there is a run.
///
/// The *subject* is the number that goes with a question ([`super::Choice::subject`]). A *yes/no* point has the answers
/// 0 for no and 1 for yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoicePoint {
    /// A turn begins. Subject: the turn. There is one answer.
    Turn,
    /// Whether a request whose earliest moment has come is seen in this turn. Subject: the request. Yes/no.
    Arrival,
    /// Which of the requests seen in one turn is next in the waiting queue. Subject: the request that is next by time.
    /// Answer n: the n-th of the requests that have no place yet.
    Order,
    /// Whether a live request is aborted in this turn. Subject: the request. Yes/no.
    Abort,
    /// Whether an output is a stop token. Subject: the request. Yes/no.
    Stop,
    /// A forced retraction before a decode step. Subject: the number of the forward. Answer 0: none; n: the n-th
    /// request in the order of retraction.
    Retract,
    /// Whether the allocation of a lazy second track slot fails. Subject: the request. Yes/no.
    AllocFailure,
    /// How many draft tokens a verify accepts. Subject: the request. Answer n: n draft tokens, n + 1 tokens in all.
    Accept,
    /// Whether the waiting queue is looked at for admission. Subject: the turn. Yes/no.
    Admission,
    /// Whether a waiting request is the next candidate for admission. Subject: the request. Yes/no.
    Candidate,
    /// How many tokens of a candidate the prefill batch extends. Subject: the request. Answer 0: not admitted.
    Admit,
    /// How many tokens the next chunk of a chunked prefill extends. Subject: the request. Answer 0: no chunk.
    Chunk,
    /// Whether a decode step is prepared. Subject: the turn. Yes/no.
    Decode,
    /// Whether a running request takes part in the decode step. Subject: the request. Yes/no.
    Row,
    /// Whether KV is short, so that requests are retracted. Subject: the turn. Yes/no.
    Short,
    /// Whether a request is the next one to be retracted. Subject: the request. Yes/no.
    Retracted,
    /// Whether decode rows ride along in a prefill batch. Subject: the turn. Yes/no.
    Mix,
    /// The token that the model samples. Subject: the request. Answer: the token.
    Sample,
    /// The state slot that the pool gives out. Subject: how many slots the call asks for. Answer 0: the call fails; n:
    /// slot n.
    Slot,
    /// A draw of the generator of random setups. Subject: the number of the draw. Answer 0: the plainest value.
    Generate,
}

impl ChoicePoint {
    /// Every choice point, in the order of the enum.
    pub const ALL: [ChoicePoint; 20] = [
        ChoicePoint::Turn,
        ChoicePoint::Arrival,
        ChoicePoint::Order,
        ChoicePoint::Abort,
        ChoicePoint::Stop,
        ChoicePoint::Retract,
        ChoicePoint::AllocFailure,
        ChoicePoint::Accept,
        ChoicePoint::Admission,
        ChoicePoint::Candidate,
        ChoicePoint::Admit,
        ChoicePoint::Chunk,
        ChoicePoint::Decode,
        ChoicePoint::Row,
        ChoicePoint::Short,
        ChoicePoint::Retracted,
        ChoicePoint::Mix,
        ChoicePoint::Sample,
        ChoicePoint::Slot,
        ChoicePoint::Generate,
    ];

    /// The name, in snake case.
    pub fn name(self) -> &'static str {
        match self {
            ChoicePoint::Turn => "turn",
            ChoicePoint::Arrival => "arrival",
            ChoicePoint::Order => "order",
            ChoicePoint::Abort => "abort",
            ChoicePoint::Stop => "stop",
            ChoicePoint::Retract => "retract",
            ChoicePoint::AllocFailure => "alloc_failure",
            ChoicePoint::Accept => "accept",
            ChoicePoint::Admission => "admission",
            ChoicePoint::Candidate => "candidate",
            ChoicePoint::Admit => "admit",
            ChoicePoint::Chunk => "chunk",
            ChoicePoint::Decode => "decode",
            ChoicePoint::Row => "row",
            ChoicePoint::Short => "short",
            ChoicePoint::Retracted => "retracted",
            ChoicePoint::Mix => "mix",
            ChoicePoint::Sample => "sample",
            ChoicePoint::Slot => "slot",
            ChoicePoint::Generate => "generate",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete_and_documented() {
        let last = ChoicePoint::Generate as usize;
        assert!(ChoicePoint::ALL.iter().map(|&point| point as usize).eq(0..=last));
        let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/model.md")).expect("the page");
        let table = docs.split("## Choices").nth(1).expect("the section");
        for point in ChoicePoint::ALL {
            assert!(table.contains(&format!("`{}`", point.name())), "{point:?} is not in docs/model.md");
        }
    }
}
