//! Lists by index that grow on demand, up to a limit.
//!
//! A record can contain any index. Entries beyond the limit are not tracked, so that a wrong record cannot exhaust
//! memory.

/// The entry at `index`; the list is extended with `fill` up to there. From `max` on, returns `None` and sets
/// `overflow`.
#[inline]
pub(super) fn entry<'a, T>(
    list: &'a mut Vec<T>,
    index: usize,
    max: usize,
    fill: impl FnMut() -> T,
    overflow: &mut bool,
) -> Option<&'a mut T> {
    if index >= list.len() {
        if index >= max {
            *overflow = true;
            return None;
        }
        list.resize_with(index + 1, fill);
    }
    list.get_mut(index)
}
