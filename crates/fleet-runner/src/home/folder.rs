//! The folder of a repository's tasks in fleets.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::base_chain::BaseChain;
use super::task_files::TaskFiles;
use crate::private_folder::make_private_folder;

/// The folder of a repository's tasks in fleets: `tasks`, `bases`, and `incoming` for deliveries that are being received.
#[derive(Debug)]
pub struct HomeFolder {
    /// The tasks that are not resolved.
    pub tasks: TaskFiles,
    /// The bundles of the commits that they start from.
    pub chain: BaseChain,
    /// The folder for deliveries, empty.
    pub incoming: PathBuf,
}

impl HomeFolder {
    /// Opens the folder, and makes what is missing. What a process which was killed has left is removed, deliveries above all, and
    /// so are bundles that neither the chain nor a task names: one process at a time may have the folder open, for which the lock of
    /// the runner's records is one.
    ///
    /// # Errors
    ///
    /// A folder cannot be made, or that of deliveries not be emptied; the error names it then.
    pub fn open(folder: &Path) -> io::Result<HomeFolder> {
        let incoming = folder.join("incoming");
        make_empty(&incoming)?;
        let tasks = TaskFiles::open(folder.join("tasks"))?;
        let chain = BaseChain::open(folder.join("bases"))?;
        // What stays takes room alone, and the next process tries again.
        let _ = tasks.remove_leftovers();
        let _ = chain.remove_unnamed(&tasks);
        Ok(HomeFolder { tasks, chain, incoming })
    }
}

/// Makes a folder that is empty.
fn make_empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let text = format!("{} cannot be emptied, remove it by hand: {error}", folder.display());
            return Err(io::Error::new(error.kind(), text));
        }
        _ => {}
    }
    make_private_folder(folder)
}
