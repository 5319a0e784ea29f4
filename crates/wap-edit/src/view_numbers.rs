//! Numbers of a view in front of new lines, which are not part of the file.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Range;

use text_edit::{Lines, MatchRule, Operation, Source, find_text};
use wap_core::{FileVersion, ModifyOperation, Reason, ViewNumbers, WapError, numbered_line, unnumbered};

use crate::file_edit::{FileEdit, FindVersion, KnownVersion};
use crate::operations::operation;

/// The operations of a request as edits.
#[derive(Debug)]
pub(crate) struct ReadOperations {
    pub operations: Vec<Operation>,
    /// A warning for each operation whose lines lost the numbers of a view.
    pub warnings: Vec<String>,
}

impl FileEdit<'_> {
    /// Returns the operations without the numbers of a view in front of their new lines.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`] for new lines that all have the numbers in front that a view of the file gives the lines which they
    /// replace, unless the request wants them taken off and they cannot be content. A file that has such numbers around there itself
    /// may get more of them.
    pub(crate) fn read_operations(&self, find: &mut FindVersion<'_>) -> Result<ReadOperations, WapError> {
        let mut read = ReadOperations { operations: Vec::new(), warnings: Vec::new() };
        // However many operations there are, each version is looked up once, and the file is read once.
        let versions = self.versions_of_numbered(find);
        let mut meant: Vec<(FileVersion, Source<'_>)> = Vec::new();
        for (version, state) in &versions {
            meant.extend(Source::parse(&state.bytes).ok().map(|text| (version.clone(), text)));
        }
        let counts = LazyCell::new(|| self.may_count());
        for (index, requested) in self.request.operations.iter().enumerate() {
            let label = match self.request.operations.len() {
                1 => String::new(),
                _ => format!("operation {}: ", index + 1),
            };
            let operation = operation(requested);
            let Some(numbered) = self.numbered_lines(index, requested, &meant, &|| *counts) else {
                read.operations.push(operation);
                continue;
            };
            let Some(operation) = self.without_numbers(operation, &numbered) else {
                return Err(self.numbers_refused(&label, &numbered));
            };
            read.operations.push(operation);
            read.warnings.push(format!(
                "{label}the numbers of the view ('{}|') were taken off the new lines: they are not part of the file",
                numbered.first
            ));
        }
        Ok(read)
    }

    /// Returns the new lines of an operation if all have the numbers of a view in front; `None` also in a file that has such numbers
    /// itself around there.
    fn numbered_lines(
        &self,
        index: usize,
        requested: &ModifyOperation,
        versions: &[(FileVersion, Source<'_>)],
        may_count: &dyn Fn() -> bool,
    ) -> Option<NumberedLines> {
        if let ModifyOperation::ReplaceText { old_text, new_text, .. } = requested {
            let (first, last) = self.numbered_text(requested, old_text, new_text)?;
            let has_own = has_near(self.current, first, last, |line| numbered_line(line).is_some());
            return (!has_own).then_some(NumberedLines { first, field: "newText", text: None });
        }
        let (first, last, content) = new_lines(requested)?;
        let text = self.text_behind(first, content)?;
        let width = self.width();
        let is_numbered = |line: &str| is_numbered(line, width);
        // The lines are those of the versions that their numbers mean.
        let of_version =
            |meant: &FileVersion| versions.iter().find(|(version, _)| version == meant).map(|(_, text)| text);
        let meant = self.request.meant_versions(index);
        let mut meant: Vec<&Source<'_>> = meant.into_iter().filter_map(of_version).collect();
        if meant.is_empty() {
            meant.push(self.current);
        }
        if meant.iter().all(|source| has_near(source, first, last, is_numbered)) {
            return None;
        }
        // Around numbers in one of the versions, or fields, the lines may be rows that count themselves.
        let is_row = |line: &str| is_numbered(line) || begins_with_field(line);
        let is_content = meant.iter().any(|source| has_near(source, first, last, is_row)) || may_count();
        let text = if is_content { None } else { Some(text) };
        Some(NumberedLines { first, field: "newContent", text })
    }

    /// Returns the versions that the numbers of operations mean whose new lines have the numbers of a view, each once.
    fn versions_of_numbered(&self, find: &mut FindVersion<'_>) -> Vec<(FileVersion, KnownVersion)> {
        let numbered = self.request.operations.iter().enumerate().filter(|(_, requested)| {
            new_lines(requested).is_some_and(|(first, _, content)| self.text_behind(first, content).is_some())
        });
        let meant: BTreeSet<&FileVersion> =
            numbered.flat_map(|(index, _)| self.request.meant_versions(index)).collect();
        meant.into_iter().filter_map(|version| Some((version.clone(), find(version)?))).collect()
    }

    /// Returns the text behind the numbers of a view that begins with this line; `None` if the new lines have none.
    fn text_behind(&self, first: i64, content: &str) -> Option<String> {
        let (number, text) = unnumbered(content).filter(|_| !content.is_empty())?;
        // A view is as wide as its widest number; more blanks are an indentation.
        let last_number = number.saturating_add(content.lines().count() as u64);
        let width = self.width().max(last_number.to_string().len());
        let fits = i64::try_from(number) == Ok(first) && content.lines().all(|line| is_numbered(line, width));
        fits.then_some(text)
    }

    /// Returns the digits of the last line's number.
    fn width(&self) -> usize {
        self.current.total_lines().to_string().len()
    }

    /// Checks whether new lines with numbers may be rows that count themselves: the file has no text, or such numbers somewhere.
    fn may_count(&self) -> bool {
        let lines = || (1..=self.current.total_lines()).filter_map(|line| self.current.line_text(line));
        let width = self.width();
        lines().all(|line| line.trim().is_empty()) || lines().any(|line| is_numbered(&line, width))
    }

    /// Returns an operation with the lines behind their numbers, if the request wants that and the numbers cannot be content.
    fn without_numbers(&self, operation: Operation, numbered: &NumberedLines) -> Option<Operation> {
        let text =
            numbered.text.as_ref().filter(|_| self.request.view_numbers == Some(ViewNumbers::TakeOff))?;
        let content = Lines::from_content(text);
        match operation {
            Operation::Replace { start_line, end_line, .. } => {
                Some(Operation::Replace { start_line, end_line, content })
            }
            Operation::Insert { after_line, .. } => Some(Operation::Insert { after_line, content }),
            _ => None,
        }
    }

    fn numbers_refused(&self, label: &str, numbered: &NumberedLines) -> WapError {
        let NumberedLines { first, field, .. } = numbered;
        let text = format!(
            "{label}{field} begins its lines with the numbers of the view ('{first}|'), which are not part of the file: send the \
             lines without them"
        );
        WapError::new(Reason::InvalidField, text).with("field", *field).with("path", self.path)
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

/// New lines with the numbers of a view.
struct NumberedLines {
    /// The number of the first one.
    first: i64,
    /// The field of the request that has them.
    field: &'static str,
    /// The text behind the numbers; `None` where they may be content.
    text: Option<String>,
}

/// Returns the first and the last line that an operation replaces, and its new lines; an insertion replaces none.
fn new_lines(requested: &ModifyOperation) -> Option<(i64, i64, &str)> {
    match requested {
        ModifyOperation::Replace { start_line, end_line, new_content, .. } => {
            Some((*start_line, *end_line, new_content))
        }
        ModifyOperation::Insert { after_line, new_content, .. } => {
            Some((after_line.saturating_add(1), *after_line, new_content))
        }
        _ => None,
    }
}

/// Checks whether a line has a number in front as in a view of this width.
fn is_numbered(line: &str, width: usize) -> bool {
    numbered_line(line).is_some_and(|(_, text)| line.len() - text.len() <= width + 1)
}

/// Checks whether a line begins with a field and a bar, as `id|name`.
fn begins_with_field(line: &str) -> bool {
    line.split_once('|').is_some_and(|(field, _)| !field.is_empty() && !field.contains(char::is_whitespace))
}

/// Checks whether one of some lines of a text, or of those around them, is of a kind. The lines may lie outside of the text.
fn has_near(source: &Source<'_>, first: i64, last: i64, is_of_kind: impl Fn(&str) -> bool) -> bool {
    let bounded = |line: i64| usize::try_from(line.max(1)).unwrap_or(usize::MAX).min(source.total_lines());
    (bounded(first.saturating_sub(1))..=bounded(last.saturating_add(1)))
        .any(|line| source.line_text(line).is_some_and(|text| is_of_kind(&text)))
}
