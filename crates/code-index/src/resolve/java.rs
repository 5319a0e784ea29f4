//! Java: packages and the types in them.

use std::collections::HashMap;

use super::{Lead, last};
use crate::language::Language;
use crate::store::ImportingFile;
use crate::store::packed_outline::definitions;

/// The number of leading parts that identify a package as the project's own: `com.example` of `com.example.shop`.
const OWN_PARTS: usize = 2;

/// The packages of a project.
#[derive(Debug, Default)]
pub(super) struct Packages {
    files: HashMap<String, Vec<usize>>,
    /// Files by package and type.
    types: HashMap<(String, String), usize>,
}

impl Packages {
    pub(super) fn new(files: &[ImportingFile]) -> Packages {
        let mut packages = Packages::default();
        for (number, file) in
            files.iter().enumerate().filter(|(_, file)| file.language == Some(Language::Java))
        {
            let package = file.declared.lines().next().unwrap_or_default().to_owned();
            let stem = last(&file.path).trim_end_matches(".java").to_owned();
            packages.types.insert((package.clone(), stem), number);
            for definition in definitions(&file.definitions) {
                let is_type = matches!(
                    definition.kind.as_str(),
                    "class" | "interface" | "enum" | "record" | "annotation"
                );
                if is_type && definition.container.is_none() {
                    packages.types.entry((package.clone(), definition.name)).or_insert(number);
                }
            }
            packages.files.entry(package).or_default().push(number);
        }
        packages
    }

    pub(super) fn resolve(&self, target: &str) -> Lead {
        let target = target.strip_prefix("static ").unwrap_or(target);
        if let Some(package) = target.strip_suffix(".*")
            && let Some(files) = self.files.get(package)
        {
            return Lead::To(files.clone());
        }
        // The longest prefix that is a type; nested types and members follow it.
        let parts: Vec<&str> = target.split('.').filter(|part| *part != "*").collect();
        for length in (1..=parts.len()).rev() {
            let package = parts[..length - 1].join(".");
            if let Some(file) = self.types.get(&(package, parts[length - 1].to_owned())) {
                return Lead::To(vec![*file]);
            }
        }
        let begins_alike = |package: &String| {
            let own: Vec<&str> = package.split('.').take(OWN_PARTS).collect();
            own.len() == OWN_PARTS && parts.starts_with(&own)
        };
        if self.files.keys().any(begins_alike) { Lead::Nowhere } else { Lead::Outside }
    }
}
