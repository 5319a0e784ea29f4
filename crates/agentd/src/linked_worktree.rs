//! A workspace that is a worktree of a repository elsewhere.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Far more than a path needs.
const MOST_BYTES: u64 = 16 * 1024;

/// Returns the git folder of the repository that a workspace is a linked worktree of, so that commands can ask git about
/// it; `None` if it is none.
///
/// The workspace's `.git` file is as good as whoever wrote it, and could name any folder of the user's. So the folder
/// that it names must name it back, at the place where git keeps its worktrees: nobody can write that who cannot write
/// there.
pub(crate) fn repository_folder(workspace: &Path) -> Option<PathBuf> {
    let link = workspace.join(".git");
    let named = PathBuf::from(line_of(&link)?.strip_prefix("gitdir: ")?);
    let own = fs::canonicalize(workspace.join(named)).ok()?;
    let back = fs::canonicalize(own.join(line_of(&own.join("gitdir"))?)).ok()?;
    let common = fs::canonicalize(own.join(line_of(&own.join("commondir"))?)).ok()?;
    let is_at_its_place = own.parent()? == common.join("worktrees");
    (is_at_its_place && back == fs::canonicalize(&link).ok()?).then_some(common)
}

/// The one line of a small file; links and pipes have none.
fn line_of(file: &Path) -> Option<String> {
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(file).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository and a worktree of it as git makes them; the folder, the worktree and the worktree's git folder.
    fn scene() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (worktree, own) = (root.join("worktree"), root.join("repository/.git/worktrees/one"));
        fs::create_dir(&worktree).unwrap();
        fs::create_dir_all(&own).unwrap();
        fs::write(worktree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("gitdir"), format!("{}/.git\n", worktree.display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        (folder, worktree, own)
    }

    #[test]
    fn a_linked_worktree_leads_to_its_repository() {
        let (folder, worktree, own) = scene();
        let repository = fs::canonicalize(folder.path().join("repository/.git")).unwrap();
        assert_eq!(repository_folder(&worktree).as_ref(), Some(&repository));
        // As newer versions of git write it where they are told to.
        fs::write(worktree.join(".git"), "gitdir: ../repository/.git/worktrees/one\n").unwrap();
        fs::write(own.join("gitdir"), "../../../../worktree/.git\n").unwrap();
        assert_eq!(repository_folder(&worktree), Some(repository));
    }

    #[test]
    fn what_does_not_name_the_workspace_back_is_not_shown() {
        type Change = fn(&Path, &Path);
        let changes: [(&str, Change); 6] = [
            ("another worktree's", |_, own| fs::write(own.join("gitdir"), "/elsewhere/.git\n").unwrap()),
            ("nothing names it back", |_, own| fs::remove_file(own.join("gitdir")).unwrap()),
            ("it claims to belong to another folder", |_, own| {
                fs::write(own.join("commondir"), "../../../..\n").unwrap();
            }),
            ("any folder", |worktree, own| {
                fs::write(worktree.join(".git"), format!("gitdir: {}\n", own.parent().unwrap().display()))
                    .unwrap();
            }),
            ("a link", |worktree, own| {
                fs::rename(worktree.join(".git"), own.join("moved")).unwrap();
                std::os::unix::fs::symlink(own.join("moved"), worktree.join(".git")).unwrap();
            }),
            ("a repository of its own", |worktree, _| {
                fs::remove_file(worktree.join(".git")).unwrap();
                fs::create_dir(worktree.join(".git")).unwrap();
            }),
        ];
        for (what, change) in changes {
            let (_folder, worktree, own) = scene();
            assert!(repository_folder(&worktree).is_some(), "{what}: the control");
            change(&worktree, &own);
            assert_eq!(repository_folder(&worktree), None, "{what}");
        }
    }
}
