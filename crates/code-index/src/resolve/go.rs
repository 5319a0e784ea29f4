//! Go: modules and the packages in them.

use super::{Lead, Project, from_folder, inside, outward, parent};
use crate::language::Language;

pub(super) fn resolve(project: &Project, file: usize, target: &str) -> Lead {
    let own_folder = parent(project.path(file));
    let own_module = outward(own_folder).find(|folder| project.manifests.go.contains_key(*folder));
    // A local replacement applies to the module that declares it.
    if let Some((folder, module)) =
        own_module.and_then(|folder| Some((folder, project.manifests.go.get(folder)?)))
    {
        for (name, target_folder) in &module.replaced {
            if let (Some(rest), Some(base)) = (subpath(target, name), from_folder(folder, target_folder)) {
                return package(project, &inside(&base, rest));
            }
        }
    }
    let modules = project.manifests.go.iter();
    let mut matching: Vec<(&str, &str)> = modules
        .filter_map(|(folder, module)| Some((folder.as_str(), subpath(target, &module.name)?)))
        .collect();
    // The module with the longest name is the innermost.
    matching.sort_by_key(|(_, rest)| rest.len());
    match matching.first() {
        Some((folder, rest)) => package(project, &inside(folder, rest)),
        None => Lead::Outside,
    }
}

/// Returns the part of an import after the module's name.
fn subpath<'t>(target: &'t str, module: &str) -> Option<&'t str> {
    let rest = target.strip_prefix(module)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

/// Returns the files of a package, without its tests.
fn package(project: &Project, folder: &str) -> Lead {
    let of_package = |file: &usize| {
        let path = project.path(*file);
        let is_go = project.files[*file].language == Some(Language::Go);
        // Imports do not include the tests of a package.
        is_go && parent(path) == folder && !path.ends_with("_test.go")
    };
    let files: Vec<usize> = project.files_of(folder).filter(of_package).collect();
    if files.is_empty() { Lead::Nowhere } else { Lead::To(files) }
}
