//! The rules of this repository that no compiler checks.

mod banned_names;
mod book;
mod codec_lints;
mod crate_map;
mod crate_readme;
mod doc_links;
mod file_size;
mod finding;
pub(crate) mod folder_size;
mod forbidden_code;
mod headings;
mod layering;
mod lib_files;
mod machine_paths;
mod other_systems;
mod pending_snapshots;
mod plain_pages;
mod plain_words;
mod source_code;
mod unsafe_code;

use std::path::Path;

use crate::{CrateList, TaskError, Tree};

pub use finding::{Finding, TidyReport};
pub(crate) use layering::CODECS;

/// Checks a repository and prints what it finds.
///
/// # Errors
///
/// [`TaskError::Untidy`] if a rule is broken, and those of reading the repository.
pub fn tidy(root: &Path) -> Result<(), TaskError> {
    let report = check_tree(&Tree::read(root)?, &CrateList::read(root)?);
    for note in &report.notes {
        println!("note: {note}");
    }
    for finding in &report.findings {
        println!("tidy: {finding}");
    }
    if report.findings.is_empty() {
        Ok(())
    } else {
        Err(TaskError::Untidy { findings: report.findings.len() })
    }
}

/// Checks a tree of files with its crates against every rule.
#[must_use]
pub fn check_tree(tree: &Tree, list: &CrateList) -> TidyReport {
    let findings = [
        layering::check(list),
        file_size::check(tree),
        folder_size::check(tree),
        crate_readme::check(tree, list),
        banned_names::check(tree, list),
        crate_map::check(tree, list),
        doc_links::check(tree),
        book::check(tree),
        lib_files::check(tree),
        unsafe_code::check(tree),
        pending_snapshots::check(tree),
        codec_lints::check(tree, list),
        forbidden_code::check(tree),
        machine_paths::check(tree),
        other_systems::check(tree),
        plain_words::check(tree),
    ];
    TidyReport { findings: findings.concat(), notes: file_size::notes(tree) }
}
