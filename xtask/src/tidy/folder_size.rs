//! The limit of sources in one folder.

use std::collections::BTreeMap;

use super::Finding;
use crate::Tree;

const CHECK: &str = "folder size";
/// No folder has more sources directly in it: with more, a reader has to know a file's name to find it.
pub(crate) const MOST_FILES: usize = 20;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let full = sources_by_folder(tree).into_iter().filter(|(_, files)| *files > MOST_FILES);
    full.map(|(folder, files)| {
        let text = format!("has {files} sources, more than {MOST_FILES}: group them in folders");
        Finding::new(CHECK, folder, text)
    })
    .collect()
}

/// Returns the number of sources directly in each folder; those of folders beneath it do not count.
pub(crate) fn sources_by_folder(tree: &Tree) -> BTreeMap<&str, usize> {
    let mut folders = BTreeMap::new();
    for (path, _) in tree.sources() {
        if let Some((folder, _)) = path.rsplit_once('/') {
            *folders.entry(folder).or_default() += 1;
        }
    }
    folders
}
