//! The files of the workspace that matter for a task, for the first message of a session.

use std::time::{Duration, Instant};

use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey, TaskFile};
use workspace_host::WorkspacePaths;
use workspace_index::OpenIndex;

use crate::commands::index::refresh;
use crate::common_options::CommonOptions;
use crate::views::console::Console;

/// The most files that are ranked.
const MOST_FILES: usize = 32;

/// The longest time for reading the folder. A larger folder is ranked by the part that was read; an index that is kept is read
/// only where files have changed.
const READING_TIME: Duration = Duration::from_secs(5);

/// The longest time for reading the folder and ranking its files.
const WHOLE_TIME: Duration = Duration::from_secs(8);

/// Ranks the files that matter for a task; none if the folder cannot be indexed, since a model can look for them itself.
pub(crate) fn task_files(
    common: &CommonOptions,
    console: Console,
    paths: &WorkspacePaths,
    task: &str,
    cancel: &CancelFlag,
) -> Vec<TaskFile> {
    let begun = Instant::now();
    let opened = match OpenIndex::open_for_now(&common.host(), paths, &console.shared()) {
        Ok(opened) => opened,
        Err(failure) => {
            console.detail(&format!("files are not ranked for the task: {}", failure.message));
            return Vec::new();
        }
    };
    let origin = Origin {
        conversation: ConversationId("task".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let ranked = refresh(&opened.index, console, cancel, Some(READING_TIME)).and_then(|refreshed| {
        if refreshed.is_none() {
            console.notice(&format!(
                "the folder was not read to its end in {} seconds, so files that matter for the task may be missing in the \
                 message: `agentd index build` reads all of them and keeps the index for the next session",
                READING_TIME.as_secs(),
            ));
        }
        let time_left = Some(WHOLE_TIME.saturating_sub(begun.elapsed()));
        opened.index.files_for_task(&Call { origin: &origin, cancel, time_left }, task, MOST_FILES)
    });
    ranked.unwrap_or_else(|error| {
        console.detail(&format!("files are not ranked for the task: {error}"));
        Vec::new()
    })
}
