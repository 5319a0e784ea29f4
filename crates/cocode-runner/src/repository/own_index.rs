//! The index of an agent's worktree. Git writes to any path that an index names, so an index that git would not have
//! written is quarantined when the agent has ended.

use std::fs::{self, DirEntry};
use std::io::{self, Read};
use std::path::Path;

use git_index::ObjectFormat;

use crate::repository::worktree::Worktree;
use crate::repository::{Repository, foreign_file};

/// The largest index that is read, in bytes.
const INDEX_BYTES: u64 = 64 << 20;

/// The most shared indexes that are read. Git itself removes unneeded ones, so an honest worktree has few.
const SHARED_INDEXES: usize = 20;

/// The name of a quarantined index.
const REFUSED: &str = "index.refused";

/// Quarantines the index if git would not have written it or one of its shared indexes. Returns a warning for the user
/// then.
pub(crate) fn quarantine_crafted(worktree: &Worktree, start_commit: &str) -> Option<String> {
    let format = if start_commit.len() == 64 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 };
    refusal(&worktree.git_folder, format).map(|why| quarantine(worktree, &why))
}

/// Quarantines the index for a reason. Returns a warning for the user.
pub(crate) fn quarantine(worktree: &Worktree, why: &str) -> String {
    let [index, refused] = ["index", REFUSED].map(|name| worktree.git_folder.join(name));
    let moved = fs::rename(&index, &refused);
    match moved {
        Ok(()) => format!("the index of its worktree was refused, and is kept as '{REFUSED}': {why}"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("the index of its worktree was refused: {why}")
        }
        // An agent can put a folder at the new name.
        Err(_) => match fs::remove_file(&index) {
            Ok(()) => format!("the index of its worktree was refused and removed: {why}"),
            Err(error) => format!(
                "the index of its worktree cannot be trusted, and cannot be moved ({}): do not use git there: {why}",
                error.kind()
            ),
        },
    }
}

/// Makes an index of the commit at `HEAD`, if the worktree has none since its own was quarantined.
pub(crate) fn make_again(repository: &Repository, worktree: &Worktree) {
    // Not even a dangling symlink may be there: git would write its target.
    if worktree.git_folder.join("index").symlink_metadata().is_err() {
        // A failure loses nothing: without an index, git reports all files as removed, and `git reset` makes one.
        let _ = repository.git.run(worktree.location(&repository.common_folder), &["read-tree", "HEAD"]);
    }
}

fn refusal(git_folder: &Path, format: ObjectFormat) -> Option<String> {
    let is_shared = |entry: &DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"sharedindex.");
    let shared = fs::read_dir(git_folder).ok()?.filter_map(Result::ok).filter(is_shared);
    let shared: Vec<_> = shared.take(SHARED_INDEXES + 1).map(|entry| entry.path()).collect();
    if shared.len() > SHARED_INDEXES {
        return Some(format!("more than {SHARED_INDEXES} shared indexes"));
    }
    let index = git_folder.join("index");
    // A missing index is harmless.
    let index = index.symlink_metadata().is_ok().then_some(index);
    index.into_iter().chain(shared).find_map(|path| judge(&path, format).err())
}

fn judge(path: &Path, format: ObjectFormat) -> Result<(), String> {
    let mut bytes = Vec::new();
    let file = foreign_file::open(path).map_err(|_| "not a file that can be read".to_owned())?;
    let length =
        file.take(INDEX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.kind().to_string())?;
    if length as u64 > INDEX_BYTES {
        return Err(format!("more than {} MB", INDEX_BYTES >> 20));
    }
    git_index::check(&bytes, format, &mut |_| {}).map_err(|error| error.to_string())
}
