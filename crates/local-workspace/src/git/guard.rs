//! Recognises files of a repository that make git run programs or look elsewhere, and so are not adopted from a
//! command.

use std::fmt;

pub(crate) use git_index::is_git_name;
use git_index::{
    IndexError, ObjectFormat, UnfinishedWorkError, check_unfinished_work, is_file_list, is_own_file,
    is_reference, lists_files_beside, stays_in_references,
};
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::disguised_names::is_disguised;
use crate::git::linked_folders::{
    is_own_worktree, leads_into_repository, leads_to_repository, leads_to_working_tree,
};
use crate::git::repository_context::RepositoryContext;
use crate::git::settings::{changed_directions, harmful, object_format};

/// A folder in a repository's folder by which people say that they trust the repository.
const SAFE: &str = "safe";

/// The largest index that is read, in bytes: about half a million files.
pub(crate) const INDEX_BYTES: u64 = 64 << 20;

/// The reason for which a path is not adopted from a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is on the list of names of which nothing is ever changed.
    Protected {
        /// The entry.
        entry: String,
        /// The program that obeys it.
        reason: String,
    },
    /// It belongs to the program's own state.
    OwnState,
    /// It is a link at a place where one would lead git or an editor elsewhere.
    Link,
    /// Git would run it.
    Hook,
    /// These settings are not known to be harmless.
    Settings(Vec<String>),
    /// The settings cannot be read.
    UnreadSettings,
    /// It names another place for git to take settings or objects from.
    Redirection,
    /// It assigns filters.
    Attributes,
    /// Git would continue unfinished work with it, and run a program or write elsewhere.
    UnfinishedWork(UnfinishedWorkError),
    /// With it, some shells run programs of the folder around the repository.
    SafeFolder,
    /// With it, git would take this folder for a repository.
    BareRepository(RelPath),
    /// It is what makes its folder a repository, and was removed.
    Removal,
    /// It holds settings of a submodule or working tree, and was removed alone.
    SettingsRemoval,
    /// It belongs to a working tree of which something else is refused.
    WorkingTree,
    /// Git would take paths from it that it refuses to add.
    Index(IndexError),
    /// The index is too large to be judged.
    UnreadIndex,
    /// It belongs to an index of which another part is refused.
    SplitIndex,
    /// Git would take it for the lock of a process that is at work.
    Lock,
    /// Git itself keeps no file of this name in a repository's folder.
    ForeignFile,
    /// Some file systems take a name in it for one that git obeys.
    Disguise,
    /// It belongs to settings that are refused, by which git would read it.
    IndexWithoutSettings,
    /// Git would follow it as a reference, and write elsewhere.
    Reference,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Protected { entry, reason } => write!(out, "protected as '{entry}': {reason}"),
            Refusal::OwnState => out.write_str("agentd's own"),
            Refusal::Link => out.write_str("a link in place of what git or an editor obeys"),
            Refusal::Hook => out.write_str("git would run it"),
            Refusal::Settings(names) => {
                write!(out, "sets {}", names.iter().take(5).cloned().collect::<Vec<_>>().join(", "))
            }
            Refusal::UnreadSettings => out.write_str("settings that cannot be proved harmless"),
            Refusal::Redirection => out.write_str("leads git elsewhere"),
            Refusal::Attributes => out.write_str("assigns filters"),
            Refusal::UnfinishedWork(error) => error.fmt(out),
            Refusal::SafeFolder => out.write_str(
                "with it, some shells run programs of this folder: they have `.git/safe/../../bin` on their PATH",
            ),
            Refusal::BareRepository(folder) if folder.is_root() => {
                out.write_str("makes the workspace itself a bare repository")
            }
            Refusal::BareRepository(folder) => write!(out, "makes '{folder}' a bare repository"),
            Refusal::WorkingTree => out.write_str("part of a working tree that is not kept as a whole"),
            Refusal::Removal => out.write_str("removes the repository"),
            Refusal::SettingsRemoval => out.write_str("removes settings and leaves what they are for"),
            Refusal::Index(error) => error.fmt(out),
            Refusal::UnreadIndex => {
                write!(out, "an index that cannot be judged, as one of more than {} MB", INDEX_BYTES >> 20)
            }
            Refusal::Reference => out.write_str("a reference that leads git out of its 'refs'"),
            Refusal::ForeignFile => {
                out.write_str("none of git's own files, so that another program could obey it")
            }
            Refusal::Lock => out.write_str("the lock of a git process that has ended"),
            Refusal::Disguise => out.write_str("some file systems take its name for one that git obeys"),
            Refusal::IndexWithoutSettings => out.write_str("an index of settings that are not kept"),
            Refusal::SplitIndex => out.write_str("part of a split index that is not kept as a whole"),
        }
    }
}

/// A path as seen from the repository that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InRepository<'a> {
    /// The repository's own folder, `.git` or a bare one.
    pub folder: RelPath,
    /// The names beneath it; empty for the folder itself.
    pub names: Vec<&'a [u8]>,
}

/// Finds the outermost `.git` that `path` is or lies in.
pub(crate) fn in_git_folder(path: &RelPath) -> Option<InRepository<'_>> {
    let names: Vec<_> = path.components().collect();
    let index = names.iter().position(|name| is_git_name(name))?;
    let folder = RelPath::from_bytes(&names[..=index].join(&b'/')).ok()?;
    Some(InRepository { folder, names: names[index + 1..].to_vec() })
}

/// Returns whether a path has the name of an index of git, or of what several indexes share.
pub(crate) fn is_index(path: &RelPath) -> bool {
    const SHARED: &[u8] = b"sharedindex.";
    path.file_name().is_some_and(|name| {
        name.eq_ignore_ascii_case(b"index")
            || name.get(..SHARED.len()).is_some_and(|start| start.eq_ignore_ascii_case(SHARED))
    })
}

/// Checks whether the content of `path` decides what git does, so that it is always examined.
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

    pub(crate) fn is_object(&self) -> bool {
        self.first_is(&["objects"])
    }

    /// Returns whether git makes hard links of files like this one: of objects, when it clones a repository of this machine. Any
    /// other it may write in place, and would write to a hook under another name.
    pub(crate) fn may_be_hard_linked(&self) -> bool {
        self.names.iter().any(|name| name.eq_ignore_ascii_case(b"objects")) && !self.has_obeyed_name()
    }

    fn name_at(&self, index: usize) -> &[u8] {
        self.names.get(index).copied().unwrap_or_default()
    }

    fn ends_with(&self, wanted: &[&str]) -> bool {
        self.names.len() >= wanted.len()
            && self
                .names
                .iter()
                .rev()
                .zip(wanted.iter().rev())
                .all(|(name, one)| name.eq_ignore_ascii_case(one.as_bytes()))
    }

    /// Returns whether it is or lies in the folder of a submodule, of one in a working tree as well.
    pub(crate) fn is_of_submodule(&self) -> bool {
        let is_of = |names: &[&[u8]]| {
            names.len() >= 2 && names.first().is_some_and(|name| name.eq_ignore_ascii_case(b"modules"))
        };
        is_of(&self.names) || self.first_is(&["worktrees"]) && self.names.get(2..).is_some_and(is_of)
    }

    /// Returns whether it is or lies in a further `.git`.
    fn has_git_name(&self) -> bool {
        self.names.iter().any(|name| is_git_name(name))
    }

    /// Returns whether git would obey a file of this name if the folder that it is in was a repository.
    fn has_obeyed_name(&self) -> bool {
        const NAMES: [&[u8]; 3] = [b"config", b"config.worktree", b"commondir"];
        let last = self.names.last().copied().unwrap_or_default();
        NAMES.iter().any(|name| last.eq_ignore_ascii_case(name))
            || self.has_git_name()
            || is_file_list(self.names.iter().copied())
            || RelPath::from_bytes(last).is_ok_and(|name| is_index(&name))
            || self.names.iter().any(|name| name.eq_ignore_ascii_case(b"hooks"))
    }

    /// Returns whether an effect leaves what a branch or its log consists of, whatever its name is: git can take that for
    /// nothing else.
    fn is_reference_or_log(&self, effect: &Effect) -> bool {
        // An unknown mode counts as executable.
        let is_runnable =
            effect.after.as_ref().and_then(EffectSide::mode).is_none_or(|mode| mode & 0o111 != 0);
        if effect.after.is_none() || effect.kind_after() == Some(PresentKind::Folder) {
            return true;
        }
        let Some(text) = effect.text_after().filter(|_| !is_runnable) else { return false };
        let is_name = |text: &[u8]| matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if self.first_is(&["refs"]) {
            return is_name(text) || text.starts_with(b"ref: ") && stays_in_references(text);
        }
        // A path in it would lead elsewhere, if it was the name of a folder.
        let leads_away = self.ends_with(&["commondir"]) && text.contains(&b'/');
        let mut words = text.splitn(3, |byte| *byte == b' ');
        let is_log = text.is_empty() || words.by_ref().take(2).filter(|word| is_name(word)).count() == 2;
        self.first_is(&["logs"]) && is_log && !leads_away
    }

    /// Returns the reason for which an effect on this path is not adopted; `None` if it is.
    pub(crate) fn refusal(&self, effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
        let after = effect.kind_after();
        if self.names.is_empty() {
            return match after {
                Some(PresentKind::Folder) => None,
                Some(PresentKind::File) if leads_into_repository(effect, context) => None,
                Some(PresentKind::File) => Some(Refusal::Redirection),
                Some(PresentKind::Other) => Some(Refusal::Link),
                None => Some(Refusal::Removal),
            };
        }
        if after.is_none() && self.goes_with_its_folder(context) {
            return None;
        }
        if after == Some(PresentKind::Other) {
            return Some(Refusal::Link);
        }
        if after.is_some() && self.names.iter().any(|name| is_disguised(name)) {
            return Some(Refusal::Disguise);
        }
        // Git makes none. In the folder that it lies in, it would obey that one.
        if after.is_some() && self.has_git_name() {
            return Some(Refusal::Redirection);
        }
        if is_reference(self.names.iter().copied()) && effect.leads_out_of_references() {
            return Some(Refusal::Reference);
        }
        let is_plain_list = || effect.text_after().is_some_and(lists_files_beside);
        if is_file_list(self.names.iter().copied()) && after == Some(PresentKind::File) && !is_plain_list() {
            return Some(Refusal::Redirection);
        }
        let is_foreign = || after == Some(PresentKind::File) && !is_own_file(self.names.iter().copied());
        if self.is_data() && (!self.has_obeyed_name() || self.is_reference_or_log(effect)) {
            return is_foreign().then_some(Refusal::ForeignFile);
        }
        if after.is_some() && self.first_is(&[SAFE]) {
            return Some(Refusal::SafeFolder);
        }
        let is_head = self.names.len() == 1 && self.ends_with(&["HEAD"]);
        if is_head && after.is_none() {
            return Some(Refusal::Removal);
        }
        let is_file = after != Some(PresentKind::Folder) && effect.kind_before() != Some(PresentKind::Folder);
        if self.names.iter().any(|name| name.eq_ignore_ascii_case(b"hooks")) {
            // A sample runs only once it is renamed.
            let is_sample = self.names.last().is_some_and(|name| name.ends_with(b".sample"));
            return (is_file && !is_sample || !is_file && after.is_none()).then_some(Refusal::Hook);
        }
        if !is_file {
            return None;
        }
        // Git writes none for a working tree, and takes them from there only where there is no `commondir`.
        if self.ends_with(&["config"]) && self.is_of_worktree() && after.is_some() {
            return Some(Refusal::Redirection);
        }
        if self.ends_with(&["config"]) || self.ends_with(&["config.worktree"]) {
            return self.settings_refusal(effect, context);
        }
        if is_index(&effect.path) {
            return index_refusal(effect, context);
        }
        if self.ends_with(&["info", "attributes"]) {
            return Some(Refusal::Attributes);
        }
        // Old ways of naming remotes, which git still reads.
        if self.first_is(&["remotes", "branches"]) && after.is_some() {
            return Some(Refusal::Redirection);
        }
        if self.ends_with(&["gitdir"]) && self.is_of_worktree() && after.is_some() {
            return (!leads_to_working_tree(effect, context)).then_some(Refusal::Redirection);
        }
        if self.ends_with(&["commondir"]) {
            let is_plain = self.is_of_worktree() && effect.text_after().is_some_and(leads_to_repository);
            return (!is_plain).then_some(Refusal::Redirection);
        }
        let is_alternates =
            self.ends_with(&["info", "alternates"]) || self.ends_with(&["info", "http-alternates"]);
        if is_alternates && after.is_some() {
            return Some(Refusal::Redirection);
        }
        after?;
        let names = self.names.iter().copied();
        let unfinished = check_unfinished_work(names, effect.text_after()).err().map(Refusal::UnfinishedWork);
        unfinished.or_else(|| is_foreign().then_some(Refusal::ForeignFile))
    }

    /// Checks whether it lies in the folder of a submodule or of a working tree that is removed as a whole, with its settings
    /// and hooks.
    fn goes_with_its_folder(&self, context: &RepositoryContext<'_>) -> bool {
        let goes = |count: usize| {
            let beneath = RelPath::from_bytes(&self.names[..count].join(&b'/'));
            let folder = beneath.and_then(|names| self.folder.join(&names));
            folder.is_ok_and(|folder| {
                let was_one = folder.child(b"HEAD").is_ok_and(|head| (context.was_there)(&head));
                was_one && !(context.is_there)(&folder)
            })
        };
        self.first_is(&["modules", "worktrees"]) && (2..self.names.len()).any(goes)
    }

    /// Checks whether it is a file of one working tree, such as `worktrees/NAME/gitdir`.
    fn is_of_worktree(&self) -> bool {
        let is = |name: &[u8], wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        match self.names.as_slice() {
            // A submodule may be called so.
            [.., modules, all, _, _] if is(modules, "modules") && is(all, "worktrees") => false,
            [.., all, _, _] => is(all, "worktrees"),
            _ => false,
        }
    }

    fn settings_refusal(&self, effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
        if effect.after.is_none() {
            let is_whole_repository = self.names.len() == 1 && self.ends_with(&["config"]);
            return Some(if is_whole_repository { Refusal::Removal } else { Refusal::SettingsRemoval });
        }
        let Some(after) = effect.text_after() else { return Some(Refusal::UnreadSettings) };
        // Only a submodule's settings name a working tree.
        let is_of_submodule = self.is_of_submodule() && self.ends_with(&["config"]);
        let is_worktree =
            |value: Option<&str>| is_of_submodule && is_own_worktree(self, effect, value, context);
        match harmful(effect.text_before(), after, &is_worktree) {
            None => Some(Refusal::UnreadSettings),
            Some(named) if named.is_empty() && !changes_format(effect, after, context) => None,
            Some(named) if named.is_empty() => {
                Some(Refusal::Settings(vec!["extensions.objectformat".to_owned()]))
            }
            Some(named) => Some(Refusal::Settings(named)),
        }
    }
}

/// Returns why an index is refused; `None` also if it is gone, because git then takes all files for untracked.
fn index_refusal(effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
    effect.after.as_ref()?;
    let Some(bytes) = effect.text_after() else { return Some(Refusal::UnreadIndex) };
    let format = context.format_of_index(&effect.path);
    git_index::check(bytes, format, &mut |_| {}).err().map(Refusal::Index)
}

/// Returns whether settings change the object format of a repository that was there: its indexes were judged by the one
/// that it had, and are something else in another one.
fn changes_format(effect: &Effect, after: &[u8], context: &RepositoryContext<'_>) -> bool {
    let was_there =
        effect.before.is_some() || effect.path.parent().is_some_and(|folder| (context.was_there)(&folder));
    let before = effect.text_before().map_or_else(ObjectFormat::default, object_format);
    was_there && before != object_format(after)
}

/// Returns what an effect changes about where git fetches from and pushes to.
pub(crate) fn directions(effect: &Effect) -> Vec<String> {
    let is_settings = in_git_folder(&effect.path)
        .is_some_and(|part| part.ends_with(&["config"]) || part.ends_with(&["config.worktree"]));
    let text = effect.text_after().filter(|_| is_settings);
    text.map(|text| changed_directions(effect.text_before(), text)).unwrap_or_default()
}
