//! Lines that an edit by line numbers expects in the file.

use std::collections::HashMap;

use wap_core::{ModifyFile, ModifyOperation};

use crate::Secrets;

/// Removes correct guesses of hidden values from the lines that an engine compares with the file, so that they are
/// refused like wrong ones.
///
/// `own` returns the values that the model has written into the file itself.
pub(super) fn without_guesses(
    secrets: &Secrets,
    (text, masked): (&str, &str),
    modify: &ModifyFile,
    restored: &mut ModifyFile,
    own: &dyn Fn() -> Vec<String>,
) {
    if text == masked || modify.operations.iter().all(|operation| operation.was().is_none()) {
        return;
    }
    let hidden = hidden_lines(text, masked);
    let mut view = None;
    for (operation, restored) in modify.operations.iter().zip(&mut restored.operations) {
        let (Some(was), Some(compared)) = (operation.was(), compared_line(restored)) else { continue };
        let Some(views) = hidden.get(compared.trim()) else { continue };
        let was = secrets.as_shown(was);
        if views.contains(&was.trim()) {
            continue;
        }
        let view = view.get_or_insert_with(|| secrets.mask_except(text, &own()));
        if hidden_lines(text, view).get(compared.trim()).is_none_or(|views| views.contains(&was.trim())) {
            continue;
        }
        // Equals no line of the file.
        *compared = views[0].to_owned();
    }
}

/// Returns the lines that a model sees differently, with their masked forms. Trailing whitespace is ignored.
fn hidden_lines<'t>(text: &'t str, masked: &'t str) -> HashMap<&'t str, Vec<&'t str>> {
    let mut hidden: HashMap<&str, Vec<&str>> = HashMap::new();
    for (line, view) in text.lines().zip(masked.lines()).filter(|(line, view)| line != view) {
        hidden.entry(line.trim()).or_default().push(view.trim());
    }
    hidden
}

fn compared_line(operation: &mut ModifyOperation) -> Option<&mut String> {
    match operation {
        ModifyOperation::Replace { was, .. }
        | ModifyOperation::Insert { was, .. }
        | ModifyOperation::Delete { was, .. } => was.as_mut(),
        ModifyOperation::ReplaceText { .. } | ModifyOperation::RegexReplace { .. } => None,
    }
}
