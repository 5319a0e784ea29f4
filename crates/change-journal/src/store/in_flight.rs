//! Owns the set of contents whose files are safe on the disk and whose rows are on their way into a commit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use content_hash::ContentHash;

/// The contents that writes of this process carry, each with the number of those writes.
///
/// It has a separate lock: the writer thread ends writes, and must not wait for a caller that syncs a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContentsInFlight {
    counts: Arc<Mutex<HashMap<ContentHash, usize>>>,
}

impl ContentsInFlight {
    /// Adds a content until the returned value is dropped, which its write does once its outcome is decided.
    pub(crate) fn add(&self, hash: ContentHash) -> InFlight {
        *self.counts().entry(hash).or_default() += 1;
        InFlight { hash, contents: self.clone() }
    }

    /// Returns whether a write carries this content.
    ///
    /// A content leaves the set after its commit, so a caller that also looks up its row has to ask this first.
    pub(crate) fn contains(&self, hash: &ContentHash) -> bool {
        self.counts().contains_key(hash)
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<ContentHash, usize>> {
        self.counts.lock().expect("no code panics while it holds the contents in flight")
    }
}

/// One write's hold on the file of a content.
#[derive(Debug)]
pub(crate) struct InFlight {
    hash: ContentHash,
    contents: ContentsInFlight,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut counts = self.contents.counts();
        let count = counts.get_mut(&self.hash).expect("a content in flight is counted");
        *count -= 1;
        if *count == 0 {
            counts.remove(&self.hash);
        }
    }
}
