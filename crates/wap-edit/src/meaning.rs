//! The lines that the operations of a request mean, in the current text.

use std::borrow::Cow;
use std::ops::Range;

use text_edit::{Carried, EditLimits, ExcerptLimits, LineMap, Operation, Source, carry, excerpt, rebase};
use wap_core::{
    CarriedLines, FileVersion, LineConflict, LineDoubt, LineReading, LineSpan, ModifyOperation, Reason,
    WapError, choose_lines, doubt_text,
};

use crate::error::{CONTEXT_LINES, edit_error};
use crate::file_edit::{FileEdit, FindVersion, KnownVersion};

/// The operations of a request, in line numbers of the file as it is.
#[derive(Debug)]
pub(crate) struct Meant {
    pub operations: Vec<Operation>,
    pub carried: Vec<CarriedLines>,
}

/// The operations of a request whose line numbers are to be interpreted.
pub(crate) struct Meaning<'a> {
    pub edit: &'a FileEdit<'a>,
    /// The operations of the request as edits.
    pub operations: &'a [Operation],
}

impl Meaning<'_> {
    /// Whether the line numbers can only mean the file as it is, so that nothing needs to be found out.
    pub(crate) fn is_plain(&self) -> bool {
        let is_now = |index: usize| {
            self.edit.request.meant_versions(index).iter().all(|version| **version == self.edit.version)
        };
        let operations = self.edit.request.operations.iter().enumerate();
        !self.edit.request.is_unseen()
            && operations.clone().all(|(index, operation)| is_now(index) && operation.was().is_none())
    }

    /// Finds the lines of every operation.
    pub(crate) fn of_all(&self, find: &mut FindVersion<'_>) -> Result<Meant, WapError> {
        let mut known = KnownVersions { edit: self.edit, found: Vec::new(), find };
        let mut meant = Meant { operations: Vec::new(), carried: Vec::new() };
        for (index, operation) in self.edit.request.operations.iter().enumerate() {
            let edit = &self.operations[index];
            if operation.asked_lines().is_none() {
                meant.operations.push(edit.clone());
                continue;
            }
            let (asked, lines) = self.of_one(index, operation, &mut known)?;
            meant.operations.push(moved(edit, &lines));
            if asked != lines {
                let LineSpan { first, last } = named(operation, &lines);
                let operation = index as u64 + 1;
                let (first_line, last_line) = if last < first { (last, last) } else { (first, last) };
                meant.carried.push(CarriedLines { operation, first_line, last_line });
            }
        }
        Ok(meant)
    }

    /// Checks that operations which follow each other mean the same lines whatever version their numbers mean.
    pub(crate) fn check_in_turn(&self, find: &mut FindVersion<'_>) -> Result<(), WapError> {
        if self.edit.request.operations.iter().any(|operation| operation.was().is_some()) {
            let text =
                "`was` can be given for one operation of a call in this dialect: send one call for each";
            return Err(WapError::new(Reason::InvalidField, text).with("field", "operations"));
        }
        let lines = self.edit.request.operations.iter().filter_map(ModifyOperation::asked_lines);
        let last = usize::try_from(lines.map(|(_, last)| last).max().unwrap_or(0)).unwrap_or(0);
        let place = 0..last.min(self.edit.current.total_lines());
        let mut known = KnownVersions { edit: self.edit, found: Vec::new(), find };
        for (index, operation) in self.edit.request.operations.iter().enumerate() {
            if operation.asked_lines().is_none() {
                continue;
            }
            if self.edit.request.is_unseen() {
                return Err(self.conflict(LineDoubt::Unseen, index, &[place]));
            }
            for version in self.edit.request.meant_versions(index) {
                let Some(KnownVersion { map, .. }) = known.get(version)? else { continue };
                let is_kept =
                    map.hunks().first().is_none_or(|hunk| hunk.old.start >= last && hunk.new.start >= last);
                if !is_kept {
                    return Err(self.conflict(LineDoubt::TwoPlaces, index, &[place]));
                }
            }
        }
        Ok(())
    }

    /// The lines of an operation as they were asked and as they are.
    fn of_one(
        &self,
        index: usize,
        operation: &ModifyOperation,
        known: &mut KnownVersions<'_, '_>,
    ) -> Result<(Range<usize>, Range<usize>), WapError> {
        let edit = &self.operations[index];
        let total = self.edit.current.total_lines();
        let mut versions: Vec<Option<KnownVersion>> = Vec::new();
        for version in self.edit.request.meant_versions(index) {
            match known.get(version) {
                Ok(version) => versions.push(version),
                // What the file holds decides then.
                Err(_) if operation.was().is_some() => {}
                Err(error) => return Err(error),
            }
        }
        if versions.is_empty() {
            versions.push(None);
        }
        let identity = LineMap::identity(total);
        let carried: Vec<Carried> = versions
            .iter()
            .map(|version| carry(edit, version.as_ref().map_or(&identity, |version| &version.map)))
            .collect();
        let readings: Vec<LineReading> = carried.iter().map(reading).collect();
        let line = |index: usize| -> Option<Cow<'_, str>> { self.edit.current.line_text(index + 1) };
        let chosen = match choose_lines(&readings, operation, total, &line) {
            Ok(_) if self.edit.request.is_unseen() && operation.was().is_none() => Err(LineDoubt::Unseen),
            chosen => chosen,
        };
        match chosen {
            Ok(chosen) => {
                let asked = carried.into_iter().find_map(|carried| match carried {
                    Carried::Kept { addressed, now } if now == chosen => Some(addressed),
                    _ => None,
                });
                Ok((asked.unwrap_or_else(|| chosen.clone()), chosen))
            }
            Err(LineDoubt::Absent | LineDoubt::Changed) => {
                let at = readings.iter().position(|reading| *reading != LineReading::Absent).unwrap_or(0);
                Err(self.stale(index, versions[at].as_ref()))
            }
            Err(doubt) => {
                let mut places: Vec<Range<usize>> = Vec::new();
                for place in readings.iter().filter_map(LineReading::range) {
                    if !places.contains(place) {
                        places.push(place.clone());
                    }
                }
                Err(self.conflict(doubt, index, &places))
            }
        }
    }

    /// The refusal of an operation whose numbers mean one version, in which there are no such lines, or of which they
    /// have changed.
    fn stale(&self, index: usize, version: Option<&KnownVersion>) -> WapError {
        let identity = LineMap::identity(self.edit.current.total_lines());
        let shown = version.map(|version| Source::parse(&version.bytes)).and_then(Result::ok);
        let shown = shown.as_ref().unwrap_or(self.edit.current);
        let map = version.map_or(&identity, |version| &version.map);
        let operation = std::slice::from_ref(&self.operations[index]);
        match rebase(operation, shown, self.edit.current, map, &EditLimits::default()) {
            Err(error) => {
                let error = text_edit::EditError { operation_index: Some(index), ..error };
                edit_error(&error, self.edit.path, shown, self.edit.current, self.edit.version.clone())
            }
            Ok(_) => self.conflict(LineDoubt::Changed, index, &[]),
        }
    }

    fn conflict(&self, doubt: LineDoubt, index: usize, places: &[Range<usize>]) -> WapError {
        let operation = &self.edit.request.operations[index];
        let mut sorted: Vec<&Range<usize>> = places.iter().collect();
        sorted.sort_by_key(|place| place.start);
        let (mut text, mut shown) = (String::new(), Vec::<LineSpan>::new());
        for place in &sorted {
            let lines = place.start + 1..=place.end.max(place.start + 1);
            let piece = excerpt(self.edit.current, lines, CONTEXT_LINES, &ExcerptLimits::default());
            let (Some(first), Some(last)) = (piece.lines.first(), piece.lines.last()) else { continue };
            let span = LineSpan { first: first.line_number as u64, last: last.line_number as u64 };
            if !text.is_empty() {
                text.push_str("--\n");
            }
            text.push_str(&piece.to_string());
            shown.push(span);
        }
        let places: Vec<LineSpan> = sorted.into_iter().map(|place| named(operation, place)).collect();
        let (first, last) = operation.asked_lines().unwrap_or_default();
        let asked = match first == last {
            true => format!("line {first}"),
            false => format!("lines {first}-{last}"),
        };
        let message = format!("'{}': {}", self.edit.path, doubt_text(doubt, &asked, &places));
        let error = WapError::new(Reason::Conflict, message)
            .with("path", self.edit.path)
            .with("currentText", text)
            .with("currentVersion", self.edit.version.0.as_str())
            .with("totalLines", self.edit.current.total_lines() as u64)
            .with("hint", "send the edit again with the line numbers of the text as it is now");
        let version = self.edit.version.clone();
        LineConflict { doubt, operation: index + 1, places, shown, version }.add_to(error)
    }
}

/// The versions that were looked for so far; none stands for the file as it is.
struct KnownVersions<'a, 'f> {
    edit: &'a FileEdit<'a>,
    found: Vec<(FileVersion, KnownVersion)>,
    find: &'a mut FindVersion<'f>,
}

impl KnownVersions<'_, '_> {
    fn get(&mut self, version: &FileVersion) -> Result<Option<KnownVersion>, WapError> {
        if *version == self.edit.version {
            return Ok(None);
        }
        if let Some((_, known)) = self.found.iter().find(|(found, _)| found == version) {
            return Ok(Some(known.clone()));
        }
        let known = (self.find)(version).ok_or_else(|| self.edit.version_gone(version))?;
        self.found.push((version.clone(), known.clone()));
        Ok(Some(known))
    }
}

fn reading(carried: &Carried) -> LineReading {
    match carried {
        Carried::Kept { now, .. } => LineReading::Kept(now.clone()),
        Carried::Changed { now } => LineReading::Changed(now.clone()),
        Carried::Absent => LineReading::Absent,
    }
}

/// The same edit on other lines.
fn moved(operation: &Operation, lines: &Range<usize>) -> Operation {
    let number = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
    let mut moved = operation.clone();
    match &mut moved {
        Operation::Replace { start_line, end_line, .. } | Operation::Delete { start_line, end_line } => {
            (*start_line, *end_line) = (number(lines.start + 1), number(lines.end));
        }
        Operation::Insert { after_line, .. } => *after_line = number(lines.start),
        Operation::RegexReplace { .. } => {}
    }
    moved
}

/// Lines as an operation numbers them: for an insertion the gap.
fn named(operation: &ModifyOperation, lines: &Range<usize>) -> LineSpan {
    let first = lines.start as u64 + 1;
    match operation {
        ModifyOperation::Insert { .. } => LineSpan { first, last: first - 1 },
        _ => LineSpan { first, last: lines.end as u64 },
    }
}
