//! Tracks across listings how long each file has been unchanged.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rel_path::RelPath;
use sandbox_fs::FileStamp;

use crate::file::DroppedFile;
use crate::settling::settling_time;

/// The observed files of a folder. `S` is the type of the owner's notes about a version of a file.
#[derive(Debug)]
pub struct Observations<S> {
    by_name: HashMap<RelPath, Observation<S>>,
}

/// The history of one version of a file, since the first listing with it.
#[derive(Debug)]
pub struct Observation<S> {
    stamp: FileStamp,
    since: Instant,
    was_seen_changing: bool,
    has_replaced_another: bool,
    /// The owner's notes, which are reset with each version.
    pub notes: S,
}

impl<S> Default for Observations<S> {
    fn default() -> Observations<S> {
        Observations { by_name: HashMap::new() }
    }
}

impl<S: Default> Observations<S> {
    /// Records a listing: missing files are forgotten, and a file with another stamp is a new version.
    pub fn observe(&mut self, files: &[DroppedFile]) {
        let mut before = std::mem::take(&mut self.by_name);
        for file in files {
            let observation = match before.remove(&file.name) {
                Some(observation) if observation.stamp == file.stamp => observation,
                earlier => Observation::new(file.stamp, earlier.map(|earlier| earlier.stamp)),
            };
            self.by_name.insert(file.name.clone(), observation);
        }
    }

    /// Returns the observation of this version of a file; `None` if it was not in the last listing.
    pub fn get_mut(&mut self, file: &DroppedFile) -> Option<&mut Observation<S>> {
        self.latest_mut(&file.name).filter(|observation| observation.stamp == file.stamp)
    }

    /// Returns the observation of a file's version in the last listing; `None` if the file was not listed.
    pub fn latest_mut(&mut self, name: &RelPath) -> Option<&mut Observation<S>> {
        self.by_name.get_mut(name)
    }
}

impl<S: Default> Observation<S> {
    fn new(stamp: FileStamp, earlier: Option<FileStamp>) -> Observation<S> {
        // Many programs create an empty file first and then fill it at once. That is not a pause in writing.
        let was_seen_changing = earlier.is_some_and(|earlier| earlier.size_bytes > 0);
        let has_replaced_another = earlier
            .is_some_and(|earlier| (earlier.inode, earlier.size_bytes) != (stamp.inode, stamp.size_bytes));
        Observation {
            stamp,
            // The monotonic clock: a file's own times may be in the future, or come from another machine's clock.
            since: Instant::now(),
            was_seen_changing,
            has_replaced_another,
            notes: S::default(),
        }
    }
}

impl<S> Observation<S> {
    /// Returns the time for which this version has been observed.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Returns the time for which this version must still stay unchanged to count as complete; zero once it is complete.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        settling_time(&self.stamp, self.was_seen_changing).saturating_sub(self.age())
    }

    /// Checks whether this version replaced another file, or grew, while the folder was observed.
    #[must_use]
    pub fn has_replaced_another(&self) -> bool {
        self.has_replaced_another
    }
}
