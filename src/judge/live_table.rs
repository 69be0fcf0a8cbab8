//! A value for each live request.

use educe::Educe;

use crate::record::ReqId;

use super::grow::entry;
use super::storage::REQS_MAX;

/// A value for each request that is in the record and has not been released.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) struct LiveTable<T> {
    list: Vec<Option<T>>,
    /// Whether the record has a request from [`REQS_MAX`] on.
    pub overflow: bool,
}

impl<T> Default for LiveTable<T> {
    fn default() -> LiveTable<T> {
        LiveTable { list: Vec::new(), overflow: false }
    }
}

impl<T> LiveTable<T> {
    /// The mutable value of a request, if it is alive.
    #[inline]
    pub fn get(&mut self, req: ReqId) -> Option<&mut T> {
        self.list.get_mut(req.index())?.as_mut()
    }

    /// The value of a request, if it is alive.
    #[inline]
    pub fn peek(&self, req: ReqId) -> Option<&T> {
        self.list.get(req.index())?.as_ref()
    }

    /// The request is released: it is no longer alive.
    pub fn release(&mut self, req: ReqId) {
        if let Some(value) = self.list.get_mut(req.index()) {
            *value = None;
        }
    }

    /// The live requests with their values, in order.
    pub fn iter(&mut self) -> impl Iterator<Item = (ReqId, &mut T)> {
        let list = self.list.iter_mut().enumerate();
        list.filter_map(|(index, value)| Some((ReqId(index as u32), value.as_mut()?)))
    }
}

impl<T: Default> LiveTable<T> {
    /// The mutable value of a request; added if there is none. `None` if the request is not tracked.
    #[inline]
    pub fn get_or_new(&mut self, req: ReqId) -> Option<&mut T> {
        let value = entry(&mut self.list, req.index(), REQS_MAX, || None, &mut self.overflow)?;
        Some(value.get_or_insert_with(T::default))
    }
}
