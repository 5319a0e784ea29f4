//! A workspace whose repository is elsewhere: a linked worktree, or a submodule.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// The maximum number of bytes read of a file: far more than a path or a submodule's settings need.
const MOST_BYTES: u64 = 64 * 1024;

/// Returns the git folder that a workspace's `.git` file points to, so that git works in commands; for a linked
/// worktree, that of the whole repository. `None` if there is no such file.
///
/// The file is not trusted: its author could name any folder of the user's. So that folder must name the workspace in
/// return, in git's own record, which requires permission to write there. The author of the workspace could have
/// written anything in it, so that folder must be outside; and also outside of folders that commands may change
/// (`writable`), where it could be exchanged after the check.
pub fn repository_folder(workspace: &Path, writable: &[PathBuf]) -> Option<PathBuf> {
    let workspace = &fs::canonicalize(workspace).ok()?;
    let git_file = workspace.join(".git");
    let text = text_of(&git_file)?;
    // A relative path is one from the workspace; joining an absolute path replaces it.
    let own = fs::canonicalize(workspace.join(text.strip_prefix("gitdir: ")?.trim_end_matches('\n'))).ok()?;
    if own.starts_with(workspace) {
        return None;
    }
    let repository = match text_of(&own.join("commondir")) {
        Some(common) => repository_of_worktree(&git_file, &own, common.trim_end_matches('\n'))?,
        None => Some(own).filter(|own| is_submodule(workspace, own))?,
    };
    let overlaps = |other: &Path| repository.starts_with(other) || other.starts_with(&repository);
    let is_changeable =
        writable.iter().filter_map(|folder| fs::canonicalize(folder).ok()).any(|it| overlaps(&it));
    (is_repository(&repository) && !overlaps(workspace) && !is_changeable).then_some(repository)
}

/// Checks whether a folder has the entries by which git recognises a repository.
fn is_repository(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// Returns the repository of a linked worktree. Git keeps the worktree's own folder in `worktrees` of the repository,
/// with the path of the worktree's `.git` file in it.
fn repository_of_worktree(git_file: &Path, own: &Path, common: &str) -> Option<PathBuf> {
    let back = text_of(&own.join("gitdir"))?;
    let back = fs::canonicalize(own.join(back.trim_end_matches('\n'))).ok()?;
    let common = fs::canonicalize(own.join(common)).ok()?;
    let is_in_worktrees = own.parent()? == common.join("worktrees");
    (is_in_worktrees && back == fs::canonicalize(git_file).ok()?).then_some(common)
}

/// Checks whether a git folder is that of a submodule in the workspace: its settings name the folder of its files.
fn is_submodule(workspace: &Path, own: &Path) -> bool {
    let settings = text_of(&own.join("config")).unwrap_or_default();
    let mut values = settings.lines().filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case("worktree").then(|| value.trim().trim_matches('"'))
    });
    let named = values.next().and_then(|value| fs::canonicalize(own.join(value)).ok());
    named.is_some_and(|named| named == workspace)
}

/// Returns the text of a small regular file; `None` for symlinks and pipes.
fn text_of(file: &Path) -> Option<String> {
    // Without NONBLOCK, opening a pipe would wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(file, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a repository and a worktree as git does; returns the folder, the worktree and the worktree's git folder.
    fn scene() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (worktree, own) = (root.join("worktree"), root.join("repository/.git/worktrees/one"));
        fs::create_dir(&worktree).unwrap();
        fs::create_dir_all(&own).unwrap();
        make_repository(&root.join("repository/.git"));
        fs::write(worktree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("gitdir"), format!("{}/.git\n", worktree.display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        (folder, worktree, own)
    }

    fn make_repository(folder: &Path) {
        for name in ["objects", "refs"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn a_linked_worktree_leads_to_its_repository() {
        let (folder, worktree, own) = scene();
        let repository = fs::canonicalize(folder.path().join("repository/.git")).unwrap();
        assert_eq!(repository_folder(&worktree, &[]).as_ref(), Some(&repository));
        // Relative paths, as newer versions of git write them with `worktree.useRelativePaths`.
        fs::write(worktree.join(".git"), "gitdir: ../repository/.git/worktrees/one\n").unwrap();
        fs::write(own.join("gitdir"), "../../../../worktree/.git\n").unwrap();
        assert_eq!(repository_folder(&worktree, &[]), Some(repository));
    }

    #[test]
    fn a_submodule_leads_to_its_own_folder_if_that_leads_back() {
        let (folder, worktree, _) = scene();
        let own = folder.path().join("repository/.git/modules/one");
        make_repository(&own);
        fs::write(worktree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        let cases = [
            ("[core]\n\tbare = false\n\tworktree = ../../../../worktree\n", true),
            ("[core]\n\tworktree = ../../../../repository\n", false),
            ("[core]\n\tworktree = ../../../../nothing\n", false),
            ("[core]\n\tbare = false\n", false),
        ];
        for (settings, leads_back) in cases {
            fs::write(own.join("config"), settings).unwrap();
            let expected = leads_back.then(|| fs::canonicalize(&own).unwrap());
            assert_eq!(repository_folder(&worktree, &[]), expected, "{settings}");
        }
    }

    #[test]
    fn a_repository_that_the_author_of_the_workspace_could_write_is_refused() {
        // The workspace is its own git folder, and commands would see the folder around it.
        let folder = tempfile::tempdir().unwrap();
        make_repository(folder.path());
        let workspace = folder.path().join("worktrees/feature");
        fs::create_dir_all(&workspace).unwrap();
        for (name, text) in [(".git", "gitdir: .\n"), ("gitdir", ".git\n"), ("commondir", "../..\n")] {
            fs::write(workspace.join(name), text).unwrap();
        }
        assert_eq!(repository_folder(&workspace, &[]), None);
        // A command could exchange a folder in the workspace before the next command sees it.
        let (_folder, worktree, own) = scene();
        let inside = worktree.join("p/.git/worktrees/one");
        make_repository(&worktree.join("p/.git"));
        fs::create_dir_all(&inside).unwrap();
        for name in ["gitdir", "commondir"] {
            fs::copy(own.join(name), inside.join(name)).unwrap();
        }
        fs::write(worktree.join(".git"), "gitdir: p/.git/worktrees/one\n").unwrap();
        assert_eq!(repository_folder(&worktree, &[]), None);
        // So could one in a cache.
        let (folder, worktree, _) = scene();
        assert!(repository_folder(&worktree, &[folder.path().join("worktree")]).is_some(), "the control");
        for cache in ["", "repository", "repository/.git/objects"] {
            assert_eq!(repository_folder(&worktree, &[folder.path().join(cache)]), None, "{cache}");
        }
    }

    #[test]
    fn a_repository_that_does_not_name_the_workspace_back_is_refused() {
        type Change = fn(&Path, &Path);
        let changes: [(&str, Change); 8] = [
            ("another worktree's", |_, own| fs::write(own.join("gitdir"), "/elsewhere/.git\n").unwrap()),
            ("nothing names it back", |_, own| fs::remove_file(own.join("gitdir")).unwrap()),
            ("it claims to belong to another folder", |_, own| {
                fs::write(own.join("commondir"), "../../../..\n").unwrap();
            }),
            ("any folder", |worktree, own| {
                fs::write(worktree.join(".git"), format!("gitdir: {}\n", own.parent().unwrap().display()))
                    .unwrap();
            }),
            ("a symlink", |worktree, own| {
                fs::rename(worktree.join(".git"), own.join("moved")).unwrap();
                std::os::unix::fs::symlink(own.join("moved"), worktree.join(".git")).unwrap();
            }),
            ("no repository", |_, own| fs::remove_file(own.join("../../HEAD")).unwrap()),
            ("a pipe", |worktree, _| {
                fs::remove_file(worktree.join(".git")).unwrap();
                rustix::fs::mkfifoat(rustix::fs::CWD, worktree.join(".git"), Mode::RUSR).unwrap();
            }),
            ("a repository of its own", |worktree, _| {
                fs::remove_file(worktree.join(".git")).unwrap();
                fs::create_dir(worktree.join(".git")).unwrap();
            }),
        ];
        for (what, change) in changes {
            let (_folder, worktree, own) = scene();
            assert!(repository_folder(&worktree, &[]).is_some(), "{what}: the control");
            change(&worktree, &own);
            assert_eq!(repository_folder(&worktree, &[]), None, "{what}");
        }
    }
}
