//! The branch that was checked out when a change was made, if another one is now: most of what an undo finds changed then is as the user's
//! git has left it, and comes back with the branch.

use git_index::REFERENCE_BYTES;
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::git::guard::{INDEX_BYTES, in_git_folder};

/// The words with which git notes in the log of `HEAD` that another branch was checked out.
pub(super) const CHECKOUT: &str = "\tcheckout: moving from ";
const TO: &str = " to ";

/// Returns the branch or the commit that was checked out when a change left `HEAD`, or its log, as `left`; `None` if it still is, or is
/// unknown, or is not there any more.
pub(super) fn left_branch(
    root: &FileRoot,
    path: &RelPath,
    left: Option<&[u8]>,
    now: Option<&[u8]>,
) -> Option<String> {
    let part = in_git_folder(path)?;
    let name = match part.names.as_slice() {
        [b"HEAD"] => {
            let name = branch(left?)?;
            (now.and_then(branch) != Some(name)).then_some(name)?
        }
        [b"logs", b"HEAD"] => {
            let added = str::from_utf8(now?.strip_prefix(left?)?).ok()?;
            let moves = || added.lines().filter_map(|line| line.split_once(CHECKOUT)?.1.split_once(TO));
            let (name, _) = moves().next()?;
            (moves().next_back()?.1 != name).then_some(name)?
        }
        _ => return None,
    };
    (is_plain(name) && is_there(root, &part.folder, name)).then(|| name.to_owned())
}

/// Returns the branch that a `HEAD` names.
pub(super) fn branch(head: &[u8]) -> Option<&str> {
    str::from_utf8(head).ok()?.strip_prefix("ref: refs/heads/").map(str::trim_end)
}

/// Checks whether a name can be written into a command as it is.
fn is_plain(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-+@".contains(&byte);
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_usual)
}

fn is_there(root: &FileRoot, repository: &RelPath, name: &str) -> bool {
    let full = format!("refs/heads/{name}");
    let beneath = |path: &str| RelPath::parse(path).ok().and_then(|path| repository.join(&path).ok());
    let read = |path: &str, limit| root.open_file(&beneath(path)?).ok()?.read_to_end(limit).ok();
    let is_packed = || {
        let list = read("packed-refs", INDEX_BYTES).unwrap_or_default();
        list.split(|byte| *byte == b'\n')
            .any(|line| line.strip_suffix(full.as_bytes()).is_some_and(|rest| rest.ends_with(b" ")))
    };
    is_commit(name) || read(&full, REFERENCE_BYTES).is_some() || is_packed()
}

pub(super) fn is_commit(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
