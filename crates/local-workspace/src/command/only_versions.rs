//! Large files that a command without a layer has left at refused paths, and that may be the only version of a file
//! that it has removed.

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};

/// The suffix of such a file's new name.
const SUFFIX: &[u8] = b".agentd-refused";

/// The maximum number of names that are tried for one file.
const NAMES: u32 = 100;

/// Moves refused files without a kept copy to the workspace's root, under a name that no program obeys, if the command
/// has removed or changed a file without a kept copy. Returns the note about them.
pub(crate) fn move_out<'a>(
    root: &FileRoot,
    refused: impl Iterator<Item = &'a Effect>,
    allowed: &[Effect],
) -> Option<String> {
    let is_large = |side: &Option<EffectSide>| matches!(side, Some(EffectSide::Unkept(unkept)) if unkept.kind == PresentKind::File && !unkept.may_be_unchanged);
    if !allowed.iter().any(|effect| is_large(&effect.before)) {
        return None;
    }
    let moved = refused.filter(|effect| is_large(&effect.after)).filter_map(|effect| {
        let name = move_to_top(root, &effect.path).ok()?;
        Some(format!("`{}` is `{name}` now", effect.path))
    });
    let moved: Vec<_> = moved.collect();
    (!moved.is_empty()).then(|| {
        format!(
            "these files were refused and may be the only version of a large file that the command removed: {}",
            moved.join(", ")
        )
    })
}

fn move_to_top(root: &FileRoot, path: &RelPath) -> Result<RelPath, FsError> {
    let name = path.file_name().unwrap_or_default();
    let mut result = Err(FsError::Busy { path: path.clone() });
    for number in 0..NAMES {
        let number = if number == 0 { String::new() } else { format!("-{number}") };
        let free = RelPath::root().child(&[name, SUFFIX, number.as_bytes()].concat())?;
        result = root.rename_noreplace(path, root, &free).map(|_| free);
        if !matches!(result, Err(FsError::AlreadyExists { .. })) {
            break;
        }
    }
    result
}
