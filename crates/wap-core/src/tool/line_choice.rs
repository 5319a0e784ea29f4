//! The choice of the lines that an operation means if its numbers fit more than one version.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{FileVersion, LineSpan, ModifyFile, ModifyOperation, WapError};

/// The fewest non-blank characters of a body line that decides between two candidates.
const TELLING_CHARACTERS: usize = 8;

/// The versions of a file that the line numbers of a request may mean, from the record of its conversation.
///
/// An engine maps the addressed lines from each of them to the present file, and changes nothing unless they are the same lines;
/// see [`choose_lines`]. Adapters fill it in. It has no effect if `expectedVersion` is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SeenVersions {
    /// For each operation, the version in which the conversation was last shown its lines; `None` if it never was.
    #[serde(rename = "shown")]
    pub by_operation: Vec<Option<FileVersion>>,
    /// The version of the file when the conversation received its last answer.
    pub last_answer: Option<FileVersion>,
    /// True if the version that the numbers mean is unknown: the file has changed since the last answer and was never
    /// shown, or the shown version is forgotten. Then only [`was`](ModifyOperation::was) decides.
    pub unknown: bool,
}

/// The lines of the present file that an operation addresses if its numbers mean one version.
///
/// Lines are 0-based and half-open; an insertion addresses the empty range before the next line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineReading {
    /// The addressed lines, unchanged.
    Kept(Range<usize>),
    /// The lines that replaced the addressed ones.
    Changed(Range<usize>),
    /// The version has no such lines.
    Absent,
}

/// The reason why the lines of an operation are uncertain. The list is closed: engines have a text for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LineDoubt {
    /// No version has lines with these numbers.
    Absent,
    /// The lines have changed since the only version that the numbers can mean.
    Changed,
    /// The numbers can mean different lines.
    TwoPlaces,
    /// No line that the numbers can mean has the text of `was`.
    WasDiffers,
    /// The file has changed since the last answer, and its lines were never shown.
    Unseen,
}

/// The lines of a refused operation: the reason for doubt, and the lines that the refusal quotes.
///
/// Part of an error's details, under the name [`LineConflict::DETAIL`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LineConflict {
    /// The reason of the refusal.
    pub doubt: LineDoubt,
    /// The operation at fault, counted from 1.
    pub operation: usize,
    /// The lines that the operation can mean, in the present file. An empty span, whose last line is one less than its first,
    /// stands for the gap between the two.
    #[serde(rename = "places")]
    pub candidates: Vec<LineSpan>,
    /// The lines that the error's `currentText` quotes.
    #[serde(rename = "shown")]
    pub excerpts: Vec<LineSpan>,
    /// The present version of the file, to which those lines belong.
    pub version: FileVersion,
}

impl LineConflict {
    /// The name of the detail.
    pub const DETAIL: &'static str = "lineConflict";

    /// Parses the conflict in the details of an error; `None` if the error has none.
    #[must_use]
    pub fn of(error: &WapError) -> Option<LineConflict> {
        serde_json::from_value(error.detail(LineConflict::DETAIL)?.clone()).ok()
    }

    /// Adds the conflict to the details of an error.
    #[must_use]
    pub fn add_to(&self, error: WapError) -> WapError {
        error.with(LineConflict::DETAIL, serde_json::to_value(self).unwrap_or(Value::Null))
    }
}

/// Returns the text of a refusal for [`LineConflict`], to follow the path; `requested` names the lines as in the request.
#[must_use]
pub fn doubt_text(doubt: LineDoubt, requested: &str, candidates: &[LineSpan]) -> String {
    let named: Vec<String> = candidates.iter().map(|span| span.named()).collect();
    match doubt {
        LineDoubt::TwoPlaces => {
            format!(
                "{requested} can mean {} of the file as it is now, so nothing was changed",
                named.join(" or ")
            )
        }
        LineDoubt::WasDiffers => {
            format!("{requested} is not the line that `was` says, so nothing was changed")
        }
        LineDoubt::Unseen => format!(
            "nothing was changed, because the file has changed since your last message and you have not seen it since: \
             {requested} may be another place by now"
        ),
        LineDoubt::Changed => {
            format!("{requested} is not what it was when you saw it, so nothing was changed")
        }
        LineDoubt::Absent => format!("there is no {requested} in the file"),
    }
}

/// Decides which lines an operation means.
///
/// `readings` are those of every version that its numbers can mean, in any order. The lines are certain if all readings that have
/// such lines agree. Otherwise the operation's `was` decides, and then a line of its new content with at least eight non-blank
/// characters that occurs once in the file, in one of the candidates. `line` returns the text of a line of the present file by
/// its 0-based index, without its ending; `total_lines` is the number of lines.
///
/// # Errors
///
/// The remaining doubt. If `was` is given and differs, even certain lines are refused.
pub fn choose_lines<'t>(
    readings: &[LineReading],
    operation: &ModifyOperation,
    total_lines: usize,
    line: &dyn Fn(usize) -> Option<Cow<'t, str>>,
) -> Result<Range<usize>, LineDoubt> {
    let mut distinct: Vec<&LineReading> = Vec::new();
    // A version without such lines decides nothing: the numbers then mean one of the other versions.
    for reading in readings {
        if *reading != LineReading::Absent && !distinct.contains(&reading) {
            distinct.push(reading);
        }
    }
    if distinct.is_empty() {
        return Err(LineDoubt::Absent);
    }
    if let Some(was) = operation.was() {
        distinct.retain(|reading| match reading {
            LineReading::Kept(lines) => {
                // An insertion addresses no line; `was` is then the text of the line above it.
                let index = if lines.is_empty() { lines.start.checked_sub(1) } else { Some(lines.start) };
                index.and_then(line).is_some_and(|text| text.trim() == was.trim())
            }
            LineReading::Changed(_) | LineReading::Absent => false,
        });
        if distinct.is_empty() {
            return Err(LineDoubt::WasDiffers);
        }
    }
    match distinct.as_slice() {
        [LineReading::Kept(lines)] => return Ok(lines.clone()),
        [_] => return Err(LineDoubt::Changed),
        _ => {}
    }
    let ranges: Vec<&Range<usize>> = distinct.iter().filter_map(|reading| reading.range()).collect();
    let chosen = candidate_of_body(&ranges, operation, total_lines, line).map(|index| distinct[index]);
    match chosen {
        Some(LineReading::Kept(lines)) => Ok(lines.clone()),
        _ => Err(LineDoubt::TwoPlaces),
    }
}

impl LineReading {
    /// Returns the lines of the present file; `None` if the version has no such lines.
    #[must_use]
    pub fn range(&self) -> Option<&Range<usize>> {
        match self {
            LineReading::Kept(lines) | LineReading::Changed(lines) => Some(lines),
            LineReading::Absent => None,
        }
    }
}

/// Returns the index of the only candidate that holds a line of the new content; `None` if a doubt remains.
fn candidate_of_body<'t>(
    candidates: &[&Range<usize>],
    operation: &ModifyOperation,
    total_lines: usize,
    line: &dyn Fn(usize) -> Option<Cow<'t, str>>,
) -> Option<usize> {
    let ModifyOperation::Replace { new_content, .. } = operation else { return None };
    let is_telling = |text: &&str| {
        text.chars().filter(|character| !character.is_whitespace()).count() >= TELLING_CHARACTERS
    };
    // For each line of the content, the number of occurrences in the file and the index of the last.
    let mut occurrences: std::collections::HashMap<&str, (usize, usize)> =
        new_content.lines().map(str::trim).filter(is_telling).map(|text| (text, (0, 0))).collect();
    if occurrences.is_empty() {
        return None;
    }
    // A single pass over the file for all lines of the body, whose number is unbounded.
    for index in 0..total_lines {
        if let Some(text) = line(index)
            && let Some((count, at)) = occurrences.get_mut(text.trim())
        {
            (*count, *at) = (*count + 1, index);
        }
    }
    let mut chosen = None;
    for (_, at) in occurrences.into_values().filter(|(count, _)| *count == 1) {
        let mut within = candidates.iter().enumerate().filter(|(_, lines)| lines.contains(&at));
        match (within.next(), within.next()) {
            (Some((index, _)), None) if chosen.is_none_or(|chosen| chosen == index) => chosen = Some(index),
            (None, _) => {}
            // The line is in two candidates, or another line chose a different one.
            _ => return None,
        }
    }
    chosen
}

impl ModifyFile {
    /// Returns the versions that the line numbers of an operation may mean, by its 0-based index, each once; none means the
    /// present file.
    #[must_use]
    pub fn meant_versions(&self, index: usize) -> Vec<&FileVersion> {
        if let Some(expected) = &self.expected_version {
            return vec![expected];
        }
        let Some(seen_versions) = &self.seen_versions else { return Vec::new() };
        let last_shown = seen_versions.by_operation.get(index).and_then(Option::as_ref);
        let mut versions: Vec<&FileVersion> =
            last_shown.into_iter().chain(&seen_versions.last_answer).collect();
        versions.dedup();
        versions
    }

    /// Checks whether the version that the line numbers mean is unknown.
    #[must_use]
    pub fn is_unseen(&self) -> bool {
        self.expected_version.is_none()
            && self.seen_versions.as_ref().is_some_and(|versions| versions.unknown)
    }
}

impl ModifyOperation {
    /// Returns the text that the first addressed line should have; for an insertion, the line before it.
    #[must_use]
    pub fn was(&self) -> Option<&str> {
        match self {
            ModifyOperation::Replace { was, .. }
            | ModifyOperation::Insert { was, .. }
            | ModifyOperation::Delete { was, .. } => was.as_deref(),
            ModifyOperation::ReplaceText { .. } | ModifyOperation::RegexReplace { .. } => None,
        }
    }

    /// Returns the first and last line number of the operation; `None` for one without line numbers.
    #[must_use]
    pub fn addressed_lines(&self) -> Option<(i64, i64)> {
        match self {
            ModifyOperation::Replace { start_line, end_line, .. }
            | ModifyOperation::Delete { start_line, end_line, .. } => Some((*start_line, *end_line)),
            ModifyOperation::Insert { after_line, .. } => Some((*after_line, *after_line)),
            ModifyOperation::ReplaceText { whole_lines, .. } => {
                whole_lines.as_ref().and_then(|lines| lines.within)
            }
            ModifyOperation::RegexReplace { .. } => None,
        }
    }

    /// Returns the same operation on other lines of the file, 0-based and half-open.
    #[must_use]
    pub fn moved_to(&self, lines: &Range<usize>) -> ModifyOperation {
        let number = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
        let mut moved = self.clone();
        match &mut moved {
            ModifyOperation::Replace { start_line, end_line, .. }
            | ModifyOperation::Delete { start_line, end_line, .. } => {
                (*start_line, *end_line) = (number(lines.start + 1), number(lines.end));
            }
            ModifyOperation::Insert { after_line, .. } => *after_line = number(lines.start),
            ModifyOperation::ReplaceText { whole_lines, .. } => {
                if let Some(within) = whole_lines.as_mut().and_then(|lines| lines.within.as_mut()) {
                    *within = (number(lines.start + 1), number(lines.end));
                }
            }
            ModifyOperation::RegexReplace { .. } => {}
        }
        moved
    }
}
