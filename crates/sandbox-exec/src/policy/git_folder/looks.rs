//! The budget for paths that settings of git cause to be examined.

use std::cell::Cell;
use std::path::Path;

/// The most bytes of commands and paths. A folder with 80 repositories and 100 commands of ten words in each needs a sixth.
const LIMIT_BYTES: usize = 32 << 20;

/// The base cost of examining a path, however short.
const COST_OF_LOOK: usize = 64;

/// The cost of looking up another user's home folder in the list of users.
const COST_OF_USER: usize = 4096;

/// The remaining budget. Files with few words may name many paths: each word is a path in every folder that a command
/// enters, and commands nest in words of commands.
#[derive(Debug)]
pub(super) struct Looks {
    left_bytes: Cell<usize>,
    is_complete: Cell<bool>,
}

impl Looks {
    pub(super) fn new() -> Looks {
        Looks { left_bytes: Cell::new(LIMIT_BYTES), is_complete: Cell::new(true) }
    }

    /// Checks whether the budget allows a text of that many bytes, and spends it.
    pub(super) fn allow(&self, bytes: usize) -> bool {
        let left = self.left_bytes.get().checked_sub(bytes.saturating_add(COST_OF_LOOK));
        self.left_bytes.set(left.unwrap_or_default());
        if left.is_none() {
            self.leave_out();
        }
        left.is_some()
    }

    /// Checks whether the budget allows the path of a value in a folder, and spends it.
    pub(super) fn allow_path(&self, value: &str, folder: &Path) -> bool {
        let of_user = if value.starts_with('~') { COST_OF_USER } else { 0 };
        self.allow(value.len() + folder.as_os_str().len() + of_user)
    }

    /// Records that something was left out.
    pub(super) fn leave_out(&self) {
        self.is_complete.set(false);
    }

    /// Returns false if anything was left out.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete.get()
    }
}
