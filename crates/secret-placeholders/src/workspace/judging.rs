//! Changes that would uncover a secret.
//!
//! A model edits the text that it sees, and the engine edits the file. Where the file has secrets, both have to come to the same: a
//! text that matches within a secret would take it apart, and no rule recognises the parts.

mod shown_answer;
mod stand_ins;

use std::borrow::Cow;

use text_edit::{EditLimits, Edited, Source, apply_until};
use wap_core::{
    Call, FileChange, FileVersion, ModifyFile, ModifyFileResponse, ModifyOperation, QueryType, ReadFile,
    Reason, SearchFiles, WapError, Workspace, WriteFile, WriteMode,
};
use wap_edit::{EditedFile, FileEdit, check_content_size, check_request};

pub(super) use self::shown_answer::ShownAnswer;
use self::stand_ins::StandIns;
use super::expression::with_grouped_markers;
use super::{PlaceholderWorkspace, check_stays_hidden};
use crate::detector::Detector;
use crate::exposure::hides_lines;
use crate::private_key::{BOUNDARY, has_key};
use crate::{Secrets, json};

/// The most bytes of a file that is searched whole.
const MOST_TEXT_BYTES: usize = 16 << 20;

/// The most readings of a file for its whole text: one gives up to a mebibyte, and two more than that, as the lines are whole. The first may
/// be a refusal.
const MOST_READINGS: usize = 2 * (MOST_TEXT_BYTES >> 20) + 1;

/// A file, as far as it can be judged.
enum WholeText {
    Text {
        /// The canonical path.
        path: String,
        text: String,
        /// The version of the text; `None` if it was read in several parts.
        version: Option<FileVersion>,
    },
    /// It is not there, or not a text: the engine refuses the edit.
    None,
    TooLarge,
}

impl<W: Workspace> PlaceholderWorkspace<W> {
    /// Refuses a change after which something of a secret would be shown. `change` is as the model sent it, `restored` has the values.
    ///
    /// The secrets of the file have placeholders then, so that they are recognised although the lines beside them go. An edit that
    /// fails on the file is left to the engine, which may have its answer on record, with the error to show if it refuses.
    pub(super) fn check_uncovers_nothing(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        change: &FileChange,
        restored: &FileChange,
    ) -> Result<ShownAnswer, WapError> {
        match (change, restored) {
            (FileChange::Write(write), FileChange::Write(restored)) => {
                self.check_write(secrets, call, write, restored).map(|()| ShownAnswer::Engines)
            }
            (FileChange::Modify(modify), FileChange::Modify(restored)) => {
                self.check_edit(secrets, call, modify, restored)
            }
            _ => Ok(ShownAnswer::Engines),
        }
    }

    fn check_write(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        write: &WriteFile,
        restored: &WriteFile,
    ) -> Result<(), WapError> {
        // The engine's refusal, before the work of judging.
        check_content_size(write.content.len().max(restored.content.len()) as u64)?;
        check_stays_hidden(secrets, &write.content, "content")?;
        if write.write_mode() != WriteMode::Append {
            return Ok(());
        }
        // What is put behind an unfinished line becomes a part of it.
        let before = match self.whole_text(call, &restored.path) {
            WholeText::Text { text, .. } if !text.is_empty() && !text.ends_with('\n') => text,
            WholeText::TooLarge
                if !restored.content.starts_with('\n') && !self.ends_with_line(call, &restored.path) =>
            {
                return Err(uncovers(
                    "the file may end within a line, and is too large to be searched for secrets, which what \
                    is appended to it could uncover: begin with a line break",
                ));
            }
            WholeText::Text { .. } | WholeText::None | WholeText::TooLarge => return Ok(()),
        };
        let visible = format!("{}{}", masked(secrets, call, &before)?, secrets.as_shown(&write.content));
        let after = format!("{before}{}", restored.content);
        if is_same_view(secrets, call, &after, &visible)? {
            return Ok(());
        }
        Err(uncovers(
            "the file ends within a line, and what is appended to it would uncover a secret \
            there: begin with a line break",
        ))
    }

    fn check_edit(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        modify: &ModifyFile,
        restored: &ModifyFile,
    ) -> Result<ShownAnswer, WapError> {
        // The engine's refusals, before the work of judging.
        check_request(modify)?;
        check_request(restored)?;
        for lines in modify.operations.iter().filter_map(new_lines) {
            check_stays_hidden(secrets, lines, "operations")?;
        }
        // Where a value is not hidden, a line that is compared with it would tell that it is the value.
        for was in modify.operations.iter().filter_map(ModifyOperation::was) {
            check_stays_hidden(secrets, was, "was")?;
        }
        let is_searched = modify.operations.iter().any(searches);
        let (path, text, version) = match self.whole_text(call, &restored.path) {
            WholeText::Text { path, text, version } => (path, text, version),
            WholeText::TooLarge if is_searched => {
                return Err(WapError::new(
                    Reason::FileTooLarge,
                    "the file, or a line of it, is too large to be searched for secrets, which such an edit \
                    could uncover: edit it with a command such as sed, or whole lines of it by their numbers",
                ));
            }
            WholeText::TooLarge if self.may_hold_key(call, &restored.path) => {
                return Err(WapError::new(
                    Reason::FileTooLarge,
                    "the file, or a line of it, is too large to be searched for secrets, and it may hold a private \
                    key, which such an edit could uncover: edit it with a command such as sed",
                ));
            }
            WholeText::None | WholeText::TooLarge => return Ok(ShownAnswer::Engines),
        };
        let masked = masked(secrets, call, &text)?;
        let has_markers = modify.operations != restored.operations;
        let is_unaffected = match is_searched {
            true => matches!(masked, Cow::Borrowed(_)) && !has_markers,
            // Lines that come and go by their numbers change what is recognised in others only where a secret spans lines.
            false => !has_key(&text) && !Detector::usual().has_value_below(&text),
        };
        if is_unaffected {
            return Ok(ShownAnswer::Engines);
        }
        // Line numbers of another version cannot be judged here.
        let mut numbered = modify.operations.iter().enumerate().filter(|(_, operation)| !searches(operation));
        let is_now =
            |index| modify.meant_versions(index).into_iter().all(|meant| Some(meant) == version.as_ref());
        if numbered.any(|(index, _)| modify.is_unseen() || !is_now(index)) {
            return Err(uncovers(
                "the file has secrets, and has changed since its lines were shown: read it again, or \
                edit texts and lines of it in calls of their own",
            ));
        }
        let version =
            version.or_else(|| self.version(call, &path)).unwrap_or_else(|| FileVersion(String::new()));
        JudgedEdit { secrets, call, path: &path, version, text: &text, masked: &masked }
            .compare(modify, restored)
    }

    /// Checks whether a file that cannot be read whole may have the first or the last line of a private key.
    fn may_hold_key(&self, call: &Call<'_>, path: &str) -> bool {
        let request = SearchFiles {
            paths: vec![path.to_owned()],
            query: BOUNDARY.to_owned(),
            query_type: QueryType::Literal,
            recursive: Some(false),
            exclude_patterns: None,
            context_lines: Some(0),
            respect_gitignore: Some(false),
            withheld: None,
        };
        // What could not be searched to its end may hold one.
        !self.inner.search_files(call, &request).is_ok_and(|hits| {
            hits.total_matches == 0
                && !hits.is_truncated
                && hits.skipped.is_empty()
                && hits.warnings.is_empty()
        })
    }

    /// Returns the version of a file that was read in several parts.
    fn version(&self, call: &Call<'_>, path: &str) -> Option<FileVersion> {
        let states = self.inner.file_states(call, &[path.to_owned()], None).ok()?;
        states.files.into_iter().next()??.version
    }

    /// Checks whether the last line of a file is finished; false if that cannot be determined.
    fn ends_with_line(&self, call: &Call<'_>, path: &str) -> bool {
        let read = |line| {
            let request = ReadFile {
                path: path.to_owned(),
                start_line: Some(line),
                end_line: Some(line),
                line_numbers: None,
            };
            self.inner.read_file(call, &request)
        };
        // The refusal of a line that is not there names the number of lines. An answer may count only as far as it had to read.
        let Err(error) = read(i64::MAX) else { return false };
        let last = error.detail("totalLines").and_then(serde_json::Value::as_i64);
        let last = last.and_then(|last| read(last).ok());
        last.is_some_and(|last| !last.is_truncated && last.content.ends_with('\n'))
    }

    /// Reads a file whole.
    fn whole_text(&self, call: &Call<'_>, path: &str) -> WholeText {
        let mut text = String::new();
        let mut first = None;
        for _ in 0..MOST_READINGS {
            let request = ReadFile {
                path: path.to_owned(),
                start_line: first,
                end_line: first.map(|_| i64::MAX),
                line_numbers: None,
            };
            let read = match self.inner.read_file(call, &request) {
                Ok(read) => read,
                Err(error) if error.reason() == Reason::FileTooLarge && first.is_none() => {
                    first = Some(1);
                    continue;
                }
                Err(error) if error.reason() == Reason::FileTooLarge => break,
                Err(_) => return WholeText::None,
            };
            text.push_str(&read.content);
            if text.len() > MOST_TEXT_BYTES {
                break;
            }
            if !read.is_truncated {
                return WholeText::Text { path: read.metadata.path, text, version: read.version };
            }
            if read.returned_lines == 0 || !text.ends_with('\n') {
                break;
            }
            let next = i64::try_from(read.returned_lines).unwrap_or(i64::MAX);
            first = Some(first.unwrap_or(1).saturating_add(next));
        }
        WholeText::TooLarge
    }
}

/// An edit of a file with secrets, and the file's text.
struct JudgedEdit<'a> {
    secrets: &'a Secrets,
    call: &'a Call<'a>,
    path: &'a str,
    /// Empty if it is unknown.
    version: FileVersion,
    text: &'a str,
    /// The text as a model sees it.
    masked: &'a str,
}

impl JudgedEdit<'_> {
    /// Applies the edit to the text of the file and to the one that the model sees, and refuses it if the results differ.
    fn compare(self, modify: &ModifyFile, restored: &ModifyFile) -> Result<ShownAnswer, WapError> {
        let JudgedEdit { secrets, call, path, version, text, masked } = self;
        let after = edited(call, (path, &version), text, restored);
        let operations: Vec<ModifyOperation> =
            modify.operations.iter().map(|operation| shown_operation(secrets, operation)).collect();
        let stand_ins = StandIns::for_edit(masked, &operations);
        let operations = operations.into_iter().map(|operation| stand_ins.in_operation(operation)).collect();
        // The error as if the secret were not there, which in most cases does not tell that a guess was right. It names the file as
        // the engine's own error does after masking.
        let shown_path = secrets.mask(path);
        let visible_request = ModifyFile { operations, ..modify.clone() };
        let visible = edited(call, (&shown_path, &version), &stand_ins.put_in(masked), &visible_request)
            .map_err(|error| json::masked(error, &|text| stand_ins.taken_out(text)))
            .map_err(|error| json::masked(error, &|text| secrets.mask_rest(text)));
        let has_texts = modify.operations.iter().any(is_within_lines);
        let is_searched = modify.operations.iter().any(searches);
        let refused = || {
            uncovers(if has_texts || is_searched && !has_key(text) {
                "what is to be replaced also matches within a secret, or the secret would no longer be hidden: \
                name more of the text around it, or edit by line numbers"
            } else {
                "lines of a private key would no longer be hidden, since they are recognised by those around them: \
                replace or delete the whole key, with its first and last line"
            })
        };
        let (after, visible) = match (after, visible) {
            (Ok(after), visible) => (after, visible?),
            (Err(error), visible) => {
                let reason = error.reason();
                return Ok(ShownAnswer::Refusal { reason, error: visible.err().unwrap_or_else(refused) });
            }
        };
        let after_text = String::from_utf8_lossy(&after.edited.bytes);
        let visible_text = String::from_utf8_lossy(&visible.edited.bytes);
        let visible_text = stand_ins.taken_out(&visible_text);
        let is_seen_so = is_same_view(secrets, call, &after_text, &visible_text)?
            // Whole lines alter no value: more may be hidden of them than before.
            || !has_texts && hides_lines(secrets, &after_text, &visible_text);
        if !is_seen_so || !has_same_lines(&after.edited, &visible.edited) {
            return Err(refused());
        }
        let answer =
            visible.response(shown_path.into_owned(), &visible_request, version.clone(), version, Vec::new());
        let ModifyFileResponse { previous_version: Some(version), replacements, .. } =
            json::masked(answer, &|text| secrets.mask_rest(&stand_ins.taken_out(text)).into_owned().into())
        else {
            return Ok(ShownAnswer::Engines);
        };
        Ok(ShownAnswer::Replacements { version, replacements })
    }
}

/// Returns true for a change that is judged by the text of its file.
pub(super) fn depends_on_text(change: &FileChange) -> bool {
    match change {
        FileChange::Write(write) => write.write_mode() == WriteMode::Append,
        FileChange::Modify(_) => true,
        FileChange::Delete(_) => false,
    }
}

/// Returns true for an operation that looks for what it changes.
fn searches(operation: &ModifyOperation) -> bool {
    matches!(operation, ModifyOperation::ReplaceText { .. } | ModifyOperation::RegexReplace { .. })
}

/// Returns true for an operation that changes parts of lines.
fn is_within_lines(operation: &ModifyOperation) -> bool {
    matches!(
        operation,
        ModifyOperation::ReplaceText { whole_lines: None, .. } | ModifyOperation::RegexReplace { .. }
    )
}

/// Returns the whole lines that an operation puts into the file.
fn new_lines(operation: &ModifyOperation) -> Option<&str> {
    match operation {
        ModifyOperation::Replace { new_content, .. } | ModifyOperation::Insert { new_content, .. } => {
            Some(new_content)
        }
        ModifyOperation::ReplaceText { new_text, whole_lines: Some(_), .. } => Some(new_text),
        _ => None,
    }
}

/// Returns an operation as it is on the text that the model sees.
fn shown_operation(secrets: &Secrets, operation: &ModifyOperation) -> ModifyOperation {
    let show = |text: &mut String| *text = secrets.as_shown(text).into_owned();
    let mut operation = operation.clone();
    match &mut operation {
        ModifyOperation::ReplaceText { old_text, new_text, .. } => {
            show(old_text);
            show(new_text);
        }
        ModifyOperation::RegexReplace { pattern, replacement, .. } => {
            if let Ok(Cow::Owned(grouped)) = with_grouped_markers(pattern, "pattern") {
                *pattern = grouped;
            }
            show(pattern);
            show(replacement);
        }
        ModifyOperation::Replace { new_content, .. } | ModifyOperation::Insert { new_content, .. } => {
            show(new_content);
        }
        ModifyOperation::Delete { .. } => {}
    }
    operation
}

/// Applies an edit to a text.
fn edited(
    call: &Call<'_>,
    (path, version): (&str, &FileVersion),
    text: &str,
    request: &ModifyFile,
) -> Result<EditedFile, WapError> {
    let current = Source::parse(text.as_bytes())
        .map_err(|error| WapError::new(Reason::BinaryFile, format!("the file cannot be edited: {error}")))?;
    // Its line numbers mean this text, so neither versions nor lines say which one.
    let mut request = ModifyFile { expected_version: None, seen_versions: None, ..request.clone() };
    for operation in &mut request.operations {
        if let ModifyOperation::Replace { was, .. }
        | ModifyOperation::Insert { was, .. }
        | ModifyOperation::Delete { was, .. } = operation
        {
            *was = None;
        }
    }
    let edit = FileEdit { path, current: &current, version: version.clone(), request: &request };
    edit.apply(&mut |_| None, &mut |operations, numbering| {
        let is_cancelled = || call.cancel.is_cancelled();
        apply_until(text.as_bytes(), operations, numbering, &EditLimits::default(), &is_cancelled)
    })
}

/// Checks whether two edits touch the same lines. One that changes a secret and brings it back touches more than the model sees.
fn has_same_lines(one: &Edited, other: &Edited) -> bool {
    let counts = |edited: &Edited| -> Vec<(usize, usize)> {
        edited.outcomes.iter().map(|outcome| (outcome.removed_lines, outcome.added_lines)).collect()
    };
    one.line_map.hunks() == other.line_map.hunks() && counts(one) == counts(other)
}

/// Checks whether a model sees the text of a file as it expects it, with every secret hidden that was hidden before.
fn is_same_view(secrets: &Secrets, call: &Call<'_>, file: &str, expected: &str) -> Result<bool, WapError> {
    let masked = masked(secrets, call, file)?;
    Ok(masked == expected || masked == secrets.mask_rest(expected))
}

/// Masks the text of a file, which may be long, unless the call is cancelled meanwhile.
fn masked<'t>(secrets: &Secrets, call: &Call<'_>, text: &'t str) -> Result<Cow<'t, str>, WapError> {
    let masked = secrets.mask_unless(text, &|| call.cancel.is_cancelled());
    masked
        .ok_or_else(|| WapError::new(Reason::Cancelled, "the call was cancelled before the file was changed"))
}

fn uncovers(text: &str) -> WapError {
    WapError::new(Reason::Protected, text)
}
