//! Rust: modules and the crates of a workspace.

use super::rust_modules::module_file;
use super::{Lead, Project, from_folder, outward, parent};
use crate::outline::Import;
use crate::store::packed_outline::imports;

pub(super) fn resolve(project: &Project, file: usize, import: &Import) -> Lead {
    let module = project.rust.module_of(file);
    match import.kind.as_str() {
        "module" => {
            let is_root = module.is_some_and(|(_, path)| path.is_empty());
            module_file(project, file, is_root, &import.target)
                .map_or(Lead::Nowhere, |file| Lead::To(vec![file]))
        }
        "include" => included(project, file, import.target.strip_prefix("path ").unwrap_or_default()),
        _ => used(project, file, module, &import.target),
    }
}

fn included(project: &Project, file: usize, path: &str) -> Lead {
    let Some(path) = from_folder(parent(project.path(file)), path) else { return Lead::Outside };
    match project.file(&path) {
        Some(file) => Lead::To(vec![file]),
        // Hidden files are not indexed, so a missing one is not reported.
        None if path.split('/').any(|part| part.starts_with('.')) => Lead::Outside,
        None => Lead::Nowhere,
    }
}

fn used(project: &Project, file: usize, module: Option<(usize, &[String])>, target: &str) -> Lead {
    let target = target.strip_prefix("::").unwrap_or(target);
    let mut names: Vec<&str> = target.split("::").collect();
    let first = names.first().copied().unwrap_or_default();
    if let Some((root, here)) = module {
        let mut around = here.to_vec();
        match first {
            "crate" => return inside_crate(project, root, &[], &names[1..], true),
            "self" => return inside_crate(project, root, &around, &names[1..], true),
            "super" => {
                while names.first() == Some(&"super") {
                    names.remove(0);
                    if around.pop().is_none() {
                        return Lead::Nowhere;
                    }
                }
                return inside_crate(project, root, &around, &names, true);
            }
            _ => {}
        }
        // A library has priority over a module of the same name.
        if library(project, file, first).is_none() {
            around.push(first.to_owned());
            if project.rust.module(root, &around).is_some() {
                return inside_crate(project, root, here, &names, false);
            }
        }
    } else if matches!(first, "crate" | "self" | "super") {
        // A file outside of every crate: its module path is unknown.
        return Lead::Outside;
    }
    match library(project, file, first) {
        Some(root) => inside_crate(project, root, &[], &names[1..], true),
        None => Lead::Outside,
    }
}

/// Returns the library with this name, after the renames of the file's package.
fn library(project: &Project, file: usize, name: &str) -> Option<usize> {
    let folder = parent(project.path(file));
    let package = outward(folder).find_map(|folder| project.manifests.cargo.get(folder));
    let name = package.and_then(|package| package.renamed.get(name)).map_or(name, String::as_str);
    project.rust.library(name)
}

/// Follows a path within a crate to the last module that has a file. If `checks`, that file has to contain the
/// next name.
fn inside_crate(project: &Project, root: usize, start: &[String], names: &[&str], checks: bool) -> Lead {
    let mut path = start.to_vec();
    // An inline module has no file, so use its nearest parent with one.
    let mut last_file = None;
    let mut used = 0;
    for length in (0..=path.len()).rev() {
        if let Some(file) = project.rust.module(root, &path[..length]) {
            last_file = Some(file);
            break;
        }
    }
    for (index, name) in names.iter().enumerate() {
        path.push((*name).to_owned());
        if let Some(file) = project.rust.module(root, &path) {
            last_file = Some(file);
            used = index + 1;
        }
    }
    let Some(last_file) = last_file else { return Lead::Nowhere };
    // A type that the file does not define may come from a macro. A module does not.
    match names[used..] {
        [name, _, ..] if checks && name.starts_with(char::is_lowercase) && !has(project, last_file, name) => {
            Lead::Nowhere
        }
        _ => Lead::To(vec![last_file]),
    }
}

/// Returns true if a file defines or imports a name, or may contain it through a glob or an `include!`.
fn has(project: &Project, file: usize, name: &str) -> bool {
    let contents = &project.files[file];
    let contributes = |import: &Import| {
        let last = import.spelled.rsplit([':', ' ']).next().unwrap_or_default();
        last == name || last == "*" || (import.kind == "include" && import.target.ends_with(".rs"))
    };
    contents.defines(name) || imports(&contents.imports).iter().any(contributes)
}
