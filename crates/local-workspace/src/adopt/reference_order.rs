//! The order in which the reference files of a repository change, so that no reference is ever missing.
//!
//! Git reads a reference from its own file, or from `packed-refs` if that is missing. So loose files are written first,
//! then the list, and loose files are removed last: at any time, each reference has its old or new value. The
//! checked-out branch changes in between, when both branches exist. With reftables, the list of tables names only
//! existing tables.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use change_journal::EntryKind;
use rel_path::RelPath;

use crate::git::guard::in_git_folder;

/// The position of a file of a repository among those that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReferenceTurn {
    /// A reference, or a table of them, that is added or changes.
    Reference,
    /// The list of references without loose files.
    PackedReferences,
    /// A file that git reads first: `HEAD`, and the `.git` of a working tree.
    Head,
    /// The list is removed: the checked-out branch now has a loose file.
    ListRemoval,
    /// A reference that is removed, or a folder around one.
    Removal,
}

/// The turns of paths that change together.
#[derive(Debug, Default)]
pub(crate) struct ReferenceOrder {
    /// References that are removed after everything else, and the folders around them.
    late: BTreeSet<RelPath>,
    /// Lists of references that are removed separately.
    lists: BTreeSet<RelPath>,
}

impl ReferenceOrder {
    /// Determines the order of paths from the kinds of their entries after the change, `None` for nothing.
    pub(crate) fn of<'a>(
        paths: impl Iterator<Item = (&'a RelPath, Option<EntryKind>)> + Clone,
    ) -> ReferenceOrder {
        let mut order = ReferenceOrder::default();
        let going: BTreeSet<&RelPath> =
            paths.clone().filter(|(_, after)| after.is_none()).map(|(path, _)| path).collect();
        if !going.iter().any(|path| Store::of(path).is_some()) {
            return order;
        }
        // A file system may treat two spellings as one name.
        let (mut needed, mut files) = (BTreeSet::new(), BTreeSet::new());
        for (path, after) in paths {
            let Some(kind) = after else { continue };
            if kind != EntryKind::Folder {
                files.insert(folded(path));
            }
            if Store::of(path).is_some() {
                needed.extend(with_folders(path).map(|path| folded(&path)));
            }
        }
        for path in going.iter().copied() {
            let Some(store) = Store::of(path) else { continue };
            // A repository that is removed completely is removed in path order.
            if store.folder.child(b"HEAD").is_ok_and(|head| going.contains(&head)) {
                continue;
            }
            let is_in_the_way = needed.contains(&folded(path))
                || with_folders(path).any(|folder| files.contains(&folded(&folder)));
            if is_in_the_way {
                continue;
            }
            if store.is_list {
                order.lists.insert(path.clone());
            } else {
                order.late.insert(path.clone());
            }
            order.late.extend(with_folders(path).skip(1));
        }
        order
    }

    /// Returns the turn of a path; `None` where the order of references does not matter.
    pub(crate) fn turn(&self, path: &RelPath, after: Option<EntryKind>) -> Option<ReferenceTurn> {
        let Some(kind) = after else {
            let list = self.lists.contains(path).then_some(ReferenceTurn::ListRemoval);
            return list.or_else(|| self.late.contains(path).then_some(ReferenceTurn::Removal));
        };
        let part = in_git_folder(path)?;
        match (part.names.as_slice(), Store::of(path)) {
            (_, Some(store)) if store.is_list => Some(ReferenceTurn::PackedReferences),
            (_, Some(_)) => Some(ReferenceTurn::Reference),
            ([], _) => (kind == EntryKind::File).then_some(ReferenceTurn::Head),
            ([b"HEAD" | b"index"] | [b"worktrees", _, b"HEAD" | b"index"], _) => Some(ReferenceTurn::Head),
            _ => None,
        }
    }
}

/// Sorts paths that are restored: removals make room first, a folder is removed after its entries, and created before
/// them.
pub(crate) fn sort_for_restoring<T>(items: &mut [T], of: impl Fn(&T) -> (&RelPath, Option<EntryKind>)) {
    let order = ReferenceOrder::of(items.iter().map(&of));
    items.sort_by_cached_key(|item| {
        let (path, after) = of(item);
        let turn = order.turn(path, after);
        let is_first = turn.is_none() && after.is_none();
        let removed = after.is_none().then(|| Reverse(path.clone()));
        (!is_first, turn, removed, path.clone())
    });
}

/// A part of a repository that stores references.
struct Store {
    /// The folder of the repository or of its working tree.
    folder: RelPath,
    /// True for `packed-refs`.
    is_list: bool,
}

impl Store {
    /// Returns the store that a path is, or is within.
    fn of(path: &RelPath) -> Option<Store> {
        in_git_folder(path)?;
        let names: Vec<&[u8]> = path.components().collect();
        let is_part =
            |name: &&[u8]| matches!(*name, b"refs" | b"reftable" | b"logs" | b"objects" | b"packed-refs");
        let at = names.iter().position(is_part)?;
        let is_list = match names[at] {
            b"packed-refs" if at + 1 == names.len() => true,
            b"refs" | b"reftable" => false,
            _ => return None,
        };
        let folder = RelPath::from_bytes(&names[..at].join(&b'/')).ok()?;
        Some(Store { folder, is_list })
    }
}

/// A path and the folders above it, without the root.
fn with_folders(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(Some(path.clone()), RelPath::parent).take_while(|path| !path.is_root())
}

fn folded(path: &RelPath) -> String {
    String::from_utf8_lossy(path.as_bytes()).to_lowercase()
}

#[cfg(test)]
mod tests;
