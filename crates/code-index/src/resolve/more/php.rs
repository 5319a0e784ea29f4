//! PHP: namespaces and the types in them.

use std::collections::{HashMap, HashSet};

use super::{Lead, Project, sourced};
use crate::language::Language;
use crate::store::ImportingFile;
use crate::store::packed_outline::definitions;

/// The most namespaces of one file: each is combined with every definition of the file.
const MOST_NAMESPACES: usize = 64;

/// The most parts of a namespace that count as prefixes.
const MOST_PARTS: usize = 16;

/// The namespaces of a project, by their names in lower case.
#[derive(Debug, Default)]
pub(super) struct PhpNamespaces {
    files: HashMap<String, Vec<usize>>,
    /// Types, functions and constants by their full names.
    names: HashMap<String, Vec<usize>>,
    /// The first parts of the namespaces.
    firsts: HashSet<String>,
    /// All parts of a namespace but the last, all but the last two, and so on.
    prefixes: HashSet<String>,
}

impl PhpNamespaces {
    pub(super) fn new(files: &[ImportingFile]) -> PhpNamespaces {
        let mut namespaces = PhpNamespaces::default();
        for (number, file) in
            files.iter().enumerate().filter(|(_, file)| file.language == Some(Language::Php))
        {
            let mut defined = definitions(&file.definitions);
            defined.retain(|definition| {
                let kind = definition.kind.as_str();
                matches!(kind, "class" | "interface" | "trait" | "enum" | "function" | "constant")
            });
            for namespace in file.declared.lines().take(MOST_NAMESPACES) {
                let namespace = namespace.to_lowercase();
                for definition in &defined {
                    // Members of types are not names of a namespace.
                    let container = definition.container.as_deref().map(str::to_lowercase);
                    if container.is_none_or(|container| container == namespace) {
                        let name = format!("{namespace}\\{}", definition.name.to_lowercase());
                        add(&mut namespaces.names, name, number);
                    }
                }
                if !namespaces.files.contains_key(&namespace) {
                    let ends = namespace.match_indices('\\').take(MOST_PARTS).map(|(end, _)| end);
                    namespaces.prefixes.extend(ends.map(|end| namespace[..end].to_owned()));
                    namespaces.firsts.insert(first_part(&namespace).to_owned());
                }
                add(&mut namespaces.files, namespace, number);
            }
        }
        namespaces
    }

    pub(super) fn resolve(&self, project: &Project, file: usize, target: &str) -> Lead {
        match target.split_once(' ') {
            Some(("beside", path)) => return sourced::sibling(project, file, path),
            Some(("file", _)) => return sourced::resolve(project, file, target),
            _ => {}
        }
        let name = target.to_lowercase();
        if let Some(files) = self.names.get(&name).or_else(|| self.files.get(&name)) {
            return Lead::To(files.clone());
        }
        let Some((namespace, _)) = name.rsplit_once('\\') else { return Lead::Outside };
        // A namespace that only contains other namespaces exists as well.
        let is_ours = self.firsts.contains(first_part(&name)) && !self.prefixes.contains(&name);
        if is_ours || self.files.contains_key(namespace) { Lead::Nowhere } else { Lead::Outside }
    }
}

fn first_part(name: &str) -> &str {
    name.split('\\').next().unwrap_or(name)
}

fn add(files: &mut HashMap<String, Vec<usize>>, name: String, number: usize) {
    let files = files.entry(name).or_default();
    if files.last() != Some(&number) {
        files.push(number);
    }
}
