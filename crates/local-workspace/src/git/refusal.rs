//! The reasons why a command's change is not adopted.

use std::fmt;

use git_index::{IndexError, UnfinishedWorkError};
use rel_path::RelPath;

use crate::git::guard::INDEX_BYTES;
use crate::git::settings::HarmfulChange;

/// The reason why a command's change to a path is not adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is on the list of names that are never changed.
    Protected {
        /// The entry.
        entry: String,
        /// The program that obeys it.
        reason: String,
    },
    /// It belongs to the program's own state.
    OwnState,
    /// It is a symlink at a path where it would lead git or an editor elsewhere.
    Link,
    /// Git would run it.
    Hook,
    /// These settings are not known to be harmless.
    Settings(HarmfulChange),
    /// The settings cannot be read.
    UnreadSettings,
    /// It names another location from which git would take settings or objects.
    Redirection,
    /// It assigns filters.
    Attributes,
    /// Git would continue unfinished work with it, and run a program or write elsewhere.
    UnfinishedWork(UnfinishedWorkError),
    /// It names uncommitted work that git has stashed for a rebase or a merge, and was changed or removed.
    Autostash,
    /// With it, some shells run programs of the folder around the repository.
    SafeFolder,
    /// With it, git would treat this folder as a repository.
    BareRepository(RelPath),
    /// It is essential to its repository, and was removed.
    Removal,
    /// It belongs to a removed repository or working tree, which may have been moved to a path where it is not adopted.
    OnlyRepository,
    /// It is the index, and was removed.
    IndexRemoval,
    /// It holds settings of a submodule or working tree, and was removed alone.
    SettingsRemoval,
    /// It belongs to a working tree of which another part is refused.
    WorkingTree,
    /// Git would take paths from it that it refuses to add.
    Index(IndexError),
    /// The index is too large to be judged.
    UnreadIndex,
    /// It belongs to an index of which another part is refused.
    SplitIndex,
    /// It names the checked-out commit, and the matching index is refused.
    WithoutIndex,
    /// Git would take it for the lock of a running process.
    Lock,
    /// Git itself keeps no file of this name in a repository's folder.
    ForeignFile,
    /// Some file systems equate a name in it with one that git obeys.
    Disguise,
    /// It belongs to settings that are refused, by which git would read it.
    IndexWithoutSettings,
    /// Git would follow it as a reference, and write elsewhere.
    Reference,
    /// A reference names a missing object.
    MissingObject,
    /// A new pack does not match its index.
    DamagedPack,
    /// A new object needs a missing one.
    IncompleteObject,
    /// There are more new objects than are examined.
    TooManyObjects,
    /// A new index entry names a missing object.
    IndexObject,
    /// A branch names an object that is not a commit.
    NoCommit,
    /// It moves a branch that the user rebases or bisects.
    BranchInUse,
    /// It ends the history at an existing commit.
    HistoryEnd,
    /// An existing reftable was changed, or removed although git reads it.
    ReferenceTable,
    /// It belongs to tables of references of which another part is refused.
    SplitTables,
    /// A reference was removed, and the list into which git packed it is refused.
    OnlyReference,
    /// It belongs to a new repository that takes objects from another one.
    BorrowedObjects,
    /// Its name is not valid for a reference.
    ReferenceName,
    /// Git keeps a file there, and would fail or skip it.
    FolderForFile,
    /// Git keeps a folder there, and would fail.
    FileForFolder,
    /// Its owner could not use it, so that git would fail or skip it.
    Access,
    /// An existing object has different content.
    Object,
    /// An existing object was changed, and is too large to be compared.
    UnreadObject,
    /// An object or a pack was removed that is too large to be restored.
    LargeObject,
    /// An object was removed, and a new one or a pack is refused that may hold it.
    OnlyObject,
    /// A content of Git LFS or git-annex was removed or changed that is too large to be restored.
    LargeContent,
    /// A content of Git LFS or git-annex, or a key of git-crypt, was replaced.
    Content,
    /// Git computes it from the objects, and would trust a forged one. It is dropped silently.
    ObjectCache,
    /// Git fails to read one of its lines.
    UnreadableReferences,
    /// References that are too large to be judged.
    UnreadReferences,
    /// It belongs to a repository that would have another format of objects or references.
    Format,
    /// It belongs to settings that leave its format uncertain.
    UnreadFormat,
}

impl Refusal {
    /// Returns whether it concerns the behaviour of git or an editor, rather than a loss of data.
    pub(crate) fn is_about_programs(&self) -> bool {
        !matches!(
            self,
            Refusal::Lock
                | Refusal::LargeObject
                | Refusal::LargeContent
                | Refusal::OnlyObject
                | Refusal::OnlyReference
                | Refusal::OnlyRepository
        )
    }

    /// Returns the reason of a refusal that is about objects; empty for others.
    fn about_objects(&self) -> &'static str {
        match self {
            Refusal::MissingObject => {
                "a reference to an object that the repository does not have, or that is not kept, or to one that needs such an object; git would fail at it"
            }
            Refusal::IncompleteObject => {
                "an object that needs another one, which the repository does not have, or that is not kept; git would fail at it"
            }
            Refusal::TooManyObjects => {
                "one of more new objects than can be judged at once; make fewer of them in a command, or run `git gc` in the same one"
            }
            Refusal::IndexObject => {
                "an index with a file that the repository does not have, or that is not kept; the user's next commit would fail"
            }
            Refusal::NoCommit => "a branch that names no commit; the user's next commit would fail",
            Refusal::HistoryEnd => {
                "ends the history at or before an existing commit, and the user's next `git gc` would remove \
                 its ancestors; a new clone may be shallow"
            }
            Refusal::DamagedPack => {
                "a pack that is not the one of its index, or whose index git could not read, or that is too large to be judged; run `git gc` or \
                 `git repack` again, or leave it to the user"
            }
            Refusal::BorrowedObjects => {
                "part of a new repository that takes objects from another one, which is not kept; clone without `--shared` and \
                 `--reference`, or with `--dissociate`"
            }
            Refusal::Object => "an object that was there, which git never changes",
            Refusal::UnreadObject => {
                "an object that was there, which git never changes, and too much to be compared"
            }
            Refusal::LargeObject => {
                "removes objects that are too large to be restored; if they are superfluous, the user's next `git gc` removes them"
            }
            Refusal::OnlyObject => "removes objects, and new ones that may hold the same were not kept",
            Refusal::LargeContent => {
                "removes or changes contents of Git LFS or git-annex that are too large to be restored; if they are superfluous, the \
                 user removes them with `git lfs prune` or `git annex dropunused`"
            }
            Refusal::Content => {
                "a content of Git LFS or git-annex, or a key of git-crypt, that was there; another one never takes its name"
            }
            Refusal::ObjectCache => "computed from the objects, which git does itself when it is missing",
            _ => "",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Protected { entry, reason } => write!(out, "protected as '{entry}': {reason}"),
            Refusal::OwnState => out.write_str("agentd's own"),
            Refusal::Link => out.write_str("a link in place of what git or an editor obeys"),
            Refusal::Hook => out.write_str("git would run it"),
            Refusal::Settings(change) => change.fmt(out),
            Refusal::UnreadSettings => out.write_str("settings that cannot be proved harmless; write them with `git config`"),
            Refusal::Redirection => out.write_str("leads git elsewhere"),
            Refusal::Attributes => out.write_str("assigns filters"),
            Refusal::UnfinishedWork(error) => error.fmt(out),
            Refusal::Autostash => out.write_str(
                "names uncommitted work that git has stashed, and that is nowhere else; `git rebase --quit` or `git merge --quit` puts it into \
                 the stash",
            ),
            Refusal::SafeFolder => out.write_str(
                "with it, some shells run programs of this folder: they have `.git/safe/../../bin` on their PATH",
            ),
            Refusal::BareRepository(folder) if folder.is_root() => {
                out.write_str("makes the workspace itself a bare repository")
            }
            Refusal::BareRepository(folder) => write!(out, "makes '{folder}' a bare repository"),
            Refusal::WorkingTree => out.write_str("part of a working tree that is not kept as a whole"),
            Refusal::Removal => out.write_str("removes the repository"),
            Refusal::OnlyRepository => out.write_str(
                "removes a repository or working tree, and one elsewhere was not kept, which may be the same; use `git worktree move` or \
                 `git mv`, or ask the user to move it",
            ),
            Refusal::IndexRemoval => out.write_str(
                "removes the index, and everything would be staged as deleted; `git reset` makes one anew",
            ),
            Refusal::SettingsRemoval => out.write_str("removes settings and leaves what they are for"),
            Refusal::Index(error) => error.fmt(out),
            Refusal::UnreadIndex => {
                write!(out, "an index that cannot be judged, as one of more than {} MB", INDEX_BYTES >> 20)
            }
            Refusal::Reference => out.write_str("a reference that leads git out of its 'refs'"),
            Refusal::ReferenceTable => {
                out.write_str("a table of references that was there and that git needs; git itself never changes one")
            }
            Refusal::SplitTables => out.write_str("part of tables of references that are not kept as a whole"),
            Refusal::OnlyReference => {
                out.write_str("removes a reference, and the list of references that may hold it was not kept")
            }
            Refusal::ReferenceName => {
                out.write_str("a file among the references whose name is not one of a reference, at which git fails")
            }
            Refusal::ForeignFile => {
                out.write_str("none of git's own files, so that another program could obey it")
            }
            Refusal::Lock => out.write_str("the lock of a git process that has ended"),
            Refusal::Disguise => out.write_str("some file systems take its name for one that git obeys"),
            Refusal::IndexWithoutSettings => out.write_str("an index of settings that are not kept"),
            Refusal::FolderForFile => out.write_str("a folder where git keeps a file, at which it would fail"),
            Refusal::Access => {
                out.write_str("its owner could not read it or write to it, and git would fail or pass it over")
            }
            Refusal::FileForFolder => out.write_str("a file where git keeps a folder, at which it would fail"),
            Refusal::UnreadableReferences => {
                out.write_str("holds a line that git cannot read as a reference, at which it would fail")
            }
            Refusal::UnreadReferences => write!(
                out,
                "references that cannot be judged, as a file of more than {} MB",
                INDEX_BYTES >> 20
            ),
            Refusal::Format => out.write_str(
                "the repository would have another format, in which git does not see its branches, so nothing in it is \
                 changed; a new repository may have it",
            ),
            Refusal::UnreadFormat => {
                out.write_str("an index of settings that do not say with certainty how git reads it")
            }
            Refusal::MissingObject
            | Refusal::IncompleteObject
            | Refusal::TooManyObjects
            | Refusal::IndexObject
            | Refusal::NoCommit
            | Refusal::HistoryEnd
            | Refusal::DamagedPack
            | Refusal::BorrowedObjects
            | Refusal::Object
            | Refusal::UnreadObject
            | Refusal::LargeObject
            | Refusal::OnlyObject
            | Refusal::LargeContent
            | Refusal::Content
            | Refusal::ObjectCache => out.write_str(self.about_objects()),
            Refusal::BranchInUse => out.write_str(
                "a branch that is being rebased or bisected, whose end would fail; end that first, or move the branch afterwards",
            ),
            Refusal::SplitIndex => out.write_str("part of a split index that is not kept as a whole"),
            Refusal::WithoutIndex => out.write_str(
                "the index that belongs to it is not kept, and the user's next commit would take the work back",
            ),
        }
    }
}
