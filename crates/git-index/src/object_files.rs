//! The files in which git keeps objects.

use crate::own_files::is_hex;

/// The endings of the files of a pack.
const OF_PACK: [&str; 7] = ["bitmap", "idx", "keep", "mtimes", "pack", "promisor", "rev"];

/// Those that git computes from the pack. Without times, a pack of unreachable objects is like any other.
const OF_CACHE: [&str; 3] = [".bitmap", ".mtimes", ".rev"];

/// Returns whether a file holds objects, or helps to find them, at a path where git makes and removes files and never writes
/// into existing ones: an object, a pack, a commit graph, or a content of Git LFS. The path is given by its names, from a
/// repository's own folder; submodules and linked working trees count.
///
/// Git makes hard links of these files when it clones a repository of the same machine. It may write any other file in place,
/// which would change the content of its other hard links.
pub fn is_object_file<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let names: Vec<&[u8]> = names.into_iter().collect();
    match names.as_slice() {
        [b"worktrees", _, b"modules", rest @ ..] | [b"modules", rest @ ..] => {
            is_below_name(rest, is_in_store)
        }
        names => is_in_store(names),
    }
}

/// Returns whether a file holds data that git has computed from the objects: a commit graph, a list of all packs, or a file
/// next to a pack that is neither the pack nor its index. The path is given by its names, from a repository's own folder;
/// submodules count.
///
/// Git works without these files, and does not compare them with the objects: by a graph with other parents, `git gc` removes
/// commits.
pub fn is_object_cache<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let names: Vec<&[u8]> = names.into_iter().collect();
    match names.as_slice() {
        [b"worktrees", _, b"modules", rest @ ..] | [b"modules", rest @ ..] => is_below_name(rest, is_cache),
        names => is_cache(names),
    }
}

/// Checks the names after that of a submodule, branch or log, which may contain slashes.
fn is_below_name(names: &[&[u8]], is_one: fn(&[&[u8]]) -> bool) -> bool {
    let is_of_branches =
        |name: &&[u8]| ["refs", "logs"].iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
    (1..names.len()).any(|at| is_one(&names[at..]) && !names[1..at].iter().any(is_of_branches))
}

fn is_cache(names: &[&[u8]]) -> bool {
    match names {
        [b"objects", b"info", b"commit-graph"] | [b"objects", b"info", b"commit-graphs", _] => true,
        [b"objects", b"pack", name] => {
            name.starts_with(b"multi-pack-index") || OF_CACHE.iter().any(|end| name.ends_with(end.as_bytes()))
        }
        [b"objects", b"pack", b"multi-pack-index.d", _] => true,
        _ => false,
    }
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

/// Returns whether a name consists of `start`, the name of an object, a dot and one of the endings.
fn is_numbered(name: &[u8], start: &str, endings: &[&str]) -> bool {
    let Some(rest) = name.strip_prefix(start.as_bytes()) else { return false };
    let Some(dot) = rest.iter().position(|byte| *byte == b'.') else { return false };
    let is_number = is_hex(&rest[..dot]) && matches!(dot, 40 | 64);
    is_number && endings.iter().any(|ending| ending.as_bytes() == &rest[dot + 1..])
}
