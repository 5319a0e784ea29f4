//! Names of hard-linked files that a command made and that are not adopted, because there is no room for copies.
//!
//! Such a file keeps its first name. What cannot do without the other names, or might lose the file, is not adopted either.

use std::collections::BTreeSet;

use cow_layer::LayerChanges;
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::in_git_folder;

/// The effects that would bring a name for which there is no room, or a tree that holds one.
#[derive(Debug, Default)]
pub(crate) struct LeftNames {
    pub(crate) effects: Vec<Effect>,
    /// The repositories that would lack a part.
    pub(crate) repositories: BTreeSet<RelPath>,
    /// True if one of the files may be beneath a name that no path can name.
    has_unnameable: bool,
}

impl LeftNames {
    /// Takes them out of the effects that are allowed, and returns the others.
    pub(crate) fn take(changes: &LayerChanges, allowed: Vec<Effect>) -> (LeftNames, Vec<Effect>) {
        let is_left =
            |effect: &Effect| changes.find(&effect.path).is_some_and(|change| change.is_left_shared());
        let (effects, others): (Vec<_>, Vec<_>) = allowed.into_iter().partition(is_left);
        let repositories =
            effects.iter().filter_map(|effect| in_git_folder(&effect.path)).map(|part| part.folder);
        let repositories = repositories.collect();
        (LeftNames { effects, repositories, has_unnameable: changes.unnameable() > 0 }, others)
    }

    /// Takes those out of the `wanted` effects that would remove or replace what may be the only version of a file that is kept
    /// out: it was too large for the journal, and what the command made of it is among the effects that are kept out, a left name for
    /// instance.
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
            // One that is a folder is a tree, and may hold every name of a file.
            self.effects.iter().any(|effect| effect.kind_after() == Some(PresentKind::Folder))
        };
        let may_lose = !self.effects.is_empty() && (self.has_unnameable || has_left_tree())
            || kept_out.any(|effect| is_unkept(&effect.after));
        wanted.into_iter().partition(|effect| may_lose && is_unkept(&effect.before))
    }
}
