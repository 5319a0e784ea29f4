//! Refspecs in the settings of a remote: the references that git fetches and pushes by default.

use git_index::is_reference_name;

/// The numbers of digits in the name of an object.
const NAME_DIGITS: [usize; 2] = [40, 64];

/// The folders of references that belong to other repositories. Everywhere else a fetch would overwrite the user's own
/// references, and a pruning fetch would remove those that the remote lacks.
const OF_OTHERS: [&str; 4] = ["refs/remotes/", "refs/pull/", "refs/merge-requests/", "refs/changes/"];

/// The notes of this repository, with folders for those of others.
const NOTES: &str = "refs/notes/";

pub(super) fn is_fetch_refspec(value: &str) -> bool {
    is_refspec(value, true) && (keeps_own_references(value) || is_single_tag(value))
}

/// Returns whether a fetch by this refspec leaves branches, tags and notes of the repository alone.
pub(in crate::git::settings) fn keeps_own_references(value: &str) -> bool {
    let to = if value.starts_with('^') { "" } else { value.split_once(':').map_or("", |(_, to)| to) };
    let is_note_of_other = || to.strip_prefix(NOTES).is_some_and(|rest| rest.contains('/'));
    to.is_empty() || OF_OTHERS.iter().any(|folder| to.starts_with(folder)) || is_note_of_other()
}

/// Returns whether it is the refspec of a clone of one tag, with `--branch` and `--single-branch` or `--depth`.
pub(in crate::git::settings) fn is_single_tag(value: &str) -> bool {
    let sides = value.strip_prefix('+').unwrap_or(value).split_once(':');
    sides.is_some_and(|(from, to)| from == to && from.starts_with("refs/tags/") && !from.contains('*'))
}

pub(super) fn is_push_refspec(value: &str) -> bool {
    is_refspec(value, false)
}

/// Returns whether a text is `FROM:TO`, `FROM` or `^FROM`, with at most one `*` per name. Git reads those of every
/// remote to show how far a branch is ahead.
fn is_refspec(value: &str, is_fetch: bool) -> bool {
    let is_name = |name: &str| {
        let name = name.replacen('*', "x", 1);
        name != "@" && is_reference_name(format!("refs/{name}").as_bytes())
    };
    let is_side = |side: &str| side.is_empty() || is_name(side);
    let has_star = |side: &str| side.contains('*');
    if let Some(excluded) = value.strip_prefix('^') {
        let is_object =
            NAME_DIGITS.contains(&excluded.len()) && excluded.bytes().all(|byte| byte.is_ascii_hexdigit());
        return is_name(excluded) && !is_object;
    }
    let value = value.strip_prefix('+').unwrap_or(value);
    match value.split_once(':') {
        Some((from, to)) => {
            // Without a source, a push removes the target.
            let is_whole = is_fetch || from.is_empty() == to.is_empty();
            is_side(from) && is_side(to) && has_star(from) == has_star(to) && is_whole
        }
        None => is_name(value) && !(is_fetch && has_star(value)),
    }
}
