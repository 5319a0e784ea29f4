//! Which lines the operations of a request mean, in the file as it is.

use std::borrow::Cow;
use std::ops::Range;

use super::edit::Edit;
use super::line_map::LineMap;
use super::lines::{Excerpt, split, without_ending};
use super::tree::{Tree, version_of};
use crate::{
    CarriedLines, FileVersion, LineConflict, LineDoubt, LineReading, LineSpan, ModifyFile, ModifyOperation,
    Reason, WapError, choose_lines, doubt_text,
};

/// The operations of a request, in line numbers of the file as it is.
pub(super) struct Meant {
    pub(super) operations: Vec<ModifyOperation>,
    pub(super) carried: Vec<CarriedLines>,
}

/// A file and a request to change it.
pub(super) struct Meaning<'a> {
    pub(super) tree: &'a Tree,
    pub(super) path: &'a str,
    pub(super) current: &'a [u8],
    pub(super) request: &'a ModifyFile,
}

/// The lines of an operation in the version that its numbers mean, and in the file as it is.
type AskedAndNow = (Range<usize>, Range<usize>);

/// What the numbers of an operation are read in.
struct Version<'a> {
    bytes: &'a [u8],
    since: LineMap,
}

impl<'a> Meaning<'a> {
    /// Finds the lines of every operation.
    pub(super) fn of_all(&self) -> Result<Meant, WapError> {
        let mut meant = Meant { operations: Vec::new(), carried: Vec::new() };
        for (index, operation) in self.request.operations.iter().enumerate() {
            let Some((asked, lines)) = self.of_one(index, operation)? else {
                meant.operations.push(operation.clone());
                continue;
            };
            meant.operations.push(operation.moved_to(&lines));
            if asked != lines {
                let LineSpan { first, last } = named(operation, &lines);
                let operation = index as u64 + 1;
                meant.carried.push(CarriedLines { operation, first_line: first, last_line: last });
            }
        }
        Ok(meant)
    }

    /// Checks that operations which follow each other mean the same lines whatever version their numbers mean.
    pub(super) fn check_in_turn(&self) -> Result<(), WapError> {
        if self.request.operations.iter().any(|operation| operation.was().is_some()) {
            let text =
                "`was` can be given for one operation of a call in this dialect: send one call for each";
            return Err(WapError::new(Reason::InvalidField, text).with("field", "operations"));
        }
        let lines = self.request.operations.iter().filter_map(ModifyOperation::asked_lines);
        let last = usize::try_from(lines.map(|(_, last)| last).max().unwrap_or(0)).unwrap_or(0);
        let total = split(self.current).len();
        let place = [Range { start: 0, end: last.min(total) }];
        for (index, operation) in self.request.operations.iter().enumerate() {
            if self.request.is_unseen() && operation.asked_lines().is_some() {
                return Err(self.conflict(LineDoubt::Unseen, index, operation, &place));
            }
            for version in self.request.meant_versions(index) {
                let Version { bytes, since } = self.version(version)?;
                let count = split(bytes).len();
                let keeps = (0..last.min(count)).all(|line| since.place(line) == Some(line));
                if !keeps || (last > count && count != total) {
                    return Err(self.conflict(LineDoubt::TwoPlaces, index, operation, &place));
                }
            }
        }
        Ok(())
    }

    /// The lines of an operation as they were asked and as they are; `None` for one without lines.
    fn of_one(&self, index: usize, operation: &ModifyOperation) -> Result<Option<AskedAndNow>, WapError> {
        if operation.asked_lines().is_none() {
            return Ok(None);
        }
        let lines = split(self.current);
        let mut versions = Vec::new();
        for version in self.request.meant_versions(index) {
            match self.version(version) {
                Ok(version) => versions.push(version),
                // What the file holds decides then.
                Err(_) if operation.was().is_some() => {}
                Err(error) => return Err(error),
            }
        }
        if versions.is_empty() {
            let since = LineMap::identity(lines.len());
            versions.push(Version { bytes: self.current, since });
        }
        let asked: Vec<Option<Range<usize>>> =
            versions.iter().map(|version| addressed(operation, split(version.bytes).len())).collect();
        let readings: Vec<LineReading> = versions
            .iter()
            .zip(&asked)
            .map(|(version, asked)| reading(asked.as_ref(), operation, &version.since, lines.len()))
            .collect();
        let text = |index: usize| -> Option<Cow<'_, str>> {
            Some(String::from_utf8_lossy(without_ending(lines.get(index)?)))
        };
        let chosen = match choose_lines(&readings, operation, lines.len(), &text) {
            Ok(_) if self.request.is_unseen() && operation.was().is_none() => Err(LineDoubt::Unseen),
            chosen => chosen,
        };
        match chosen {
            Ok(chosen) => {
                let found = readings.iter().position(|reading| *reading == LineReading::Kept(chosen.clone()));
                let asked = found.and_then(|index| asked[index].clone()).unwrap_or_else(|| chosen.clone());
                Ok(Some((asked, chosen)))
            }
            Err(LineDoubt::Absent | LineDoubt::Changed) => {
                // One version only is in question, and the edit itself words what is wrong.
                let at = readings.iter().position(|reading| *reading != LineReading::Absent).unwrap_or(0);
                let Version { bytes, since } = versions.swap_remove(at);
                let edit = Edit { path: self.path, current: self.current, numbered: bytes, since };
                let refused = edit.apply(std::slice::from_ref(operation)).err();
                Err(refused.unwrap_or_else(|| self.conflict(LineDoubt::Changed, index, operation, &[])))
            }
            Err(doubt) => {
                let mut places: Vec<Range<usize>> = Vec::new();
                for place in readings.iter().filter_map(LineReading::range) {
                    if !places.contains(place) {
                        places.push(place.clone());
                    }
                }
                Err(self.conflict(doubt, index, operation, &places))
            }
        }
    }

    fn version(&self, version: &FileVersion) -> Result<Version<'a>, WapError> {
        let known = self.tree.since(self.path, version);
        let (bytes, since) = known.ok_or_else(|| {
            let text = format!("'{}' was not changed: the expected version is not known", self.path);
            let error = WapError::new(Reason::Conflict, text).with("expectedVersion", version.0.clone());
            super::edit::with_current_text(error, self.current, 1, usize::MAX)
        })?;
        Ok(Version { bytes, since })
    }

    fn conflict(
        &self,
        doubt: LineDoubt,
        index: usize,
        operation: &ModifyOperation,
        places: &[Range<usize>],
    ) -> WapError {
        let lines = split(self.current);
        let mut text = String::new();
        let mut shown: Vec<LineSpan> = Vec::new();
        let mut sorted: Vec<&Range<usize>> = places.iter().collect();
        sorted.sort_by_key(|place| place.start);
        for place in &sorted {
            let excerpt = Excerpt::around(&lines, place.start + 1, place.end.max(place.start + 1));
            if !text.is_empty() {
                text.push_str("\n--\n");
            }
            text.push_str(&excerpt.text);
            shown.push(LineSpan { first: excerpt.first as u64, last: excerpt.last as u64 });
        }
        let places: Vec<LineSpan> = sorted.into_iter().map(|place| named(operation, place)).collect();
        let (first, last) = operation.asked_lines().unwrap_or_default();
        let asked = match first == last {
            true => format!("line {first}"),
            false => format!("lines {first}-{last}"),
        };
        let message = format!("'{}': {}", self.path, doubt_text(doubt, &asked, &places));
        let version = version_of(self.current);
        let error = WapError::new(Reason::Conflict, message)
            .with("path", self.path)
            .with("currentText", text)
            .with("currentVersion", version.0.clone())
            .with("totalLines", lines.len())
            .with("hint", "send the edit again with the line numbers of the text as it is now");
        LineConflict { doubt, operation: index + 1, places, shown, version }.add_to(error)
    }
}

/// The lines of an operation in a text, 0-based and half-open; `None` if there are none of these numbers.
fn addressed(operation: &ModifyOperation, total: usize) -> Option<Range<usize>> {
    let (first, last) = operation.asked_lines()?;
    let (first, last) = (usize::try_from(first).ok()?, usize::try_from(last).ok()?);
    if matches!(operation, ModifyOperation::Insert { .. }) {
        return Some(first.min(total)..first.min(total));
    }
    ((1..=total).contains(&first) && first <= last).then(|| first - 1..last.min(total))
}

fn reading(
    asked: Option<&Range<usize>>,
    operation: &ModifyOperation,
    since: &LineMap,
    lines_now: usize,
) -> LineReading {
    let Some(asked) = asked else { return LineReading::Absent };
    if !asked.is_empty() {
        let places: Option<Vec<usize>> = asked.clone().map(|index| since.place(index)).collect();
        return match places {
            Some(places) if places.windows(2).all(|pair| pair[0] + 1 == pair[1]) => {
                LineReading::Kept(places[0]..places[places.len() - 1] + 1)
            }
            _ => LineReading::Changed(since.place_near(asked.start)..since.place_near(asked.end - 1) + 1),
        };
    }
    let is_past_end = operation.asked_lines().is_some_and(|(line, _)| line > since.len() as i64);
    match asked.start.checked_sub(1).map(|line| since.place(line)) {
        _ if is_past_end => LineReading::Kept(lines_now..lines_now),
        None => LineReading::Kept(0..0),
        Some(Some(line)) => LineReading::Kept(line + 1..line + 1),
        Some(None) => {
            let near = since.place_near(asked.start - 1) + 1;
            LineReading::Changed(near..near)
        }
    }
}

/// Lines as an operation numbers them: for an insertion the gap.
fn named(operation: &ModifyOperation, lines: &Range<usize>) -> LineSpan {
    match operation {
        ModifyOperation::Insert { .. } => {
            LineSpan { first: lines.start as u64 + 1, last: lines.start as u64 }
        }
        _ => LineSpan { first: lines.start as u64 + 1, last: lines.end as u64 },
    }
}
