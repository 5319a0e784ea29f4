//! Recognises files of a repository that make git run programs or read other paths, and so are not adopted from
//! a command.

pub(crate) use git_index::is_git_name;
use git_index::{
    ObjectFormat, UnfinishedWorkError, check_unfinished_work, is_file_list, is_file_only, is_folder_only,
    is_object_cache, is_reference, lists_sibling_files, stays_in_references,
};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::access::lacks_access;
use crate::git::disguised_names::is_disguised;
use crate::git::kept_references::reference_refusal;
use crate::git::linked_folders::{
    is_own_worktree, leads_into_repository, leads_to_repository, leads_to_working_tree, unlinks_submodule,
};
use crate::git::reference_tables::tables_around;
pub(crate) use crate::git::refusal::Refusal;
use crate::git::repository_context::RepositoryContext;
use crate::git::repository_parts::{is_repository, repositories_with_part};
use crate::git::settings::{Surroundings, changed_directions, harmful, is_harmless, keeps_format};

/// A folder in a repository's folder by which users declare that they trust the repository.
const SAFE: &str = "safe";

/// The largest index that is read, in bytes: about half a million files.
pub(crate) const INDEX_BYTES: u64 = 64 << 20;

/// A path relative to the repository that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InRepository<'a> {
    /// The repository's own folder, `.git` or a bare one.
    pub folder: RelPath,
    /// The names below it; empty for the folder itself.
    pub names: Vec<&'a [u8]>,
}

/// Finds the outermost `.git` that `path` is or is within.
pub(crate) fn in_git_folder(path: &RelPath) -> Option<InRepository<'_>> {
    let names: Vec<_> = path.components().collect();
    let index = names.iter().position(|name| is_git_name(name))?;
    let folder = RelPath::from_bytes(&names[..=index].join(&b'/')).ok()?;
    Some(InRepository { folder, names: names[index + 1..].to_vec() })
}

/// Returns whether a path has the name of a git index, or of a shared index.
pub(crate) fn is_index(path: &RelPath) -> bool {
    const SHARED: &[u8] = b"sharedindex.";
    path.file_name().is_some_and(|name| {
        name.eq_ignore_ascii_case(b"index")
            || name.get(..SHARED.len()).is_some_and(|start| start.eq_ignore_ascii_case(SHARED))
    })
}

/// Returns whether it is the main index of a repository or working tree, not a part of a split one.
pub(crate) fn is_main_index(path: &RelPath) -> bool {
    let has_name = || path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(b"index"));
    in_git_folder(path).is_some_and(|part| !part.is_data() && has_name())
}

/// Returns whether a file is judged by its whole content, and so is read beyond the limits of other files.
pub(crate) fn is_judged_whole(path: &RelPath) -> bool {
    let is_list = || path.file_name().is_some_and(|name| matches!(name, b"packed-refs" | b"shallow"));
    (is_index(path) || is_list() || tables_around(path).is_some()) && in_git_folder(path).is_some()
}

/// Checks whether the content of `path` affects git's behaviour, so that it is always examined.
pub(crate) fn is_watched_by_git(path: &RelPath) -> bool {
    let Some(last) = path.file_name() else { return false };
    match in_git_folder(path) {
        Some(part) => !part.is_data() || part.has_obeyed_name(),
        None => matches!(last, b"HEAD" | b"config" | b"commondir" | b"config.worktree"),
    }
}

impl InRepository<'_> {
    pub(crate) fn first_is(&self, wanted: &[&str]) -> bool {
        self.names
            .first()
            .is_some_and(|name| wanted.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes())))
    }

    /// Checks whether it is one of the objects, references or logs, with any name.
    pub(crate) fn is_data(&self) -> bool {
        // `objects/info` can name further stores of objects, so it is not mere data.
        let is_alternate = self.first_is(&["objects"]) && self.name_at(1).eq_ignore_ascii_case(b"info");
        self.first_is(&["objects", "refs", "logs"]) && !is_alternate
    }

    /// Returns whether it is in an object store, also of a submodule.
    pub(crate) fn lies_among_objects(&self) -> bool {
        let is_named = |name: &&[u8]| name.eq_ignore_ascii_case(b"objects");
        self.is_object() || self.first_is(&["modules", "worktrees"]) && self.names.iter().any(is_named)
    }

    pub(crate) fn is_object(&self) -> bool {
        self.first_is(&["objects"])
    }

    fn name_at(&self, index: usize) -> &[u8] {
        self.names.get(index).copied().unwrap_or_default()
    }

    pub(super) fn ends_with(&self, wanted: &[&str]) -> bool {
        self.names.len() >= wanted.len()
            && self
                .names
                .iter()
                .rev()
                .zip(wanted.iter().rev())
                .all(|(name, one)| name.eq_ignore_ascii_case(one.as_bytes()))
    }

    /// Returns whether it is, or is within, the folder of a submodule, also of one in a working tree.
    pub(crate) fn is_of_submodule(&self) -> bool {
        let is_of = |names: &[&[u8]]| {
            names.len() >= 2 && names.first().is_some_and(|name| name.eq_ignore_ascii_case(b"modules"))
        };
        is_of(&self.names) || self.first_is(&["worktrees"]) && self.names.get(2..).is_some_and(is_of)
    }

    /// Returns whether it is, or is within, another `.git`.
    fn has_git_name(&self) -> bool {
        self.names.iter().any(|name| is_git_name(name))
    }

    /// Returns whether git would obey a file of this name if its folder were a repository.
    fn has_obeyed_name(&self) -> bool {
        const NAMES: [&[u8]; 3] = [b"config", b"config.worktree", b"commondir"];
        let last = self.names.last().copied().unwrap_or_default();
        NAMES.iter().any(|name| last.eq_ignore_ascii_case(name))
            || self.has_git_name()
            || is_file_list(self.names.iter().copied())
            || RelPath::from_bytes(last).is_ok_and(|name| is_index(&name))
            || self.names.iter().any(|name| name.eq_ignore_ascii_case(b"hooks"))
    }

    /// Returns whether a file has the content of a branch or its log, whatever its name: git cannot read that as
    /// anything else.
    fn is_reference_or_log(&self, effect: &Effect) -> bool {
        // An unknown mode counts as executable.
        let is_runnable =
            effect.after.as_ref().and_then(EffectSide::mode).is_none_or(|mode| mode & 0o111 != 0);
        let Some(text) = effect.text_after().filter(|_| !is_runnable) else { return false };
        let is_name = |text: &[u8]| matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if self.first_is(&["refs"]) {
            return is_name(text) || text.starts_with(b"ref: ") && stays_in_references(text);
        }
        // A path in it would lead elsewhere, if it named a folder.
        let leads_away = self.ends_with(&["commondir"]) && text.contains(&b'/');
        let mut words = text.splitn(3, |byte| *byte == b' ');
        let is_log = text.is_empty() || words.by_ref().take(2).filter(|word| is_name(word)).count() == 2;
        self.first_is(&["logs"]) && is_log && !leads_away
    }

    /// Returns the reason why an effect on this path is not adopted; `None` if it is.
    ///
    /// A change of kind is judged twice: as the removal of the former entry, and as a new entry.
    pub(crate) fn refusal(&self, effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
        match (effect.kind_before(), effect.kind_after()) {
            (_, None) if self.names.is_empty() && unlinks_submodule(effect, context) => None,
            (before, None) => {
                let large = self.large_object_refusal(effect, context);
                let large = large.or_else(|| self.large_content_refusal(effect, context));
                large.or_else(|| self.removal_refusal(before?, context))
            }
            (_, Some(PresentKind::Other)) => Some(Refusal::Link),
            (Some(before), Some(after)) if before != after => {
                let new = Effect { before: None, ..effect.clone() };
                // A `HEAD` that is a symlink names a branch, and git replaces it on checkout.
                let is_head = before == PresentKind::Other && after == PresentKind::File && self.is_head();
                let removal = (!is_head).then(|| self.removal_refusal(before, context)).flatten();
                removal.or_else(|| self.arrival_refusal(&new, after, context))
            }
            (_, Some(after)) => self.arrival_refusal(effect, after, context),
        }
    }

    fn arrival_refusal(
        &self,
        effect: &Effect,
        after: PresentKind,
        context: &RepositoryContext<'_>,
    ) -> Option<Refusal> {
        // An entry that its owner cannot read is not judged by its content either.
        let is_lacking = lacks_access(self, effect, after);
        is_lacking.then_some(Refusal::Access).or_else(|| self.content_refusal(effect, after, context))
    }

    /// Judges a new entry, or a changed one of the same kind.
    fn content_refusal(
        &self,
        effect: &Effect,
        after: PresentKind,
        context: &RepositoryContext<'_>,
    ) -> Option<Refusal> {
        let is_folder = after == PresentKind::Folder;
        if self.names.is_empty() {
            let is_plain = is_folder || leads_into_repository(effect, context);
            return (!is_plain).then_some(Refusal::Redirection);
        }
        if self.names.iter().any(|name| is_disguised(name)) {
            return Some(Refusal::Disguise);
        }
        // Git makes none. Within this folder, it would obey that one.
        if self.has_git_name() {
            return Some(Refusal::Redirection);
        }
        if is_folder {
            let is_new = effect.before.is_none();
            return (is_new && (self.is_folder_for_file(context) || self.is_folder_for_log(context)))
                .then_some(Refusal::FolderForFile)
                .or_else(|| self.first_is(&[SAFE]).then_some(Refusal::SafeFolder));
        }
        self.file_refusal(effect, context)
    }

    /// Judges the removal of an entry of some kind.
    fn removal_refusal(&self, kind: PresentKind, context: &RepositoryContext<'_>) -> Option<Refusal> {
        let is_folder = kind == PresentKind::Folder;
        if self.names.is_empty() {
            return Some(Refusal::Removal);
        }
        if self.goes_with_its_folder(context) {
            return None;
        }
        // Without one of them, git does not treat the folder as a repository, and obeys one around it.
        if is_folder && self.names.len() == 1 && self.first_is(&["objects", "refs"]) {
            return Some(Refusal::Removal);
        }
        if self.is_of_staying_chain(context) {
            return Some(Refusal::ObjectCache);
        }
        if self.is_data() || self.is_inner_data(context) {
            return None;
        }
        if !is_folder && self.is_needed_table(context) {
            return Some(Refusal::ReferenceTable);
        }
        if self.has_hooks_name(context) {
            return (is_folder || !self.is_sample()).then_some(Refusal::Hook);
        }
        if is_folder {
            return None;
        }
        if self.is_head() || self.names.len() == 1 && self.ends_with(&["config"]) {
            return Some(Refusal::Removal);
        }
        if self.is_settings() {
            return Some(Refusal::SettingsRemoval);
        }
        if matches!(self.inner(context).names.as_slice(), [name] if name.eq_ignore_ascii_case(b"index")) {
            return Some(Refusal::IndexRemoval);
        }
        if self.is_beginning_of_work(context) {
            return Some(Refusal::UnfinishedWork(UnfinishedWorkError::References));
        }
        if self.is_key(context) {
            return Some(Refusal::Content);
        }
        if self.ends_with(&["info", "attributes"]) {
            return Some(Refusal::Attributes);
        }
        self.ends_with(&["commondir"]).then_some(Refusal::Redirection)
    }

    /// Judges a file that is new or was changed.
    fn file_refusal(&self, effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
        let of_store = self.object_refusal(effect).or_else(|| self.large_content_refusal(effect, context));
        let of_store = of_store.or_else(|| self.fixed_content_refusal(effect, context));
        if of_store.is_some() {
            return of_store;
        }
        if self.is_damaged_pack(effect, context) {
            return Some(Refusal::DamagedPack);
        }
        if is_reference(self.names.iter().copied()) && effect.leads_out_of_references() {
            return Some(Refusal::Reference);
        }
        if is_folder_only(self.names.iter().copied()) && !self.is_stub_of_tables(effect, context) {
            return Some(Refusal::FileForFolder);
        }
        if let Some(refusal) = reference_refusal(self, effect, context) {
            return Some(refusal);
        }
        let is_plain_list = || effect.text_after().is_some_and(lists_sibling_files);
        if is_file_list(self.names.iter().copied()) && !is_plain_list() {
            return Some(Refusal::Redirection);
        }
        if is_object_cache(self.names.iter().copied()) || self.is_index_without_pack(effect, context) {
            return Some(Refusal::ObjectCache);
        }
        let foreign = || (!self.is_own(context)).then_some(Refusal::ForeignFile);
        if self.is_data() && (!self.has_obeyed_name() || self.is_reference_or_log(effect)) {
            return foreign();
        }
        if self.is_inner_data(context) && self.inner(context).is_reference_or_log(effect) {
            return foreign();
        }
        if self.first_is(&[SAFE]) {
            return Some(Refusal::SafeFolder);
        }
        if self.has_hooks_name(context) {
            return (!self.is_sample()).then_some(Refusal::Hook);
        }
        // Git writes none for a working tree, and reads them from there only without a `commondir`.
        if self.ends_with(&["config"]) && self.is_of_worktree() {
            return Some(Refusal::Redirection);
        }
        if self.is_settings() {
            return self.settings_refusal(effect, context);
        }
        if is_index(&effect.path) {
            return index_refusal(effect, context);
        }
        if self.ends_with(&["info", "attributes"]) {
            return Some(Refusal::Attributes);
        }
        // Old ways of naming remotes, which git still reads.
        if self.first_is(&["remotes", "branches"]) {
            return Some(Refusal::Redirection);
        }
        if self.ends_with(&["gitdir"]) && self.is_of_worktree() {
            return (!leads_to_working_tree(effect, context)).then_some(Refusal::Redirection);
        }
        if self.ends_with(&["commondir"]) {
            let is_plain = self.is_of_worktree() && effect.text_after().is_some_and(leads_to_repository);
            return (!is_plain).then_some(Refusal::Redirection);
        }
        if self.ends_with(&["info", "alternates"]) || self.ends_with(&["info", "http-alternates"]) {
            return Some(Refusal::Redirection);
        }
        let names = self.names.iter().copied();
        let unfinished = check_unfinished_work(names, effect.text_after()).err().map(Refusal::UnfinishedWork);
        unfinished.or_else(foreign)
    }

    /// Returns whether it is the placeholder for the branches that git writes when it keeps references in tables.
    fn is_stub_of_tables(&self, effect: &Effect, context: &RepositoryContext<'_>) -> bool {
        const NOTE: &[u8] = b"this repository uses the reftable format";
        let repository = effect.path.parent().and_then(|refs| refs.parent());
        let tables = repository
            .and_then(|folder| folder.child(b"reftable").ok())
            .and_then(|tables| tables.child(b"tables.list").ok());
        self.ends_with(&["refs", "heads"])
            && effect.text_after().is_some_and(|text| text.trim_ascii_end() == NOTE)
            && tables.is_some_and(|tables| (context.is_there)(&tables))
    }

    pub(super) fn is_head(&self) -> bool {
        self.names.len() == 1 && self.ends_with(&["HEAD"])
    }

    pub(crate) fn is_settings(&self) -> bool {
        self.ends_with(&["config"]) || self.ends_with(&["config.worktree"])
    }

    /// Returns whether it is, or is within, a folder of hooks. A submodule may have this name.
    fn has_hooks_name(&self, context: &RepositoryContext<'_>) -> bool {
        let is_named =
            |part: &InRepository<'_>| part.names.iter().any(|name| name.eq_ignore_ascii_case(b"hooks"));
        is_named(self) && is_named(&self.inner(context))
    }

    /// Returns whether it is the example of a hook, which runs only once it is renamed.
    fn is_sample(&self) -> bool {
        self.names.last().is_some_and(|name| name.ends_with(b".sample"))
    }

    /// Returns whether git keeps a file where this would be a folder: among the hooks, or in this repository, or in that of a
    /// submodule or working tree within it.
    fn is_folder_for_file(&self, context: &RepositoryContext<'_>) -> bool {
        let names = self.names.as_slice();
        let is_repository = |count: &usize| self.is_repository_at(*count, context);
        // Branches and logs may have any name.
        let inner = if self.first_is(&["modules", "worktrees"]) { names.len() } else { 1 };
        let mut starts = std::iter::once(0).chain((1..inner).filter(is_repository));
        let is_among_hooks = |names: &[&[u8]]| names.len() > 1 && names[0].eq_ignore_ascii_case(b"hooks");
        starts.any(|start| is_file_only(names[start..].iter().copied()) || is_among_hooks(&names[start..]))
    }

    /// Checks whether it is in the folder of a submodule or of a working tree that is removed as a whole, with its
    /// settings and hooks.
    pub(super) fn goes_with_its_folder(&self, context: &RepositoryContext<'_>) -> bool {
        self.folder_that_goes(context).is_some()
    }

    /// Returns the folder with which it is removed.
    pub(super) fn folder_that_goes(&self, context: &RepositoryContext<'_>) -> Option<RelPath> {
        let goes = |count: usize| {
            let names = RelPath::from_bytes(&self.names[..count].join(&b'/'));
            let folder = names.and_then(|names| self.folder.join(&names)).ok()?;
            let was_one = folder.child(b"HEAD").is_ok_and(|head| (context.was_there)(&head));
            (was_one && !(context.is_there)(&folder)).then_some(folder)
        };
        if self.first_is(&["modules", "worktrees"]) { (2..self.names.len()).find_map(goes) } else { None }
    }

    /// Checks whether it is a file of one working tree, such as `worktrees/NAME/gitdir`.
    fn is_of_worktree(&self) -> bool {
        let is = |name: &[u8], wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        match self.names.as_slice() {
            // A submodule may have this name.
            [.., modules, all, _, _] if is(modules, "modules") && is(all, "worktrees") => false,
            [.., all, _, _] => is(all, "worktrees"),
            _ => false,
        }
    }

    fn settings_refusal(&self, effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
        let Some(after) = effect.text_after() else { return Some(Refusal::UnreadSettings) };
        // Only a submodule's settings name a working tree.
        let is_of_submodule = self.is_of_submodule() && self.ends_with(&["config"]);
        let is_worktree =
            |value: Option<&str>| is_of_submodule && is_own_worktree(self, effect, value, context);
        // It counts only next to the settings of the repository.
        let has_harmless_sibling = || {
            let sibling = effect.path.parent().and_then(|folder| folder.child(b"config.worktree").ok());
            let is_sound = |path: RelPath| match context.content.map(|content| content.content(&path)) {
                // Not decided yet.
                None => true,
                Some(Some(text)) => is_harmless(&text),
                Some(None) => !(context.is_there)(&path),
            };
            self.ends_with(&["config"]) && sibling.is_some_and(is_sound)
        };
        let is_unread = effect.kind_before() == Some(PresentKind::File) && effect.text_before().is_none();
        if is_unread {
            return Some(Refusal::UnreadSettings);
        }
        let surroundings =
            Surroundings { is_worktree: &is_worktree, has_harmless_sibling: &has_harmless_sibling };
        match harmful(effect.text_before(), after, &surroundings) {
            None => Some(Refusal::UnreadSettings),
            Some(_) if changes_format(effect, after, context) => Some(Refusal::Format),
            Some(change) => (!change.is_empty()).then_some(Refusal::Settings(change)),
        }
    }
}

/// Returns the reason why an index is refused.
fn index_refusal(effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
    let Some(bytes) = effect.text_after() else { return Some(Refusal::UnreadIndex) };
    // The previous index, if valid, determines the format if the settings do not.
    let format = context.format_of_index(&effect.path).or_else(|| format_of(effect.text_before()?));
    let Some(format) = format else { return Some(Refusal::UnreadFormat) };
    git_index::check(bytes, format, &mut |_| {}).err().map(Refusal::Index)
}

/// Returns the object format in which a text is an index, if there is only one.
fn format_of(index: &[u8]) -> Option<ObjectFormat> {
    let is_one = |format: &ObjectFormat| git_index::check(index, *format, &mut |_| {}).is_ok();
    let mut formats = [ObjectFormat::Sha1, ObjectFormat::Sha256].into_iter().filter(is_one);
    formats.next().filter(|_| formats.next().is_none())
}

/// Returns whether settings change the format of an existing repository: git would read its branches differently, and
/// its indexes were judged by the old format.
fn changes_format(effect: &Effect, after: &[u8], context: &RepositoryContext<'_>) -> bool {
    let was_there =
        effect.before.is_some() || effect.path.parent().is_some_and(|folder| (context.was_there)(&folder));
    was_there && !keeps_format(effect.text_before(), after)
}

/// Finds the repository that contains a path, which may be an existing bare one.
pub(crate) fn in_any_repository<'a>(root: &FileRoot, path: &'a RelPath) -> Option<InRepository<'a>> {
    let is_there = |path: &RelPath| root.metadata(path).is_ok();
    let bare = || repositories_with_part(path).into_iter().find(|folder| is_repository(folder, &is_there));
    in_git_folder(path).or_else(|| {
        let folder = bare()?;
        let names = path.components().skip(folder.components().count()).collect();
        Some(InRepository { folder, names })
    })
}

/// Returns the changes of an effect to the remotes that git fetches from and pushes to.
pub(crate) fn directions(root: &FileRoot, effect: &Effect) -> Vec<String> {
    let is_settings = in_any_repository(root, &effect.path).is_some_and(|part| part.is_settings());
    let text = effect.text_after().filter(|_| is_settings);
    text.map(|text| changed_directions(effect.text_before(), text)).unwrap_or_default()
}
