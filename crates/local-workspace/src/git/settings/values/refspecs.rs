//! Refspecs in the settings of a remote: the references that git fetches and pushes without further names.

use git_index::is_reference_name;

/// The numbers of digits in the name of an object.
const NAME_DIGITS: [usize; 2] = [40, 64];

pub(super) fn is_fetch_refspec(value: &str) -> bool {
    is_refspec(value, true)
}

pub(super) fn is_push_refspec(value: &str) -> bool {
    is_refspec(value, false)
}

/// Returns whether a text is `FROM:TO`, `FROM` or `^FROM`, of names with at most one `*`. Git reads those of every remote to show
/// how far a branch is ahead.
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
            let has_target = is_fetch || !to.is_empty() || from.is_empty();
            is_side(from) && is_side(to) && has_star(from) == has_star(to) && has_target
        }
        None => is_name(value) && !(is_fetch && has_star(value)),
    }
}
