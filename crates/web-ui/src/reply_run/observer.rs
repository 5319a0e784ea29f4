//! The observer of a reply, which turns its progress into events.

use std::sync::Arc;

use tagproto::{CommandResult, ExecutionObserver, Item};
use wap_core::{FileChanged, OutputStream};

use super::live_output::LiveOutput;
use super::{BlockProgress, MOST_BLOCKS, Run, What};
use crate::bounded_text::BoundedText;

use crate::api::plan::block_title;

/// Records the progress of one run.
pub(super) struct RunObserver {
    run: Arc<Run>,
}

impl RunObserver {
    pub(super) fn new(run: &Arc<Run>) -> RunObserver {
        RunObserver { run: Arc::clone(run) }
    }

    /// Publishes the block at a position of the items, if it is among those that are shown.
    fn changed(&self, index: usize, change: impl FnOnce(&mut BlockProgress)) {
        let mut progress = self.run.lock();
        self.run.flush(&mut progress);
        let Some(block) = progress.blocks.get_mut(index) else { return };
        change(block);
        let view = Box::new(block.view());
        self.run.publish_within(&mut progress, What::Block { index, block: view });
    }

    /// Adds the blocks up to a position.
    fn add(&self, index: usize, item: &Item<'_>) {
        let mut progress = self.run.lock();
        if index >= MOST_BLOCKS {
            progress.blocks_left_out = index + 1 - MOST_BLOCKS;
            return;
        }
        // After a change of the owner, blocks may be reported again from the record.
        progress.blocks.truncate(index);
        progress.blocks.push(BlockProgress {
            kind: item.kind().name().to_owned(),
            title: block_title(item),
            success: None,
            summary: String::new(),
            counts: None,
            denied: Vec::new(),
            notes: Vec::new(),
            result_output: BoundedText::default(),
            output: LiveOutput::default(),
        });
    }
}

impl ExecutionObserver for RunObserver {
    fn block_started(&mut self, index: usize, item: &Item<'_>) {
        self.add(index, item);
        self.changed(index, |_| {});
    }

    fn output(&mut self, _: OutputStream, bytes: &[u8]) {
        // Published by the thread that flushes: a program that prints byte by byte must not flood the pages.
        if let Some(block) = self.run.lock().blocks.last_mut() {
            block.output.push(bytes);
        }
    }

    fn block_finished(
        &mut self,
        index: usize,
        item: &Item<'_>,
        result: &CommandResult,
        changed: Option<&FileChanged>,
    ) {
        if self.run.lock().blocks.len() <= index {
            self.add(index, item);
        }
        self.changed(index, |block| {
            block.counts = changed.and_then(counts);
            block.finish(result);
        });
    }
}

fn counts(changed: &FileChanged) -> Option<(i64, i64)> {
    let number = |lines: u64| i64::try_from(lines).unwrap_or(i64::MAX);
    match changed {
        FileChanged::Written(written) => {
            Some((number(written.lines_added as u64), number(written.lines_removed as u64)))
        }
        FileChanged::Modified(modified) => {
            Some((number(modified.lines_added as u64), number(modified.lines_removed as u64)))
        }
        FileChanged::Deleted(_) => None,
    }
}
