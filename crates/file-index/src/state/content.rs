//! Reading contents.
//!
//! A file is read without the lock. What was read counts only if nothing has been noticed about the file since it was taken
//! up, nor about the folders that it is in: what is written after the reading is noticed after it.

use rel_path::RelPath;

use super::State;
use super::listing::stamp;
use crate::gram::{Gram, GramCollector};
use crate::ground::Ground;
use crate::rules::ContentKind;
use crate::tree::{LeafNumber, LeafState};

/// A file to be read.
#[derive(Debug)]
pub(crate) struct ContentJob {
    leaf: LeafNumber,
    epoch: u64,
    structure: u64,
    path: RelPath,
}

/// What was found out about a content.
#[derive(Debug)]
pub(crate) struct Outcome {
    found: Found,
    stamp: u64,
}

#[derive(Debug)]
enum Found {
    Text(Vec<Gram>),
    Binary,
    Undecodable,
    Unknown,
}

impl ContentJob {
    /// Reads the file.
    pub(crate) fn read(&self, ground: &Ground, collector: &mut GramCollector) -> Outcome {
        self.try_read(ground, collector).unwrap_or(Outcome { found: Found::Unknown, stamp: 0 })
    }

    fn try_read(&self, ground: &Ground, collector: &mut GramCollector) -> Option<Outcome> {
        let file = ground.root.open_file(&self.path).ok()?;
        // A link that came in between leads elsewhere. With another name or place, a file changes where nobody looks.
        if *file.path() != self.path || file.metadata().links != 1 || file.is_mounted() {
            return None;
        }
        let content = file.read_to_end(ground.limits.file_bytes).ok()?;
        let found = match ground.rules.content_kind(&self.path, &content) {
            ContentKind::Text => Found::Text(collector.collect(&content).to_vec()),
            ContentKind::Unknown => Found::Unknown,
            ContentKind::Binary => Found::Binary,
            ContentKind::Undecodable => Found::Undecodable,
        };
        Some(Outcome { found, stamp: stamp(file.metadata()) })
    }
}

impl State {
    /// Takes up to `most` files that are to be read.
    pub(crate) fn take_jobs(&mut self, most: usize) -> Vec<ContentJob> {
        let mut jobs = Vec::new();
        while jobs.len() < most
            && let Some(number) = self.unread.pop_front()
        {
            let Some(leaf) = self.tree.leaves.get(number) else { continue };
            if leaf.state != LeafState::Unread {
                continue;
            }
            let path = self.tree.path(leaf.folder).and_then(|folder| folder.child(&leaf.name).ok());
            if let Some(path) = path {
                jobs.push(ContentJob { leaf: number, epoch: leaf.epoch, structure: self.structure, path });
            }
        }
        if self.unread.is_empty() {
            self.unread.shrink_to(1024);
        }
        jobs
    }

    /// Takes note of what was read, as far as it still counts.
    pub(crate) fn accept(&mut self, ground: &Ground, outcomes: Vec<(ContentJob, Outcome)>) {
        self.take_notices();
        for (job, outcome) in outcomes {
            let room = ground.limits.memory_bytes.saturating_sub(self.bytes());
            let Some(leaf) = self.tree.leaves.get_mut(job.leaf) else { continue };
            if leaf.state != LeafState::Unread {
                continue;
            }
            if leaf.epoch != job.epoch || self.structure != job.structure {
                self.unread.push_back(job.leaf);
                continue;
            }
            leaf.stamp = outcome.stamp;
            leaf.state = match outcome.found {
                // A new block of signatures may take far more than this one.
                Found::Text(grams) if room > (2 << 20) => {
                    LeafState::Text(self.signatures.add(job.leaf, &grams))
                }
                Found::Text(_) | Found::Unknown => LeafState::Unknown,
                Found::Binary => LeafState::Binary,
                Found::Undecodable => LeafState::Undecodable,
            };
        }
    }
}
