//! The position of a chunk in a file, by the matching that the engine uses for edits by text.

use std::ops::Range;

use text_edit::{MatchRule, NoMatch, SearchText, Source, find_text, first_difference};

use crate::parse::Chunk;

/// Blanks are the only difference that a line after `@@` may have.
const BLANKS: [MatchRule; 3] = [MatchRule::TrailingBlanks, MatchRule::Indentation, MatchRule::TabsAndBlanks];

/// The lines of a file, to be searched.
pub(crate) struct Lines<'a> {
    lines: &'a [String],
    text: String,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(lines: &'a [String]) -> Lines<'a> {
        Lines { lines, text: lines.iter().map(|line| format!("{line}\n")).collect() }
    }

    fn source(&self) -> Result<Source<'_>, String> {
        Source::parse(self.text.as_bytes()).map_err(|error| error.to_string())
    }

    /// Finds the line after `@@`, at or below `from`. Models write it without the blanks before it.
    ///
    /// # Errors
    ///
    /// A description of the file's lines, for the model.
    pub(crate) fn anchor(&self, anchor: &str, from: usize) -> Result<usize, String> {
        let source = self.source()?;
        let from = from.min(self.lines.len());
        let search = SearchText::of_lines(anchor);
        match find_text(&source, &search, &BLANKS, Some(from..self.lines.len())) {
            Ok(passage) => Ok(passage.lines.start() - 1),
            Err(NoMatch::Occurs { line_numbers, .. }) => Err(format!(
                "the line after @@ stands at the lines {}: {anchor:?}; put a line above it on an @@ line before",
                numbers(&line_numbers)
            )),
            Err(_) => Err(format!("the line after @@ is not there below line {from}: {anchor:?}")),
        }
    }

    /// Finds the line index at which a chunk's lines occur, at or below `from`.
    ///
    /// # Errors
    ///
    /// A description of the file's lines, for the model.
    pub(crate) fn position(&self, chunk: &Chunk, from: usize) -> Result<usize, String> {
        let (old, end) = (&chunk.old, self.lines.len());
        if old.is_empty() {
            // Right below its anchor, else at the end.
            return Ok(if chunk.anchors.is_empty() || chunk.is_at_end { end } else { from });
        }
        let source = self.source()?;
        let start = if chunk.is_at_end { end.saturating_sub(old.len()).max(from) } else { from }.min(end);
        match find_text(&source, &search(old), &MatchRule::STRICT, Some(start..end)) {
            Ok(passage) => Ok(passage.lines.start() - 1),
            // The anchor says which of them is meant: the first below it.
            Err(NoMatch::Occurs { line_numbers, .. }) if !chunk.anchors.is_empty() => Ok(line_numbers[0] - 1),
            Err(NoMatch::Occurs { line_numbers, .. }) => Err(format!(
                "its lines stand more than once, at the lines {}: say with `@@ line` below which line, or add lines \
                 around them",
                numbers(&line_numbers)
            )),
            Err(NoMatch::Empty) => self.blank_line(start..end),
            Err(absent @ (NoMatch::Absent { .. } | NoMatch::NoAnchor { .. })) => {
                Err(self.absence(&source, chunk, start..end, from, &absent))
            }
        }
    }

    /// Finds the only blank line: one that the matching does not look for, because it says nothing about a position.
    fn blank_line(&self, scope: Range<usize>) -> Result<usize, String> {
        let blank: Vec<usize> = scope.filter(|index| self.lines[*index].is_empty()).collect();
        match blank[..] {
            [only] => Ok(only),
            _ => Err("a blank line alone does not say where: add lines around it".to_owned()),
        }
    }

    /// Names the first line that differs from the file's lines at `at`, if all of them differ in blanks only.
    fn blanks(&self, old: &[String], at: usize) -> Option<String> {
        let present = self.lines.get(at..at + old.len())?;
        let difference = first_difference(old, present)
            .filter(|_| old.iter().zip(present).all(|(old, line)| old.trim() == line.trim()))?;
        let (line, expected, present) =
            (at + difference.line_index + 1, difference.expected?, difference.present?);
        Some(format!(
            "its lines differ in blanks: line {line} of the file is {present:?}, the patch has {expected:?}"
        ))
    }

    /// Explains why a chunk's lines do not occur.
    fn absence(
        &self,
        source: &Source<'_>,
        chunk: &Chunk,
        scope: Range<usize>,
        from: usize,
        absent: &NoMatch,
    ) -> String {
        let (old, end) = (&chunk.old, self.lines.len());
        let loose = find_text(source, &search(old), &BLANKS, Some(scope)).ok().map(|passage| passage.lines);
        let nearest = match absent {
            NoMatch::Absent { nearest, .. } => nearest.as_ref().map(|nearest| nearest.lines.clone()),
            _ => None,
        };
        if let Some(why) = loose.or(nearest).and_then(|passage| self.blanks(old, passage.start() - 1)) {
            return why;
        }
        if let Some(line) = first_line(source, &chunk.new, 0..end) {
            return format!("its lines are not there; the new lines are at line {line} already");
        }
        let above = (from + old.len()).saturating_sub(1).min(end);
        if first_line(source, old, 0..above).is_some() {
            let line = from + 1;
            return format!(
                "its lines stand above line {line} only: chunks go from the top of a file to its end"
            );
        }
        match absent {
            _ if chunk.is_at_end => {
                "its lines are not the last ones of the file: read the file again".to_owned()
            }
            NoMatch::Absent { nearest: Some(nearest), .. } => format!(
                "its lines are not there; most like them is {nearest}: read the file again and copy them as they are"
            ),
            _ => "its lines are not there: read the file again and copy them as they are".to_owned(),
        }
    }
}

/// Returns the number of the first line at which some lines stand.
fn first_line(source: &Source<'_>, lines: &[String], scope: Range<usize>) -> Option<usize> {
    if lines.is_empty() {
        return None;
    }
    match find_text(source, &search(lines), &MatchRule::STRICT, Some(scope)) {
        Ok(passage) => Some(*passage.lines.start()),
        Err(NoMatch::Occurs { line_numbers, .. }) => line_numbers.first().copied(),
        Err(_) => None,
    }
}

fn search(lines: &[String]) -> SearchText {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    SearchText::of_lines(&text)
}

fn numbers(line_numbers: &[usize]) -> String {
    line_numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
