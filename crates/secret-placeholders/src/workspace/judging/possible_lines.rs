//! The lines that the numbers of an edit can refer to in a file that has changed since it was shown.
//!
//! Only the engine has the map by which it converts the numbers to the current file. Lines that it accepts have the
//! same text as in the version that the numbers refer to, so an edit is judged at all lines with that text.

use std::cell::{LazyCell, RefCell};
use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use memchr::memmem;
use text_edit::Source;
use wap_core::{FileVersion, LineNumbers, ModifyFile, ModifyOperation};

/// The maximum number of edits per request that are judged: each is applied to the whole file.
const MOST_EDITS: usize = 16;

/// The lines of the operations of an edit, 0-based and half-open; `None` for an operation whose numbers refer to the
/// current file.
pub(super) type Lines = Vec<Option<Range<usize>>>;

/// Returns the request with its operations on other lines.
pub(super) fn at_lines(request: &ModifyFile, lines: &Lines) -> ModifyFile {
    let operations = request.operations.iter().zip(lines);
    let moved = operations.map(|(operation, lines)| match lines {
        Some(lines) => operation.moved_to(lines),
        None => operation.clone(),
    });
    ModifyFile { operations: moved.collect(), ..request.clone() }
}

/// The current text of a file, and its earlier ones.
pub(super) struct Texts<'a> {
    pub(super) text: &'a str,
    /// The version of the text; `None` for a file that is shown in a different form.
    pub(super) version: Option<&'a FileVersion>,
    /// Returns the text of an earlier version; `None` if it is unknown.
    pub(super) earlier: &'a dyn Fn(&FileVersion) -> Option<Arc<str>>,
}

impl Texts<'_> {
    /// Returns the lines of each edit that an engine may derive from a restored request; `None` if they cannot be
    /// determined, or are too many. There is at least one.
    pub(super) fn possible_lines(&self, request: &ModifyFile) -> Option<Vec<Lines>> {
        let is_now = |version: &&FileVersion| Some(*version) == self.version;
        let is_plain = |index| request.meant_versions(index).iter().all(is_now);
        let mut edits: Vec<Lines> = vec![Vec::new()];
        // Operations in turn are carried out only if all lines up to the last number are unchanged.
        let in_turn = request.line_numbers == Some(LineNumbers::InTurn) && request.operations.len() > 1;
        let lines = LinesByVersion::new(self);
        for (index, operation) in request.operations.iter().enumerate() {
            let possible = match operation.addressed_lines() {
                None => vec![None],
                Some(_) if in_turn && !request.is_unseen() => vec![None],
                // Then only the text of a line counts, and it is compared with the current file.
                Some(_) if is_plain(index) && (!request.is_unseen() || operation.was().is_some()) => {
                    vec![None]
                }
                Some(addressed) => match self.of_one(request, index, addressed, &lines) {
                    Some(possible) => possible,
                    // It searches for its text as well.
                    None if matches!(operation, ModifyOperation::ReplaceText { .. }) => vec![None],
                    None => return None,
                },
            };
            if possible.is_empty() || edits.len() * possible.len() > MOST_EDITS {
                return None;
            }
            let with_each = |edit: Lines| {
                possible.iter().map(move |lines| edit.iter().chain([lines]).cloned().collect::<Lines>())
            };
            edits = edits.into_iter().flat_map(with_each).collect();
        }
        Some(edits)
    }

    /// Returns the possible lines of one operation with numbers of an earlier version.
    fn of_one(
        &self,
        request: &ModifyFile,
        index: usize,
        (first, last): (i64, i64),
        lines: &LinesByVersion<'_>,
    ) -> Option<Vec<Option<Range<usize>>>> {
        let current = lines.current.as_ref()?;
        let operation = &request.operations[index];
        let is_insertion = matches!(operation, ModifyOperation::Insert { .. });
        let (first, last) = (usize::try_from(first).ok()?, usize::try_from(last).ok()?);
        let same = if is_insertion { first..first } else { first.checked_sub(1)?..last };
        let mut possible: Vec<Range<usize>> = Vec::new();
        let (mut is_unknown, mut may_be_same) = (request.is_unseen(), false);
        for version in request.meant_versions(index) {
            if Some(version) == self.version {
                may_be_same = true;
                possible.push(same.clone());
                continue;
            }
            match lines.earlier(version) {
                Some(earlier) => possible.extend(current.lines_like(&earlier, &same, is_insertion)?),
                None => is_unknown = true,
            }
        }
        if let Some(was) = operation.was() {
            if is_unknown {
                let starts = current.starts_of_line(was)?;
                possible.extend(starts.into_iter().map(|start| match is_insertion {
                    true => start + 1..start + 1,
                    false => start..start + same.len(),
                }));
            }
            possible.retain(|lines| {
                let line = if is_insertion { lines.start.checked_sub(1) } else { Some(lines.start) };
                line.and_then(|line| current.line(line)).is_some_and(|line| line.trim() == was.trim())
            });
        } else if is_unknown {
            // The current version applies, unless the engine can choose other lines because they contain a line of the
            // new content.
            if !may_be_same || request.is_unseen() || same.end > current.starts.len() {
                return None;
            }
            if let ModifyOperation::Replace { new_content, .. } = operation {
                possible.extend(current.lines_with_any_of(new_content, same.len())?);
            }
        }
        let mut distinct: Vec<Option<Range<usize>>> = Vec::new();
        for lines in possible {
            let lines = (lines != same).then_some(lines);
            if !distinct.contains(&lines) {
                distinct.push(lines);
            }
        }
        Some(distinct)
    }
}

/// The lines of the current text and of earlier ones, each computed once.
struct LinesByVersion<'a> {
    texts: &'a Texts<'a>,
    current: LazyCell<Option<PlainLines>, Box<dyn FnOnce() -> Option<PlainLines> + 'a>>,
    earlier: RefCell<Vec<(FileVersion, Option<Rc<PlainLines>>)>>,
}

impl<'a> LinesByVersion<'a> {
    fn new(texts: &'a Texts<'a>) -> LinesByVersion<'a> {
        let current = LazyCell::new(Box::new(|| PlainLines::of(texts.text)) as Box<dyn FnOnce() -> _>);
        LinesByVersion { texts, current, earlier: RefCell::default() }
    }

    fn earlier(&self, version: &FileVersion) -> Option<Rc<PlainLines>> {
        let mut earlier = self.earlier.borrow_mut();
        if let Some((_, lines)) = earlier.iter().find(|(other, _)| other == version) {
            return lines.clone();
        }
        let lines = (self.texts.earlier)(version).and_then(|text| PlainLines::of(&text)).map(Rc::new);
        earlier.push((version.clone(), lines.clone()));
        lines
    }
}

/// The lines of a text, each delimited by two line feeds.
struct PlainLines {
    text: String,
    /// The start of each line.
    starts: Vec<usize>,
}

impl PlainLines {
    /// Returns the lines of a text as an engine counts them; `None` for a text that cannot be edited.
    fn of(text: &str) -> Option<PlainLines> {
        let source = Source::parse(text.as_bytes()).ok()?;
        let mut lines = PlainLines { text: String::with_capacity(text.len() + 2), starts: Vec::new() };
        lines.text.push('\n');
        for line in (1..=source.total_lines()).map_while(|number| source.line_text(number)) {
            lines.starts.push(lines.text.len());
            lines.text.push_str(&line);
            lines.text.push('\n');
        }
        Some(lines)
    }

    fn line(&self, index: usize) -> Option<&str> {
        let start = *self.starts.get(index)?;
        self.text[start..].split('\n').next()
    }

    /// Returns the lines with the same text as lines of an earlier text; `None` if there are too many. An insertion
    /// stays after the same line.
    fn lines_like(
        &self,
        earlier: &PlainLines,
        lines: &Range<usize>,
        is_insertion: bool,
    ) -> Option<Vec<Range<usize>>> {
        let total = earlier.starts.len();
        if is_insertion && (lines.start == 0 || lines.start > total) {
            let at = if lines.start == 0 { 0 } else { self.starts.len() };
            return Some(iter::once(at..at).collect());
        }
        let compared =
            if is_insertion { lines.start - 1..lines.start } else { lines.start..lines.end.min(total) };
        if compared.is_empty() {
            return Some(Vec::new());
        }
        let end = earlier.starts.get(compared.end).copied().unwrap_or(earlier.text.len());
        let starts = self.starts_of(&earlier.text[earlier.starts[compared.start] - 1..end])?;
        let range = |start: usize| match is_insertion {
            true => start + 1..start + 1,
            false => start..start + compared.len(),
        };
        Some(starts.into_iter().map(range).collect())
    }

    /// Returns the lines at which a text of whole lines occurs, which has a line feed at both ends; `None` if there are
    /// too many.
    fn starts_of(&self, text: &str) -> Option<Vec<usize>> {
        let finder = memmem::Finder::new(text.as_bytes());
        let (mut starts, mut from) = (Vec::new(), 0);
        while let Some(at) = finder.find(&self.text.as_bytes()[from..]) {
            from += at + 1;
            starts.push(self.starts.partition_point(|start| *start < from));
            if starts.len() > MOST_EDITS {
                return None;
            }
        }
        Some(starts)
    }

    /// Returns the lines that equal a text apart from surrounding whitespace; `None` if there are too many.
    fn starts_of_line(&self, text: &str) -> Option<Vec<usize>> {
        let text = text.trim();
        let finder = memmem::Finder::new(text.as_bytes());
        let (mut starts, mut from) = (Vec::new(), 0);
        // Each line is examined once.
        while let Some(at) = self.text.as_bytes().get(from..).and_then(|rest| finder.find(rest)) {
            let index = self.starts.partition_point(|start| *start <= from + at).saturating_sub(1);
            starts.extend(self.line(index).filter(|line| line.trim() == text).map(|_| index));
            if starts.len() > MOST_EDITS {
                return None;
            }
            let Some(next) = self.starts.get(index + 1) else { break };
            from = *next;
        }
        starts.dedup();
        Some(starts)
    }

    /// Returns the ranges of `count` lines that contain a line of `content` which occurs once in the file; `None` if
    /// there are too many.
    fn lines_with_any_of(&self, content: &str, count: usize) -> Option<Vec<Range<usize>>> {
        let lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut indexes: HashMap<&str, Vec<usize>> = lines.map(|line| (line, Vec::new())).collect();
        for (index, line) in self.text.lines().skip(1).enumerate() {
            if let Some(at) = indexes.get_mut(line.trim()) {
                at.push(index);
            }
        }
        let mut ranges = Vec::new();
        // An engine ignores lines that occur more often.
        for at in indexes.into_values().filter(|at| at.len() == 1).map(|at| at[0]) {
            let first = (at + 1).saturating_sub(count);
            ranges.extend((first..=at).map(|start| start..start + count));
            if ranges.len() > MOST_EDITS {
                return None;
            }
        }
        ranges.retain(|lines| lines.end <= self.starts.len());
        Some(ranges)
    }
}
