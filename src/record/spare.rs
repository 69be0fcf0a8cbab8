//! Memory to be used again.

/// Things whose contents do not matter any more: whoever takes one writes over all of it. No part of the state that it stands
/// in: a copy of it is empty.
#[derive(Debug)]
pub struct Spare<T>(Vec<T>);

impl<T> Spare<T> {
    /// Keeps something for later.
    pub fn keep(&mut self, thing: T) {
        self.0.push(thing);
    }

    /// Something kept, if there is any.
    pub fn take(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// A copy of a thing, in the memory of one kept if there is any.
    pub fn copy_of(&mut self, thing: &T) -> T
    where
        T: Clone,
    {
        match self.take() {
            Some(mut old) => {
                old.clone_from(thing);
                old
            }
            None => thing.clone(),
        }
    }

    /// All that is kept.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// How many are kept.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Spare(Vec::new())
    }
}

impl<T> Clone for Spare<T> {
    fn clone(&self) -> Self {
        Spare::default()
    }

    fn clone_from(&mut self, _: &Self) {}
}
