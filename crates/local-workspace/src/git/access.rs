//! The permission bits that git needs for its own files: without them it skips a file, such as a hook that would have
//! refused a commit, or fails.

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::InRepository;

/// Returns whether an effect deprives the owner of a file of the right to read it, or the owner of a folder of the
/// right to list or enter it.
pub(crate) fn loses_access(effect: &Effect, kind: PresentKind) -> bool {
    let needed = if kind == PresentKind::Folder { 0o500 } else { 0o400 };
    loses(effect, needed)
}

/// Returns whether git could not use the entry that an effect leaves at a path of a repository, whether new or changed.
pub(super) fn lacks_access(part: &InRepository<'_>, effect: &Effect, kind: PresentKind) -> bool {
    // Objects are read-only, and so are git-annex's content folders.
    let stays_as_it_is = part.lies_among_objects() || part.first_is(&["annex", "lfs"]);
    let needed = match (kind, stays_as_it_is) {
        (PresentKind::Folder, _) if part.first_is(&["annex"]) => 0o500,
        (PresentKind::Folder, _) => 0o700,
        (_, true) => 0o400,
        (_, false) => 0o600,
    };
    match &effect.before {
        Some(_) => loses(effect, needed),
        // Git may replace a new file instead of writing to it.
        None => {
            let is_replaced = kind != PresentKind::Folder && !is_written_in_place(part);
            let needed = if is_replaced { 0o400 } else { needed };
            effect.after.as_ref().and_then(EffectSide::mode).is_some_and(|mode| needed & !mode != 0)
        }
    }
}

/// Returns whether git writes to the existing file instead of replacing it.
fn is_written_in_place(part: &InRepository<'_>) -> bool {
    const NAMES: [&str; 5] =
        ["COMMIT_EDITMSG", "EDIT_DESCRIPTION", "FETCH_HEAD", "NOTES_EDITMSG", "TAG_EDITMSG"];
    let is_log = |name: &&[u8]| name.eq_ignore_ascii_case(b"logs");
    NAMES.iter().any(|name| part.ends_with(&[name])) || part.names.iter().any(is_log)
}

fn loses(effect: &Effect, needed: u32) -> bool {
    let [before, after] =
        [&effect.before, &effect.after].map(|side| side.as_ref().and_then(EffectSide::mode));
    before.zip(after).is_some_and(|(before, after)| before & !after & needed != 0)
}
