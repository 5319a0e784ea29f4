//! Applies the operations of one call, all or nothing.

mod replaced_text;

use std::ops::{Range, RangeInclusive};

use crate::new_lines::Indentations;
use crate::regex_edit::pattern::Pattern;
use crate::regex_edit::{self, Replaced};
use crate::splice::{self, Splice};
use crate::work::Work;
use crate::{
    Conflict, EditError, EditErrorKind, EditLimits, LineMap, Lines, MappedRange, Numbering, Operation, Shift,
    Source, TextFormat, TextOutcome,
};

/// The fixed cost of one pass over the text in steps, such as for compiling an expression.
const STEPS_OF_A_PASS: u64 = 1 << 14;

/// A text after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub bytes: Vec<u8>,
    /// Maps the lines of the text before the call to the new text. A replaced line with the same text counts as kept if it is at
    /// an edge of the replaced range.
    pub line_map: LineMap,
    /// The outcome of each operation, in the order of the call.
    pub outcomes: Vec<Outcome>,
    /// The outcomes of texts to replace, in the order of the call.
    pub texts: Vec<TextOutcome>,
}

/// The outcome of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The lines that it removed, including replaced ones.
    pub removed_lines: usize,
    /// The lines that it added.
    pub added_lines: usize,
    /// For a regular expression, the number of replaced matches; 0 if there was none.
    pub replacements: usize,
    /// For a regular expression, the number of matches, including those that stay because the flag `g` is missing.
    pub matches: usize,
}

impl Edited {
    /// Returns how the lines that were not edited have moved.
    pub fn shifts(&self) -> Vec<Shift> {
        self.line_map.shifts()
    }

    /// Checks whether the new text differs from `source`.
    pub fn differs_from(&self, source: &[u8]) -> bool {
        self.bytes != source
    }
}

/// Applies `operations` to `source` in their order.
///
/// Bytes outside the edited lines stay as they are. New lines get the text's dominant line ending and its encoding; a byte-order
/// mark stays; a text whose last line has no ending still has none afterwards, unless that line is now blank (a blank line
/// without an ending would not be a line).
///
/// With [`Numbering::Original`] a line operation conflicts with an earlier operation that changed the lines it addresses; a
/// regular expression has no line numbers and sees the result of the operations before it.
///
/// # Errors
///
/// Any kind but [`EditErrorKind::Stale`]; nothing has been applied then.
///
/// # Example
///
/// ```
/// use text_edit::{EditLimits, Lines, Numbering, Operation, apply};
///
/// let operation = Operation::Replace { start_line: 2, end_line: 2, content: Lines::from_content("X") };
/// let edited = apply(b"a\r\nb\r\n", &[operation], Numbering::Original, &EditLimits::default())?;
/// assert_eq!(edited.bytes, b"a\r\nX\r\n");
/// # Ok::<(), text_edit::EditError>(())
/// ```
///
/// Source: WAP 1.0, `modifyFile`; bracket-tag protocol, `EDIT_FILE`.
pub fn apply(
    source: &[u8],
    operations: &[Operation],
    numbering: Numbering,
    limits: &EditLimits,
) -> Result<Edited, EditError> {
    apply_until(source, operations, numbering, limits, &|| false)
}

/// Applies operations as [`apply`] does, as long as `is_cancelled` returns `false`; it is called often.
///
/// # Errors
///
/// Those of [`apply`], and [`EditErrorKind::Cancelled`].
pub fn apply_until(
    source: &[u8],
    operations: &[Operation],
    numbering: Numbering,
    limits: &EditLimits,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Edited, EditError> {
    let original = Source::parse(source).map_err(|binary| EditError::of_call(binary.into()))?;
    let encoding = original.format().encoding;
    if operations.is_empty() {
        return Err(EditError::of_call(EditErrorKind::NoOperations));
    }
    if !source.len().is_multiple_of(encoding.unit_bytes()) {
        return Err(EditError::of_call(EditErrorKind::Undecodable { encoding }));
    }
    let limit = limits.base_work.saturating_add(limits.work_factor.saturating_mul(source.len() as u64));
    let mut draft = Draft::new(&original, limits, Work::new(limit, is_cancelled));
    for (index, operation) in operations.iter().enumerate() {
        draft.work.check_cancelled().map_err(EditError::of_call)?;
        draft.take(index, operation, numbering)?;
        if numbering == Numbering::Sequential {
            draft.flush()?;
        }
    }
    draft.flush()?;
    draft.indentations.check()?;
    Ok(draft.finish())
}

/// The text under construction.
struct Draft<'a> {
    original: &'a Source<'a>,
    format: TextFormat,
    limits: &'a EditLimits,
    bytes: Vec<u8>,
    total_lines: usize,
    steps: Vec<Step>,
    /// Line operations that have been resolved but not applied: they all refer to the text in `bytes`.
    pending: Vec<Splice<'a>>,
    outcomes: Vec<Outcome>,
    texts: Vec<TextOutcome>,
    indentations: Indentations,
    work: Work<'a>,
    /// The total number of hunks in the steps.
    hunk_count: usize,
}

/// A completed pass over the text.
struct Step {
    map: LineMap,
    /// The lines of the text before this step that were touched, each with its operation.
    touched: Vec<(Range<usize>, usize)>,
}

impl<'a> Draft<'a> {
    fn new(original: &'a Source<'a>, limits: &'a EditLimits, work: Work<'a>) -> Self {
        Self {
            original,
            format: *original.format(),
            limits,
            bytes: original.bytes().to_vec(),
            total_lines: original.total_lines(),
            steps: Vec::new(),
            pending: Vec::new(),
            outcomes: Vec::new(),
            texts: Vec::new(),
            indentations: Indentations::default(),
            work,
            hunk_count: 0,
        }
    }

    fn take(
        &mut self,
        operation_index: usize,
        operation: &'a Operation,
        numbering: Numbering,
    ) -> Result<(), EditError> {
        let (lines, content) = match operation {
            Operation::RegexReplace { pattern, replacement, flags } => {
                self.flush()?;
                return self.regex(operation_index, pattern, replacement, flags);
            }
            Operation::ReplaceText { .. } => {
                self.flush()?;
                return self.replace_text(operation_index, operation, numbering);
            }
            Operation::Replace { content, .. } => (self.addressed(operation, numbering), Some(content)),
            Operation::Insert { content, .. } => (self.addressed(operation, numbering), Some(content)),
            Operation::Delete { .. } => (self.addressed(operation, numbering), None),
        };
        let lines = lines.map_err(|kind| EditError::of(operation_index, kind))?;
        let old = match numbering {
            Numbering::Sequential => lines.clone(),
            Numbering::Original => self.carried(operation_index, &lines, content)?,
        };
        let splice = Splice { operation_index, addressed: lines, old, content };
        self.outcomes.push(Outcome {
            removed_lines: splice.old.len(),
            added_lines: splice.added_lines(),
            replacements: 0,
            matches: 0,
        });
        self.pending.push(splice);
        Ok(())
    }

    /// The lines that an operation addresses, in the text that its numbers mean.
    fn addressed(&self, operation: &Operation, numbering: Numbering) -> Result<Range<usize>, EditErrorKind> {
        let total_lines = match numbering {
            Numbering::Original => self.original.total_lines(),
            Numbering::Sequential => self.total_lines,
        };
        operation.addressed_lines(total_lines)
    }

    /// Carries lines of the original over the completed steps.
    fn carried(
        &self,
        operation_index: usize,
        lines: &Range<usize>,
        content: Option<&Lines>,
    ) -> Result<Range<usize>, EditError> {
        let mut current = lines.clone();
        for (nth, step) in self.steps.iter().enumerate() {
            let mapped = if current.is_empty() {
                step.map.map_gap(current.start).map(|gap| *gap.end()..*gap.end())
            } else {
                match step.map.map_range(current.start + 1..=current.end) {
                    MappedRange::Kept(kept) => Some(kept.start() - 1..*kept.end()),
                    MappedRange::Interrupted { .. } | MappedRange::Changed { .. } => None,
                }
            };
            match mapped {
                Some(mapped) => current = mapped,
                None => {
                    let first = step.toucher(&current);
                    let first_text = self.text_now(nth, &current);
                    let second_text = self.quote(content);
                    let lines = named_lines(lines, self.original.total_lines());
                    let conflict =
                        Conflict { first, second: operation_index, lines, first_text, second_text };
                    return Err(EditError::of(operation_index, EditErrorKind::Conflict(Box::new(conflict))));
                }
            }
        }
        Ok(current)
    }

    /// Returns the current text of lines that are given by their position before a step.
    fn text_now(&self, step_index: usize, lines: &Range<usize>) -> String {
        let mut map = self.steps[step_index].map.clone();
        for step in &self.steps[step_index + 1..] {
            map = map.compose(&step.map);
        }
        let around = named_lines(lines, map.old_lines());
        let now = match map.map_range(around) {
            MappedRange::Kept(lines) | MappedRange::Interrupted { lines, .. } => {
                lines.start() - 1..*lines.end()
            }
            MappedRange::Changed { now } => now,
        };
        Source::of_edited(&self.bytes, &self.format).quote(now, self.limits.quote_limit_chars)
    }

    fn quote(&self, content: Option<&Lines>) -> String {
        content.map(|lines| lines.quote(self.limits.quote_limit_chars)).unwrap_or_default()
    }

    /// Applies the pending splices.
    fn flush(&mut self) -> Result<(), EditError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.pending);
        splice::sort(&mut pending);
        if let Some((one, other)) = splice::overlap(&pending) {
            return Err(self.conflict(&pending[one], &pending[other]));
        }
        self.splice(&pending)
    }

    /// Puts sorted, disjoint splices into the text.
    fn splice(&mut self, pending: &[Splice<'_>]) -> Result<(), EditError> {
        self.work.spend(STEPS_OF_A_PASS + self.bytes.len() as u64 / 16).map_err(EditError::of_call)?;
        let base = Source::of_edited(&self.bytes, &self.format);
        let (bytes, map) = splice::splice(&base, &self.format, pending)?;
        let limit_bytes = self.limits.result_limit_bytes.max(self.original.bytes().len());
        if bytes.len() > limit_bytes {
            return Err(EditError::of_call(EditErrorKind::ResultTooLarge { limit_bytes }));
        }
        self.bytes = bytes;
        self.total_lines = map.new_lines();
        let touched = pending.iter().map(|splice| (splice.old.clone(), splice.operation_index)).collect();
        self.record_step(Step { map, touched }).map_err(EditError::of_call)
    }

    fn conflict(&self, one: &Splice<'_>, other: &Splice<'_>) -> EditError {
        let (first, second) =
            if one.operation_index < other.operation_index { (one, other) } else { (other, one) };
        let conflict = Conflict {
            first: first.operation_index,
            second: second.operation_index,
            lines: named_lines(&second.addressed, self.original.total_lines()),
            first_text: self.quote(first.content),
            second_text: self.quote(second.content),
        };
        EditError::of(second.operation_index, EditErrorKind::Conflict(Box::new(conflict)))
    }

    fn regex(
        &mut self,
        operation_index: usize,
        pattern: &str,
        replacement: &str,
        flags: &str,
    ) -> Result<(), EditError> {
        self.work.spend(STEPS_OF_A_PASS).map_err(|kind| EditError::of(operation_index, kind))?;
        let base = Source::of_edited(&self.bytes, &self.format);
        let (format, limits, work) = (&self.format, self.limits, &mut self.work);
        let replaced = Pattern::parse(pattern, flags, limits)
            .and_then(|pattern| regex_edit::replace(&base, format, &pattern, replacement, limits, work))
            .map_err(|kind| EditError::of(operation_index, kind))?;
        self.replaced(operation_index, replaced)
    }

    /// Adopts the bytes that an operation produced.
    fn replaced(&mut self, operation_index: usize, replaced: Replaced) -> Result<(), EditError> {
        let limit_bytes = self.limits.result_limit_bytes.max(self.original.bytes().len());
        if replaced.bytes.len() > limit_bytes {
            return Err(EditError::of_call(EditErrorKind::ResultTooLarge { limit_bytes }));
        }
        let hunks = replaced.map.hunks();
        self.outcomes.push(Outcome {
            removed_lines: hunks.iter().map(|hunk| hunk.old.len()).sum(),
            added_lines: hunks.iter().map(|hunk| hunk.new.len()).sum(),
            replacements: replaced.replacements,
            matches: replaced.matches,
        });
        let touched = hunks.iter().map(|hunk| (hunk.old.clone(), operation_index)).collect();
        self.bytes = replaced.bytes;
        self.total_lines = replaced.map.new_lines();
        self.record_step(Step { map: replaced.map, touched })
            .map_err(|kind| EditError::of(operation_index, kind))
    }

    /// Records a step. The bound on hunks also bounds the memory of all steps.
    fn record_step(&mut self, step: Step) -> Result<(), EditErrorKind> {
        let is_first = self.steps.is_empty();
        self.hunk_count += step.map.hunks().len();
        if self.hunk_count > self.limits.hunk_limit && !is_first {
            return Err(EditErrorKind::TooManyStretches { limit: self.limits.hunk_limit });
        }
        self.steps.push(step);
        Ok(())
    }

    /// Returns the map from the original text to the present one.
    fn map(&self) -> LineMap {
        let identity = LineMap::identity(self.original.total_lines());
        self.steps.iter().fold(identity, |map, step| map.compose(&step.map))
    }

    fn finish(self) -> Edited {
        let map = self.map();
        let new = Source::of_edited(&self.bytes, &self.format);
        let line_map = map.trimmed(self.original, &new);
        Edited { bytes: self.bytes, line_map, outcomes: self.outcomes, texts: self.texts }
    }
}

impl Step {
    /// Returns the operation that touched these lines, or the lines around this gap.
    fn toucher(&self, lines: &Range<usize>) -> usize {
        self.touched
            .iter()
            .filter(|(touched, _)| touched.start < lines.end && lines.start < touched.end)
            .map(|(_, operation_index)| *operation_index)
            .min()
            .expect("lines that a step does not keep were touched by one of its operations")
    }
}

/// Returns lines as messages name them: 1-based, and for a gap the lines on both sides of it.
fn named_lines(lines: &Range<usize>, total_lines: usize) -> RangeInclusive<usize> {
    if lines.is_empty() {
        lines.start.max(1)..=(lines.start + 1).min(total_lines).max(1)
    } else {
        lines.start + 1..=lines.end
    }
}

impl Operation {
    /// The lines that a line operation addresses in a text of `total_lines` lines, as 0-based half-open line
    /// indexes; empty for an insertion. A regular expression addresses none.
    pub(crate) fn addressed_lines(&self, total_lines: usize) -> Result<Range<usize>, EditErrorKind> {
        match *self {
            Self::Replace { start_line, end_line, .. }
            | Self::Delete { start_line, end_line }
            | Self::ReplaceText { within: Some((start_line, end_line)), .. } => {
                let invalid = EditErrorKind::InvalidRange { start_line, end_line, total_lines };
                let (Ok(first), Ok(last)) = (usize::try_from(start_line), usize::try_from(end_line)) else {
                    return Err(invalid);
                };
                if first == 0 || last < first || first > total_lines {
                    return Err(invalid);
                }
                Ok(first - 1..last.min(total_lines))
            }
            Self::Insert { after_line, .. } => match usize::try_from(after_line) {
                Ok(after) => Ok(after.min(total_lines)..after.min(total_lines)),
                Err(_) => Err(EditErrorKind::InvalidPosition { after_line, total_lines }),
            },
            Self::ReplaceText { within: None, .. } | Self::RegexReplace { .. } => Ok(0..0),
        }
    }
}
