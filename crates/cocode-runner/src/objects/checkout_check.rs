//! The check that a file system accepts the names and symlinks of an agent's commit.
//!
//! Git stores links whose targets contain a NUL, where it cuts them, and names and targets of any length. It notices only
//! after it has checked out some of the files.

use std::collections::HashMap;
use std::path::Path;

use crate::error::RunnerError;
use crate::objects::link_targets::{self, LinkTarget, MOST_TARGET_BYTES};
use crate::objects::object_check::path_for_message;
use crate::objects::object_import::LIMIT;
use crate::repository::Repository;
use crate::repository::tree_changes::{self, Entries, LINK, TreeChange};

/// The longest name that file systems accept, in bytes.
const MOST_NAME_BYTES: usize = 255;

/// The longest path that the kernel accepts, in bytes.
const MOST_PATH_BYTES: usize = 4095;

/// Returns the reason that an entry that `commit` adds to `start` cannot be checked out exactly; `None` if all can. `folder`
/// is for nameless files.
pub(super) fn impossible(
    repository: &Repository,
    folder: &Path,
    start: &str,
    commit: &str,
) -> Result<Option<String>, RunnerError> {
    let changes = tree_changes::one_by_one(repository, folder, LIMIT, [start, commit], Entries::New)?;
    let links = match new_links(changes)? {
        Ok(links) => links,
        Err(reason) => return Ok(Some(reason)),
    };
    let repository = &repository.within(LIMIT);
    let targets = link_targets::read(repository, links.keys())?;
    let reasons = targets.iter().filter_map(|(object, target)| {
        let why = match target {
            LinkTarget::Cut(_) => "is a link whose target has a NUL, where git cuts it".to_owned(),
            LinkTarget::Whole(target) if target.is_empty() => "is a link without a target".to_owned(),
            LinkTarget::Whole(_) => return None,
            LinkTarget::Long(bytes) => {
                format!("is a link whose target has {bytes} bytes, and the limit is {MOST_TARGET_BYTES}")
            }
        };
        Some(format!("'{}' {why}", path_for_message(links.get(object)?)))
    });
    // Deterministic: the same one each time.
    Ok(reasons.min())
}

/// Returns the objects of the new links, each with one of its paths; as `Err` the reason that an entry cannot be made.
fn new_links(
    changes: impl Iterator<Item = Result<TreeChange, RunnerError>>,
) -> Result<Result<HashMap<String, Vec<u8>>, String>, RunnerError> {
    let mut links = HashMap::new();
    for change in changes {
        let TreeChange { path, new_mode, new_object, .. } = change?;
        if path.len() > MOST_PATH_BYTES {
            let bytes = path.len();
            return Ok(Err(format!(
                "'{}' is a path of {bytes} bytes, and the limit is {MOST_PATH_BYTES}",
                path_for_message(&path)
            )));
        }
        if let Some(name) = path.split(|byte| *byte == b'/').find(|name| name.len() > MOST_NAME_BYTES) {
            let bytes = name.len();
            return Ok(Err(format!(
                "'{}' has a name of {bytes} bytes, and the limit is {MOST_NAME_BYTES}",
                path_for_message(&path)
            )));
        }
        if new_mode == LINK {
            links.insert(new_object, path);
        }
    }
    Ok(Ok(links))
}
