//! The difference of a file as a model may see it.

use local_workspace::FileDifference;

use crate::SecretRules;

/// Returns the difference between the two contents as a model may see them.
///
/// The contents are masked rather than their difference, in which lines from the middle of a key are not recognised.
pub(super) fn visible_diff(difference: &FileDifference, rules: &SecretRules) -> String {
    let diff = difference.diff_as(|text| rules.mask_file_text(text));
    match diff.is_empty() && !difference.diff.is_empty() {
        true => {
            let path = rules.mask_file_text(&difference.path);
            format!("{path}: only secrets have changed, whose values are not kept\n")
        }
        false => diff,
    }
}
