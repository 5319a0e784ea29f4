//! Python: packages, modules and steps up.
//!
//! An absolute name never means a sibling module within a package: it is searched in the folders that may be on
//! Python's path, which are not packages.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Lead, Project, inside, outward, parent};
use crate::outline::Import;
use crate::store::packed_outline::imports;

/// Source folders, which are not part of a package's name.
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
        let files = base.map(|base| lead(project, base, &module[dots..], name)).unwrap_or_default();
        return if files.is_empty() { Lead::Nowhere } else { Lead::To(files) };
    }
    let first = module.split('.').next().unwrap_or_default();
    if STANDARD_LIBRARY.contains(first) {
        // Only a script prefers a sibling module to the standard library, and scripts are not in packages.
        let is_script_root = !outward(folder).any(|around| package(project, around).is_some());
        let mut files = if is_script_root { lead(project, folder, module, name) } else { Vec::new() };
        files.retain(|target| *target != file);
        return if files.is_empty() { Lead::Outside } else { Lead::To(files) };
    }
    let mut is_ours = false;
    for around in outward(folder) {
        for source in SOURCE_FOLDERS {
            let base = inside(around, source);
            if package(project, &base).is_some() {
                continue;
            }
            let mut files = lead(project, &base, module, name);
            // A module does not import itself, so it means another module of the same name.
            files.retain(|target| *target != file);
            if !files.is_empty() {
                return Lead::To(files);
            }
            is_ours |= package(project, &inside(&base, first)).is_some();
        }
    }
    if is_ours { Lead::Nowhere } else { Lead::Outside }
}

/// Returns the `__init__` file of a package.
fn package(project: &Project, folder: &str) -> Option<usize> {
    ["__init__.py", "__init__.pyi"].iter().find_map(|name| project.file(&inside(folder, name)))
}

/// Returns the file of a module; a package has priority over a module of the same name.
fn module_file(project: &Project, path: &str) -> Option<usize> {
    package(project, path)
        .or_else(|| [".py", ".pyi"].iter().find_map(|ending| project.file(&format!("{path}{ending}"))))
}

/// Returns true if a package re-exports a name that it imports.
fn re_exports(project: &Project, package: usize, name: &str) -> bool {
    imports(&project.files[package].imports).into_iter().any(|import| {
        // `from . import name` only imports a submodule.
        import
            .target
            .rsplit_once(':')
            .is_some_and(|(from, given)| given == name && !from.trim_matches('.').is_empty())
    })
}

/// Returns the files of a module, or of a name in it, relative to a folder; empty if there is no such module.
fn lead(project: &Project, base: &str, module: &str, name: Option<&str>) -> Vec<usize> {
    let path = inside(base, &module.replace('.', "/"));
    let own = if module.is_empty() { package(project, &path) } else { module_file(project, &path) };
    let Some(name) = name else { return own.into_iter().collect() };
    let part = module_file(project, &inside(&path, name));
    match (own, part) {
        // A definition in the package has priority over a submodule of the same name.
        (Some(own), _) if project.files[own].defines(name) => vec![own],
        // A re-exported name may mean either file.
        (Some(own), Some(part)) if re_exports(project, own, name) => vec![own, part],
        (own, part) => part.or(own).into_iter().collect(),
    }
}
