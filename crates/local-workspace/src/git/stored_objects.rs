//! Judges the files of a repository's object store.

use git_index::{PackIndex, is_object_cache};
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::{InRepository, Refusal};
use crate::git::repository_context::RepositoryContext;

impl InRepository<'_> {
    /// Returns the reason why an effect on an existing object is refused. Git never changes the content of an object,
    /// and unreadable content may have changed.
    pub(super) fn object_refusal(&self, effect: &Effect) -> Option<Refusal> {
        if !self.is_stored_object() || effect.kind_before() != Some(PresentKind::File) {
            return None;
        }
        let may_be_unchanged =
            matches!(&effect.after, Some(EffectSide::Unkept(unkept)) if unkept.may_be_unchanged);
        match (effect.text_before(), effect.text_after()) {
            (Some(before), Some(after)) => (before != after).then_some(Refusal::Object),
            _ => (!may_be_unchanged).then_some(Refusal::UnreadObject),
        }
    }

    /// Refuses the removal of an object, or of a pack, that could not be restored. It may be removed with its
    /// repository.
    pub(super) fn large_object_refusal(
        &self,
        effect: &Effect,
        context: &RepositoryContext<'_>,
    ) -> Option<Refusal> {
        let is_large = effect.kind_before() == Some(PresentKind::File) && effect.text_before().is_none();
        let is_lost =
            context.is_layered && is_large && self.is_stored_object() && !self.goes_with_its_folder(context);
        is_lost.then_some(Refusal::LargeObject)
    }

    /// Returns whether it is an object, or a file of several, whose name is derived from its content.
    pub(super) fn is_stored_object(&self) -> bool {
        let ends_like = |name: &[u8], end: &[u8]| {
            name.get(name.len().saturating_sub(end.len())..)
                .is_some_and(|last| last.eq_ignore_ascii_case(end))
        };
        let is_hex = |name: &[u8]| name.iter().all(u8::is_ascii_hexdigit);
        match self.names.as_slice() {
            [.., all, pack, name]
                if all.eq_ignore_ascii_case(b"objects") && pack.eq_ignore_ascii_case(b"pack") =>
            {
                ends_like(name, b".pack") || ends_like(name, b".idx")
            }
            [.., all, start, rest] if all.eq_ignore_ascii_case(b"objects") => {
                start.len() == 2 && is_hex(start) && matches!(rest.len(), 38 | 62) && is_hex(rest)
            }
            _ => false,
        }
    }

    /// Returns whether it is a new index of a missing pack.
    pub(super) fn is_index_without_pack(&self, effect: &Effect, context: &RepositoryContext<'_>) -> bool {
        let pack = effect.path.as_bytes().strip_suffix(b".idx").map(|stem| [stem, b".pack"].concat());
        let pack = pack.filter(|_| effect.before.is_none() && self.is_stored_object());
        pack.and_then(|pack| RelPath::from_bytes(&pack).ok()).is_some_and(|pack| !(context.is_there)(&pack))
    }

    /// Returns whether it is a new pack, or the new index of one, with an unreadable index or a mismatch between the
    /// two. Packs that are too large to keep are not compared.
    pub(super) fn is_damaged_pack(&self, effect: &Effect, context: &RepositoryContext<'_>) -> bool {
        let path = effect.path.as_bytes();
        let stem = path.strip_suffix(b".pack").or_else(|| path.strip_suffix(b".idx"));
        let Some(stem) = stem.filter(|_| effect.before.is_none() && self.is_stored_object()) else {
            return false;
        };
        // Git skips it.
        if self.is_index_without_pack(effect, context) {
            return false;
        }
        let text = |end: &[u8]| {
            let path = RelPath::from_bytes(&[stem, end].concat()).ok()?;
            if path == effect.path { effect.text_after().map(<[u8]>::to_vec) } else { (context.text)(&path) }
        };
        let Some(index) = text(b".idx") else { return false };
        let Some(index) = PackIndex::read(&index) else { return true };
        text(b".pack").is_some_and(|pack| !index.is_of(&pack))
    }

    /// Returns whether it is a part of a chain of commit graphs, or of pack lists, whose list of parts stays: a changed
    /// list is not adopted.
    pub(super) fn is_of_staying_chain(&self, context: &RepositoryContext<'_>) -> bool {
        let Some((last, folders)) = self.names.split_last() else { return false };
        let chain: &[u8] = match folders.last() {
            Some(folder) if folder.eq_ignore_ascii_case(b"commit-graphs") => b"commit-graph-chain",
            Some(folder) if folder.eq_ignore_ascii_case(b"multi-pack-index.d") => b"multi-pack-index-chain",
            _ => return false,
        };
        let path = RelPath::from_bytes(&[folders, &[chain]].concat().join(&b'/'));
        let path = path.and_then(|path| self.folder.join(&path));
        is_object_cache(self.names.iter().copied())
            && !last.eq_ignore_ascii_case(chain)
            && path.is_ok_and(|path| (context.was_there)(&path) && (context.is_there)(&path))
    }
}
