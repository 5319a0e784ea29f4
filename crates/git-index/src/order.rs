//! The order of entries, and the symbolic links and folders among them.

use crate::entry::Entry;
use crate::index_error::IndexError;

/// Checks that entries are in git's order, and none is below a symbolic link, or below a folder that is itself an entry.
///
/// Keeps no path of a link: in git's order, everything below a link comes before the first entry that does not begin
/// with the link's path. Version 4 of an index repeats a long path in a few bytes, so kept paths could take far more memory
/// than the index.
#[derive(Default)]
pub(crate) struct Order {
    path: Vec<u8>,
    stage: u8,
    /// The lengths of the links' paths with which the current path begins, ascending.
    links: Vec<usize>,
    /// The length of the path of the link above the current path, which only the side of a conflict may have.
    inside_link: Option<usize>,
}

impl Order {
    /// Checks the next entry. Its first `common` bytes are those of the previous one, and no more.
    pub(crate) fn check(&mut self, entry: &Entry<'_>, common: usize) -> Result<(), IndexError> {
        // Entries without a path come first, in the order of the entries that they replace.
        if entry.path.is_empty() && self.path.is_empty() {
            return Ok(());
        }
        let common = common.min(self.path.len());
        let is_next = match self.path[common..].cmp(&entry.path[common..]) {
            std::cmp::Ordering::Less => true,
            // Only the sides of a conflict share a path.
            std::cmp::Ordering::Equal => self.stage != 0 && self.stage < entry.stage,
            std::cmp::Ordering::Greater => false,
        };
        if !is_next {
            return Err(IndexError::Order { path: entry.path.to_vec() });
        }
        // In git's order, it directly follows the folder that stands for everything below it.
        if common == self.path.len() && self.path.ends_with(b"/") {
            return Err(IndexError::Malformed { what: "an entry below a folder that is an entry" });
        }
        self.path.truncate(common);
        self.path.extend_from_slice(&entry.path[common..]);
        self.stage = entry.stage;
        self.pass_links(common);
        // The sides of a conflict may be a symlink and a folder.
        if entry.stage != 0 {
            return Ok(());
        }
        if self.inside_link.is_some() {
            return Err(IndexError::BelowSymlink { path: entry.path.to_vec() });
        }
        if entry.is_symlink() {
            self.links.push(entry.path.len());
        }
        Ok(())
    }

    /// Drops the links that the path no longer begins with, and determines the link above it.
    fn pass_links(&mut self, common: usize) {
        while self.links.last().is_some_and(|length| *length > common) {
            self.links.pop();
        }
        self.inside_link = self.inside_link.filter(|length| *length < common);
        // The byte after a shorter link is the same as in the previous path, and was checked with it.
        if self.links.last() == Some(&common) && self.path.get(common) == Some(&b'/') {
            self.inside_link = Some(common);
        }
    }
}
