//! What work costs in virtual time: one table of the kinds of work.

use serde::Deserialize;

use crate::record::BoundaryCheck;

/// How long something takes, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Cost {
    /// Always this long.
    Fixed(u64),
    /// Drawn evenly from this closed range at every use.
    Uniform(u64, u64),
}

/// The table of costs: a comment, a name and the default in nanoseconds. `cost_fields!(consumer)` expands to
/// `consumer! { rows }`.
macro_rules! cost_fields {
    ($consumer:ident) => {
        $consumer! {
            /// CPU: taking in arrivals, once a turn.
            ingest = 20_000;
            /// CPU: planning, once a turn.
            plan = 50_000;
            /// CPU: preparing a batch.
            prepare = 150_000;
            /// CPU: preparing, a request.
            prepare_request = 800;
            /// CPU: launching a forward.
            launch = 200_000;
            /// CPU: processing a result.
            result = 50_000;
            /// CPU: processing a result, a request.
            result_request = 2_500;
            /// CPU: finding out whether a row is a boundary, by computing it.
            check_recompute = 800;
            /// CPU: finding out whether a row is a boundary, from a mask.
            check_mask = 60;
            /// CPU: updating the bookkeeping at a boundary.
            boundary_update = 4_000;
            /// GPU: a prefill forward.
            gpu_extend = 4_000_000;
            /// GPU: a prefill forward, a token.
            gpu_extend_token = 25_000;
            /// GPU: a decode forward.
            gpu_decode = 8_000_000;
            /// GPU: a decode forward, a request.
            gpu_decode_request = 30_000;
            /// Copying a result to the host.
            result_copy = 20_000;
        }
    };
}
pub(crate) use cost_fields;

/// Makes the struct and its lists.
macro_rules! costs {
    ($($(#[$doc:meta])+ $name:ident = $default:literal;)+) => {
        /// The virtual cost of each kind of work. Defaults are of the size measured on a Python scheduler with 1000
        /// requests and illustrative for the GPU (`docs/model.md`).
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Costs {
            $($(#[$doc])+ pub $name: Cost,)+
        }

        impl Costs {
            /// The names of the costs.
            pub const NAMES: [&str; Costs::COUNT] = [$(stringify!($name)),+];
            /// The number of costs.
            pub const COUNT: usize = [$(stringify!($name)),+].len();

            /// Every cost, in the order of [`Costs::NAMES`].
            pub fn each(&self) -> [Cost; Costs::COUNT] {
                [$(self.$name),+]
            }

            /// Every cost, in the order of [`Costs::NAMES`].
            pub fn each_mut(&mut self) -> [&mut Cost; Costs::COUNT] {
                [$(&mut self.$name),+]
            }
        }

        impl Default for Costs {
            fn default() -> Self {
                Costs { $($name: Cost::Fixed($default)),+ }
            }
        }
    };
}

cost_fields!(costs);

impl Costs {
    /// CPU: finding out in this way whether a row is a boundary.
    #[inline]
    pub fn of_check(&self, check: BoundaryCheck) -> Cost {
        match check {
            BoundaryCheck::Mask => self.check_mask,
            BoundaryCheck::Recompute | BoundaryCheck::MaskLost | BoundaryCheck::None => self.check_recompute,
        }
    }
}
