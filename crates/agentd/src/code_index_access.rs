//! The index of code that belongs to a workspace.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use code_index::{FolderSource, IndexLimits, LocalIndex, Opening, Progress, Refreshed};
use tempfile::TempDir;
use wap_core::{CancelFlag, IndexError};

use crate::cli::Common;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::state::{self, Places};

/// The name of the index's folder within the state folder.
const INDEX_FOLDER: &str = "index";

/// An open index, and a folder that is needed as long as it is.
pub(crate) struct OpenIndex {
    pub index: LocalIndex,
    _folder: Option<TempDir>,
}

/// Opens the index in the state folder. Where there is no state folder, or one that cannot be written, the index lives in a
/// temporary folder for as long as it is open.
pub(crate) fn open(common: &Common, places: &Places, console: Console) -> Result<OpenIndex, Failure> {
    if places.base.is_dir()
        && let Ok(index) = open_at(common, places, console, &places.base.join(INDEX_FOLDER))
    {
        return Ok(OpenIndex { index, _folder: None });
    }
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::new(Exit::Failed, format!("no temporary folder can be made: {error}")))?;
    let index = open_at(common, places, console, folder.path())?;
    Ok(OpenIndex { index, _folder: Some(folder) })
}

/// Opens the index in the state folder, which is made if it is not there.
pub(crate) fn open_kept(common: &Common, places: &Places, console: Console) -> Result<OpenIndex, Failure> {
    state::make_state_folder(places)?;
    let index = open_at(common, places, console, &places.base.join(INDEX_FOLDER))?;
    Ok(OpenIndex { index, _folder: None })
}

fn open_at(
    common: &Common,
    places: &Places,
    console: Console,
    folder: &std::path::Path,
) -> Result<LocalIndex, Failure> {
    let source = FolderSource::new(state::open_root(common, places)?);
    let source = match places.state_folder() {
        Some(state_folder) => source.without(state_folder),
        None => source,
    };
    let opened = LocalIndex::open(folder, source, IndexLimits::default());
    let (index, opening) = opened.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Failure::new(Exit::Failed, format!("{error}{cause}"))
    })?;
    if opening == Opening::Replaced {
        console.notice("the code index was damaged or of another version: it is built anew");
    }
    Ok(index)
}

/// Brings an index up to date, with a progress bar on a terminal. After `time` it is left as it is: what is stored so far
/// is answered from, and said to be incomplete.
pub(crate) fn refresh(
    index: &LocalIndex,
    console: Console,
    cancel: &CancelFlag,
    time: Option<Duration>,
) -> Result<Option<Refreshed>, IndexError> {
    let bar = console.bar("indexing");
    let mut show = |progress: Progress| bar.show(progress.done, progress.total);
    let ended = CancelFlag::new();
    let raised = ended.clone();
    let _guard = cancel.on_cancel(Box::new(move || raised.cancel()));
    let (done, waiting) = mpsc::channel::<()>();
    let refreshed = thread::scope(|scope| {
        if let Some(time) = time {
            let late = ended.clone();
            scope.spawn(move || {
                if waiting.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                    late.cancel();
                }
            });
        }
        let refreshed = index.refresh(&ended, &mut show);
        drop(done);
        refreshed
    });
    match refreshed {
        Err(IndexError::Cancelled) if !cancel.is_cancelled() => Ok(None),
        other => other.map(Some),
    }
}
