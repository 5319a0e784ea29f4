//! Rights that commands must not grant: their removal after a command, and their names in a result.

use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot};

use crate::change::publish::open_root;
use crate::command::effect::Effect;
use crate::command::tree_snapshot::TreeSnapshot;

const SET_ID_BITS: u32 = 0o6000;
/// The bit that a new folder inherits from its parent.
const SET_GROUP_ID: u32 = 0o2000;

/// A right that something had after a command, and does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    SetIdBits,
    Capabilities,
    Owner,
    Device,
}

impl Right {
    pub(crate) const ALL: &[Right] = &[Right::SetIdBits, Right::Capabilities, Right::Owner, Right::Device];

    /// Returns the text before the paths in a result.
    pub(crate) fn refusal(self) -> &'static str {
        match self {
            Right::SetIdBits => "set-user-ID and set-group-ID bits were not kept: ",
            Right::Capabilities => "file capabilities were not kept: ",
            Right::Owner => "another owner or group was not kept: ",
            Right::Device => "devices were not kept: ",
        }
    }
}

impl From<cow_layer::Right> for Right {
    fn from(right: cow_layer::Right) -> Right {
        match right {
            cow_layer::Right::Capabilities => Right::Capabilities,
            cow_layer::Right::Owner => Right::Owner,
            cow_layer::Right::Device => Right::Device,
            // Others are unknown, and most likely set-ID bits.
            _ => Right::SetIdBits,
        }
    }
}

/// Removes set-user-ID and set-group-ID bits from paths that a command changed in the folder itself: all from files,
/// and new ones from folders. Where the kernel refuses these bits, only a file that had them before, and was renamed or
/// rewritten, can have them. Returns the paths that had such bits, and in the second list those that still have them.
pub(crate) fn take_set_id_bits(
    root: &FileRoot,
    effects: &[Effect],
    before: &TreeSnapshot,
    after: &TreeSnapshot,
) -> (Vec<(String, Right)>, Vec<String>) {
    let has_bits =
        |path: &RelPath| after.entries.get(path).is_some_and(|state| state.mode & SET_ID_BITS != 0);
    let (mut taken, mut failed) = (Vec::new(), Vec::new());
    let mut with_bits = effects.iter().map(|effect| &effect.path).filter(|path| has_bits(path)).peekable();
    if with_bits.peek().is_none() {
        return (taken, failed);
    }
    let Ok(open) = open_root(root) else {
        return (taken, with_bits.map(RelPath::to_string).collect());
    };
    // By path, so that a folder comes after the parent from which it may have inherited the bit.
    for path in with_bits {
        match open.remove_set_id_bits(path, kept_bits(&open, path, before, after)) {
            Ok(true) => taken.push((path.to_string(), Right::SetIdBits)),
            Ok(false) => {}
            Err(_) => failed.push(path.to_string()),
        }
    }
    (taken, failed)
}

fn kept_bits(root: &FileRoot, path: &RelPath, before: &TreeSnapshot, after: &TreeSnapshot) -> u32 {
    let is_folder = after.entries.get(path).is_some_and(|state| state.kind == FileKind::Folder);
    if !is_folder {
        return 0;
    }
    match before.entries.get(path).filter(|state| state.kind == FileKind::Folder) {
        Some(state) => state.mode & SET_ID_BITS,
        None => {
            let around = path.parent().unwrap_or_default();
            root.metadata(&around).map_or(0, |metadata| metadata.mode & SET_GROUP_ID)
        }
    }
}
