//! The folders of version control systems other than git.
//!
//! File tools change nothing in them. Commands may, since their programs work there, except for files that make those
//! programs run others or read other paths.

use std::sync::LazyLock;

use rel_path::{NameRule, ProtectedName, ProtectedNames, RelPath};

use crate::change::present::PresentKind;
use crate::name_probe::surely_lacks;

/// The folders, except Bazaar's: the settings of each branch have expressions that it evaluates, and any file may
/// switch the folder to another branch.
static FOLDERS: LazyLock<ProtectedNames> = LazyLock::new(|| ProtectedNames::new([".hg", ".jj", ".svn"]));

/// The names in them that their programs obey.
static OBEYED: LazyLock<ProtectedNames> = LazyLock::new(|| {
    ProtectedNames::new([
        ".hg/hgrc",
        ".hg/hgrc-not-shared",
        ".hg/sharedpath",
        ".jj/repo/config.toml",
        ".jj/workspace-config.toml",
        ".jj/repo/store/git_target",
    ])
});

/// The names in them whose every change is reported.
static REPORTED: LazyLock<ProtectedNames> = LazyLock::new(|| {
    let mut names = ProtectedNames::none();
    // Nearly every command of Subversion changes its database, and only Subversion could tell the changes within.
    let reason = "Subversion runs the hooks of the repository that it names, and removes files that it lists";
    names.set(".svn/wc.db*", NameRule::Reported, reason);
    names
});

/// A file of this name points to the repository of another folder.
static LEADS_AWAY: LazyLock<ProtectedNames> = LazyLock::new(|| ProtectedNames::new([".jj/repo"]));

/// Returns whether an entry of the list is such a folder, or that of git.
pub(crate) fn is_folder(entry: &str) -> bool {
    RelPath::parse(entry).is_ok_and(|path| path.file_name() == Some(b".git") || FOLDERS.protects(&path))
}

/// Returns whether a path is in the folder of a version control system other than git.
pub(crate) fn is_in_folder(path: &RelPath) -> bool {
    // The comparison is slow, and hardly any path has one of these names.
    let lacks_all = [&b"hg"[..], b"jj", b"svn"].into_iter().all(|word| surely_lacks(path.as_bytes(), word));
    !lacks_all && FOLDERS.protects(path)
}

/// Returns the entry by which a command's change of a path is reported: one of the list, or one in such a folder.
pub(crate) fn reported<'n>(protected: &'n ProtectedNames, path: &RelPath) -> Option<&'n ProtectedName> {
    let in_folder = || if is_in_folder(path) { REPORTED.reported(path) } else { None };
    protected.reported(path).or_else(in_folder)
}

/// Returns whether a command may change a path in such a folder into something of this kind.
pub(crate) fn is_its_own_matter(path: &RelPath, kind_after: Option<PresentKind>) -> bool {
    let is_link = kind_after == Some(PresentKind::Other);
    let leads_away = kind_after == Some(PresentKind::File)
        && LEADS_AWAY.protects(path)
        && path.parent().is_some_and(|folder| !LEADS_AWAY.protects(&folder));
    is_in_folder(path) && !is_link && !leads_away && !OBEYED.protects(path)
}
