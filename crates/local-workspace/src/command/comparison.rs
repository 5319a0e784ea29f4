//! The effects of a command without a layer, from a comparison of the folder before and after it.

use std::collections::BTreeSet;

use change_journal::ContentHash;
use rel_path::RelPath;
use sandbox_fs::FileKind;

use crate::change::present::{Present, PresentKind};
use crate::command::effect::{Effect, EffectSide, Unkept};
use crate::command::tree_snapshot::{EntryState, TreeSnapshot};

/// Lists all differences, sorted by path. Paths past the end of either snapshot are unknown.
pub(crate) fn compare(before: &TreeSnapshot, after: &TreeSnapshot) -> Vec<Effect> {
    let paths: BTreeSet<&RelPath> = before.entries.keys().chain(after.entries.keys()).collect();
    let effect = |path: &RelPath| {
        let (old, new) = (before.entries.get(path), after.entries.get(path));
        let is_known = before.knows(path) && after.knows(path);
        (is_known && !is_same(old, new)).then(|| Effect {
            path: path.clone(),
            before: old.map(side),
            after: new.map(|new| {
                if new.was_hard_linked_since(old) { EffectSide::special() } else { side_after(old, new) }
            }),
        })
    };
    paths.into_iter().filter_map(effect).collect()
}

fn is_same(old: Option<&EntryState>, new: Option<&EntryState>) -> bool {
    match (old, new) {
        (None, None) => true,
        (Some(old), Some(new)) => {
            let has_same_content = match (&old.bytes, &new.bytes) {
                (Some(old), Some(new)) => old == new,
                _ if old.kind == FileKind::File => new.is_untouched_since(old),
                // Folders and special files have no content to compare.
                _ => true,
            };
            old.kind == new.kind
                && old.mode == new.mode
                && old.attributes == new.attributes
                && has_same_content
                && !new.was_hard_linked_since(Some(old))
        }
        _ => false,
    }
}

/// Returns the current state of a path. Git sets the times of packs that it reuses.
fn side_after(old: Option<&EntryState>, new: &EntryState) -> EffectSide {
    match side(new) {
        EffectSide::Unkept(unkept) => {
            let may_be_unchanged = old.is_some_and(|old| old.bytes.is_none() && new.has_size_of(old));
            EffectSide::Unkept(Unkept { may_be_unchanged, ..unkept })
        }
        kept => kept,
    }
}

fn side(state: &EntryState) -> EffectSide {
    let mode = state.mode & 0o777;
    match (state.kind, &state.bytes) {
        (FileKind::Folder, _) => EffectSide::folder(mode).with_attributes(|| state.attributes.clone()),
        (FileKind::File, Some(bytes)) => EffectSide::Kept(Present {
            kind: PresentKind::File,
            hash: ContentHash::of(bytes),
            bytes: bytes.clone(),
            mode: Some(mode),
            attributes: state.attributes.clone(),
        }),
        (FileKind::File, None) => {
            let stays_in_references = state.stays_in_references;
            EffectSide::Unkept(Unkept { stays_in_references, ..Unkept::of(PresentKind::File, Some(mode)) })
        }
        (FileKind::Link, Some(target)) => EffectSide::link(target.to_vec()),
        _ => EffectSide::special(),
    }
}
