//! Protects the large contents that Git LFS and git-annex store, and contents that could not be restored.

use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::{InRepository, Refusal, in_git_folder};
use crate::git::repository_context::RepositoryContext;

impl InRepository<'_> {
    /// Refuses the removal or change of a content that could not be restored. It may be removed with the repository
    /// around it, as objects may.
    pub(super) fn large_content_refusal(
        &self,
        effect: &Effect,
        context: &RepositoryContext<'_>,
    ) -> Option<Refusal> {
        let is_large = effect.kind_before() == Some(PresentKind::File) && effect.text_before().is_none();
        let may_be_unchanged =
            matches!(&effect.after, Some(EffectSide::Unkept(unkept)) if unkept.may_be_unchanged);
        let is_lost = context.is_layered
            && is_large
            && !may_be_unchanged
            && self.is_content(context)
            && !self.goes_with_its_folder(context);
        is_lost.then_some(Refusal::LargeContent)
    }

    /// Refuses a different content of Git LFS or git-annex under an existing name, which is derived from the content,
    /// and a different key of git-crypt: the user's next commit would be encrypted with it.
    pub(super) fn fixed_content_refusal(
        &self,
        effect: &Effect,
        context: &RepositoryContext<'_>,
    ) -> Option<Refusal> {
        let is_fixed = || self.is_key(context) || self.is_content(context) && self.has_name_of_content();
        if effect.kind_before() != Some(PresentKind::File) || !is_fixed() {
            return None;
        }
        let may_be_unchanged =
            matches!(&effect.after, Some(EffectSide::Unkept(unkept)) if unkept.may_be_unchanged);
        let is_same = match (effect.text_before(), effect.text_after()) {
            (Some(before), Some(after)) => before == after,
            _ => may_be_unchanged,
        };
        (!is_same).then_some(Refusal::Content)
    }

    /// Returns whether it is a key of git-crypt.
    pub(super) fn is_key(&self, context: &RepositoryContext<'_>) -> bool {
        let is_named = self.names.iter().any(|name| name.eq_ignore_ascii_case(b"git-crypt"));
        is_named
            && matches!(
                self.inner(context).names.as_slice(),
                [crypt, keys, _, ..]
                    if crypt.eq_ignore_ascii_case(b"git-crypt") && keys.eq_ignore_ascii_case(b"keys")
            )
    }

    /// Returns whether its name is derived from its content. Next to contents, git-annex keeps metadata about them.
    fn has_name_of_content(&self) -> bool {
        match self.names.as_slice() {
            [.., objects, _, _, name] if objects.eq_ignore_ascii_case(b"objects") => {
                name.len() == 64 && name.iter().all(u8::is_ascii_hexdigit)
            }
            [.., folder, name] => folder == name,
            _ => false,
        }
    }

    fn is_content(&self, context: &RepositoryContext<'_>) -> bool {
        let is = |name: &[u8], wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
        // Most paths are git objects, and examining folders is slow.
        let has_store = self
            .names
            .windows(2)
            .any(|two| (is(two[0], b"lfs") || is(two[0], b"annex")) && is(two[1], b"objects"));
        has_store
            && matches!(
                self.inner(context).names.as_slice(),
                [store, objects, _, ..] if (is(store, b"lfs") || is(store, b"annex")) && is(objects, b"objects")
            )
    }
}

/// Returns the submodule's repository that is removed as a whole with an unrestorable object or content, given the
/// effect on that, and the reason why it stays.
pub(crate) fn submodule_with_lasting_content(
    effect: &Effect,
    context: &RepositoryContext<'_>,
) -> Option<(RelPath, Refusal)> {
    let is_large = effect.kind_before() == Some(PresentKind::File) && effect.text_before().is_none();
    if !context.is_layered || !is_large || effect.after.is_some() {
        return None;
    }
    let part = in_git_folder(&effect.path).filter(|part| (context.is_there)(&part.folder))?;
    let refusal = match (part.is_stored_object(), part.is_content(context)) {
        (true, _) => Refusal::LargeObject,
        (_, true) => Refusal::LargeContent,
        _ => return None,
    };
    Some((part.folder_that_goes(context)?, refusal))
}

/// Returns the new repository that would borrow objects from another, given the effect on the file that says so;
/// including the folder around its `.git` if that is new, too.
pub(crate) fn borrowing_repository(effect: &Effect, was_there: &dyn Fn(&RelPath) -> bool) -> Option<RelPath> {
    const NAMES: [&[u8]; 2] = [b"alternates", b"http-alternates"];
    let names_others = match &effect.after {
        Some(EffectSide::Kept(present)) => !present.bytes.is_empty(),
        other => other.is_some(),
    };
    let name = effect.path.file_name().filter(|_| names_others)?;
    if !NAMES.iter().any(|one| name.eq_ignore_ascii_case(one)) {
        return None;
    }
    let parent = |path: RelPath, name: &[u8]| {
        path.parent().filter(|_| path.file_name().is_some_and(|own| own.eq_ignore_ascii_case(name)))
    };
    let repository = parent(parent(effect.path.parent()?, b"info")?, b"objects")?;
    if repository.is_root() || was_there(&repository) {
        return None;
    }
    let around = repository.parent().filter(|around| !around.is_root() && !was_there(around));
    let is_inner = repository.file_name() == Some(b".git");
    Some(around.filter(|_| is_inner).unwrap_or(repository))
}
