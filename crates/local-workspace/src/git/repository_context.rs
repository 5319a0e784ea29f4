//! The surroundings of a file of a repository that affect its judgement.

use std::path::Path;
use std::sync::Arc;

use git_index::ObjectFormat;
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::command::effect::Effect;
use crate::git::linked_contents::LinkedContents;
use crate::git::packed_names::PackedNames;
use crate::git::settings::object_format;

/// The largest settings file that is read, in bytes.
const SETTINGS_BYTES: u64 = 1 << 20;

/// The surroundings of a file of a repository.
#[derive(Clone, Copy)]
pub(crate) struct RepositoryContext<'a> {
    /// The absolute path of the workspace.
    pub workspace: Option<&'a Path>,
    /// True if refused paths stay unchanged, because the changes were made on a layer.
    pub is_layered: bool,
    /// Returns whether a path existed before the judged changes.
    pub was_there: &'a dyn Fn(&RelPath) -> bool,
    /// Returns whether a path will exist once the changes are made.
    pub is_there: &'a dyn Fn(&RelPath) -> bool,
    /// Returns whether a path is in a build folder, which is not judged with the rest.
    pub is_unjudged: &'a dyn Fn(&RelPath) -> bool,
    /// Returns the object format that a settings file will set once the changes are made; `None` if it cannot be read
    /// with certainty.
    pub format: &'a dyn Fn(&RelPath) -> Option<ObjectFormat>,
    /// Returns whether the repository in a folder certainly lacks an object of this name.
    pub lacks_object: &'a dyn Fn(&RelPath, &[u8]) -> bool,
    /// Returns the content that a short file will have if all changes are made.
    pub text: &'a dyn Fn(&RelPath) -> Option<Vec<u8>>,
    /// Returns the names that a `packed-refs` will have if all changes are made.
    pub packed: &'a dyn Fn(&RelPath) -> Arc<PackedNames>,
    /// The contents that short files will have once the changes are made; `None` while that is undecided.
    pub content: Option<&'a dyn LinkedContents>,
}

impl RepositoryContext<'_> {
    /// Returns the object format of the repository that has an index at this path, if its settings can be read.
    pub(crate) fn format_of_index(&self, index: &RelPath) -> Option<ObjectFormat> {
        let is_of_worktree =
            |folder: &RelPath| folder.child(b"commondir").is_ok_and(|commondir| (self.is_there)(&commondir));
        let [own, common] = settings_of_index(index);
        let folder = index.parent().unwrap_or_default();
        let settings = common.filter(|_| is_of_worktree(&folder)).or(own);
        settings.map_or_else(|| Some(ObjectFormat::default()), |settings| (self.format)(&settings))
    }
}

/// Returns the settings next to an index, and those of the repository if it may be the index of a working tree, which
/// is below the repository's own folder.
pub(crate) fn settings_of_index(index: &RelPath) -> [Option<RelPath>; 2] {
    let folder = index.parent();
    let all = folder.as_ref().and_then(RelPath::parent);
    let owner = all.filter(|all| all.file_name() == Some(b"worktrees")).and_then(|all| all.parent());
    [folder, owner].map(|folder| folder?.child(b"config").ok())
}

/// Returns whether an effect makes settings by which git reads an index in another format than without them.
pub(crate) fn decides_format(effect: &Effect) -> bool {
    let default = Some(ObjectFormat::default());
    let format = || effect.text_after().map_or(default, object_format);
    effect.path.file_name() == Some(b"config") && effect.before.is_none() && format() != default
}

/// Returns the object format that a settings file in the workspace currently sets; `None` if it cannot be read with
/// certainty.
pub(crate) fn format_on_disk(root: &FileRoot, settings: &RelPath) -> Option<ObjectFormat> {
    match root.open_file(settings).and_then(|file| file.read_to_end(SETTINGS_BYTES)) {
        Ok(bytes) => object_format(&bytes),
        Err(FsError::NotFound { .. } | FsError::ParentMissing { .. } | FsError::NotAFolder { .. }) => {
            Some(ObjectFormat::default())
        }
        Err(_) => None,
    }
}

/// Returns the object format that a settings file will set after an effect on it; `None` if it cannot be read with
/// certainty.
///
/// A repository keeps its format: a change of it is refused in any case.
pub(crate) fn format_after(
    effect: &Effect,
    was_there: &dyn Fn(&RelPath) -> bool,
    is_refused: &dyn Fn(&Effect) -> bool,
) -> Option<ObjectFormat> {
    let is_new_repository = effect.path.parent().is_some_and(|folder| !was_there(&folder));
    match &effect.before {
        Some(_) => effect.text_before().and_then(object_format),
        None if is_new_repository && !is_refused(effect) => effect.text_after().and_then(object_format),
        None => Some(ObjectFormat::default()),
    }
}
