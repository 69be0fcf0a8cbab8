//! Values that are copied over and over: `clone_from` goes field by field, so that a copy over an old value uses its
//! memory again. What `derive(Clone)` makes throws the old value away.

use std::ops::Deref;
use std::sync::Arc;

/// What all copies of a value have in common and none changes. A copy over a value that has the very same leaves the count
/// of those who share it alone: threads that copy all the time would take it from each other.
#[derive(Debug)]
pub struct Shared<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }

    #[inline]
    fn clone_from(&mut self, from: &Self) {
        if !Arc::ptr_eq(&self.0, &from.0) {
            self.0 = Arc::clone(&from.0);
        }
    }
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> From<&[T]> for Shared<[T]> {
    fn from(items: &[T]) -> Self {
        Shared(items.into())
    }
}

impl<T> From<Vec<T>> for Shared<[T]> {
    fn from(items: Vec<T>) -> Self {
        Shared(items.into())
    }
}

/// Implements `Clone` for a struct of these fields, all of them, with a `clone_from` that goes field by field: those that have no
/// memory of their own may be `copied`. Before it does, `$first` is told of both sides, if there is one.
macro_rules! clone_in_place {
    ($name:ident { $($field:ident),* $(,)? } $(copied { $($plain:ident),+ $(,)? })? $(after $first:expr)?) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                let $name { $($field,)* $($($plain,)+)? } = self;
                $name { $($field: $field.clone(),)* $($($plain: *$plain,)+)? }
            }

            fn clone_from(&mut self, from: &Self) {
                $( $first(self, from); )?
                let $name { $($field,)* $($($plain,)+)? } = from;
                $( self.$field.clone_from($field); )*
                $($( self.$plain = *$plain; )+)?
            }
        }
    };
}
