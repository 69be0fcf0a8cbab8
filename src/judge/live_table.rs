//! Values of the requests that are alive.

use educe::Educe;

use crate::record::ReqId;

use super::grow::entry;
use super::storage::REQS_MAX;

/// A value for each request that was seen and has not been released.
#[derive(Educe, Debug)]
#[educe(Clone)]
pub(super) struct LiveTable<T> {
    list: Vec<Option<T>>,
    /// Whether a request was named that is not followed.
    pub overflow: bool,
}

impl<T> Default for LiveTable<T> {
    fn default() -> LiveTable<T> {
        LiveTable { list: Vec::new(), overflow: false }
    }
}

impl<T> LiveTable<T> {
    /// The value of a request, if it is alive.
    #[inline]
    pub fn get(&mut self, req: ReqId) -> Option<&mut T> {
        self.list.get_mut(req.index())?.as_mut()
    }

    /// The value of a request, if it is alive, to look at.
    #[inline]
    pub fn peek(&self, req: ReqId) -> Option<&T> {
        self.list.get(req.index())?.as_ref()
    }

    /// Forgets a request.
    pub fn release(&mut self, req: ReqId) {
        if let Some(value) = self.list.get_mut(req.index()) {
            *value = None;
        }
    }

    /// The requests that are alive, in order.
    pub fn iter(&mut self) -> impl Iterator<Item = (ReqId, &mut T)> {
        let list = self.list.iter_mut().enumerate();
        list.filter_map(|(index, value)| Some((ReqId(index as u32), value.as_mut()?)))
    }
}

impl<T: Default> LiveTable<T> {
    /// The value of a request, made if there is none; nothing if it is not followed.
    #[inline]
    pub fn get_or_new(&mut self, req: ReqId) -> Option<&mut T> {
        let value = entry(&mut self.list, req.index(), REQS_MAX, || None, &mut self.overflow)?;
        Some(value.get_or_insert_with(T::default))
    }
}
