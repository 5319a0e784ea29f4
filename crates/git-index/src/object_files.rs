//! The files in which git keeps objects.

use crate::own_files::is_hex;

/// The endings of the files of a pack.
const OF_PACK: [&str; 7] = ["bitmap", "idx", "keep", "mtimes", "pack", "promisor", "rev"];

/// Returns whether a file holds objects, or helps to find them, under a name at which git makes and removes files and never
/// writes into one: an object, a pack, a commit graph, or a content of Git LFS, by the names on the way to it from a repository's own
/// folder. Those of submodules and of linked working trees count.
///
/// Git makes hard links of these files when it clones a repository of the same machine. Any other file it may write in
/// place, and would change what the other name of a hard link stands for.
pub fn is_object_file<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let names: Vec<&[u8]> = names.into_iter().collect();
    match names.as_slice() {
        [b"worktrees", _, b"modules", rest @ ..] | [b"modules", rest @ ..] => is_of_submodule(rest),
        names => is_in_store(names),
    }
}

/// A submodule's name has slashes in it if its path has, and so have those of branches and their logs.
fn is_of_submodule(names: &[&[u8]]) -> bool {
    let is_of_branches =
        |name: &&[u8]| ["refs", "logs"].iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
    (1..names.len()).any(|at| is_in_store(&names[at..]) && !names[1..at].iter().any(is_of_branches))
}

fn is_in_store(names: &[&[u8]]) -> bool {
    match names {
        [b"objects", b"pack", name] => is_numbered(name, "pack-", &OF_PACK),
        [b"objects", b"info", b"packs" | b"commit-graph"] => true,
        [b"objects", b"info", b"commit-graphs", name] => {
            *name == b"commit-graph-chain" || is_numbered(name, "graph-", &["graph"])
        }
        [b"objects", folder, name] => {
            is_hex(folder) && folder.len() == 2 && is_hex(name) && matches!(name.len(), 38 | 62)
        }
        [b"lfs", b"objects", first, second, name] => {
            is_hex(name) && name.len() == 64 && name[..2] == **first && name[2..4] == **second
        }
        _ => false,
    }
}

/// Returns whether a name is a beginning, the number of an object, and one of these endings behind a dot.
fn is_numbered(name: &[u8], start: &str, endings: &[&str]) -> bool {
    let Some(rest) = name.strip_prefix(start.as_bytes()) else { return false };
    let Some(dot) = rest.iter().position(|byte| *byte == b'.') else { return false };
    let is_number = is_hex(&rest[..dot]) && matches!(dot, 40 | 64);
    is_number && endings.iter().any(|ending| ending.as_bytes() == &rest[dot + 1..])
}
