//! Files that are included by their path: `source` of shells and of R, `require` of PHP, `dofile` of Lua.

use super::{Lead, Project, c, from_folder, last, outward, parent};

/// Resolves `own path`, which should be a file of the project, `file path`, which a program may search for elsewhere, `some
/// path`, a path from an unknown folder, and `helper path`, which may lack its extension.
pub(super) fn resolve(project: &Project, file: usize, target: &str) -> Lead {
    let Some((kind, path)) = target.split_once(' ') else { return Lead::Outside };
    if path.is_empty() || path.starts_with(['/', '~']) || path.contains(':') {
        return Lead::Outside;
    }
    let own = parent(project.path(file));
    // Programs run in a folder above the file as often as in the file's own folder.
    let target_file = outward(own).find_map(|folder| project.file(&from_folder(folder, path)?));
    let target_file = target_file.or_else(|| match kind {
        "some" => by_ending(project, own, path),
        "helper" => from_folder(own, path).and_then(|path| project.file(&format!("{path}.bash"))),
        _ => None,
    });
    match target_file {
        Some(target_file) => Lead::To(vec![target_file]),
        None if kind == "own" || (kind == "file" && path.starts_with('.')) => Lead::Nowhere,
        None => Lead::Outside,
    }
}

/// Returns the file whose path ends with this one. A bare name only counts if it is unique.
fn by_ending(project: &Project, own: &str, path: &str) -> Option<usize> {
    let is_alone = project.by_name.get(last(path)).is_some_and(|files| files.len() == 1);
    if path.contains('/') || is_alone { c::by_ending(project, own, path, true) } else { None }
}

/// Resolves a path from the file's own folder, which should be a file of the project.
pub(super) fn sibling(project: &Project, file: usize, path: &str) -> Lead {
    let target_file = from_folder(parent(project.path(file)), path).and_then(|path| project.file(&path));
    target_file.map_or(Lead::Nowhere, |target_file| Lead::To(vec![target_file]))
}
