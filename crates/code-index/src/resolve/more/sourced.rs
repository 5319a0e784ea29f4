//! Files that are read by their path: `source` of shells and of R, `require` of PHP, `dofile` of Lua.

use super::{Lead, Project, from_folder, outward, parent};

/// Resolves `own path`, which should be a file of the project, `file path`, which a program may look for elsewhere,
/// and `some path`, a path from a folder that is not known.
pub(super) fn resolve(project: &Project, file: usize, target: &str) -> Lead {
    let Some((kind, path)) = target.split_once(' ') else { return Lead::Outside };
    if path.is_empty() || path.starts_with(['/', '~']) || path.contains(':') {
        return Lead::Outside;
    }
    let own = parent(project.path(file));
    // Programs run in a folder above the file as often as beside it.
    let found = outward(own).find_map(|folder| project.file(&from_folder(folder, path)?));
    match found {
        Some(found) => Lead::To(vec![found]),
        None if kind == "own" || (kind == "file" && path.starts_with('.')) => Lead::Nowhere,
        None => Lead::Outside,
    }
}

/// Resolves a path from the file's own folder, which should be a file of the project.
pub(super) fn beside(project: &Project, file: usize, path: &str) -> Lead {
    let found = from_folder(parent(project.path(file)), path).and_then(|path| project.file(&path));
    found.map_or(Lead::Nowhere, |found| Lead::To(vec![found]))
}
