//! The submodules and linked working trees of a repository, whose own folders are within that of the repository.
//!
//! A submodule is named by its path, with slashes and any names in it, and a branch may have any name. So a name is
//! meaningful only below the submodule's own folder.

use git_index::is_own_file;
use rel_path::RelPath;

use crate::git::guard::InRepository;
use crate::git::repository_context::RepositoryContext;
use crate::git::repository_parts::is_repository;

impl<'a> InRepository<'a> {
    /// Returns the path relative to the innermost submodule or working tree that contains it; unchanged if there is
    /// none.
    ///
    /// Of several folders that could be the submodule's, the outermost counts: there, `hooks` would hold its hooks.
    pub(crate) fn inner(&self, context: &RepositoryContext<'_>) -> InRepository<'a> {
        let start = self.inner_start(context);
        let folder = self.subfolder(start).unwrap_or_else(|| self.folder.clone());
        InRepository { folder, names: self.names[start..].to_vec() }
    }

    /// Returns whether git itself keeps a file of this name, also if an apparent folder of hooks is part of a
    /// submodule's name.
    pub(super) fn is_own(&self, context: &RepositoryContext<'_>) -> bool {
        let has_hooks = || self.names.iter().any(|name| name.eq_ignore_ascii_case(b"hooks"));
        is_own_file(self.names.iter().copied()) && (!has_hooks() || is_own_file(self.plain_names(context)))
    }

    /// Returns the names with those of each submodule collapsed to one, however many slashes it has.
    fn plain_names(&self, context: &RepositoryContext<'_>) -> Vec<&'a [u8]> {
        let mut plain: Vec<&[u8]> = Vec::new();
        let mut start = 0;
        while let Some(next) = self.next_start(start, context) {
            plain.extend(&self.names[start..start + 2]);
            start = next;
        }
        plain.extend(&self.names[start..]);
        plain
    }

    /// Returns whether it is data of its submodule: a branch or its log, and not part of a repository further down,
    /// such as that of another submodule.
    pub(super) fn is_inner_data(&self, context: &RepositoryContext<'_>) -> bool {
        let is_of_data =
            |name: &&[u8]| [&b"refs"[..], b"logs"].iter().any(|one| name.eq_ignore_ascii_case(one));
        // Most paths are objects, and examining folders is slow.
        if !self.names.iter().any(is_of_data) {
            return false;
        }
        let start = self.inner_start(context);
        let lies_deeper = || (start + 1..self.names.len()).any(|count| self.is_repository_at(count, context));
        start > 0 && self.inner(context).is_data() && !lies_deeper()
    }

    fn inner_start(&self, context: &RepositoryContext<'_>) -> usize {
        std::iter::successors(Some(0), |start| self.next_start(*start, context)).last().unwrap_or_default()
    }

    /// Returns the number of names up to the own folder of the next submodule or working tree after `start` names.
    fn next_start(&self, start: usize, context: &RepositoryContext<'_>) -> Option<usize> {
        let first = self.names.get(start)?;
        if first.eq_ignore_ascii_case(b"worktrees") {
            return (self.names.len() > start + 2).then_some(start + 2);
        }
        if !first.eq_ignore_ascii_case(b"modules") {
            return None;
        }
        (start + 2..self.names.len()).find(|count| self.is_repository_at(*count, context))
    }

    /// Returns whether the first names lead to a repository's own folder, before the changes or after them.
    pub(super) fn is_repository_at(&self, count: usize, context: &RepositoryContext<'_>) -> bool {
        self.subfolder(count).is_some_and(|folder| {
            is_repository(&folder, context.was_there) || is_repository(&folder, context.is_there)
        })
    }

    fn subfolder(&self, count: usize) -> Option<RelPath> {
        RelPath::from_bytes(&self.names[..count].join(&b'/')).and_then(|names| self.folder.join(&names)).ok()
    }
}
