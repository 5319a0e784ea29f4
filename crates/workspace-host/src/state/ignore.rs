//! The ignore rule that keeps a state folder out of repositories.
//!
//! Without it `git add .` would commit what files held before they were changed. It is looked at on each opening, because a
//! process that is killed, or a loss of power, can leave the file empty.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

/// The file that holds it.
const FILE: &str = ".gitignore";

/// The rule, as the whole file.
const RULE: &[u8] = b"*\n";

/// More bytes than that file has, with what a user may have added.
const LIMIT_BYTES: u64 = 4_096;

/// The names of unfinished files begin with this.
const UNFINISHED: &str = ".gitignore-";

/// Puts the rule into a state folder, if it is missing there. A file that has it, and more, stays as it is.
///
/// # Errors
///
/// Those of writing; the file is then as it was.
pub(super) fn ensure(folder: &Path) -> io::Result<()> {
    if holds_rule(folder) {
        return Ok(());
    }
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    file.write_all(RULE)?;
    // The name appears with the content, also after a loss of power.
    file.as_file().sync_all()?;
    file.persist(folder.join(FILE))?;
    Ok(())
}

/// Whether a name is that of the rule's file or of an unfinished one.
pub(super) fn is_name(name: &[u8]) -> bool {
    name == FILE.as_bytes() || name.starts_with(UNFINISHED.as_bytes())
}

/// Whether git would obey the rule: it reads no link as this file, nor anything but a regular file.
fn holds_rule(folder: &Path) -> bool {
    let content = || {
        let found = fs::symlink_metadata(folder.join(FILE)).ok()?;
        if !found.is_file() {
            return None;
        }
        let root = FileRoot::open(folder, &RootRules::none(), FsPolicy::private()).ok()?;
        let file = root.open_file(&RelPath::parse(FILE).ok()?).ok()?;
        file.read_to_end(LIMIT_BYTES).ok()
    };
    content().is_some_and(|content| content.split(|byte| *byte == b'\n').any(|line| line == b"*"))
}
