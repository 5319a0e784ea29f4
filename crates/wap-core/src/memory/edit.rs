//! Changes of lines: all operations of a call or none.

use std::collections::BTreeMap;

use super::line_map::LineMap;
use super::lines::{Excerpt, content_lines, dominant_ending, split, without_ending};
use super::replacement;
use super::tree::version_of;
use crate::{ModifyOperation, Reason, RegexReplacements, WapError};

/// Content that is longer than this without a NUL is text.
const BINARY_PROBE_BYTES: usize = 8_192;

/// The byte-order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A file that is going to be changed.
pub(super) struct Edit<'a> {
    /// Canonical path, for error texts.
    pub(super) path: &'a str,
    /// What the file holds.
    pub(super) current: &'a [u8],
    /// What the file held when its lines were numbered.
    pub(super) numbered: &'a [u8],
    /// Where the numbered lines are now.
    pub(super) since: LineMap,
}

/// A file after its change.
pub(super) struct Edited {
    pub(super) bytes: Vec<u8>,
    /// From the lines before the call to those after it.
    pub(super) map: LineMap,
    /// What the regular expressions did.
    pub(super) replacements: Vec<RegexReplacements>,
}

impl Edit<'_> {
    /// Applies operations in order; line numbers mean the numbered content whatever was applied before.
    pub(super) fn apply(&self, operations: &[ModifyOperation]) -> Result<Edited, WapError> {
        check_text(self.path, self.current)?;
        if operations.is_empty() {
            let error = WapError::new(Reason::InvalidField, "there are no operations");
            return Err(error.with("field", "operations"));
        }
        let mut text = self.current.to_vec();
        let mut numbers = self.since.clone();
        let mut map = LineMap::identity(split(self.current).len());
        let is_regex =
            |operation: &ModifyOperation| matches!(operation, ModifyOperation::RegexReplace { .. });
        let mut replacements = Vec::new();
        let mut index = 0;
        for group in operations.chunk_by(|left, right| !is_regex(left) && !is_regex(right)) {
            let (bytes, step) = match &group[0] {
                ModifyOperation::RegexReplace { pattern, replacement, flags } => {
                    let (bytes, replaced, matches) =
                        replacement::replace(&text, pattern, replacement, flags.as_deref())?;
                    let operation = index as u64 + 1;
                    replacements.push(RegexReplacements { operation, replaced, matches });
                    let step = LineMap::between(&split(&text), &split(&bytes));
                    (bytes, step)
                }
                _ => self.apply_lines(&text, &numbers, group)?,
            };
            (numbers, map, text) = (numbers.then(&step), map.then(&step), bytes);
            index += group.len();
        }
        Ok(Edited { bytes: text, map, replacements })
    }

    /// Applies operations in order; line numbers mean what the operations before have made of the content.
    pub(super) fn apply_in_turn(&self, operations: &[ModifyOperation]) -> Result<Edited, WapError> {
        if self.numbered != self.current {
            return Err(self.conflict("it has changed since its lines were shown", (1, 1)));
        }
        let map = LineMap::identity(split(self.current).len());
        let mut edited = Edited { bytes: self.current.to_vec(), map, replacements: Vec::new() };
        for (index, operation) in operations.iter().enumerate() {
            let since = LineMap::identity(split(&edited.bytes).len());
            let next = Edit { path: self.path, current: &edited.bytes, numbered: &edited.bytes, since };
            let next = next.apply(std::slice::from_ref(operation))?;
            let numbered = next.replacements.into_iter();
            edited.replacements.extend(
                numbered.map(|replaced| RegexReplacements { operation: index as u64 + 1, ..replaced }),
            );
            (edited.map, edited.bytes) = (edited.map.then(&next.map), next.bytes);
        }
        Ok(edited)
    }

    /// Applies operations that name lines to one text, in which `numbers` tells the numbered lines' places.
    fn apply_lines(
        &self,
        text: &[u8],
        numbers: &LineMap,
        operations: &[ModifyOperation],
    ) -> Result<(Vec<u8>, LineMap), WapError> {
        let mut patch = Patch::default();
        for operation in operations {
            let fits = match operation {
                ModifyOperation::Replace { start_line, end_line, new_content, .. } => {
                    let (first, last) = self.place_range(numbers, *start_line, *end_line)?;
                    patch.replace(first, last, content_lines(new_content))
                }
                ModifyOperation::Delete { start_line, end_line, .. } => {
                    let (first, last) = self.place_range(numbers, *start_line, *end_line)?;
                    patch.replace(first, last, Vec::new())
                }
                ModifyOperation::Insert { after_line, new_content, .. } => {
                    let place = self.place_insertion(numbers, *after_line, split(text).len())?;
                    patch.insert(place, content_lines(new_content))
                }
                ModifyOperation::RegexReplace { .. } => {
                    unreachable!("a group of line operations has no regex")
                }
            };
            if !fits {
                return Err(self.conflict("two operations touch the same lines", numbered_lines(operation)));
            }
        }
        Ok(patch.apply(text))
    }

    /// Returns the indexes of the first and last line that a numbered range addresses.
    fn place_range(&self, numbers: &LineMap, start: i64, end: i64) -> Result<(usize, usize), WapError> {
        let total = numbers.len();
        let first = usize::try_from(start).ok().filter(|first| (1..=total).contains(first));
        let (Some(first), true) = (first, end >= start) else {
            let text = format!("invalid line range {start}-{end} for a file with {total} lines");
            return Err(self.with_current(WapError::new(Reason::InvalidRange, text), (start, end)));
        };
        let last = usize::try_from(end).map_or(total, |last| last.min(total));
        let places: Option<Vec<usize>> = (first - 1..last).map(|index| numbers.place(index)).collect();
        match places {
            Some(places) if places.windows(2).all(|pair| pair[0] + 1 == pair[1]) => {
                Ok((places[0], places[places.len() - 1]))
            }
            _ => Err(self.conflict("the addressed lines have changed", (start, end))),
        }
    }

    /// Returns the index of the line before which an insertion after a numbered line goes.
    fn place_insertion(&self, numbers: &LineMap, after: i64, lines_now: usize) -> Result<usize, WapError> {
        let total = numbers.len();
        let Ok(after) = usize::try_from(after) else {
            let text = format!("cannot insert after line {after} of a file with {total} lines");
            return Err(self.with_current(WapError::new(Reason::InvalidRange, text), (after, after)));
        };
        if after == 0 {
            return Ok(0);
        }
        let before = numbers.place(after.min(total).wrapping_sub(1)).map(|place| place + 1);
        let place = if after > total { before.or(Some(lines_now)) } else { before };
        place.or_else(|| numbers.place(after)).ok_or_else(|| {
            let line = i64::try_from(after).unwrap_or(i64::MAX);
            self.conflict("the line to insert after has changed", (line, line))
        })
    }

    fn conflict(&self, what: &str, (start, end): (i64, i64)) -> WapError {
        let error = WapError::new(Reason::Conflict, format!("'{}' was not changed: {what}", self.path));
        let numbered = split(self.numbered);
        let line = |number: i64| usize::try_from(number).unwrap_or(1).clamp(1, numbered.len().max(1));
        let expected = Excerpt::of(&numbered, line(start), line(end));
        let error =
            error.with("expectedText", expected.text).with("expectedVersion", version_of(self.numbered).0);
        self.with_current(error, (start, end))
    }

    /// Adds the current text around the place that a range of numbered lines has now.
    fn with_current(&self, error: WapError, (start, end): (i64, i64)) -> WapError {
        let index = |number: i64| usize::try_from(number - 1).unwrap_or(0);
        let first = self.since.place_near(index(start)) + 1;
        let last = self.since.place_near(index(end.max(start))) + 1;
        with_current_text(error, self.current, first, last).with("totalLines", split(self.numbered).len())
    }
}

/// Adds the current text around some lines (1-based), with its version and the number of lines.
pub(super) fn with_current_text(error: WapError, current: &[u8], first: usize, last: usize) -> WapError {
    let lines = split(current);
    let excerpt = Excerpt::around(&lines, first, last);
    error
        .with("currentText", excerpt.text)
        .with("currentFirstLine", excerpt.first)
        .with("currentLastLine", excerpt.last)
        .with("currentVersion", version_of(current).0)
        .with("totalLines", lines.len())
}

/// Refuses what is not text: a NUL near the start, or UTF-16.
pub(super) fn check_text(path: &str, bytes: &[u8]) -> Result<(), WapError> {
    let probe = &bytes[..bytes.len().min(BINARY_PROBE_BYTES)];
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let text = format!("'{path}' is UTF-16, which the workspace in memory does not read");
        return Err(WapError::new(Reason::BinaryFile, text));
    }
    if probe.contains(&0) {
        return Err(WapError::new(Reason::BinaryFile, format!("'{path}' is a binary file")));
    }
    Ok(())
}

/// The lines that an operation names, for an error about it.
fn numbered_lines(operation: &ModifyOperation) -> (i64, i64) {
    match operation {
        ModifyOperation::Replace { start_line, end_line, .. }
        | ModifyOperation::Delete { start_line, end_line, .. } => (*start_line, *end_line),
        ModifyOperation::Insert { after_line, .. } => (*after_line, *after_line),
        ModifyOperation::RegexReplace { .. } => (1, 1),
    }
}

/// What several operations do to one text, by the indexes of its lines.
#[derive(Default)]
struct Patch<'a> {
    /// First line to the last one and what stands in their place; the ranges do not overlap.
    replaced: BTreeMap<usize, (usize, Vec<&'a str>)>,
    /// What goes before a line; not between two lines that are replaced together.
    inserted: BTreeMap<usize, Vec<&'a str>>,
}

impl<'a> Patch<'a> {
    /// Adds a replacement; false if it touches what was added before.
    fn replace(&mut self, first: usize, last: usize, content: Vec<&'a str>) -> bool {
        let overlaps = self.replaced.iter().any(|(other, (end, _))| *other <= last && first <= *end);
        let splits = self.inserted.keys().any(|place| first < *place && *place <= last);
        if !overlaps && !splits {
            self.replaced.insert(first, (last, content));
        }
        !overlaps && !splits
    }

    /// Adds an insertion before a line; false if that is within a replacement.
    fn insert(&mut self, place: usize, content: Vec<&'a str>) -> bool {
        let within = self.replaced.iter().any(|(first, (last, _))| *first < place && place <= *last);
        if !within {
            self.inserted.entry(place).or_default().extend(content);
        }
        !within
    }

    fn apply(&self, text: &[u8]) -> (Vec<u8>, LineMap) {
        // A byte-order mark belongs to no line. A text of nothing else has one line, as everywhere.
        let mark = if text.len() > MARK.len() && text.starts_with(MARK) { MARK } else { b"" };
        let lines = split(&text[mark.len()..]);
        let ending = dominant_ending(&lines);
        let open_end = lines.last().is_some_and(|line| !line.ends_with(b"\n"));
        let mut out: Vec<Vec<u8>> = Vec::new();
        let mut places = vec![None; lines.len()];
        let ended = |line: &[u8]| [line, ending].concat();
        let mut index = 0;
        loop {
            let inserted = self.inserted.get(&index).into_iter().flatten();
            out.extend(inserted.map(|line| ended(line.as_bytes())));
            let Some(line) = lines.get(index) else { break };
            if let Some((last, content)) = self.replaced.get(&index) {
                out.extend(content.iter().map(|line| ended(line.as_bytes())));
                index = last + 1;
            } else {
                places[index] = Some(out.len());
                out.push(if line.ends_with(b"\n") { line.to_vec() } else { ended(line) });
                index += 1;
            }
        }
        // A text without a final newline stays one.
        if let Some(last) = out.last_mut().filter(|_| open_end) {
            *last = without_ending(last).to_vec();
        }
        ([mark, &out.concat()].concat(), LineMap::new(places))
    }
}
