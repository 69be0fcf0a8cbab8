//! The open choice points of a scenario: the questions that a search may answer otherwise than the script.

use crate::engine::{ChoicePoint, OpenPoints};
use serde::Deserialize;

use super::setup::Engine;

/// The open questions of a scenario. What is not open is as scripted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Vary {
    /// Each request may arrive in any turn from its earliest turn on.
    pub arrivals: bool,
    /// Each request may end by a stop token at any output up to its maximal length.
    pub stops: bool,
    /// Each waiting or running request may be aborted at the ingest of any turn.
    pub aborts: bool,
    /// Any row may be retracted before a decode step, if the batch has more than one row.
    pub retract: bool,
    /// The second slot on demand may be refused at any boundary step.
    pub alloc_failure: bool,
    /// Speculative decoding: a verify accepts any number of tokens.
    pub accept: bool,
    /// Requests that arrive in one turn join the waiting queue in any order.
    pub order: bool,
}

impl Vary {
    /// Every question is open.
    pub const ALL: Vary = Vary {
        arrivals: true,
        stops: true,
        aborts: true,
        retract: true,
        alloc_failure: true,
        accept: true,
        order: true,
    };

    /// The name of each field, its choice point, and whether it is open.
    pub fn fields(self) -> [(&'static str, ChoicePoint, bool); 7] {
        let Vary { arrivals, stops, aborts, retract, alloc_failure, accept, order } = self;
        [
            ("arrivals", ChoicePoint::Arrival, arrivals),
            ("stops", ChoicePoint::Stop, stops),
            ("aborts", ChoicePoint::Abort, aborts),
            ("retract", ChoicePoint::Retract, retract),
            ("alloc_failure", ChoicePoint::AllocFailure, alloc_failure),
            ("accept", ChoicePoint::Accept, accept),
            ("order", ChoicePoint::Order, order),
        ]
    }

    /// The questions with these names are open.
    ///
    /// # Errors
    /// The first name that is not a field.
    pub fn of_names<'n>(names: &[&'n str]) -> Result<Vary, &'n str> {
        let known = Vary::ALL.fields();
        if let Some(name) = names.iter().find(|name| known.iter().all(|field| field.0 != **name)) {
            return Err(name);
        }
        let has = |name: &str| names.contains(&name);
        Ok(Vary {
            arrivals: has("arrivals"),
            stops: has("stops"),
            aborts: has("aborts"),
            retract: has("retract"),
            alloc_failure: has("alloc_failure"),
            accept: has("accept"),
            order: has("order"),
        })
    }

    /// The questions that a search answers in every way: those that are open, and the accepted tokens if the script only
    /// draws them. A search has no seed: it would take one draw for all.
    pub fn searched(self, engine: &Engine) -> Vary {
        Vary { accept: self.accept || engine.draws_accepts(), ..self }
    }

    /// The open choice points.
    pub fn open(self) -> OpenPoints {
        OpenPoints(self.fields().iter().filter(|(.., open)| *open).map(|(_, point, _)| *point).collect())
    }

    /// Whether no question is open.
    pub fn is_nothing(self) -> bool {
        self == Vary::default()
    }
}
