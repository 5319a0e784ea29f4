//! The modules of the crates of a project.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Project, from_folder, inside, last, parent};
use crate::language::Language;
use crate::store::packed_outline::imports;

/// The deepest nesting of modules; deeper ones are ignored.
const DEEPEST: usize = 64;

/// The module path and crate of each file.
#[derive(Debug, Default)]
pub(super) struct RustModules {
    /// For each file the root file of its crate, and its module path within the crate.
    modules_of_files: HashMap<usize, (usize, Vec<String>)>,
    /// The files of modules, by the root file of the crate and the module path.
    modules: HashMap<(usize, Vec<String>), usize>,
    /// The root files of libraries, by library name.
    libraries: BTreeMap<String, usize>,
}

impl RustModules {
    pub(super) fn new(project: &Project) -> RustModules {
        let mut modules = RustModules::default();
        let mut roots = Vec::new();
        for (folder, package) in &project.manifests.cargo {
            let at = |path: &str| from_folder(folder, path).and_then(|path| project.file(&path));
            let library = at(package.library_path.as_deref().unwrap_or("src/lib.rs"));
            if let Some(library) = library {
                modules.libraries.insert(package.library.clone(), library);
                roots.push(library);
            }
            roots.extend(package.roots.iter().filter_map(|path| at(path)));
            roots.extend(["src/main.rs", "build.rs"].into_iter().filter_map(at));
        }
        for (number, file) in project.files.iter().enumerate() {
            if file.language == Some(Language::Rust) && begins_crate(project, &file.path) {
                roots.push(number);
            }
        }
        for root in roots {
            modules.add_crate(project, root);
        }
        // Without a manifest, a file that is not a module of another file is a crate root.
        for name in ["lib.rs", "main.rs"] {
            for (number, file) in project.files.iter().enumerate() {
                if last(&file.path) == name && !modules.modules_of_files.contains_key(&number) {
                    modules.add_crate(project, number);
                }
            }
        }
        modules
    }

    fn add_crate(&mut self, project: &Project, root: usize) {
        if self.modules_of_files.contains_key(&root) {
            return;
        }
        let mut open = vec![(root, Vec::new())];
        // A file may declare itself as its module.
        let mut visited = HashSet::new();
        while let Some((file, path)) = open.pop() {
            if path.len() > DEEPEST || !visited.insert(file) {
                continue;
            }
            self.modules.insert((root, path.clone()), file);
            self.modules_of_files.entry(file).or_insert_with(|| (root, path.clone()));
            for import in imports(&project.files[file].imports) {
                if import.kind != "module" {
                    continue;
                }
                let is_root = path.is_empty();
                if let Some(module) = module_file(project, file, is_root, &import.target) {
                    let mut inner = path.clone();
                    match import.target.strip_prefix("path ") {
                        Some(_) => inner.extend(import.spelled.strip_prefix("mod ").map(str::to_owned)),
                        None => inner.extend(import.target.split('/').map(str::to_owned)),
                    }
                    open.push((module, inner));
                }
            }
        }
    }

    /// Returns the crate root and the module path of a file.
    pub(super) fn module_of(&self, file: usize) -> Option<(usize, &[String])> {
        self.modules_of_files.get(&file).map(|(root, path)| (*root, path.as_slice()))
    }

    /// Returns the file of a module.
    pub(super) fn module(&self, root: usize, path: &[String]) -> Option<usize> {
        self.modules.get(&(root, path.to_vec())).copied()
    }

    /// Returns the root file of a library.
    pub(super) fn library(&self, name: &str) -> Option<usize> {
        self.libraries.get(name).copied()
    }
}

/// Returns true if Cargo discovers a file as the root of a program, a test, a benchmark or an example.
fn begins_crate(project: &Project, path: &str) -> bool {
    let folder = parent(path);
    let is_package = |folder: &str| project.manifests.cargo.contains_key(folder);
    let is_target_folder = |folder: &str| {
        ["tests", "benches", "examples"].iter().any(|name| last(folder) == *name)
            && is_package(parent(folder))
            || (folder == "src/bin" || folder.ends_with("/src/bin")) && is_package(parent(parent(folder)))
    };
    is_target_folder(folder) || (last(path) == "main.rs" && is_target_folder(parent(folder)))
}

/// Returns the file of `mod name;` in a file.
pub(super) fn module_file(project: &Project, file: usize, is_root: bool, target: &str) -> Option<usize> {
    let path = project.path(file);
    let folder = parent(path);
    if let Some(named) = target.strip_prefix("path ") {
        return from_folder(folder, named).and_then(|path| project.file(&path));
    }
    let name = last(path);
    let is_folder_module = is_root || matches!(name, "mod.rs" | "lib.rs" | "main.rs");
    let module_folder =
        if is_folder_module { folder.to_owned() } else { inside(folder, name.trim_end_matches(".rs")) };
    let at = |ending: &str| project.file(&inside(&module_folder, &format!("{target}{ending}")));
    at(".rs").or_else(|| at("/mod.rs"))
}
