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
    /// Opens the folder, creating missing parts. Leftovers of a killed process are removed, above all deliveries, and
    /// so are bundles that neither the chain nor a task names: only one process at a time may have the folder open,
    /// which the lock of the runner's records ensures.
    ///
    /// # Errors
    ///
    /// If a folder cannot be made, or that of deliveries cannot be emptied; the error names it.
    pub fn open(folder: &Path) -> io::Result<HomeFolder> {
        let incoming = folder.join("incoming");
        make_empty(&incoming)?;
        let tasks = TaskFiles::open(folder.join("tasks"))?;
        let chain = BaseChain::open(folder.join("bases"))?;
        // Leftovers only take space, and the next process tries again.
        let _ = tasks.remove_leftovers();
        let _ = chain.remove_unnamed(&tasks);
        Ok(HomeFolder { tasks, chain, incoming })
    }
}

/// Makes an empty folder.
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
