//! An open index that answers from the current state of its folder.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use code_index::{FollowingIndex, Follows};
use file_index::ChangeFeed;
use tempfile::TempDir;
use wap_core::{Call, CancelFlag, CodeIndex, DelegatingIndex, IndexError};

use crate::OpenIndex;

/// The time that a question gives the index to catch up. After that it is answered from the current content, with a
/// notice.
pub const INDEXING_TIME: Duration = Duration::from_secs(20);

/// An open index for any number of questions, from any number of threads.
#[derive(Debug)]
pub struct CurrentIndex {
    index: Arc<FollowingIndex>,
    end: CancelFlag,
    keeper: Option<JoinHandle<()>>,
    _folder: Option<TempDir>,
}

impl CurrentIndex {
    /// Returns an index that is not updated.
    #[must_use]
    pub fn unchanging(opened: OpenIndex) -> CurrentIndex {
        CurrentIndex::new(opened, Follows::Nothing)
    }

    /// Returns an index that compares the folder at each question.
    #[must_use]
    pub fn compared_at_each_question(opened: OpenIndex) -> CurrentIndex {
        CurrentIndex::new(opened, Follows::Folder)
    }

    /// Returns an index that is kept up to date in the background: by the changes of a feed, or without a feed by comparing
    /// the folder. If the thread cannot be started, questions wait a little longer.
    #[must_use]
    pub fn kept_up(opened: OpenIndex, feed: Option<Arc<dyn ChangeFeed>>) -> CurrentIndex {
        let mut current = CurrentIndex::new(opened, feed.map_or(Follows::Folder, Follows::Feed));
        let (index, end) = (Arc::clone(&current.index), current.end.clone());
        let keeper = thread::Builder::new().name("code-index".to_owned()).spawn(move || {
            // Questions have priority. If the priority cannot be lowered, the thread runs with the usual one.
            let _ = rustix::process::nice(10);
            index.keep_up(&end);
        });
        current.keeper = keeper.ok();
        current
    }

    fn new(opened: OpenIndex, follows: Follows) -> CurrentIndex {
        CurrentIndex {
            index: Arc::new(FollowingIndex::new(opened.index, follows, INDEXING_TIME)),
            end: CancelFlag::new(),
            keeper: None,
            _folder: opened.folder,
        }
    }
}

impl DelegatingIndex for CurrentIndex {
    fn ask<T>(
        &self,
        _: &Call<'_>,
        _: &'static str,
        question: impl Fn(&dyn CodeIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        question(&*self.index)
    }
}

impl Drop for CurrentIndex {
    fn drop(&mut self) {
        self.end.cancel();
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}
