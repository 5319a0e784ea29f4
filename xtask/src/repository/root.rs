//! The folder of the repository.

use std::path::{Path, PathBuf};

/// Returns the root folder of the workspace that this task belongs to.
///
/// Cargo tells it when it runs the task; a binary that is started by hand uses the folder in which it was built.
#[must_use]
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_path_buf)
}
