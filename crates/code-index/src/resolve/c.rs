//! C and C++: included files.

use super::{Lead, Project, from_folder, inside, last, outward, parent};

/// Include folders, searched in every parent folder of the including file.
const INCLUDE_FOLDERS: [&str; 4] = ["", "include", "src", "inc"];

pub(super) fn resolve(project: &Project, file: usize, target: &str) -> Lead {
    let (is_local, name) = match target.split_once(' ') {
        Some(("local", name)) => (true, name),
        Some((_, name)) => (false, name),
        None => return Lead::Outside,
    };
    let folder = parent(project.path(file));
    let sibling = || from_folder(folder, name).and_then(|path| project.file(&path));
    let in_include_folder = || {
        outward(folder).find_map(|around| {
            INCLUDE_FOLDERS.iter().find_map(|include| {
                // `<name.h>` means a system header rather than a file of the project with the same name.
                if !is_local && include.is_empty() && !name.contains('/') {
                    return None;
                }
                from_folder(&inside(around, include), name).and_then(|path| project.file(&path))
            })
        })
    };
    let file = if is_local { sibling().or_else(in_include_folder) } else { in_include_folder() };
    let file = file.or_else(|| by_ending(project, folder, name, is_local));
    match file {
        Some(file) => Lead::To(vec![file]),
        None if is_local => Lead::Nowhere,
        None => Lead::Outside,
    }
}

/// Returns the file whose path ends with `name`; of several, the one that shares the most parent folders.
pub(super) fn by_ending(project: &Project, folder: &str, name: &str, is_local: bool) -> Option<usize> {
    if name.contains("..") || (!is_local && !name.contains('/')) {
        return None;
    }
    let ending = format!("/{name}");
    let files = project.by_name.get(last(name))?.iter().copied();
    let shared = |file: &usize| {
        let path = project.path(*file);
        folder.split('/').zip(path.split('/')).take_while(|(left, right)| left == right).count()
    };
    files.filter(|file| project.path(*file).ends_with(&ending)).max_by_key(shared)
}
