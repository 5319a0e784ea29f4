//! Ruby and Lua: modules found through a search path.

use super::{Lead, Project, from_folder, inside, outward, parent, sourced};

/// Library folders, searched in every parent folder of the requiring file.
const RUBY_FOLDERS: [&str; 5] = ["lib", "", "app", "test", "spec"];
const LUA_FOLDERS: [&str; 4] = ["", "lua", "src", "lib"];

/// Resolves `require path`, `relative path` or `load path`.
pub(super) fn ruby(project: &Project, file: usize, target: &str) -> Lead {
    let own = parent(project.path(file));
    match target.split_once(' ') {
        Some(("relative", path)) => {
            let target_file = from_folder(own, path).and_then(|path| ruby_file(project, &path));
            target_file.map_or(Lead::Nowhere, |target_file| Lead::To(vec![target_file]))
        }
        Some(("require", path)) => {
            let path = path.strip_suffix(".rb").unwrap_or(path);
            on_path(own, &RUBY_FOLDERS, path, |path| ruby_file(project, path))
        }
        Some(("load", path)) => sourced::resolve(project, file, &format!("file {path}")),
        _ => Lead::Outside,
    }
}

fn ruby_file(project: &Project, path: &str) -> Option<usize> {
    project.file(&format!("{path}.rb")).or_else(|| project.file(path))
}

/// Resolves `module name` or `own path`.
pub(super) fn lua(project: &Project, file: usize, target: &str) -> Lead {
    let Some(name) = target.strip_prefix("module ") else { return sourced::resolve(project, file, target) };
    let module =
        |path: &str| [".lua", "/init.lua"].iter().find_map(|ending| project.file(&format!("{path}{ending}")));
    on_path(parent(project.path(file)), &LUA_FOLDERS, &name.replace('.', "/"), module)
}

/// Returns the file of a path below one of the folders, searched in every parent folder. A missing path is expected to exist if
/// its first part is a folder or a module there.
fn on_path(own: &str, folders: &[&str], path: &str, module: impl Fn(&str) -> Option<usize>) -> Lead {
    let (first, is_deep) = match path.split_once('/') {
        Some((first, _)) => (first, true),
        None => (path, false),
    };
    let mut is_ours = false;
    for around in outward(own) {
        for folder in folders {
            let base = inside(around, folder);
            if let Some(target_file) = from_folder(&base, path).and_then(|path| module(&path)) {
                return Lead::To(vec![target_file]);
            }
            // Only a library folder shows that a name belongs to the project.
            is_ours |= is_deep && !folder.is_empty() && module(&inside(&base, first)).is_some();
        }
    }
    if is_ours { Lead::Nowhere } else { Lead::Outside }
}
