//! Elixir: modules by their names.

use std::collections::{HashMap, HashSet};

use super::{Lead, Project};
use crate::language::Language;
use crate::store::ImportingFile;

/// The most parts of a name that count as prefixes.
const MOST_PARTS: usize = 16;

/// The modules of a project.
#[derive(Debug, Default)]
pub(super) struct ElixirModules {
    files: HashMap<String, Vec<usize>>,
    /// The prefixes of their names: all parts but the last, all but the last two, and so on.
    prefixes: HashSet<String>,
}

impl ElixirModules {
    pub(super) fn new(files: &[ImportingFile]) -> ElixirModules {
        let mut modules = ElixirModules::default();
        for (number, file) in
            files.iter().enumerate().filter(|(_, file)| file.language == Some(Language::Elixir))
        {
            for name in file.declared.lines() {
                let ends = name.match_indices('.').take(MOST_PARTS).map(|(end, _)| end);
                modules.prefixes.extend(ends.map(|end| name[..end].to_owned()));
                modules.files.entry(name.to_owned()).or_default().push(number);
            }
        }
        modules
    }

    pub(super) fn resolve(&self, project: &Project, target: &str) -> Lead {
        if let Some(files) = self.files.get(target) {
            return Lead::To(files.clone());
        }
        // A nested module is in the file of the outer one.
        let mut outer = target;
        while let Some((before, inner)) = outer.rsplit_once('.') {
            if let Some(files) = self.files.get(before) {
                let defining: Vec<usize> =
                    files.iter().copied().filter(|file| project.files[*file].defines(inner)).collect();
                if !defining.is_empty() {
                    return Lead::To(defining);
                }
            }
            outer = before;
        }
        // Libraries share the first part of a name with the project more often than all parts but the last.
        let is_ours = target.rsplit_once('.').is_some_and(|(before, _)| self.prefixes.contains(before));
        if is_ours { Lead::Nowhere } else { Lead::Outside }
    }
}
