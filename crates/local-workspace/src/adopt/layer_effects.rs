//! The effects of a command, read from the layer on which it ran.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::LazyLock;

use cow_layer::{Layer, LayerChange, LayerChanges, LayerError, ScanLimits, ScanRules, Side};
use git_index::{REFERENCE_BYTES, is_reference, stays_in_references};
use rel_path::{ProtectedNames, RelPath};
use sandbox_fs::FileRoot;

use crate::adopt::build_folders::BuildFolders;
use crate::adopt::repository_use::replace_refreshed_indexes;
use crate::change::present::{Present, PresentKind, attribute_bytes};
use crate::command::effect::{Effect, EffectSide, Unkept};
use crate::git::guard::{INDEX_BYTES, in_git_folder, is_judged_whole};
use crate::git::repository_parts::{is_repository, repositories_with_part};

/// Names of editors and agents for which new build folders are searched.
static OBEYED_IN_BUILDS: LazyLock<ProtectedNames> =
    LazyLock::new(|| ProtectedNames::new([".agentd", ".vscode/tasks.json", ".idea", ".mcp.json"]));

/// The limits on the contents kept for one command's effects, before and after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeepLimits {
    /// The largest file that is kept, in bytes.
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Bytes of all git indexes together, in addition.
    pub index_bytes: u64,
}

impl Default for KeepLimits {
    fn default() -> KeepLimits {
        KeepLimits { file_bytes: 16 << 20, total_bytes: 256 << 20, index_bytes: 4 * INDEX_BYTES }
    }
}

/// The maximum number of bytes copied to turn hard links into separate files. A warning names this limit.
const COPIED_BYTES: u64 = 4 << 30;

/// Lists the changes of a layer. New build folders, and folders of very many files, are one change, unless they
/// contain something that git or an editor would obey.
///
/// Afterwards, each name of a hard-linked file is a separate file, unless all of them are in one new build folder: a
/// later command writes to build folders directly, and must not reach anything else through them. Also returns the
/// number of these files. Names whose copies exceed the limit are marked, and cannot be adopted.
pub(crate) fn list(
    layer: &Layer,
    root: &FileRoot,
    protected: &ProtectedNames,
    written_through: &[RelPath],
) -> Result<(LayerChanges, usize), LayerError> {
    let mut changes = list_linked(layer, root, protected, written_through)?;
    replace_refreshed_indexes(layer, root, &mut changes);
    let separated = layer.separate(&mut changes, COPIED_BYTES)?;
    Ok((changes, separated))
}

fn list_linked(
    layer: &Layer,
    root: &FileRoot,
    protected: &ProtectedNames,
    written_through: &[RelPath],
) -> Result<LayerChanges, LayerError> {
    let build_folders = RefCell::new(BuildFolders::new(root));
    let is_build = |path: &RelPath| build_folders.borrow_mut().contains(path);
    let rules = |limits| ScanRules::new(limits).written_through(written_through);
    let limits = ScanLimits::default();
    let changes = layer.changes(rules(limits).whole_folders(&is_build))?;
    let trees: Vec<&RelPath> =
        changes.iter().filter(|change| change.tree.is_some()).map(|change| &change.path).collect();
    if trees.is_empty() {
        return Ok(changes);
    }
    // A folder that is one change hides its contents, so a second scan searches it for names that git or an editor
    // obeys.
    let one_by_one = limits.with_tree_entries(u64::MAX);
    let all = layer.changes(rules(one_by_one))?;
    let obeyed = obeyed(&all, root, protected);
    // Packages in a build folder come with editor settings, which does not justify keeping each of their files.
    let is_to_be_opened = |tree: &RelPath| {
        if protected.found_at_or_beneath(tree).is_some() {
            return true;
        }
        let is_build = is_build(tree);
        obeyed.iter().any(|path| path.starts_with(tree) && (!is_build || is_obeyed_in_builds(path)))
    };
    if !trees.into_iter().any(is_to_be_opened) {
        return Ok(changes);
    }
    let is_plain_build = |path: &RelPath| is_build(path) && !is_to_be_opened(path);
    layer.changes(rules(one_by_one).whole_folders(&is_plain_build))
}

/// Checks whether an obeyed path is also searched for in new build folders.
fn is_obeyed_in_builds(path: &RelPath) -> bool {
    in_git_folder(path).is_some() || path.file_name() == Some(b"HEAD") || OBEYED_IN_BUILDS.protects(path)
}

/// The new paths that git or an editor would obey.
fn obeyed(changes: &LayerChanges, root: &FileRoot, protected: &ProtectedNames) -> Vec<RelPath> {
    let is_there = |path: &RelPath| match changes.find(path) {
        Some(change) => change.after.is_some(),
        None => root.metadata(path).is_ok(),
    };
    let mut repositories = BTreeMap::new();
    let mut is_repository = |folder: RelPath| {
        let is_one = |folder: &RelPath| is_repository(folder, &is_there);
        *repositories.entry(folder).or_insert_with_key(is_one)
    };
    let mut is_obeyed = |path: &RelPath| {
        in_git_folder(path).is_some()
            || protected.protects(path)
            || repositories_with_part(path).into_iter().any(&mut is_repository)
    };
    changes.iter().map(|change| &change.path).filter(|path| is_obeyed(path)).cloned().collect()
}

/// Reads both sides of every change, as far as they are kept, except the permissions of the root.
pub(crate) fn effects(
    layer: &Layer,
    root: &FileRoot,
    changes: &LayerChanges,
    limits: KeepLimits,
) -> Vec<Effect> {
    let left = (limits.total_bytes, limits.index_bytes);
    let mut reader = Reader { layer, root, limits, left_bytes: left.0, left_index_bytes: left.1 };
    changes.iter().filter(|change| !change.path.is_root()).map(|change| reader.effect(change)).collect()
}

struct Reader<'a> {
    layer: &'a Layer,
    root: &'a FileRoot,
    limits: KeepLimits,
    left_bytes: u64,
    left_index_bytes: u64,
}

impl Reader<'_> {
    fn effect(&mut self, change: &LayerChange) -> Effect {
        let before = change
            .before
            .as_ref()
            .map(|side| self.side(side, change, |reader, limit| reader.read_before(change, limit)));
        let after = change
            .after
            .as_ref()
            .map(|side| self.side(side, change, |reader, limit| reader.read_after(change, limit)));
        let before = before.map(|side| {
            side.with_attributes(|| {
                let attributes = self.root.attributes(&change.path).ok()?;
                Some(attribute_bytes(&attributes))
            })
        });
        let after = after.map(|side| {
            side.with_attributes(|| {
                let attributes = self.layer.attributes(&change.path).ok()?;
                Some(attribute_bytes(&attributes))
            })
        });
        Effect { path: change.path.clone(), before, after }
    }

    fn side(
        &mut self,
        side: &Side,
        change: &LayerChange,
        read: impl FnOnce(&Self, u64) -> Option<Vec<u8>>,
    ) -> EffectSide {
        let is_tree = change.tree.is_some();
        match side {
            Side::Folder { mode } if is_tree => {
                EffectSide::Unkept(Unkept::of(PresentKind::Folder, Some(mode & 0o777)))
            }
            Side::Folder { mode } => EffectSide::folder(mode & 0o777),
            Side::Symlink { target } => EffectSide::link(target.clone()),
            Side::File { mode, size_bytes } => {
                let mode = Some(mode & 0o777);
                // The guard needs a whole index.
                let is_index = is_judged_whole(&change.path);
                let limit = if is_index {
                    INDEX_BYTES.min(self.left_index_bytes)
                } else {
                    self.limits.file_bytes.min(self.left_bytes)
                };
                let bytes = if *size_bytes <= limit { read(self, limit) } else { None };
                match bytes {
                    Some(bytes) => {
                        let left = if is_index { &mut self.left_index_bytes } else { &mut self.left_bytes };
                        *left -= bytes.len() as u64;
                        EffectSide::Kept(Present::file(bytes, mode))
                    }
                    None => EffectSide::Unkept(self.unkept_file(&change.path, mode)),
                }
            }
            _ => EffectSide::special(),
        }
    }

    /// A file that is not kept. A reference is judged by its beginning.
    fn unkept_file(&self, path: &RelPath, mode: Option<u32>) -> Unkept {
        let starts_well = || {
            let mut bytes = Vec::new();
            let file = self.layer.open_file(path).ok()?;
            file.take(REFERENCE_BYTES + 1).read_to_end(&mut bytes).ok()?;
            Some(stays_in_references(&bytes))
        };
        let stays_in_references = is_reference(path.components()) && starts_well().unwrap_or_default();
        Unkept { stays_in_references, ..Unkept::of(PresentKind::File, mode) }
    }

    fn read_before(&self, change: &LayerChange, limit: u64) -> Option<Vec<u8>> {
        self.root.open_file(&change.path).ok()?.read_to_end(limit).ok()
    }

    fn read_after(&self, change: &LayerChange, limit: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        // One byte more than the limit shows a longer file.
        self.layer.open_file(&change.path).ok()?.take(limit + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= limit).then_some(bytes)
    }
}
