//! Folders of git, whose files decide which programs git starts.

use std::fs;
use std::path::Path;

/// Checks whether git takes settings or hooks from what a program that may change a folder writes there: the folder is, or lies in,
/// one that git keeps for itself (that of a repository, a submodule or a linked worktree), or it has a `.git`.
///
/// Such a program can have git start others later, outside of all confinement: by `config`, by `hooks`, or by the `commondir`
/// that leads to those. A folder of git is known by its name, `.git`, or by its files, as git knows it. Links to the folder are
/// followed. Repositories further down are not looked for.
#[must_use]
pub fn is_obeyed_by_git(folder: &Path) -> bool {
    // A missing one has no links to follow.
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    is_in_git_folder(&real) || real.join(".git").symlink_metadata().is_ok()
}

/// Checks whether a path is, or lies in, a folder that git keeps for itself. A file named `.git` in place of a folder is none.
fn is_in_git_folder(path: &Path) -> bool {
    path.ancestors().any(is_git_folder)
}

fn is_git_folder(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    let is_named = folder.file_name().is_some_and(|name| name == ".git");
    (is_named && folder.is_dir()) || (has("HEAD") && (has("commondir") || (has("objects") && has("refs"))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_of_git_is_known_by_its_name_or_by_its_files() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in
            ["w/.git/hooks", "w/src", "bare/objects", "bare/refs", "gitdir/logs", "half/objects", "file"]
        {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["bare/HEAD", "gitdir/HEAD", "gitdir/commondir", "half/HEAD", "file/.git"] {
            fs::write(at(file), "").unwrap();
        }
        let inside = ["w/.git", "w/.git/hooks", "w/.git/new/x", "bare", "bare/objects/12", "gitdir/logs"];
        for path in inside {
            assert!(is_in_git_folder(&at(path)), "{path}");
        }
        for path in ["w", "w/src", "half", "half/objects", "file", "file/.git", "missing/x"] {
            assert!(!is_in_git_folder(&at(path)), "{path}");
        }
        std::os::unix::fs::symlink(at("w/.git/hooks"), at("link")).unwrap();
        for path in inside.into_iter().chain(["w", "file", "link"]) {
            assert!(is_obeyed_by_git(&at(path)), "{path}");
        }
        for path in ["w/src", "half", "missing/x"] {
            assert!(!is_obeyed_by_git(&at(path)), "{path}");
        }
    }
}
