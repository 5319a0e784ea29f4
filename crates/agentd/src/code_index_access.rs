//! The index of code that belongs to a workspace.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use code_index::{
    FolderSource, FollowingIndex, Follows, IndexLimits, LocalIndex, Opening, Progress, Refreshed,
};
use file_index::ChangeFeed;
use tempfile::TempDir;
use wap_core::{Call, CancelFlag, CodeIndex, DelegatingIndex, IndexError};

use crate::cli::Common;
use crate::exit::{Exit, Failure};
use crate::views::console::Console;
use workspace_host::WorkspacePaths;
use workspace_host::state;

/// The name of the index's folder within the state folder.
const INDEX_FOLDER: &str = "index";

/// How long a question waits for the index to be brought up to date, before what it has so far is answered from.
pub(crate) const INDEXING_TIME: Duration = Duration::from_secs(20);

/// An open index, and a folder that is needed as long as it is.
pub(crate) struct OpenIndex {
    pub index: LocalIndex,
    _folder: Option<TempDir>,
}

/// Opens the index in the state folder. Where there is no state folder, or one that cannot be written, the index lives in a
/// temporary folder for as long as it is open.
pub(crate) fn open(common: &Common, places: &WorkspacePaths, console: Console) -> Result<OpenIndex, Failure> {
    if is_real_folder(&places.base) {
        match open_at(common, places, console, &places.base.join(INDEX_FOLDER)) {
            Ok(index) => return Ok(OpenIndex { index, _folder: None }),
            Err(failure) => console.notice(&format!(
                "agentd: {}: one in a temporary folder takes its place for this time",
                failure.message
            )),
        }
    }
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::new(Exit::Failed, format!("no temporary folder can be made: {error}")))?;
    let index = open_at(common, places, console, folder.path())?;
    Ok(OpenIndex { index, _folder: Some(folder) })
}

/// Opens the index in the state folder, which is made if it is not there.
pub(crate) fn open_kept(
    common: &Common,
    places: &WorkspacePaths,
    console: Console,
) -> Result<OpenIndex, Failure> {
    state::make_state_folder(places)?;
    let index = open_at(common, places, console, &places.base.join(INDEX_FOLDER))?;
    Ok(OpenIndex { index, _folder: None })
}

fn open_at(
    common: &Common,
    places: &WorkspacePaths,
    console: Console,
    folder: &Path,
) -> Result<LocalIndex, Failure> {
    let source = FolderSource::new(state::open_root(&common.host(), places)?);
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
    match time {
        None => index.refresh(cancel, &mut show).map(Some),
        Some(time) => index.refresh_within(time, cancel, &mut show),
    }
}

/// Whether an index is kept in the state folder.
pub(crate) fn is_kept(places: &WorkspacePaths) -> bool {
    is_real_folder(&places.base) && places.base.join(INDEX_FOLDER).join(code_index::STORE_NAME).is_file()
}

/// A state folder that is a link came with the folder of code, and may lead anywhere.
fn is_real_folder(base: &Path) -> bool {
    std::fs::symlink_metadata(base).is_ok_and(|found| found.is_dir())
}

/// An open index for as many questions as there are.
pub(crate) struct AskedIndex {
    index: Arc<FollowingIndex>,
    ends: CancelFlag,
    keeper: Option<JoinHandle<()>>,
    _folder: Option<TempDir>,
}

impl AskedIndex {
    /// An index that stays as it is.
    pub(crate) fn settled(opened: OpenIndex) -> AskedIndex {
        AskedIndex::new(opened, Follows::Nothing)
    }

    /// An index that is kept up with its folder from now on, in the background where a feed tells of changes. Without a thread
    /// for that, questions wait a little longer.
    pub(crate) fn kept_up(opened: OpenIndex, feed: Option<Arc<dyn ChangeFeed>>) -> AskedIndex {
        let mut asked = AskedIndex::new(opened, feed.map_or(Follows::Folder, Follows::Feed));
        let (index, ends) = (Arc::clone(&asked.index), asked.ends.clone());
        let keeper = thread::Builder::new().name("code-index".to_owned()).spawn(move || {
            // Those who ask come first. Where it cannot be had, it is a thread like others.
            let _ = rustix::process::nice(10);
            index.keep_up(&ends);
        });
        asked.keeper = keeper.ok();
        asked
    }

    fn new(opened: OpenIndex, follows: Follows) -> AskedIndex {
        AskedIndex {
            index: Arc::new(FollowingIndex::new(opened.index, follows, INDEXING_TIME)),
            ends: CancelFlag::new(),
            keeper: None,
            _folder: opened._folder,
        }
    }

    pub(crate) fn index(&self) -> &FollowingIndex {
        &self.index
    }
}

impl DelegatingIndex for AskedIndex {
    fn ask<T>(
        &self,
        _: &Call<'_>,
        _: &'static str,
        question: impl Fn(&dyn CodeIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        question(&*self.index)
    }
}

impl Drop for AskedIndex {
    fn drop(&mut self) {
        self.ends.cancel();
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}
