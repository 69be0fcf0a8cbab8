//! Values that are copied over and over: `clone_from` goes field by field, so that a copy over an old value uses its
//! memory again. What `derive(Clone)` makes throws the old value away.

/// Implements `Clone` for a struct of these fields, all of them, with a `clone_from` that goes field by field.
macro_rules! clone_in_place {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                let $name { $($field),+ } = self;
                $name { $($field: $field.clone()),+ }
            }

            fn clone_from(&mut self, from: &Self) {
                let $name { $($field),+ } = from;
                $( self.$field.clone_from($field); )+
            }
        }
    };
}
