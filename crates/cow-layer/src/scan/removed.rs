//! Entries of the workspace that the layer hides.

use std::os::fd::{AsFd, BorrowedFd};

use rel_path::RelPath;

use super::tally::Tally;
use super::{Context, Scan, side_of};
use crate::error::LayerError;
use crate::handle::{self, FOLDER, Kind};

impl Scan<'_> {
    /// Lists an entry of the workspace that the layer hides.
    pub(super) fn removed(
        &mut self,
        parent: &RelPath,
        lower: BorrowedFd<'_>,
        name: &[u8],
        context: Context,
    ) -> Result<Tally, LayerError> {
        self.look()?;
        let entry = handle::stat_at(lower, name).map_err(|errno| LayerError::at(parent, errno))?;
        // An overlay hides a device with the numbers 0 and 0, so the command never saw it and did not remove
        // it.
        let Some(lower_entry) = entry.filter(|entry| entry.kind != Kind::Whiteout) else {
            return Ok(Tally { is_incomplete: entry.is_some(), ..Tally::default() });
        };
        let mut tally = Tally::of_entry(&lower_entry);
        let Ok(path) = parent.child(name) else {
            self.unnameable += 1;
            tally.saved_meanwhile = context.saved_meanwhile || self.moment.is_before(lower_entry.changed);
            tally.is_incomplete = true;
            return Ok(tally);
        };
        tally.saved_meanwhile = context.saved_meanwhile || self.is_later(&path, Some(&lower_entry));
        let before = side_of(lower, name, &lower_entry).map_err(|errno| LayerError::at(&path, errno))?;
        let (first, unnameable) = (self.changes.len(), self.unnameable);
        let change = self.change(&path, Some(before), None, tally.saved_meanwhile, context);
        self.changes.push(change);
        if lower_entry.kind != Kind::Folder {
            self.has_removed_files |= lower_entry.kind == Kind::File;
            return Ok(tally);
        }
        let below = context.below(tally.saved_meanwhile, lower_entry.mode);
        let inside = match handle::open_at(lower, name, FOLDER) {
            Ok(folder) => self.removed_children(&path, folder.as_fd(), below)?,
            Err(_) => Tally::unknown(),
        };
        self.changes[first].saved_meanwhile |= inside.saved_meanwhile;
        let is_whole = (self.rules.whole)(&path);
        // Entries that cannot be named are removed with the tree, so they no longer count as missed.
        if self.collapse(first, is_whole, &inside) {
            self.unnameable = unnameable;
        }
        tally.add(inside);
        tally.is_incomplete = false;
        Ok(tally)
    }

    pub(super) fn removed_children(
        &mut self,
        path: &RelPath,
        lower: BorrowedFd<'_>,
        context: Context,
    ) -> Result<Tally, LayerError> {
        let mut tally = Tally::default();
        for name in handle::names(lower).map_err(|errno| LayerError::at(path, errno))? {
            tally.add(self.removed(path, lower, &name, context)?);
        }
        Ok(tally)
    }
}
