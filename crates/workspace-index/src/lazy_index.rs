//! An index that is opened by the first question.

use std::cell::OnceCell;
use std::sync::{Mutex, PoisonError};

use wap_core::{Call, CodeIndex, DelegatingIndex, IndexError};

use crate::CurrentIndex;

/// An index that is opened by the first question. If it cannot be opened, every question is answered with
/// [`IndexError::Unavailable`].
#[derive(Debug)]
pub struct LazyIndex<F> {
    // A lock around the cell: the cell alone cannot be shared between threads.
    opened: Mutex<OnceCell<Option<CurrentIndex>>>,
    open: F,
}

impl<F: Fn(&Call<'_>) -> Option<CurrentIndex> + Send + Sync> LazyIndex<F> {
    /// Returns an index that `open` opens on the first call that uses it.
    #[must_use]
    pub fn new(open: F) -> LazyIndex<F> {
        LazyIndex { opened: Mutex::default(), open }
    }

    /// Opens the index now.
    pub fn open(&self, call: &Call<'_>) {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).get_or_init(|| (self.open)(call));
    }
}

impl<F: Fn(&Call<'_>) -> Option<CurrentIndex> + Send + Sync> DelegatingIndex for LazyIndex<F> {
    fn ask<T>(
        &self,
        call: &Call<'_>,
        _: &'static str,
        question: impl Fn(&dyn CodeIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = opened.get_or_init(|| (self.open)(call)).as_ref();
        opened.map_or(Err(IndexError::Unavailable), |index| question(index))
    }
}
