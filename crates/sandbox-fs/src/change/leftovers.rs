//! Temporary files that a crash left behind.

use rel_path::RelPath;

use crate::change::place::Place;
use crate::change::temp_name::is_temp_name;
use crate::error::FsError;
use crate::handle::FOLDER_LIST;
use crate::open_file::OpenFile;
use crate::policy::LinkRule;
use crate::resolve::Last;
use crate::root::FileRoot;
use crate::walk::read_names;

/// What became of the temporary files in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// How many were removed.
    pub removed: u64,
    /// Those with unknown content, under the names that they have now.
    pub kept: Vec<RelPath>,
}

impl FileRoot {
    /// Removes the temporary files that a crash left in one folder.
    ///
    /// A crash between an exchange and the look at what came out leaves somebody's version under a temporary name, so
    /// a file goes only if `is_known` says that what it holds is held elsewhere or was never finished. Any other gets a
    /// name under which it is seen.
    ///
    /// Only for a folder in which no one is writing through this crate: the files of a write that is under way look
    /// the same.
    ///
    /// # Errors
    ///
    /// Those of listing the folder and of reading a file in it. What was swept until then stays swept.
    pub fn sweep_leftovers(
        &self,
        folder: &RelPath,
        mut is_known: impl FnMut(&OpenFile) -> bool,
    ) -> Result<Swept, FsError> {
        self.check_writable(folder)?;
        let (handle, folder_path) =
            self.resolver.open(folder, FOLDER_LIST, Last::Folder, LinkRule::Refuse)?;
        let mut names = Vec::new();
        read_names(&handle, |name, _| {
            if is_temp_name(name) {
                names.push(name.to_vec());
            }
            true
        })
        .map_err(|errno| FsError::from_errno(errno, &folder_path))?;
        let mut place = Place { folder: handle, folder_path, name: Vec::new(), path: RelPath::root() };
        let mut swept = Swept::default();
        for name in names {
            place.path = place.folder_path.child(&name)?;
            let known = match place.stat_name(&name)? {
                None => continue,
                Some(found) if found.is_file() => is_known(&self.open_file(&place.path)?),
                // A link or the like came out of an exchange: that was never ours.
                Some(_) => false,
            };
            if known {
                place.unlink_name(&name).map_err(|errno| place.error(errno))?;
                swept.removed += 1;
            } else {
                match place.keep_aside(&name) {
                    FsError::LeftBehind { kept_as, .. } => swept.kept.push(kept_as),
                    error => return Err(error),
                }
            }
        }
        Ok(swept)
    }
}
