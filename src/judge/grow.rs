//! Lists by number that grow as numbers are named.
//!
//! Owns how far: a record may name any number, and what lies beyond a limit is not followed.

/// The entry at `index` of a list that is filled up with `fill` as far as that. Nothing from `max` on; then `overflow` is set.
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
