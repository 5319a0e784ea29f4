//! Temporary files left by a crash.

use rel_path::RelPath;

use crate::change::dir_entry::DirEntry;
use crate::change::temp_name::is_temp_name;
use crate::error::FsError;
use crate::handle::FOLDER_LIST;
use crate::open_file::OpenFile;
use crate::policy::LinkRule;
use crate::resolve::Last;
use crate::root::FileRoot;
use crate::walk::read_names;

/// The result of sweeping the temporary files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// The number of removed files.
    pub removed: u64,
    /// The files with unknown content, by their new names.
    pub kept: Vec<RelPath>,
}

impl FileRoot {
    /// Removes the temporary files that a crash left in one folder.
    ///
    /// A crash between an exchange and the check of the displaced file leaves another program's version under a
    /// temporary name. So a file is removed only if `is_known` returns true: its content is stored elsewhere or
    /// was never complete. Any other file gets a visible name.
    ///
    /// Only for a folder that no caller of this crate is writing to: the temporary files of a running write look
    /// the same.
    ///
    /// # Errors
    ///
    /// Those of listing the folder and of reading a file in it. Files swept before the error stay swept.
    pub fn sweep_leftovers(
        &self,
        folder: &RelPath,
        mut is_known: impl FnMut(&OpenFile) -> bool,
    ) -> Result<Swept, FsError> {
        self.check_writable(folder)?;
        let (handle, folder_path) =
            self.resolver.open(folder, FOLDER_LIST, Last::Folder, LinkRule::Refuse)?;
        // Collected before the first change: a listing may skip entries of a folder that changes meanwhile.
        let mut names = Vec::new();
        read_names(&handle, |name, _| {
            if is_temp_name(name) {
                names.push(name.to_vec());
            }
            true
        })
        .map_err(|errno| FsError::from_errno(errno, &folder_path))?;
        let mut entry = DirEntry { folder: handle, folder_path, name: Vec::new(), path: RelPath::root() };
        let mut swept = Swept::default();
        for name in names {
            entry.path = entry.folder_path.child(&name)?;
            let is_removable = match entry.stat_name(&name)? {
                None => continue,
                Some(metadata) if metadata.is_file() => is_known(&self.open_file(&entry.path)?),
                // This crate creates regular files only, so any other kind was displaced by an exchange.
                Some(_) => false,
            };
            if is_removable {
                entry.unlink_name(&name).map_err(|errno| entry.error(errno))?;
                swept.removed += 1;
            } else {
                match entry.keep_under_new_name(&name) {
                    FsError::LeftBehind { kept_as, .. } => swept.kept.push(kept_as),
                    error => return Err(error),
                }
            }
        }
        Ok(swept)
    }
}
