//! Reading contents.
//!
//! A file is read without the lock. Its content counts only if no notice about the file, or about a folder
//! above it, arrived since the job was taken: a write after the reading causes a later notice.

use rel_path::RelPath;

use super::State;
use super::listing::stamp;
use crate::context::IndexContext;
use crate::gram::{Gram, GramCollector};
use crate::rules::ContentKind;
use crate::tree::{LeafNumber, LeafState};

/// A file to read.
#[derive(Debug)]
pub(crate) struct ContentJob {
    leaf: LeafNumber,
    epoch: u64,
    structure: u64,
    path: RelPath,
}

/// The result of reading a content.
#[derive(Debug)]
pub(crate) struct Outcome {
    content: ContentRead,
    stamp: u64,
}

#[derive(Debug)]
enum ContentRead {
    Text(Vec<Gram>),
    Binary,
    Undecodable,
    Unknown,
}

impl ContentJob {
    /// Reads the file.
    pub(crate) fn read(&self, context: &IndexContext, collector: &mut GramCollector) -> Outcome {
        self.try_read(context, collector).unwrap_or(Outcome { content: ContentRead::Unknown, stamp: 0 })
    }

    fn try_read(&self, context: &IndexContext, collector: &mut GramCollector) -> Option<Outcome> {
        let file = context.root.open_file(&self.path).ok()?;
        // A link made in between leads elsewhere. A file with another name, or under a mount, can change
        // without a notice here.
        if *file.path() != self.path || file.metadata().links != 1 || file.is_mounted() {
            return None;
        }
        let content = file.read_to_end(context.limits.file_bytes).ok()?;
        let read = match context.rules.content_kind(&self.path, &content) {
            ContentKind::Text => ContentRead::Text(collector.collect(&content).to_vec()),
            ContentKind::Unknown => ContentRead::Unknown,
            ContentKind::Binary => ContentRead::Binary,
            ContentKind::Undecodable => ContentRead::Undecodable,
        };
        Some(Outcome { content: read, stamp: stamp(file.metadata()) })
    }
}

impl State {
    /// Takes up to `most` files to read.
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
        self.reading = jobs.len();
        jobs
    }

    /// Stores the results that are still current. Returns false if there was none.
    pub(crate) fn accept(&mut self, context: &IndexContext, outcomes: Vec<(ContentJob, Outcome)>) -> bool {
        self.take_notices();
        self.reading = 0;
        let mut has_stored = false;
        for (job, outcome) in outcomes {
            let room = context.limits.memory_bytes.saturating_sub(self.bytes());
            let Some(leaf) = self.tree.leaves.get_mut(job.leaf) else { continue };
            if leaf.state != LeafState::Unread {
                continue;
            }
            if leaf.epoch != job.epoch || self.structure != job.structure {
                self.unread.push_back(job.leaf);
                continue;
            }
            has_stored = true;
            leaf.stamp = outcome.stamp;
            leaf.state = match outcome.content {
                // A new block of signatures may take far more memory than one signature.
                ContentRead::Text(grams) if room > (2 << 20) => {
                    LeafState::Text(self.signatures.add(job.leaf, &grams))
                }
                ContentRead::Text(_) | ContentRead::Unknown => LeafState::Unknown,
                ContentRead::Binary => LeafState::Binary,
                ContentRead::Undecodable => LeafState::Undecodable,
            };
        }
        has_stored
    }
}
