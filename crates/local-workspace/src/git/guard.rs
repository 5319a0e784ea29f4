//! Recognises files of a repository that make git run programs or look elsewhere, and so are not adopted from a
//! command.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(crate) use git_index::is_git_name;
use git_index::{IndexError, ObjectFormat, is_reference, stays_in_references};
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::repository_context::RepositoryContext;
use crate::git::settings::{changed_directions, harmful, object_format};
use crate::git::unfinished_work::{
    applies_plainly, names_own_strategy, only_moves_commits, options_name_own_strategies,
};

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
    /// It is a list of steps that git would carry out, with commands in it.
    RebaseSteps,
    /// It is an option of unfinished work with which git would run a program or write elsewhere.
    UnfinishedWork,
    /// With it, git would take this folder for a repository.
    BareRepository(RelPath),
    /// It is what makes its folder a repository, and was removed.
    Removal,
    /// It belongs to a working tree of which something else is refused.
    WorkingTree,
    /// Git would take paths from it that it refuses to add.
    Index(IndexError),
    /// The index is too large to be judged.
    UnreadIndex,
    /// It belongs to an index of which another part is refused.
    SplitIndex,
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
            Refusal::RebaseSteps => out.write_str("has steps that run commands"),
            Refusal::UnfinishedWork => {
                out.write_str("an option that makes git run a program or write elsewhere")
            }
            Refusal::BareRepository(folder) if folder.is_root() => {
                out.write_str("makes the workspace itself a bare repository")
            }
            Refusal::BareRepository(folder) => write!(out, "makes '{folder}' a bare repository"),
            Refusal::WorkingTree => out.write_str("part of a working tree that is not kept as a whole"),
            Refusal::Removal => out.write_str("removes the repository"),
            Refusal::Index(error) => error.fmt(out),
            Refusal::UnreadIndex => {
                write!(out, "an index that cannot be judged, as one of more than {} MB", INDEX_BYTES >> 20)
            }
            Refusal::Reference => out.write_str("a reference that leads git out of its 'refs'"),
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
    fn first_is(&self, wanted: &[&str]) -> bool {
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

    /// Returns whether git would obey a file of this name if the folder that it is in was a repository.
    fn has_obeyed_name(&self) -> bool {
        const NAMES: [&[u8]; 3] = [b"config", b"config.worktree", b"commondir"];
        let last = self.names.last().copied().unwrap_or_default();
        NAMES.iter().any(|name| last.eq_ignore_ascii_case(name))
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
        let workspace = context.workspace;
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
        if after == Some(PresentKind::Other) {
            return Some(Refusal::Link);
        }
        if is_reference(self.names.iter().copied()) && effect.leads_out_of_references() {
            return Some(Refusal::Reference);
        }
        if self.is_data() && (!self.has_obeyed_name() || self.is_reference_or_log(effect)) {
            return None;
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
            let leads_inside =
                effect.text_after().and_then(|text| working_tree(&effect.path, text, workspace)).is_some();
            return (!leads_inside).then_some(Refusal::Redirection);
        }
        if self.ends_with(&["commondir"]) {
            let leads_up = effect.text_after().is_some_and(|text| text.trim_ascii() == b"../..");
            let is_plain = self.is_of_worktree() && (leads_up || after.is_none());
            return (!is_plain).then_some(Refusal::Redirection);
        }
        let is_alternates =
            self.ends_with(&["info", "alternates"]) || self.ends_with(&["info", "http-alternates"]);
        if is_alternates && after.is_some() {
            return Some(Refusal::Redirection);
        }
        if self.ends_with(&["git-rebase-todo"]) && after.is_some() && !only_moves_commits(effect) {
            return Some(Refusal::RebaseSteps);
        }
        let leads_astray = self.ends_with(&["rebase-merge", "strategy"]) && !names_own_strategy(effect)
            || self.ends_with(&["sequencer", "opts"]) && !options_name_own_strategies(effect)
            || self.ends_with(&["rebase-apply", "apply-opt"]) && !applies_plainly(effect);
        if leads_astray && after.is_some() {
            return Some(Refusal::UnfinishedWork);
        }
        None
    }

    /// Checks whether it is a file of one working tree, such as `worktrees/NAME/gitdir`.
    fn is_of_worktree(&self) -> bool {
        let length = self.names.len();
        length >= 3 && self.names[length - 3].eq_ignore_ascii_case(b"worktrees")
    }

    fn settings_refusal(&self, effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
        if effect.after.is_none() {
            return Some(Refusal::Removal);
        }
        let Some(after) = effect.text_after() else { return Some(Refusal::UnreadSettings) };
        // Only a submodule's settings name a working tree.
        let of_submodule = self.first_is(&["modules"]).then(|| effect.path.parent()).flatten();
        let is_worktree = |value: &str| {
            of_submodule
                .as_ref()
                .is_some_and(|folder| joined(folder, value).is_some_and(|path| !path.is_root()))
        };
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

/// Checks whether a `.git` file leads to a submodule's or a working tree's folder in a `.git` of the workspace.
fn leads_into_repository(effect: &Effect, context: &RepositoryContext<'_>) -> bool {
    let target = effect.text_after().and_then(|text| linked_folder(&effect.path, text, context.workspace));
    target.is_some_and(|target| !(context.is_unjudged)(&target))
}

/// Returns the folder in a `.git` of the workspace that the `.git` file at `path` leads to: that of a submodule or of a
/// working tree.
pub(crate) fn linked_folder(path: &RelPath, text: &[u8], workspace: Option<&Path>) -> Option<RelPath> {
    let target = std::str::from_utf8(text).ok()?.strip_prefix("gitdir:")?;
    let target = named_path(&path.parent()?, target.trim(), workspace)?;
    let part = in_git_folder(&target)?;
    (part.names.len() >= 2 && part.first_is(&["modules", "worktrees"])).then_some(target)
}

/// Returns the working tree that the `gitdir` file at `path`, in a repository's `worktrees`, leads to.
pub(crate) fn working_tree(path: &RelPath, text: &[u8], workspace: Option<&Path>) -> Option<RelPath> {
    let target = std::str::from_utf8(text).ok()?.trim_end_matches(['\n', '\r']);
    let link = named_path(&path.parent()?, target, workspace)?;
    let part = in_git_folder(&link)?;
    let is_link = part.names.is_empty() && link.file_name() == Some(b".git");
    link.parent().filter(|folder| is_link && !folder.is_root())
}

/// The path beneath the workspace that a `text` names from `folder`, on paper. Git writes absolute paths unless it is
/// asked not to.
fn named_path(folder: &RelPath, text: &str, workspace: Option<&Path>) -> Option<RelPath> {
    if !text.starts_with('/') {
        return joined(folder, text);
    }
    let workspace = workspace?.as_os_str().as_bytes();
    let rest = text.as_bytes().strip_prefix(workspace)?.strip_prefix(b"/")?;
    joined(&RelPath::root(), std::str::from_utf8(rest).ok()?)
}

/// The path that a relative `text` names from `folder`, on paper.
fn joined(folder: &RelPath, text: &str) -> Option<RelPath> {
    if text.starts_with('/') || text.is_empty() {
        return None;
    }
    let mut names: Vec<&[u8]> = folder.components().collect();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name.as_bytes()),
        }
    }
    if names.is_empty() { Some(RelPath::root()) } else { RelPath::from_bytes(&names.join(&b'/')).ok() }
}
