//! Python: packages, modules and steps up.
//!
//! A name without a step up never means a neighbour within a package: it is looked for in folders that may be in Python's
//! path. Those are no packages.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Lead, Project, inside, outward, parent};
use crate::outline::Import;
use crate::store::packed_outline::imports;

/// Folders in which packages lie without being part of their names.
const SOURCE_FOLDERS: [&str; 4] = ["", "src", "lib", "python"];

/// The names of Python's own modules.
static STANDARD_LIBRARY: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("python_stdlib.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
});

pub(super) fn resolve(project: &Project, file: usize, import: &Import) -> Lead {
    let (module, name) = match import.target.split_once(':') {
        Some((module, name)) => (module, Some(name).filter(|name| *name != "*")),
        None => (import.target.as_str(), None),
    };
    let folder = parent(project.path(file));
    let dots = module.bytes().take_while(|byte| *byte == b'.').count();
    if dots > 0 {
        let mut base = Some(folder);
        for _ in 1..dots {
            base = base.filter(|base| !base.is_empty()).map(parent);
        }
        let found = base.map(|base| lead(project, base, &module[dots..], name)).unwrap_or_default();
        return if found.is_empty() { Lead::Nowhere } else { Lead::To(found) };
    }
    let first = module.split('.').next().unwrap_or_default();
    if STANDARD_LIBRARY.contains(first) {
        // Only a script finds what lies beside it before Python's own modules, and a package is no folder of scripts.
        let is_script_root = !outward(folder).any(|around| package(project, around).is_some());
        let mut found = if is_script_root { lead(project, folder, module, name) } else { Vec::new() };
        found.retain(|found| *found != file);
        return if found.is_empty() { Lead::Outside } else { Lead::To(found) };
    }
    let mut is_ours = false;
    for around in outward(folder) {
        for source in SOURCE_FOLDERS {
            let base = inside(around, source);
            if package(project, &base).is_some() {
                continue;
            }
            let mut found = lead(project, &base, module, name);
            // A module does not import itself: it means another one of that name.
            found.retain(|found| *found != file);
            if !found.is_empty() {
                return Lead::To(found);
            }
            is_ours |= package(project, &inside(&base, first)).is_some();
        }
    }
    if is_ours { Lead::Nowhere } else { Lead::Outside }
}

/// The file that says what a package is.
fn package(project: &Project, folder: &str) -> Option<usize> {
    ["__init__.py", "__init__.pyi"].iter().find_map(|name| project.file(&inside(folder, name)))
}

/// The file of a module, which may be a package: that comes before a module of the same name.
fn module_file(project: &Project, path: &str) -> Option<usize> {
    package(project, path)
        .or_else(|| [".py", ".pyi"].iter().find_map(|ending| project.file(&format!("{path}{ending}"))))
}

/// Whether a package has imported a name from somewhere, so that it can be imported from there.
fn gives(project: &Project, package: usize, name: &str) -> bool {
    imports(&project.files[package].imports).into_iter().any(|import| {
        // `from . import name` only says which modules there are.
        import
            .target
            .rsplit_once(':')
            .is_some_and(|(from, given)| given == name && !from.trim_matches('.').is_empty())
    })
}

/// The files of a module, or of a name out of it, as it is from a folder; none if there is no such module.
fn lead(project: &Project, base: &str, module: &str, name: Option<&str>) -> Vec<usize> {
    let path = inside(base, &module.replace('.', "/"));
    let found = if module.is_empty() { package(project, &path) } else { module_file(project, &path) };
    let Some(name) = name else { return found.into_iter().collect() };
    let part = module_file(project, &inside(&path, name));
    match (found, part) {
        // What a package defines itself comes before a module of that name in it.
        (Some(found), _) if project.files[found].defines(name) => vec![found],
        // What it has imported is called so there, too.
        (Some(found), Some(part)) if gives(project, found, name) => vec![found, part],
        (found, part) => part.or(found).into_iter().collect(),
    }
}
