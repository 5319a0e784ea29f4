//! Files by which git folders point to each other: a `.git` file, the `gitdir` and `commondir` of a working tree,
//! `core.worktree` in the settings of a submodule, and the settings by which git reads those of a working tree.
//!
//! Each of them has to match its counterpart. Otherwise a `.git` file could point to a submodule whose settings name
//! another folder, where git then writes: into `.git/hooks`, or through a symlink that a later command puts there.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rel_path::RelPath;

use crate::command::effect::Effect;
use crate::git::guard::{InRepository, in_git_folder, is_git_name};
use crate::git::repository_context::RepositoryContext;
use crate::git::repository_parts::is_repository;
use crate::git::settings::worktree;

/// Characters with a special meaning in a settings file. Some versions of git read a tab within a value as a space.
pub(crate) const NOT_PLAIN: [char; 5] = ['"', '\\', '#', ';', '\t'];

/// Returns whether a file of this name may be one that has to match another.
pub(crate) fn is_linked_file(path: &RelPath) -> bool {
    const NAMES: [&[u8]; 4] = [b"gitdir", b"commondir", b"config", b"config.worktree"];
    path.file_name()
        .is_some_and(|name| is_git_name(name) || NAMES.iter().any(|one| name.eq_ignore_ascii_case(one)))
}

/// Returns whether the `commondir` of a working tree points to the repository that contains it. Git treats spaces as
/// part of the name.
pub(crate) fn leads_to_repository(text: &[u8]) -> bool {
    matches!(text, b"../.." | b"../..\n")
}

/// Checks whether a `.git` file points to a submodule's or a working tree's folder in a `.git` of the workspace, which
/// points back to the file.
pub(crate) fn leads_into_repository(effect: &Effect, context: &RepositoryContext<'_>) -> bool {
    let target = effect.text_after().and_then(|text| linked_folder(&effect.path, text, context.workspace));
    let Some(target) = target.filter(|target| !(context.is_unjudged)(target)) else { return false };
    let Some(content) = context.content else { return true };
    let (Some(here), Some(part)) = (effect.path.parent(), in_git_folder(&target)) else { return false };
    let read = |name: &[u8]| {
        let path = target.child(name).ok()?;
        content.content(&path).map(|text| (path, text))
    };
    if part.first_is(&["worktrees"]) && !part.is_of_submodule() {
        // Otherwise it would be a separate repository, with other settings.
        return read(b"commondir").is_some_and(|(_, text)| leads_to_repository(&text))
            && read(b"gitdir")
                .is_some_and(|(path, text)| working_tree(&path, &text, context.workspace) == Some(here));
    }
    // Without settings it does not exist, and could be made with any settings later.
    let Some(named) = target.child(b"config").ok().and_then(|path| content.worktree(&path)) else {
        return false;
    };
    around(&part, context).is_some_and(|around| here.starts_with(&around))
        && match named {
            Ok(None) => true,
            Ok(Some(value)) => joined(&target, &value) == Some(here),
            Err(_) => false,
        }
}

/// Checks whether the `gitdir` file of a working tree points to a folder of the workspace whose `.git` file points
/// back.
pub(crate) fn leads_to_working_tree(effect: &Effect, context: &RepositoryContext<'_>) -> bool {
    let text = effect.text_after();
    let Some(folder) = text.and_then(|text| working_tree(&effect.path, text, context.workspace)) else {
        return false;
    };
    context.content.is_none() || leads_back(&folder, effect.path.parent().as_ref(), context)
}

/// Returns whether an effect removes the `.git` file of a submodule, as git does on switching to a branch without the
/// submodule, and `git submodule deinit`. The repository stays within the outer one, and the next update restores the
/// file.
///
/// Returns false if git would then treat the submodule's own files as a repository.
pub(crate) fn unlinks_submodule(effect: &Effect, context: &RepositoryContext<'_>) -> bool {
    let target = effect.text_before().and_then(|text| linked_folder(&effect.path, text, context.workspace));
    let is_of_submodule =
        target.is_some_and(|target| in_git_folder(&target).is_some_and(|part| part.is_of_submodule()));
    is_of_submodule && effect.path.parent().is_some_and(|folder| !is_repository(&folder, context.is_there))
}

/// Checks whether the settings of a submodule may name a working tree, or stop naming one.
///
/// Only new and moved submodules are given one: another `.git` file could point to a submodule that had none.
pub(crate) fn is_own_worktree(
    module: &InRepository<'_>,
    effect: &Effect,
    value: Option<&str>,
    context: &RepositoryContext<'_>,
) -> bool {
    let Some(folder) = effect.path.parent() else { return false };
    let around = around(module, context);
    if around.is_none() && context.content.is_some() {
        return false;
    }
    let is_inside =
        |path: &RelPath| around.as_ref().is_none_or(|around| path != around && path.starts_with(around));
    let on_paper = |value: &str| {
        // Git would read quoted text, or text after a semicolon, differently.
        let is_plain = !value.contains(NOT_PLAIN);
        joined(&folder, value)
            .filter(|_| is_plain)
            .filter(|path| in_git_folder(path).is_none() && is_inside(path))
    };
    let before = effect.text_before().and_then(|text| worktree(text).ok().flatten());
    let before = before.and_then(|value| on_paper(&value));
    let Some(value) = value else { return before.is_some() };
    let Some(path) = on_paper(value) else { return false };
    if context.content.is_none() {
        return true;
    }
    let is_free = match before {
        Some(before) => !leads_back(&before, Some(&folder), context),
        None => !(context.was_there)(&folder),
    };
    is_free && leads_back(&path, Some(&folder), context)
}

/// Checks whether the `.git` file of a folder points to a folder in a `.git`.
fn leads_back(folder: &RelPath, git_folder: Option<&RelPath>, context: &RepositoryContext<'_>) -> bool {
    let Ok(link) = folder.child(b".git") else { return false };
    let text = context.content.and_then(|content| content.content(&link));
    text.and_then(|text| linked_folder(&link, &text, context.workspace)).as_ref() == git_folder
}

/// Returns the folder around a submodule: the one with the `.git`, or a working tree of it. `None` also while the
/// location of the working tree is undecided.
fn around(part: &InRepository<'_>, context: &RepositoryContext<'_>) -> Option<RelPath> {
    if !part.first_is(&["worktrees"]) {
        return part.folder.parent();
    }
    let record = part.folder.child(b"worktrees").ok()?.child(part.names.get(1)?).ok()?;
    let path = record.child(b"gitdir").ok()?;
    let text = context.content.and_then(|content| content.content(&path))?;
    working_tree(&path, &text, context.workspace)
}

/// Returns the folder in a `.git` of the workspace that the `.git` file at `path` points to: that of a submodule or of
/// a working tree.
pub(crate) fn linked_folder(path: &RelPath, text: &[u8], workspace: Option<&Path>) -> Option<RelPath> {
    let target = std::str::from_utf8(text).ok()?.strip_prefix("gitdir: ")?;
    let target = named_path(&path.parent()?, target.trim_end_matches(['\n', '\r']), workspace)?;
    let part = in_git_folder(&target)?;
    (part.names.len() >= 2 && part.first_is(&["modules", "worktrees"])).then_some(target)
}

/// Returns the working tree that the `gitdir` file at `path`, in a repository's `worktrees`, points to.
pub(crate) fn working_tree(path: &RelPath, text: &[u8], workspace: Option<&Path>) -> Option<RelPath> {
    let target = std::str::from_utf8(text).ok()?.trim_end_matches(['\n', '\r']);
    let link = named_path(&path.parent()?, target, workspace)?;
    let part = in_git_folder(&link)?;
    let is_link = part.names.is_empty() && link.file_name() == Some(b".git");
    link.parent().filter(|folder| is_link && !folder.is_root())
}

/// Returns the working tree that the settings of a submodule's `folder` name.
pub(crate) fn submodule_tree(folder: &RelPath, settings: &[u8]) -> Option<RelPath> {
    joined(folder, &worktree(settings).ok().flatten()?)
}

/// The path in the workspace that a `text` names from `folder`, computed lexically. Git writes absolute paths by
/// default.
fn named_path(folder: &RelPath, text: &str, workspace: Option<&Path>) -> Option<RelPath> {
    if !text.starts_with('/') {
        return joined(folder, text);
    }
    let workspace = workspace?.as_os_str().as_bytes();
    let rest = text.as_bytes().strip_prefix(workspace)?.strip_prefix(b"/")?;
    joined(&RelPath::root(), std::str::from_utf8(rest).ok()?)
}

/// The path that a relative `text` names from `folder`, computed lexically. `..` is accepted only at the start, as git
/// writes it: after a symlink, it would be another folder.
fn joined(folder: &RelPath, text: &str) -> Option<RelPath> {
    if text.starts_with('/') || text.is_empty() {
        return None;
    }
    let mut names: Vec<&[u8]> = folder.components().collect();
    let mut goes_down = false;
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." if goes_down => return None,
            ".." => {
                names.pop()?;
            }
            name => {
                goes_down = true;
                names.push(name.as_bytes());
            }
        }
    }
    if names.is_empty() { Some(RelPath::root()) } else { RelPath::from_bytes(&names.join(&b'/')).ok() }
}
