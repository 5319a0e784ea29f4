//! Everything that is different in a layer.

use rel_path::RelPath;

use crate::adoption::order;
use crate::scan::change::LayerChange;
use crate::scan::left_out::LeftOut;
use crate::scan::moment::Moment;

/// Everything that is different in a layer, sorted by the bytes of the paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerChanges {
    pub(crate) list: Vec<LayerChange>,
    pub(crate) unnameable: u64,
    pub(crate) left_out: Vec<LeftOut>,
    /// When the layer was looked at.
    pub(crate) seen_at: Moment,
}

impl LayerChanges {
    /// The changes, each path once, a folder before what is in it.
    pub fn as_slice(&self) -> &[LayerChange] {
        &self.list
    }

    /// The changes, each path once, a folder before what is in it.
    pub fn iter(&self) -> std::slice::Iter<'_, LayerChange> {
        self.list.iter()
    }

    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many changes there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The change of one path.
    pub fn find(&self, path: &RelPath) -> Option<&LayerChange> {
        let place = self.list.binary_search_by(|change| change.path.as_bytes().cmp(path.as_bytes()));
        place.ok().map(|index| &self.list[index])
    }

    /// How many entries are different, at least, whose paths are too long or too deep to be named. They are not
    /// listed and cannot be adopted, unless as a part of a tree.
    pub fn unnameable(&self) -> u64 {
        self.unnameable
    }

    /// What entries of the layer do not bring into the workspace, because it would give others rights that the user has
    /// not given: the first hundred. A list that [`Layer::sealed`](crate::Layer::sealed) gives back has none.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The changes in an order in which they can be adopted: what is new or different, each folder before what is in
    /// it, then what was removed, each folder after what was in it. [`Layer::finish_folders`] comes last.
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
