//! The git guard over the state that a plan leaves.

use rel_path::RelPath;
use wap_core::{Reason, WapError};

use crate::adopt::build_folders::BuildFolders;
use crate::change::plan::Plan;
use crate::change::present::Present;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::Refusal;
use crate::git::linked_contents::LinkedContents as _;
use crate::git::repository_context::RepositoryContext;
use crate::git::repository_parts::{folded, may_be_part, part_refusal};

impl Plan<'_> {
    /// Refuses a change that would make git treat a folder as a repository, or obey something in an existing one.
    pub(super) fn check_repositories(
        &self,
        path: &RelPath,
        before: Option<&Present>,
        after: Option<&Present>,
    ) -> Result<(), WapError> {
        if !may_be_part(path) {
            return Ok(());
        }
        let [before, after] = [before, after].map(|side| side.cloned().map(EffectSide::Kept));
        let filled = after.is_some().then(|| folded(path));
        let was_there = |other: &RelPath| self.is_there(other);
        let is_there = |other: &RelPath| match &filled {
            Some(filled) if is_at_or_above(&folded(other), filled) => true,
            None if other == path => false,
            _ => self.is_there(other),
        };
        let context = RepositoryContext {
            workspace: self.root.path(),
            is_layered: false,
            was_there: &was_there,
            is_there: &is_there,
            is_unjudged: &|path| BuildFolders::new(self.root).surrounds(path),
            format: &|settings| self.git_files.format(settings),
            lacks_object: &|_, _| false,
            text: &|path| self.git_files.content(path),
            packed: &|list| self.git_files.packed(list),
            content: Some(&self.git_files),
        };
        let effect = Effect { path: path.clone(), before, after };
        part_refusal(&effect, &context).map_or(Ok(()), |refusal| Err(repository_error(path, &refusal)))
    }
}

/// Checks whether `folder` is `path` or one of the folders above it, both in lower case.
fn is_at_or_above(folder: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The refusal of a change that git would obey.
pub(crate) fn repository_error(path: &RelPath, refusal: &Refusal) -> WapError {
    let why = format!("git would obey it: {refusal}");
    let text = format!("'{path}' is not changed, because {why}; use another name or folder");
    WapError::new(Reason::Protected, text).with("path", path.to_string()).with("why", why)
}
