//! Resolves the links of a path.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// Returns the path without links, like [`fs::canonicalize`], but with one system call where there are none: preparing
/// a command resolves about a hundred paths.
pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    let is_plain = path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if !is_plain {
        return fs::canonicalize(path);
    }
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS) {
        // Rebuilt from components to drop doubled and final slashes.
        Ok(_) => Ok(path.components().collect()),
        Err(Errno::NOENT) => Err(Errno::NOENT.into()),
        Err(_) => fs::canonicalize(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_the_library_says() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        let prefix = root.display();
        for path in
            ["a/b", "a//b/", "a/./b", "a/../a/b", "link/b", "link", "a/file", "a/file/", "none", "a/file/x"]
        {
            let path = PathBuf::from(format!("{prefix}/{path}"));
            let (ours, theirs) = (canonicalize(&path), fs::canonicalize(&path));
            assert_eq!(ours.ok(), theirs.ok(), "{}", path.display());
        }
    }
}
