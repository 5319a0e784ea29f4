//! Names within repositories, which allow skipping most of a build folder.

use git_index::{is_file_list, is_reference, is_unfinished_work};
use rel_path::RelPath;

use crate::git::disguised_names::is_disguised;
use crate::git::guard::{is_git_name, is_index};

/// Checks whether a file of this name determines the programs that git runs or the paths that it reads. In a
/// folder of hooks any name does.
pub(super) fn may_be_obeyed(folder: &RelPath, name: &[u8]) -> bool {
    const NAMES: [&[u8]; 6] = [b"HEAD", b"commondir", b"config", b"config.worktree", b"gitdir", b"objects"];
    const FOLDERS: [&[u8]; 3] = [b"hooks", b"remotes", b"branches"];
    let is_one_of = |name: &[u8], list: &[&[u8]]| list.iter().any(|one| name.eq_ignore_ascii_case(one));
    is_git_name(name)
        || RelPath::from_bytes(name).is_ok_and(|name| is_index(&name))
        || is_one_of(name, &NAMES)
        || name.eq_ignore_ascii_case(b"refs")
        || is_reference(folder.components().chain([name]))
        || is_unfinished_work(folder.components().chain([name]))
        || is_file_list(folder.components().chain([name]))
        || folder.components().any(|name| is_one_of(name, &FOLDERS))
        || folder.components().chain([name]).any(is_disguised)
}

/// Returns whether a folder holds objects of the repository in `folder` and nothing that a `.git` file may point to.
pub(super) fn holds_objects(folder: &RelPath, path: &RelPath) -> bool {
    let names: Vec<_> = path.components().skip(folder.components().count()).collect();
    let is_plain = |name: &[u8]| name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit);
    // Next to packs there may be a list of them.
    match names.as_slice() {
        [b"objects", name] => is_plain(name),
        [b"lfs", b"objects", name] => is_plain(name),
        _ => false,
    }
}

/// Returns whether an entry of this name is one of the parts that make a folder a repository.
pub(super) fn is_part(name: &[u8]) -> bool {
    [&b"HEAD"[..], b"objects", b"refs", b"commondir"].iter().any(|one| name.eq_ignore_ascii_case(one))
}
