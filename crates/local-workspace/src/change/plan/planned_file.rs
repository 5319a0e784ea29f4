//! One file of a plan, and the line maps between its versions.

use change_journal::ContentHash;
use text_edit::{LineMap, Source};

use crate::change::held_versions::{Edit, compose};
use crate::change::present::Present;

/// The number of versions of a file that are followed through a batch: line numbers refer to one of two.
const FOLLOWED_VERSIONS: usize = 4;

/// One file of a plan.
#[derive(Debug)]
pub(crate) struct PlannedFile {
    /// The state on disk; `None` if there is no file.
    pub before: Option<Present>,
    /// The state after the items planned so far; `None` if they delete the file.
    pub after: Option<Present>,
    /// Edits by line so far, so that later line numbers can be followed through them.
    pub edits: Vec<Edit>,
    /// The line maps from the versions that the last edits' numbers referred to, up to the versions edited, so that the
    /// edits in between are not followed again each time.
    pub followed: Vec<Edit>,
}

impl PlannedFile {
    /// The line map from one version to another, if it is remembered or one edit longer.
    pub(super) fn followed_to(
        &self,
        from: &ContentHash,
        to: &ContentHash,
        current: &Source<'_>,
    ) -> Option<LineMap> {
        let followed = self.followed.iter().find(|followed| followed.before == *from)?;
        if followed.after == *to {
            return Some(followed.line_map.clone());
        }
        let last = self.edits.last().filter(|last| last.before == followed.after && last.after == *to)?;
        let map = compose(&followed.line_map, &last.line_map)?;
        (map.new_lines() == current.total_lines()).then_some(map)
    }

    /// Remembers a line map, evicting the one of the oldest version.
    pub(super) fn remember(&mut self, way: Edit) {
        self.followed.retain(|followed| followed.before != way.before);
        if self.followed.len() >= FOLLOWED_VERSIONS {
            self.followed.remove(0);
        }
        self.followed.push(way);
    }
}
