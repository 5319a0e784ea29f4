//! C#: namespaces and the types in them.

use std::collections::{HashMap, HashSet};

use super::Lead;
use crate::language::Language;
use crate::store::ImportingFile;
use crate::store::packed_outline::definitions;

/// The most namespaces of one file: each is combined with every type of the file.
const MOST_NAMESPACES: usize = 64;

/// The most parts of a name that count as separate namespaces.
const MOST_PARTS: usize = 32;

/// The namespaces of a project.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    files: HashMap<String, Vec<usize>>,
    types: HashMap<(String, String), Vec<usize>>,
    /// Namespaces that contain others: `A` and `A.B` for `A.B.C`.
    outer: HashSet<String>,
    /// The first parts of all namespaces.
    first_parts: HashSet<String>,
}

impl Namespaces {
    pub(super) fn new(files: &[ImportingFile]) -> Namespaces {
        let mut namespaces = Namespaces::default();
        for (number, file) in
            files.iter().enumerate().filter(|(_, file)| file.language == Some(Language::CSharp))
        {
            let is_type = |kind: &str| {
                matches!(kind, "class" | "interface" | "struct" | "enum" | "record" | "delegate")
            };
            let mut defined = definitions(&file.definitions);
            defined.retain(|definition| is_type(definition.kind.as_str()));
            for namespace in file.declared.lines().take(MOST_NAMESPACES) {
                namespaces.files.entry(namespace.to_owned()).or_default().push(number);
                namespaces.first_parts.insert(first_part(namespace).to_owned());
                let dots = namespace.match_indices('.').take(MOST_PARTS);
                namespaces.outer.extend(dots.map(|(dot, _)| namespace[..dot].to_owned()));
                for definition in &defined {
                    let files =
                        namespaces.types.entry((namespace.to_owned(), definition.name.clone())).or_default();
                    // Files come in order, so only the last can already be there.
                    if files.last() != Some(&number) {
                        files.push(number);
                    }
                }
            }
        }
        namespaces
    }

    pub(super) fn resolve(&self, target: &str) -> Lead {
        let (is_type, name) = match target.strip_prefix("type ") {
            Some(name) => (true, name),
            None => (false, target),
        };
        if is_type && let Some((namespace, last)) = name.rsplit_once('.') {
            if let Some(files) = self.types.get(&(namespace.to_owned(), last.to_owned())) {
                return Lead::To(files.clone());
            }
            // A nested type.
            if let Some((outer, around)) = namespace.rsplit_once('.')
                && let Some(files) = self.types.get(&(outer.to_owned(), around.to_owned()))
            {
                return Lead::To(files.clone());
            }
        }
        if let Some(files) = self.files.get(name) {
            return Lead::To(files.clone());
        }
        let first = first_part(name);
        // A namespace that only contains other namespaces exists as well.
        match first != "System" && self.first_parts.contains(first) && !self.outer.contains(name) {
            true => Lead::Nowhere,
            false => Lead::Outside,
        }
    }
}

fn first_part(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}
