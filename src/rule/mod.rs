//! The bookkeeping rules under test, one file each. No rule sees the judge. A new rule is a new file and a line in
//! `runner`.

mod committed_len;
mod completed_mask;
mod mask_lookahead;
mod paired;
mod ping_pong;
mod speculative;
mod token_len;

pub use committed_len::CommittedLen;
pub use completed_mask::CompletedMask;
pub use mask_lookahead::MaskLookahead;
pub use paired::Paired;
pub use token_len::TokenLen;
