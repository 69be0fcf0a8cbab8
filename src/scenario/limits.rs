//! The largest numbers that a scenario may give, so that no sum of them overflows.

/// Most tokens in a prompt, and most outputs of a request.
pub(super) const REQUEST_TOKENS_MAX: u32 = crate::workload::LEN_MAX;
/// Most requests.
pub(super) const REQUESTS_MAX: usize = 1 << 22;
/// Tokens are below this.
pub(super) const TOKEN_END: u32 = 1 << 31;
/// The first token of fresh ones; sampled tokens are below.
pub(super) const FRESH_FIRST: u32 = 1000;
/// The latest turn at which something can be scripted.
pub(super) const TURN_MAX: u32 = 1 << 30;
/// The largest KV pool in tokens, and the largest of each length that is counted in tokens.
pub(super) const POOL_TOKENS_MAX: u32 = 1 << 25;
/// Most state slots, and most running requests.
pub(super) const SLOTS_MAX: u32 = 1 << 20;
/// Most draft tokens of a speculative step.
pub(super) const DRAFT_MAX: u32 = 64;
/// The largest cost: ten seconds.
pub(super) const COST_NS_MAX: u64 = 10_000_000_000;
