//! Two indexes: the second answers when the first cannot.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wap_core::{Call, CodeIndex, DelegatingIndex, IndexError};

/// Asks one index, and another one when the first is not there or fails.
///
/// What the first says about the question itself, that there is no such file for instance, is tried with the second as
/// well: the two may know different files and name documents differently. What went wrong is kept, so that it can be said.
pub struct FallbackIndex<'a> {
    first: &'a dyn CodeIndex,
    second: &'a dyn CodeIndex,
    failures: Mutex<BTreeMap<&'static str, IndexError>>,
}

impl fmt::Debug for FallbackIndex<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FallbackIndex").field("failures", &self.failures).finish_non_exhaustive()
    }
}

impl<'a> FallbackIndex<'a> {
    /// Puts two indexes together.
    #[must_use]
    pub fn new(first: &'a dyn CodeIndex, second: &'a dyn CodeIndex) -> FallbackIndex<'a> {
        FallbackIndex { first, second, failures: Mutex::default() }
    }

    /// What the first index could not answer so far: the operation's name as in a Codali need, and the last reason.
    #[must_use]
    pub fn failures(&self) -> Vec<(&'static str, IndexError)> {
        self.lock().iter().map(|(operation, error)| (*operation, error.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, IndexError>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DelegatingIndex for FallbackIndex<'_> {
    fn ask<T>(
        &self,
        _: &Call<'_>,
        operation: &'static str,
        question: impl Fn(&dyn CodeIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        match question(self.first) {
            Err(IndexError::Cancelled) => Err(IndexError::Cancelled),
            Err(error) => {
                self.lock().insert(operation, error);
                question(self.second)
            }
            answered => answered,
        }
    }
}
