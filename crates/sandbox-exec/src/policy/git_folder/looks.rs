//! The bound on the paths that settings of git have looked at.

use std::cell::Cell;
use std::path::Path;

/// The most bytes of commands and paths. A folder with 80 repositories and 100 commands of ten words in each takes a sixth.
const LIMIT_BYTES: usize = 32 << 20;

/// A look at a path costs something even if the path is short.
const COST_OF_LOOK: usize = 64;

/// The home folder of another user is looked up in a list.
const COST_OF_USER: usize = 4096;

/// The looks that are left. Files with few words may name many paths: each word is one in every folder that the command enters, and
/// commands have others among their words.
#[derive(Debug)]
pub(super) struct Looks {
    left_bytes: Cell<usize>,
    is_complete: Cell<bool>,
}

impl Looks {
    pub(super) fn new() -> Looks {
        Looks { left_bytes: Cell::new(LIMIT_BYTES), is_complete: Cell::new(true) }
    }

    /// Returns whether a text of that many bytes may still be looked at.
    pub(super) fn allow(&self, bytes: usize) -> bool {
        let left = self.left_bytes.get().checked_sub(bytes.saturating_add(COST_OF_LOOK));
        self.left_bytes.set(left.unwrap_or_default());
        if left.is_none() {
            self.leave_out();
        }
        left.is_some()
    }

    /// Returns whether the path may still be looked at for which a value beneath a folder stands.
    pub(super) fn allow_path(&self, value: &str, folder: &Path) -> bool {
        let of_user = if value.starts_with('~') { COST_OF_USER } else { 0 };
        self.allow(value.len() + folder.as_os_str().len() + of_user)
    }

    /// Records that something is not looked at.
    pub(super) fn leave_out(&self) {
        self.is_complete.set(false);
    }

    /// Returns false if anything was left out.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete.get()
    }
}
