//! The observer of a reply, which publishes its progress as events.

use std::sync::Arc;

use tagproto::{CommandResult, ExecutionObserver, Item};
use wap_core::{FileChanged, OutputStream};

use super::live_output::LiveOutput;
use super::progress::BlockProgress;
use super::{MOST_BLOCKS, Run, What};
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

    /// Publishes the block at a position of the items, if it is shown.
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
        let left = progress.bytes_left();
        progress.blocks.push(BlockProgress {
            kind: item.kind().name().to_owned(),
            title: block_title(item),
            success: None,
            summary: String::new(),
            counts: None,
            denied: Vec::new(),
            notes: Vec::new(),
            result_output: BoundedText::default(),
            output: LiveOutput::within(left),
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
        let mut progress = self.run.lock();
        // The output of a block that is not shown would appear at the last shown block.
        if progress.blocks_left_out > 0 {
            return;
        }
        if let Some(block) = progress.blocks.last_mut() {
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
        let left = {
            let mut progress = self.run.lock();
            if let Some(block) = progress.blocks.get_mut(index) {
                block.output.end();
            }
            progress.bytes_left()
        };
        self.changed(index, |block| {
            block.counts = changed.and_then(counts);
            block.finish(result, left);
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

#[cfg(test)]
mod tests {
    use tagproto::{CommandResult, Dialect, ExecutionObserver, Strictness, read_in};
    use wap_core::OutputStream;

    use super::RunObserver;
    use crate::reply_run::{MOST_BLOCKS, Run, RunView};

    /// Returns a run of `commands` commands, each of which has printed `bytes` bytes of its own letter.
    fn run(commands: usize, bytes: usize) -> RunView {
        let command = |number: usize| format!("[RUN_COMMAND]\necho {number}\n[/RUN_COMMAND]\n");
        let text: String = (0..commands).map(command).collect();
        let reply = read_in(&text, Strictness::Repair, Dialect::Agentd);
        assert_eq!(reply.items.len(), commands);
        let run = Run::idle();
        let mut observer = RunObserver::new(&run);
        for (index, item) in reply.items.iter().enumerate() {
            let line = char::from(b'a' + u8::try_from(index % 26).unwrap()).to_string().repeat(99) + "\n";
            observer.block_started(index, item);
            observer.output(OutputStream::Stdout, line.repeat(bytes / 100).as_bytes());
            let result: CommandResult = serde_json::from_value(serde_json::json!({
                "commandType": "RUN_COMMAND", "summary": "ran", "success": true
            }))
            .unwrap();
            observer.block_finished(index, item, &result, None);
        }
        run.view()
    }

    fn text(view: &RunView) -> String {
        serde_json::to_string(view).unwrap()
    }

    #[test]
    fn the_outputs_of_many_commands_are_bounded_together() {
        let view = run(40, 1 << 19);
        assert_eq!(view.blocks.len(), 40);
        let length = text(&view).len();
        assert!(length < 12 << 20, "{length}");
        // Each still shows a beginning and an end; the control: a single command shows more.
        assert!(text(&view).matches("leftOutBytes").count() == 40);
        assert!(text(&run(1, 1 << 20)).len() > 500 * 1024);
    }

    #[test]
    fn output_of_a_block_that_is_not_shown_appears_at_no_other() {
        let view = run(MOST_BLOCKS + 1, 100);
        assert_eq!((view.blocks.len(), view.blocks_left_out), (MOST_BLOCKS, 1));
        // The letter of the last block, which is the 1,001st.
        let letter = char::from(b'a' + u8::try_from(MOST_BLOCKS % 26).unwrap()).to_string();
        let last = serde_json::to_value(view.blocks.last()).unwrap();
        assert!(!last["output"]["text"].as_str().unwrap().contains(&letter.repeat(99)), "{last}");
    }
}
