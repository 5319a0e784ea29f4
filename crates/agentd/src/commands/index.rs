//! `agentd index`: building the code index, looking at it, searching it.

use std::time::Duration;

use clap::Subcommand;
use code_index::{LocalIndex, Progress, Refreshed};
use serde_json::json;
use wap_core::{
    Call, CancelFlag, CodeIndex, ConversationId, IndexError, IndexState, Origin, Retention, RunKey,
    SearchCode,
};
use workspace_host::WorkspacePaths;
use workspace_index::OpenIndex;

use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::{Console, Tone};

/// The tasks of the code index.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Index files that are new or have changed since the last build.
    Build {
        /// Forget everything first.
        #[arg(long)]
        fresh: bool,
    },
    /// Print the state and the size of the index.
    Status,
    /// Find pieces of files by words, best first.
    Search {
        /// The words.
        #[arg(required = true, value_name = "QUERY")]
        query: Vec<String>,
        /// At most this many hits.
        #[arg(long, short = 'n', value_name = "N", default_value_t = 8)]
        limit: u32,
    },
}

pub(crate) fn run(common: &CommonOptions, console: Console, command: &IndexCommand) -> Outcome {
    let paths = WorkspacePaths::find(&common.host())?;
    match command {
        IndexCommand::Build { fresh } => build(common, console, &paths, *fresh),
        IndexCommand::Status => status(common, console, &paths),
        IndexCommand::Search { query, limit } => search(common, console, &paths, &query.join(" "), *limit),
    }
}

fn build(common: &CommonOptions, console: Console, paths: &WorkspacePaths, fresh: bool) -> Outcome {
    let cancel = cancel_flag()?;
    let opened = OpenIndex::open_kept(&common.host(), paths, &console.shared())?;
    if fresh {
        opened.index.clear().map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    }
    let refreshed = match refresh(&opened.index, console, &cancel, None) {
        Err(IndexError::Cancelled) => return Ok(Exit::Interrupted),
        other => other.map_err(failure)?.unwrap_or_default(),
    };
    let status = opened.index.status().map_err(failure)?;
    if console.json {
        let mut value = status.to_json();
        value["read"] = json!(refreshed.read);
        value["removed"] = json!(refreshed.removed);
        console.json_result(&value);
    } else {
        console.result(&format!(
            "{} files read, {} forgotten, {} unchanged; {} texts of {} are indexed in {}",
            refreshed.read,
            refreshed.removed,
            refreshed.unchanged,
            status.texts,
            size(status.text_bytes),
            size(status.store_bytes),
        ));
    }
    Ok(Exit::Done)
}

fn status(common: &CommonOptions, console: Console, paths: &WorkspacePaths) -> Outcome {
    let opened = OpenIndex::open(&common.host(), paths, &console.shared())?;
    let status = opened.index.status().map_err(failure)?;
    if console.json {
        console.json_result(&status.to_json());
    } else if !opened.is_kept() {
        console.result(
            "no index is kept: `agentd index build` makes one; until then each search reads the folder",
        );
    } else {
        // A process that builds the index at this moment is not seen from here.
        let state = match status.state {
            IndexState::Ready => "complete",
            IndexState::Building => "not complete (`agentd index build` completes it, and so does a search)",
            IndexState::Empty => "empty",
        };
        let (texts, files) = (status.texts, status.files);
        let (text, store) = (size(status.text_bytes), size(status.store_bytes));
        console.result(&format!("{state}: {texts} texts of {text} among {files} files, kept in {store}"));
    }
    Ok(Exit::Done)
}

fn search(
    common: &CommonOptions,
    console: Console,
    paths: &WorkspacePaths,
    query: &str,
    limit: u32,
) -> Outcome {
    let cancel = cancel_flag()?;
    let opened = OpenIndex::open(&common.host(), paths, &console.shared())?;
    fresh_enough(&opened, console, &cancel)?;
    let origin = Origin {
        conversation: ConversationId("index".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let answer =
        opened.index.search(&call, &SearchCode { query: query.to_owned(), limit }).map_err(failure)?;
    if console.json {
        console.json_result(&answer);
        return Ok(Exit::Done);
    }
    for hit in &answer.hits {
        console.result(&format!("{}:{}-{}  {:.2}", hit.path, hit.line_start, hit.line_end, hit.score));
        for line in hit.snippet.lines() {
            console.result(&format!("    {line}"));
        }
    }
    if answer.hits.is_empty() {
        console.styled(Tone::Faint, "nothing is found");
    }
    Ok(Exit::Done)
}

/// Brings an index up to date, with a progress bar on a terminal. After `time` the index stays as it is, incomplete.
pub(crate) fn refresh(
    index: &LocalIndex,
    console: Console,
    cancel: &CancelFlag,
    time: Option<Duration>,
) -> Result<Option<Refreshed>, IndexError> {
    let bar = console.bar("indexing");
    let mut show = |progress: Progress| bar.show(progress.done, progress.total);
    match time {
        None => index.refresh(cancel, &mut show).map(Some),
        Some(time) => index.refresh_within(time, cancel, &mut show),
    }
}

fn fresh_enough(opened: &OpenIndex, console: Console, cancel: &CancelFlag) -> Result<(), Failure> {
    refresh(&opened.index, console, cancel, None).map(drop).map_err(failure)
}

fn failure(error: IndexError) -> Failure {
    let exit = if error == IndexError::Cancelled { Exit::Interrupted } else { Exit::Failed };
    Failure::new(exit, error.to_string())
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..100_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
