//! Numbers of a view in front of new lines, which are not part of the file.

use std::ops::Range;

use text_edit::{MatchRule, Operation, Source, find_text};
use wap_core::{ModifyOperation, Reason, WapError, numbered_line, unnumbered};

use crate::file_edit::FileEdit;
use crate::operations::operation;

impl FileEdit<'_> {
    /// Refuses new lines that all have the numbers in front that a view of the file gives the lines which they replace. A file that has
    /// such numbers around there itself may get more of them.
    pub(crate) fn check_view_numbers(&self) -> Result<(), WapError> {
        for (index, operation) in self.request.operations.iter().enumerate() {
            let (first, last, field) = match operation {
                ModifyOperation::Replace { start_line, end_line, new_content, .. }
                    if begins_with(new_content, *start_line) =>
                {
                    (*start_line, *end_line, "newContent")
                }
                ModifyOperation::Insert { after_line, new_content, .. }
                    if begins_with(new_content, after_line.saturating_add(1)) =>
                {
                    (after_line.saturating_add(1), *after_line, "newContent")
                }
                ModifyOperation::ReplaceText { old_text, new_text, .. } => {
                    let Some((first, last)) = self.numbered_text(operation, old_text, new_text) else {
                        continue;
                    };
                    (first, last, "newText")
                }
                _ => continue,
            };
            if !has_numbers(self.current, first.saturating_sub(1), last.saturating_add(1)) {
                let operation = if self.request.operations.len() > 1 {
                    format!("operation {}: ", index + 1)
                } else {
                    String::new()
                };
                let text = format!(
                    "{operation}{field} begins its lines with the numbers of the view ('{first}|'), which are not part of the \
                     file: send the lines without them"
                );
                return Err(WapError::new(Reason::InvalidField, text)
                    .with("field", field)
                    .with("path", self.path));
            }
        }
        Ok(())
    }

    /// Returns the first and the last line that the new lines of a text take the place of, if all of these have their numbers in front,
    /// and the text to find has none.
    fn numbered_text(&self, requested: &ModifyOperation, old: &str, new: &str) -> Option<(i64, i64)> {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        // Numbers in both texts are left out of both, or are in the file.
        if old.iter().any(|line| numbered_line(line).is_some()) {
            return None;
        }
        let above = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old[above..].iter().rev().zip(new[above..].iter().rev());
        let below = rest.take_while(|(old, new)| old == new).count();
        let (removed, added) = (&old[above..old.len() - below], &new[above..new.len() - below]);
        let (number, _) = unnumbered(&added.iter().flat_map(|line| [line, "\n"]).collect::<String>())
            .filter(|_| !added.is_empty())?;
        let Operation::ReplaceText { search, expected: 1, within, .. } = operation(requested) else {
            return None;
        };
        let within = match within {
            Some((first, last)) => Some(self.range(first, last)?),
            None => None,
        };
        let passage = find_text(self.current, &search, &MatchRule::ALL, within).ok()?;
        let first = i64::try_from(passage.lines.start() + above).ok()?;
        let last = first.saturating_add(i64::try_from(removed.len()).ok()?).saturating_sub(1);
        (i64::try_from(number) == Ok(first)).then_some((first, last))
    }

    /// Returns lines of the file as 0-based half-open indexes; `None` if it has no such lines.
    fn range(&self, first: i64, last: i64) -> Option<Range<usize>> {
        let total = self.current.total_lines();
        let (first, last) = (usize::try_from(first).ok()?, usize::try_from(last).ok()?);
        (1..=total.min(last)).contains(&first).then(|| first - 1..last.min(total))
    }
}

fn begins_with(content: &str, line: i64) -> bool {
    !content.is_empty() && unnumbered(content).is_some_and(|(number, _)| i64::try_from(number) == Ok(line))
}

/// Checks whether one of some lines of the file has a number and a bar in front.
fn has_numbers(source: &Source<'_>, first: i64, last: i64) -> bool {
    let bounded = |line: i64| usize::try_from(line.max(1)).unwrap_or(usize::MAX).min(source.total_lines());
    (bounded(first)..=bounded(last))
        .any(|line| source.line_text(line).is_some_and(|text| numbered_line(&text).is_some()))
}
