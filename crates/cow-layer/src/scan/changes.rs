//! The changes of a layer.

use rel_path::RelPath;

use crate::adoption::order;
use crate::scan::change::{LayerChange, Side};
use crate::scan::left_out::LeftOut;
use crate::scan::moment::Moment;
use crate::scan::shared::SharedFile;

/// The changes of a layer, sorted by the bytes of the paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerChanges {
    pub(crate) list: Vec<LayerChange>,
    pub(crate) unnameable: u64,
    pub(crate) closed_folders: Vec<RelPath>,
    pub(crate) left_out: Vec<LeftOut>,
    /// The files whose names [`Layer::separate`](crate::Layer::separate) separates.
    pub(crate) shared: Vec<SharedFile>,
    /// The time of the scan.
    pub(crate) seen_at: Moment,
}

impl LayerChanges {
    /// Returns the changes, each path once, a folder before its children.
    pub fn as_slice(&self) -> &[LayerChange] {
        &self.list
    }

    /// Iterates over the changes, each path once, a folder before its children.
    pub fn iter(&self) -> std::slice::Iter<'_, LayerChange> {
        self.list.iter()
    }

    /// Returns whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the change of one path.
    pub fn find(&self, path: &RelPath) -> Option<&LayerChange> {
        self.position(path).map(|index| &self.list[index])
    }

    pub(crate) fn find_mut(&mut self, path: &RelPath) -> Option<&mut LayerChange> {
        self.position(path).map(|index| &mut self.list[index])
    }

    /// Allows a change to be adopted although another program has saved the path meanwhile: the caller knows that the saved
    /// version need not be kept. It counts as the version before the change.
    pub fn replace_saved(&mut self, path: &RelPath) {
        if let Some(change) = self.find_mut(path) {
            change.saved_meanwhile = false;
        }
    }

    fn position(&self, path: &RelPath) -> Option<usize> {
        self.list.binary_search_by(|change| change.path.as_bytes().cmp(path.as_bytes())).ok()
    }

    /// Marks the changes that contain a name of a shared file: of the name itself, or of the tree around it.
    pub(crate) fn mark_shared(&mut self) {
        let shared = std::mem::take(&mut self.shared);
        for path in shared.iter().flat_map(|file| &file.names) {
            let around = std::iter::successors(Some(path.clone()), RelPath::parent);
            for path in around.take_while(|path| !path.is_root()) {
                match self.find_mut(&path) {
                    Some(change)
                        if change.tree.is_some() || !change.after.as_ref().is_some_and(Side::is_folder) =>
                    {
                        change.is_shared = true;
                    }
                    _ => {}
                }
            }
        }
        self.shared = shared;
    }

    /// Returns the number of different entries, at least, whose paths are too long or too deep to be named.
    /// They are not listed and cannot be adopted, unless as a part of a tree.
    pub fn unnameable(&self) -> u64 {
        self.unnameable
    }

    /// Returns the folders of the workspace that this user may not list, the first hundred. Their changes, and those of
    /// everything in them, are unknown and cannot be adopted. A list that [`Layer::sealed`](crate::Layer::sealed) returns
    /// has none.
    pub fn closed_folders(&self) -> &[RelPath] {
        &self.closed_folders
    }

    /// Returns the rights that entries of the layer do not bring into the workspace, because the user has not
    /// granted them: the first hundred. A list that [`Layer::sealed`](crate::Layer::sealed) returns has none.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Iterates over the changes in an order in which they can be adopted: first new and modified entries,
    /// each folder before its children, then removals, each folder after its children.
    /// [`Layer::finish_folders`] comes last.
    ///
    /// [`Layer::finish_folders`]: crate::Layer::finish_folders
    pub fn in_adoption_order(&self) -> impl Iterator<Item = &LayerChange> {
        order::of(&self.list)
    }
}

impl<'a> IntoIterator for &'a LayerChanges {
    type Item = &'a LayerChange;
    type IntoIter = std::slice::Iter<'a, LayerChange>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}
