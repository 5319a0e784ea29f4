//! The ignore rule that keeps a state folder out of repositories.
//!
//! Without it `git add .` would commit earlier contents of files. It is checked on each opening, because a killed process
//! or a power loss can leave the file empty.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

/// The file with the rule.
const FILE: &str = ".gitignore";

/// The rule, as the whole file.
const RULE: &[u8] = b"*\n";

/// A size that the file does not exceed, with lines that a user may have added.
const LIMIT_BYTES: u64 = 4_096;

/// The prefix of the names of unfinished files.
const UNFINISHED: &str = ".gitignore-";

/// Writes the rule into a state folder that lacks it. A file with the rule and more stays unchanged.
///
/// # Errors
///
/// If writing fails; the file is then unchanged.
pub(super) fn ensure(folder: &Path) -> io::Result<()> {
    if holds_rule(folder) {
        return Ok(());
    }
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    file.write_all(RULE)?;
    // Synced before it is renamed: the name appears with the content, also after a power loss.
    file.as_file().sync_all()?;
    file.persist(folder.join(FILE))?;
    Ok(())
}

/// Checks whether a name is that of the rule's file or of an unfinished one.
pub(super) fn is_name(name: &[u8]) -> bool {
    name == FILE.as_bytes() || name.starts_with(UNFINISHED.as_bytes())
}

/// Checks whether git would obey the rule: git reads only a regular file, and follows no symlink.
fn holds_rule(folder: &Path) -> bool {
    let content = || {
        let metadata = fs::symlink_metadata(folder.join(FILE)).ok()?;
        if !metadata.is_file() {
            return None;
        }
        let root = FileRoot::open(folder, &RootRules::none(), FsPolicy::private()).ok()?;
        let file = root.open_file(&RelPath::parse(FILE).ok()?).ok()?;
        file.read_to_end(LIMIT_BYTES).ok()
    };
    content().is_some_and(|content| content.split(|byte| *byte == b'\n').any(|line| line == b"*"))
}
