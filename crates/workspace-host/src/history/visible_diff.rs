//! The difference of a file as a model may see it.

use local_workspace::FileDifference;

use crate::SecretRules;

/// Returns the difference between what a model may see of the two contents.
///
/// The contents are masked and not their difference, in which lines from the middle of a key say nothing by themselves.
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
