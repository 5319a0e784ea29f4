//! Finds the lines of the current text that the operations of a request mean.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use text_edit::{
    Carried, EditLimits, ExcerptLimits, LineMap, Operation, Source, applied_elsewhere, applied_since, carry,
    excerpt, rebase,
};
use wap_core::{
    CarriedLines, FileVersion, LineConflict, LineDoubt, LineReading, LineSpan, ModifyOperation, Reason,
    WapError, choose_lines, doubt_text,
};

use crate::error::{CONTEXT_LINES, edit_error};
use crate::file_edit::{FileEdit, FindVersion, KnownVersion};
use crate::shown_text::{shown_version, whole_file_search};

/// The operations of a request, in line numbers of the present file.
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
    /// Reports whether the line numbers can only mean the present file, so that no version needs to be looked up.
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
        let mut versions = VersionCache { edit: self.edit, entries: Vec::new(), find };
        let mut meant = Meant { operations: Vec::new(), carried: Vec::new() };
        for (index, operation) in self.edit.request.operations.iter().enumerate() {
            let edit = &self.operations[index];
            if operation.addressed_lines().is_none() {
                self.check_occurred_once(index, &mut versions)?;
                meant.operations.push(edit.clone());
                continue;
            }
            let (addressed, lines) = self.of_one(index, operation, &mut versions)?;
            meant.operations.push(moved(edit, &lines));
            if addressed != lines {
                let LineSpan { first, last } = named(operation, &lines);
                let operation = index as u64 + 1;
                // The gap of an insertion has no lines; it it is reported as the line above it.
                let (first_line, last_line) = if last < first { (last, last) } else { (first, last) };
                meant.carried.push(CarriedLines { operation, first_line, last_line });
            }
        }
        Ok(meant)
    }

    /// Checks that operations in turn mean the same lines under every version that their numbers can mean.
    pub(crate) fn check_in_turn(&self, find: &mut FindVersion<'_>) -> Result<(), WapError> {
        if self.edit.request.operations.iter().any(|operation| operation.was().is_some()) {
            let text =
                "`was` can be given for one operation of a call in this dialect: send one call for each";
            return Err(WapError::new(Reason::InvalidField, text).with("field", "operations"));
        }
        let lines = self.edit.request.operations.iter().filter_map(ModifyOperation::addressed_lines);
        let last = usize::try_from(lines.map(|(_, last)| last).max().unwrap_or(0)).unwrap_or(0);
        // Later operations address the results of earlier ones, so only the lines down to the last number must be unchanged.
        let addressed = 0..last.min(self.edit.current.total_lines());
        let mut versions = VersionCache { edit: self.edit, entries: Vec::new(), find };
        for (index, operation) in self.edit.request.operations.iter().enumerate() {
            if operation.addressed_lines().is_none() {
                self.check_occurred_once(index, &mut versions)?;
                continue;
            }
            if self.edit.request.is_unseen() {
                return Err(self.conflict(LineDoubt::Unseen, index, &[addressed]));
            }
            for version in self.edit.request.meant_versions(index) {
                let Some(KnownVersion { map, .. }) = versions.get(version)? else { continue };
                // Unchanged lines down to the last number are the same under every version, regardless of later lines.
                let is_kept =
                    map.hunks().first().is_none_or(|hunk| hunk.old.start >= last && hunk.new.start >= last);
                if !is_kept {
                    return Err(self.conflict(LineDoubt::TwoPlaces, index, &[addressed]));
                }
            }
        }
        Ok(())
    }

    /// Checks that a text to replace also occurred once in the version that the client was shown.
    fn check_occurred_once(&self, index: usize, versions: &mut VersionCache<'_, '_>) -> Result<(), WapError> {
        let Some((search, replacement)) = whole_file_search(&self.operations[index]) else { return Ok(()) };
        let Some(version) = shown_version(self.edit.request, index) else { return Ok(()) };
        // The text decides if the version is no longer kept.
        let Ok(Some(version)) = versions.get(version) else { return Ok(()) };
        let earlier = Source::parse(&version.bytes);
        earlier
            .map_or(Ok(()), |text| self.edit.check_occurred_once((search, replacement), &text, &version.map))
    }

    /// Returns the lines of an operation by the numbers of the request, and by those of the present file.
    fn of_one(
        &self,
        index: usize,
        operation: &ModifyOperation,
        cache: &mut VersionCache<'_, '_>,
    ) -> Result<(Range<usize>, Range<usize>), WapError> {
        let edit = &self.operations[index];
        let total = self.edit.current.total_lines();
        let mut versions: Vec<Option<KnownVersion>> = Vec::new();
        for version in self.edit.request.meant_versions(index) {
            match cache.get(version) {
                Ok(version) => versions.push(version),
                // The version is no longer kept, and `was` decides by the text of the present file.
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
        // Lines that were never shown are certain only by their text, even if every reading agrees.
        let chosen = match choose_lines(&readings, operation, total, &line) {
            Ok(_) if self.edit.request.is_unseen() && operation.was().is_none() => Err(LineDoubt::Unseen),
            chosen => chosen,
        };
        match chosen {
            Ok(chosen) => {
                self.check_not_applied(index, &carried, &versions, &chosen)?;
                let addressed = carried.into_iter().find_map(|carried| match carried {
                    Carried::Kept { addressed, now } if now == chosen => Some(addressed),
                    _ => None,
                });
                Ok((addressed.unwrap_or_else(|| chosen.clone()), chosen))
            }
            Err(LineDoubt::Absent | LineDoubt::Changed) => {
                let at = readings.iter().position(|reading| *reading != LineReading::Absent).unwrap_or(0);
                Err(self.stale(index, versions[at].as_ref()))
            }
            Err(doubt) => {
                let mut candidates: Vec<Range<usize>> = Vec::new();
                for lines in readings.iter().filter_map(LineReading::range) {
                    if !candidates.contains(lines) {
                        candidates.push(lines.clone());
                    }
                }
                Err(self.conflict(doubt, index, &candidates))
            }
        }
    }

    /// Refuses an operation whose new lines were added next to the addressed ones, or elsewhere by another program, since the
    /// version that its numbers mean: the addressed lines are unchanged, but the edit would add the new ones a second time.
    fn check_not_applied(
        &self,
        index: usize,
        carried: &[Carried],
        versions: &[Option<KnownVersion>],
        chosen: &Range<usize>,
    ) -> Result<(), WapError> {
        let edit = &self.operations[index];
        // Since that version, no other program has changed the file.
        let is_before_run = |version: &FileVersion| self.edit.before_run.as_ref() == Some(version);
        let is_only_by_run = self.edit.request.meant_versions(index).into_iter().all(is_before_run);
        for (carried, version) in carried.iter().zip(versions) {
            let (Carried::Kept { addressed, now }, Some(version)) = (carried, version) else { continue };
            let Some(base) = Source::parse(&version.bytes).ok().filter(|_| now == chosen) else { continue };
            let current = self.edit.current;
            let elsewhere = || applied_elsewhere(&base, (current, now.clone()), edit);
            let lines = applied_since((&base, addressed.clone()), (current, now.clone()), edit)
                .or_else(|| if is_only_by_run { None } else { elsewhere() });
            if let Some(lines) = lines {
                let message = format!(
                    "'{}': already applied, nothing done: the new text is at lines {}-{} since you saw the file",
                    self.edit.path,
                    lines.start(),
                    lines.end()
                );
                let text = excerpt(current, lines, CONTEXT_LINES, &ExcerptLimits::default());
                return Err(WapError::new(Reason::Conflict, message)
                    .with("path", self.edit.path)
                    .with("alreadyApplied", true)
                    .with("currentText", text.to_string())
                    .with("currentVersion", self.edit.version.0.as_str())
                    .with("totalLines", current.total_lines() as u64));
            }
        }
        Ok(())
    }

    /// Returns the refusal of an operation whose numbers mean one version, which lacks these lines or whose lines have changed.
    fn stale(&self, index: usize, version: Option<&KnownVersion>) -> WapError {
        let identity = LineMap::identity(self.edit.current.total_lines());
        let base = version.map(|version| Source::parse(&version.bytes)).and_then(Result::ok);
        let base = base.as_ref().unwrap_or(self.edit.current);
        let map = version.map_or(&identity, |version| &version.map);
        let operation = std::slice::from_ref(&self.operations[index]);
        // The rebase fails for the same reason, and its error has the current position of the lines.
        match rebase(operation, base, self.edit.current, map, &EditLimits::default()) {
            Err(error) => {
                let error = text_edit::EditError { operation_index: Some(index), ..error };
                edit_error(
                    &self.edit.labelled(error),
                    self.edit.path,
                    base,
                    self.edit.current,
                    self.edit.version.clone(),
                )
            }
            Ok(_) => self.conflict(LineDoubt::Changed, index, &[]),
        }
    }

    /// Returns the refusal of an operation that can mean each of the candidates, with the text of all of them.
    fn conflict(&self, doubt: LineDoubt, index: usize, candidates: &[Range<usize>]) -> WapError {
        let operation = &self.edit.request.operations[index];
        let mut sorted: Vec<&Range<usize>> = candidates.iter().collect();
        sorted.sort_by_key(|lines| lines.start);
        let (mut text, mut excerpts) = (String::new(), Vec::<LineSpan>::new());
        for lines in apart(&sorted) {
            let piece = excerpt(self.edit.current, lines, CONTEXT_LINES, &ExcerptLimits::default());
            let (Some(first), Some(last)) = (piece.lines.first(), piece.lines.last()) else { continue };
            let span = LineSpan { first: first.line_number as u64, last: last.line_number as u64 };
            if !text.is_empty() {
                text.push_str("--\n");
            }
            text.push_str(&piece.to_string());
            excerpts.push(span);
        }
        let candidates: Vec<LineSpan> = sorted.into_iter().map(|lines| named(operation, lines)).collect();
        let (first, last) = operation.addressed_lines().unwrap_or_default();
        let requested = match first == last {
            true => format!("line {first}"),
            false => format!("lines {first}-{last}"),
        };
        let message = format!("'{}': {}", self.edit.path, doubt_text(doubt, &requested, &candidates));
        let error = WapError::new(Reason::Conflict, message)
            .with("path", self.edit.path)
            .with("currentText", text)
            .with("currentVersion", self.edit.version.0.as_str())
            .with("totalLines", self.edit.current.total_lines() as u64)
            .with("hint", "send the edit again with the line numbers of the text as it is now");
        let version = self.edit.version.clone();
        LineConflict { doubt, operation: index + 1, candidates, excerpts, version }.add_to(error)
    }
}

/// Returns the lines of candidates, 1-based, in their order; merges those whose excerpts would overlap.
fn apart(candidates: &[&Range<usize>]) -> Vec<RangeInclusive<usize>> {
    let mut apart: Vec<RangeInclusive<usize>> = Vec::new();
    for candidate in candidates {
        let lines = candidate.start + 1..=candidate.end.max(candidate.start + 1);
        match apart.last_mut() {
            Some(last) if lines.start().saturating_sub(*last.end()) <= 2 * CONTEXT_LINES + 1 => {
                *last = *last.start()..=(*last.end()).max(*lines.end());
            }
            _ => apart.push(lines),
        }
    }
    apart
}

/// The versions looked up so far. A lookup may read and compare a whole file, so each is done once.
struct VersionCache<'a, 'f> {
    edit: &'a FileEdit<'a>,
    entries: Vec<(FileVersion, KnownVersion)>,
    find: &'a mut FindVersion<'f>,
}

impl VersionCache<'_, '_> {
    /// Returns a version; `None` for the present one, whose line map is the identity.
    fn get(&mut self, version: &FileVersion) -> Result<Option<KnownVersion>, WapError> {
        if *version == self.edit.version {
            return Ok(None);
        }
        if let Some((_, entry)) = self.entries.iter().find(|(key, _)| key == version) {
            return Ok(Some(entry.clone()));
        }
        let entry = (self.find)(version).ok_or_else(|| self.edit.version_gone(version))?;
        self.entries.push((version.clone(), entry.clone()));
        Ok(Some(entry))
    }
}

fn reading(carried: &Carried) -> LineReading {
    match carried {
        Carried::Kept { now, .. } => LineReading::Kept(now.clone()),
        Carried::Changed { now } => LineReading::Changed(now.clone()),
        Carried::Absent => LineReading::Absent,
    }
}

/// Returns the same edit on other lines.
fn moved(operation: &Operation, lines: &Range<usize>) -> Operation {
    let number = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
    let mut moved = operation.clone();
    match &mut moved {
        Operation::Replace { start_line, end_line, .. } | Operation::Delete { start_line, end_line } => {
            (*start_line, *end_line) = (number(lines.start + 1), number(lines.end));
        }
        Operation::Insert { after_line, .. } => *after_line = number(lines.start),
        Operation::ReplaceText { within, .. } => *within = Some((number(lines.start + 1), number(lines.end))),
        Operation::RegexReplace { .. } => {}
    }
    moved
}

/// Returns lines as an operation numbers them: for an insertion the gap.
fn named(operation: &ModifyOperation, lines: &Range<usize>) -> LineSpan {
    let first = lines.start as u64 + 1;
    match operation {
        ModifyOperation::Insert { .. } => LineSpan { first, last: first - 1 },
        _ => LineSpan { first, last: lines.end as u64 },
    }
}
