//! Tests of files that are dropped into a folder, observed, read and moved away.

mod errors;
mod observations;
mod relocation;

use std::path::Path;

use sandbox_fs::{FileRoot, FsPolicy, NewNames, RootRules};

/// Opens a folder like the owner of a drop folder.
fn open(path: &Path) -> FileRoot {
    let policy = FsPolicy::private().with_new_names(NewNames::Any);
    FileRoot::open(path, &RootRules::none(), policy).expect("the folder was just made")
}
