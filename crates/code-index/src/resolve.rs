//! Resolves imports to files, with one module per language.
//!
//! Reads no files: a project consists of the indexed paths, their imports and definitions, and the manifests. An import leads to
//! files of the project, out of it (to a library), or nowhere, although it should lead to a file of the project.

mod c;
mod csharp;
mod go;
mod java;
mod javascript;
mod javascript_package;
#[cfg(feature = "more-languages")]
mod more;
mod python;
mod rust;
mod rust_modules;

use std::collections::HashMap;

use crate::language::Language;
use crate::outline::Import;
use crate::outline::manifests::Manifests;
use crate::store::{ImportingFile, packed_outline};

use self::csharp::Namespaces;
use self::java::Packages;
use self::rust_modules::RustModules;

/// The result of resolving an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// To these files of the project.
    To(Vec<usize>),
    /// Out of the project.
    Outside,
    /// Nowhere, although it should lead to a file of the project.
    Nowhere,
}

/// All files of a folder, with the packages and modules that they form.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) files: Vec<ImportingFile>,
    numbers: HashMap<String, usize>,
    /// Files by their last name.
    by_name: HashMap<String, Vec<usize>>,
    manifests: Manifests,
    rust: RustModules,
    java: Packages,
    csharp: Namespaces,
    #[cfg(feature = "more-languages")]
    more: more::MoreModules,
}

impl Project {
    pub(crate) fn new(files: Vec<ImportingFile>, manifests: Manifests) -> Project {
        let numbers = files.iter().enumerate().map(|(number, file)| (file.path.clone(), number)).collect();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, file) in files.iter().enumerate() {
            by_name.entry(last(&file.path).to_owned()).or_default().push(number);
        }
        let mut project = Project {
            java: Packages::new(&files),
            csharp: Namespaces::new(&files),
            #[cfg(feature = "more-languages")]
            more: more::MoreModules::new(&files),
            rust: RustModules::default(),
            files,
            numbers,
            by_name,
            manifests,
        };
        project.rust = RustModules::new(&project);
        project
    }

    /// Resolves an import of a file.
    pub(crate) fn resolve(&self, file: usize, import: &Import) -> Lead {
        match self.files[file].language {
            Some(Language::Rust) => rust::resolve(self, file, import),
            Some(Language::Python) => python::resolve(self, file, import),
            Some(Language::JavaScript | Language::TypeScript | Language::Tsx) => {
                javascript::resolve(self, file, &import.target)
            }
            Some(Language::Go) => go::resolve(self, file, &import.target),
            Some(Language::Java) => self.java.resolve(&import.target),
            Some(Language::C | Language::Cpp) => c::resolve(self, file, &import.target),
            Some(Language::CSharp) => self.csharp.resolve(&import.target),
            #[cfg(feature = "more-languages")]
            Some(language) => more::resolve(self, file, language, &import.target),
            None => Lead::Outside,
        }
    }

    fn path(&self, file: usize) -> &str {
        &self.files[file].path
    }

    /// Returns the number of the file with this path.
    fn file(&self, path: &str) -> Option<usize> {
        self.numbers.get(path).copied()
    }

    /// Returns the files below a folder.
    fn files_of<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = usize> + 'a {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let first = self.files.partition_point(|file| file.path.as_str() < prefix.as_str());
        (first..self.files.len()).take_while(move |file| self.files[*file].path.starts_with(&prefix))
    }
}

impl ImportingFile {
    /// Returns true if the file defines a name.
    fn defines(&self, name: &str) -> bool {
        packed_outline::defines(&self.definitions, name)
    }
}

/// Returns the folder of a path; empty for a file in the root.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the last component of a path.
fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Joins a folder and a path in it; the root is empty.
fn inside(folder: &str, name: &str) -> String {
    match (folder.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => format!("{folder}/{name}"),
    }
}

/// Resolves a relative path from a folder, removing `.` and `..`; `None` if it leaves the root.
fn from_folder(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Returns a folder and its parents, the nearest first, the root last.
fn outward(folder: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(folder);
    std::iter::from_fn(move || {
        let here = next?;
        next = (!here.is_empty()).then(|| parent(here));
        Some(here)
    })
}
