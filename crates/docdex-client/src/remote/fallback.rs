//! Combines two indexes: the second answers when the first cannot.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wap_core::{Call, CodeIndex, DelegatingIndex, IndexError};

/// Asks one index, and a second one if the first is unavailable or fails.
///
/// An error about the request itself, such as an unknown file, also leads to the second index: the two may contain
/// different files, and name documents differently. The errors of the first are kept for reports.
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
    /// Combines two indexes.
    #[must_use]
    pub fn new(first: &'a dyn CodeIndex, second: &'a dyn CodeIndex) -> FallbackIndex<'a> {
        FallbackIndex { first, second, failures: Mutex::default() }
    }

    /// Returns the operations that the first index failed to answer so far, named as in a Codali need, with their last errors.
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
            // A cancelled caller does not wait for the second index either.
            Err(IndexError::Cancelled) => Err(IndexError::Cancelled),
            Err(error) => {
                self.lock().insert(operation, error);
                question(self.second)
            }
            answered => answered,
        }
    }
}
