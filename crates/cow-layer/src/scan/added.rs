//! Entries that only the layer has.

use std::os::fd::AsFd;

use rel_path::RelPath;

use super::tally::Tally;
use super::{Context, Scan, SideEntry, own_side_of};
use crate::access::OpenFolder;
use crate::error::LayerError;
use crate::handle::{self, Entry, Kind};
use crate::scan::change::Side;

impl Scan<'_> {
    /// Lists a folder that only the layer has. `before` is the workspace's entry at the same path.
    pub(super) fn new_folder(
        &mut self,
        path: &RelPath,
        upper: (&OpenFolder, &Entry),
        before: Option<SideEntry>,
        context: Context,
    ) -> Result<Tally, LayerError> {
        let (folder, above) = upper;
        let first = self.changes.len();
        self.has_removed_files |= before.is_some();
        let mode = context.rights.mode(Kind::Folder, above.mode);
        let after = SideEntry { side: Side::Folder { mode }, entry: *above };
        let change = self.change(path, before, Some(after), context.saved_meanwhile, context);
        self.changes.push(change);
        // Entries of such a folder are part of its change.
        let is_whole = context.whole.is_none() && (self.rules.whole)(path);
        let whole = if is_whole { Some(first) } else { context.whole };
        let below = Context { whole, ..context.below(context.saved_meanwhile, above.mode) };
        let mut tally = Tally::default();
        for name in handle::names(folder).map_err(|errno| LayerError::at(path, errno))? {
            tally.add(self.new_entry(path, folder, &name, below)?);
        }
        self.collapse(first, is_whole, &tally);
        tally.is_incomplete = false;
        Ok(tally)
    }

    fn new_entry(
        &mut self,
        parent: &RelPath,
        folder: &OpenFolder,
        name: &[u8],
        context: Context,
    ) -> Result<Tally, LayerError> {
        self.look()?;
        let entry = handle::stat_at(folder, name).map_err(|errno| LayerError::at(parent, errno))?;
        let Some(above) = entry.filter(|entry| entry.kind != Kind::Whiteout) else {
            return Ok(Tally::default());
        };
        let mut tally = Tally::of_entry(&above);
        let Ok(path) = parent.child(name) else {
            tally.is_incomplete = true;
            return Ok(tally);
        };
        let at = |errno| LayerError::at(&path, errno);
        self.look_at_rights(&path, (folder.as_fd(), name, &above), context).map_err(at)?;
        if above.kind == Kind::Device {
            return Ok(Tally::default());
        }
        if above.kind == Kind::Folder {
            let below = OpenFolder::open(folder, name, above.mode).map_err(at)?;
            tally.add(self.new_folder(&path, (&below, &above), None, context)?);
        } else {
            let after = own_side_of(folder.as_fd(), name, &above, &context.rights).map_err(at)?;
            self.shared.note(&path, &above, context.whole);
            let change = self.change(&path, None, Some(after), context.saved_meanwhile, context);
            self.changes.push(change);
        }
        Ok(tally)
    }
}
