//! A home and a folder for temporary files, for commands that have no root of their own to hold them.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that only the user can enter; removed with everything in it when dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
}

impl PrivateFolder {
    /// Makes one in `parent` whose name begins with `name`.
    pub(crate) fn create(parent: &Path, name: &str) -> io::Result<PrivateFolder> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = fs::canonicalize(parent)?.join(format!("{name}-{}-{number}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(PrivateFolder { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Makes the home, with git's settings and links to the real home's toolchains, and the temporary folder.
    pub(crate) fn furnish(
        &self,
        git_settings: &str,
        real_home: &Path,
        toolchains: &[PathBuf],
    ) -> io::Result<()> {
        fs::create_dir(self.temporary())?;
        fs::create_dir(self.home())?;
        fs::write(self.home().join(".gitconfig"), git_settings)?;
        for toolchain in toolchains {
            let Ok(place) = toolchain.strip_prefix(real_home) else { continue };
            let link = self.home().join(place);
            if let Some(parent) = link.parent() {
                fs::create_dir_all(parent)?;
            }
            symlink(toolchain, link)?;
        }
        Ok(())
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // A command's last file may be made while this runs; what stays is the scratch folder's owner's to clear.
        let _ = fs::remove_dir_all(&self.path);
    }
}
