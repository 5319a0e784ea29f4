//! Prefixes of a diff on new lines, which are not part of the file.

use text_edit::Source;
use wap_core::{LineNumbers, ModifyOperation, Reason, WapError};

use crate::file_edit::{FileEdit, FindVersion};

impl FileEdit<'_> {
    /// Refuses new lines that all begin with a diff prefix, if those with a minus are the lines that they replace.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`]. Operations in turn come from programs, which send no diff.
    pub(crate) fn check_diff_prefixes(&self, find: &mut FindVersion<'_>) -> Result<(), WapError> {
        if self.request.line_numbers == Some(LineNumbers::InTurn) {
            return Ok(());
        }
        for (index, requested) in self.request.operations.iter().enumerate() {
            let ModifyOperation::Replace { start_line, end_line, new_content, .. } = requested else {
                continue;
            };
            let Some(removed) = removed_lines(new_content) else { continue };
            let are_lines = |source: &Source<'_>| has_lines(source, (*start_line, *end_line), &removed);
            let is_diff = are_lines(self.current)
                || self.request.meant_versions(index).into_iter().any(|version| {
                    let version = find(version).filter(|_| *version != self.version);
                    version.is_some_and(|version| {
                        Source::parse(&version.bytes).is_ok_and(|source| are_lines(&source))
                    })
                });
            if is_diff {
                let label = match self.request.operations.len() {
                    1 => String::new(),
                    _ => format!("operation {}: ", index + 1),
                };
                let text = format!(
                    "{label}newContent begins its lines with the prefixes of a diff (- and +), which are not part of the file: send \
                     the new lines without them, and leave out the old ones"
                );
                return Err(WapError::new(Reason::InvalidField, text)
                    .with("field", "newContent")
                    .with("path", self.path));
            }
        }
        Ok(())
    }
}

/// Returns the lines after a minus, if every line begins with a minus or a plus and both occur.
fn removed_lines(content: &str) -> Option<Vec<&str>> {
    let (mut removed, mut is_added) = (Vec::new(), false);
    for line in content.lines() {
        match line.strip_prefix('-') {
            Some(line) => removed.push(line),
            None => {
                line.strip_prefix('+')?;
                is_added = true;
            }
        }
    }
    (is_added && !removed.is_empty()).then_some(removed)
}

/// Checks whether a text has these lines from the first to the last number; an end past its last line means that line.
fn has_lines(source: &Source<'_>, (first, last): (i64, i64), lines: &[&str]) -> bool {
    let last = usize::try_from(last).unwrap_or(0).min(source.total_lines());
    let Some(first) = usize::try_from(first).ok().filter(|first| (1..=last).contains(first)) else {
        return false;
    };
    last - first + 1 == lines.len()
        && (first..=last)
            .zip(lines)
            .all(|(number, line)| source.line_text(number).is_some_and(|text| text == *line))
}
