//! Names of hard-linked files that a command made and that are not adopted, because copies would exceed the limit.
//!
//! Such a file keeps its first name. Effects that need the other names, or might lose the file, are not adopted either.

use std::collections::BTreeSet;

use cow_layer::LayerChanges;
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::in_git_folder;

/// The effects that would add a name above the limit, or a tree that contains one.
#[derive(Debug, Default)]
pub(crate) struct LeftNames {
    pub(crate) effects: Vec<Effect>,
    /// The repositories that would lack a part.
    pub(crate) repositories: BTreeSet<RelPath>,
    /// True if one of the files may be below a name that cannot be a path.
    has_unnameable: bool,
}

impl LeftNames {
    /// Removes such names from the allowed effects, and returns the others.
    pub(crate) fn take(changes: &LayerChanges, allowed: Vec<Effect>) -> (LeftNames, Vec<Effect>) {
        let is_left =
            |effect: &Effect| changes.find(&effect.path).is_some_and(|change| change.is_left_shared());
        let (effects, others): (Vec<_>, Vec<_>) = allowed.into_iter().partition(is_left);
        let repositories =
            effects.iter().filter_map(|effect| in_git_folder(&effect.path)).map(|part| part.folder);
        let repositories = repositories.collect();
        (LeftNames { effects, repositories, has_unnameable: changes.unnameable() > 0 }, others)
    }

    /// Removes the `wanted` effects that would remove or replace the possibly only version of a file: it was too large
    /// for the journal, and its new version is among the rejected effects, such as a left name.
    pub(crate) fn take_only_versions<'a>(
        &self,
        wanted: Vec<Effect>,
        mut kept_out: impl Iterator<Item = &'a Effect>,
    ) -> (Vec<Effect>, Vec<Effect>) {
        let is_unkept = |side: &Option<EffectSide>| {
            let kind = side.as_ref().map(EffectSide::kind);
            // A pipe has no content.
            matches!(side, Some(EffectSide::Unkept(_))) && kind != Some(PresentKind::Other)
        };
        let has_left_tree = || {
            // A folder is a whole tree, and may hold every name of a file.
            self.effects.iter().any(|effect| effect.kind_after() == Some(PresentKind::Folder))
        };
        let may_lose = !self.effects.is_empty() && (self.has_unnameable || has_left_tree())
            || kept_out.any(|effect| is_unkept(&effect.after));
        wanted.into_iter().partition(|effect| may_lose && is_unkept(&effect.before))
    }
}
