//! Changes that would uncover a secret.
//!
//! A model edits the text that it sees, and the engine edits the file. Where the file has secrets, the results have to
//! agree: a text that matches within a secret would break it up, and no rule recognises the parts.

mod compared_lines;
mod escaped_values;
mod failed_search;
mod near_placeholders;
mod possible_lines;
mod shown_answer;
mod stand_ins;
mod whole_text;

use std::borrow::Cow;
use std::cell::LazyCell;

use text_edit::{EditLimits, Edited, Source, apply_until};
use wap_core::{
    Call, FileChange, FileVersion, ModifyFile, ModifyFileResponse, ModifyOperation, Reason, WapError,
    Workspace, WriteFile, WriteMode,
};
use wap_edit::{EditedFile, FileEdit, check_content_size, check_request};

use self::compared_lines::without_guesses;
use self::failed_search::FailedSearch;
pub(super) use self::failed_search::with_advice;
pub(super) use self::near_placeholders::check_command;
use self::near_placeholders::check_placeholders;
pub(super) use self::near_placeholders::warning as placeholder_warning;
use self::possible_lines::{Texts, at_lines};
pub(super) use self::shown_answer::ShownAnswer;
use self::stand_ins::StandIns;
use self::whole_text::WholeText;
use super::expression::with_grouped_markers;
use super::{PlaceholderWorkspace, check_stays_hidden};
use crate::detector::Detector;
use crate::exposure::hides_lines;
use crate::private_key::has_key;
use crate::{Secrets, json};

impl<W: Workspace> PlaceholderWorkspace<W> {
    /// Refuses a change after which part of a secret would be visible. `change` is as the model sent it, `restored` has
    /// the values.
    ///
    /// Afterwards, the secrets of the file have placeholders, so that they are recognised even if adjacent lines are
    /// removed. An edit that fails on the file is left to the engine, which may have its answer on record, with the
    /// error to show if it refuses. `restored` then applies to the judged file only.
    pub(super) fn check_uncovers_nothing(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        change: &FileChange,
        restored: &mut FileChange,
    ) -> Result<ShownAnswer, WapError> {
        let before = || match self.whole_text(call, restored.path()) {
            WholeText::Text { text, .. } => Some(text),
            WholeText::None(_) | WholeText::TooLarge => None,
        };
        check_placeholders(secrets, change, &before)?;
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
        restored: &mut WriteFile,
    ) -> Result<(), WapError> {
        restored.judged = None;
        // The engine would refuse this: check before judging, which is expensive.
        check_content_size(write.content.len().max(restored.content.len()) as u64)?;
        check_stays_hidden(secrets, &write.content, "content")?;
        if write.write_mode() != WriteMode::Append {
            return Ok(());
        }
        // Text appended to an unfinished line becomes part of it.
        let whole = self.whole_text(call, &restored.path);
        restored.judged = whole.judged_for_append();
        let before = match whole {
            WholeText::Text { text, .. } if !text.is_empty() && !text.ends_with('\n') => text,
            WholeText::TooLarge
                if !restored.content.starts_with('\n') && !self.ends_with_line(call, &restored.path) =>
            {
                return Err(uncovers(
                    "the file may end within a line, and is too large to be searched for secrets, which an \
                    appended text could uncover: begin with a line break",
                ));
            }
            WholeText::Text { .. } | WholeText::None(_) | WholeText::TooLarge => return Ok(()),
        };
        let visible = format!("{}{}", masked(secrets, call, &before)?, secrets.as_shown(&write.content));
        let after = format!("{before}{}", restored.content);
        if is_same_view(secrets, call, &after, &visible)? {
            return Ok(());
        }
        Err(uncovers(
            "the file ends within a line, and the appended text would uncover a secret \
            there: begin with a line break",
        ))
    }

    fn check_edit(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        modify: &ModifyFile,
        restored: &mut ModifyFile,
    ) -> Result<ShownAnswer, WapError> {
        restored.judged = None;
        // The engine would refuse this: check before judging, which is expensive.
        check_request(modify)?;
        check_request(restored)?;
        // Where a value is not hidden, comparing a line with it would reveal that it is the value.
        for was in modify.operations.iter().filter_map(ModifyOperation::was) {
            check_stays_hidden(secrets, was, "was")?;
        }
        let is_searched = modify.operations.iter().any(searches);
        let whole = self.whole_text(call, &restored.path);
        restored.judged = whole.judged();
        let (path, text, version) = match whole {
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
            WholeText::None(_) | WholeText::TooLarge => {
                check_lines_alone(secrets, modify)?;
                return Ok(ShownAnswer::Engines);
            }
        };
        let masked = masked(secrets, call, &text)?;
        if let (Cow::Owned(_), Some(version)) = (&masked, &version) {
            self.held.add(&path, version, &text);
        }
        let own = || self.written.own(&call.origin.conversation, &path, &secrets.values(&text));
        without_guesses(secrets, (&text, &masked), modify, restored, &own);
        let has_markers = modify.operations != restored.operations;
        let is_unaffected = match is_searched {
            true => matches!(masked, Cow::Borrowed(_)) && !has_markers,
            // Adding and removing lines by number affects the recognition of others only where a secret spans lines.
            false => !has_key(&text) && !Detector::usual().has_value_below(&text),
        };
        if is_unaffected {
            check_lines_alone(secrets, modify)?;
            return Ok(ShownAnswer::Engines);
        }
        let earlier = |version: &FileVersion| self.held.text(&path, version);
        let texts = Texts { text: &text, version: version.as_ref(), earlier: &earlier };
        let Some(possible) = texts.possible_lines(restored) else {
            return Err(uncovers(
                "the file has secrets, and has changed since its lines were shown: read it again, or \
                edit texts and lines of it in calls of their own",
            ));
        };
        let own = LazyCell::new(own);
        let version = version.unwrap_or_else(|| FileVersion(String::new()));
        let judged = JudgedEdit { secrets, call, path: &path, version, text: &text };
        let mut answer = ShownAnswer::Engines;
        // The engine chooses one of them, so none may uncover anything.
        for lines in &possible {
            let (modify, restored) = (at_lines(modify, lines), at_lines(restored, lines));
            let judged = judged.compare_with_own((&masked, &|| own.as_slice()), &modify, &restored);
            let judged = judged.map_err(|refusal| match refusal.reason() {
                // It names the placeholder that is on the wrong line.
                Reason::Protected => check_lines_alone(secrets, &modify).err().unwrap_or(refusal),
                _ => refusal,
            })?;
            if !matches!(answer, ShownAnswer::Refusal { .. }) {
                answer = judged;
            }
        }
        Ok(answer)
    }
}

/// An edit of a file with secrets, and the file's text.
struct JudgedEdit<'a> {
    secrets: &'a Secrets,
    call: &'a Call<'a>,
    path: &'a str,
    /// Empty if unknown.
    version: FileVersion,
    text: &'a str,
}

impl JudgedEdit<'_> {
    /// Compares the edit on the text that the model sees, and then with the values of `own` unmasked: a value that the
    /// model itself has written there cannot be uncovered by its edit.
    fn compare_with_own<'o>(
        &self,
        (masked, own): (&str, &dyn Fn() -> &'o [String]),
        modify: &ModifyFile,
        restored: &ModifyFile,
    ) -> Result<ShownAnswer, WapError> {
        let as_shown = self.compare((masked, &[]), modify, restored);
        if is_carried_out(&as_shown) || own().is_empty() {
            return as_shown;
        }
        let own = own();
        let with_own = self.secrets.mask_except(self.text, own);
        let as_known = self.compare((&with_own, own), modify, restored);
        if is_carried_out(&as_known) { as_known } else { as_shown }
    }

    /// Applies the edit to the text of the file and to the text that the model sees, and refuses it if the results
    /// differ. `masked` is the latter, with the values of `visible_values` unmasked.
    fn compare(
        &self,
        (masked, visible_values): (&str, &[String]),
        modify: &ModifyFile,
        restored: &ModifyFile,
    ) -> Result<ShownAnswer, WapError> {
        let JudgedEdit { secrets, call, path, version, text } = self;
        let after = edited(call, (path, version), text, restored).map_err(|(error, _)| error);
        let operations: Vec<ModifyOperation> = modify
            .operations
            .iter()
            .map(|operation| shown_operation(secrets, operation, visible_values))
            .collect();
        let stand_ins = StandIns::for_edit(masked, &operations);
        let operations = operations.into_iter().map(|operation| stand_ins.in_operation(operation)).collect();
        // The error as if the secret were not there, which usually does not reveal a correct guess. It names the file
        // as the engine's error does after masking.
        let shown_path = secrets.mask(path);
        let visible_request = ModifyFile { operations, ..modify.clone() };
        let visible = edited(call, (&shown_path, version), &stand_ins.put_in(masked), &visible_request)
            .map_err(|(error, failed)| {
                let view = |text: &str| secrets.mask_rest(&stand_ins.taken_out(text)).into_owned();
                failed.explain(json::masked(error, &|text| view(text).into()), &view)
            });
        let has_texts = modify.operations.iter().any(is_within_lines);
        let is_searched = modify.operations.iter().any(searches);
        let refused = || {
            uncovers(if has_texts || is_searched && !has_key(text) {
                "the text to replace also matches within a secret, or the secret would no longer be hidden: \
                include more of the surrounding text, or edit by line numbers"
            } else if !has_key(text) {
                "a value would no longer be hidden, since the name on a line above it is what it is recognised by: \
                replace or delete both lines together"
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
            // Whole lines do not alter a value: more of them may be hidden than before.
            || !has_texts && hides_lines(secrets, &after_text, &visible_text);
        if !is_seen_so || !has_same_lines(&after.edited, &visible.edited) {
            return Err(refused());
        }
        let (previous, next) = (version.clone(), version.clone());
        let answer = visible.response(shown_path.into_owned(), &visible_request, previous, next, Vec::new());
        let ModifyFileResponse { previous_version: Some(version), replacements, .. } =
            json::masked(answer, &|text| secrets.mask_rest(&stand_ins.taken_out(text)).into_owned().into())
        else {
            return Ok(ShownAnswer::Engines);
        };
        Ok(ShownAnswer::Replacements { version, replacements })
    }
}

/// Refuses new lines in which a restored value would be visible, judged without the lines of the file around them.
fn check_lines_alone(secrets: &Secrets, modify: &ModifyFile) -> Result<(), WapError> {
    let mut lines = modify.operations.iter().filter_map(new_lines);
    lines.try_for_each(|lines| check_stays_hidden(secrets, lines, "operations"))
}

/// Returns true if the engine is to carry out the edit.
fn is_carried_out(judged: &Result<ShownAnswer, WapError>) -> bool {
    matches!(judged, Ok(ShownAnswer::Engines | ShownAnswer::Replacements { .. }))
}

/// Returns true for a change that is judged by the text of its file.
pub(super) fn depends_on_text(change: &FileChange) -> bool {
    match change {
        FileChange::Write(write) => write.write_mode() == WriteMode::Append,
        FileChange::Modify(_) => true,
        FileChange::Delete(_) => false,
    }
}

/// Returns true for an operation that searches for the text to change.
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

/// Returns an operation in terms of the text that the model sees, with the values of `visible_values` unmasked.
fn shown_operation(
    secrets: &Secrets,
    operation: &ModifyOperation,
    visible_values: &[String],
) -> ModifyOperation {
    let show = |text: &mut String, written: &dyn Fn(&str) -> String| {
        *text = secrets.as_shown(&secrets.with_values(text, visible_values, written)).into_owned();
    };
    let as_it_is = &|value: &str| value.to_owned();
    let mut operation = operation.clone();
    match &mut operation {
        ModifyOperation::ReplaceText { old_text, new_text, whole_lines, .. } => {
            show(old_text, as_it_is);
            show(new_text, as_it_is);
            let following = whole_lines.iter_mut().flat_map(|whole| &mut whole.behind);
            following.for_each(|line| show(line, as_it_is));
        }
        ModifyOperation::RegexReplace { pattern, replacement, .. } => {
            if let Ok(Cow::Owned(grouped)) = with_grouped_markers(pattern, "pattern") {
                *pattern = grouped;
            }
            show(pattern, &|value| regex::escape(value));
            show(replacement, &|value| value.replace('$', "$$"));
        }
        ModifyOperation::Replace { new_content, .. } | ModifyOperation::Insert { new_content, .. } => {
            show(new_content, as_it_is);
        }
        ModifyOperation::Delete { .. } => {}
    }
    operation
}

/// Applies an edit to a text. An error includes the failed search.
fn edited(
    call: &Call<'_>,
    (path, version): (&str, &FileVersion),
    text: &str,
    request: &ModifyFile,
) -> Result<EditedFile, (WapError, FailedSearch)> {
    let current = Source::parse(text.as_bytes()).map_err(|error| {
        let error = WapError::new(Reason::BinaryFile, format!("the file cannot be edited: {error}"));
        (error, FailedSearch::default())
    })?;
    // Its line numbers refer to this text, so neither versions nor lines have to identify it.
    let mut request =
        ModifyFile { expected_version: None, seen_versions: None, judged: None, ..request.clone() };
    for operation in &mut request.operations {
        if let ModifyOperation::Replace { was, .. }
        | ModifyOperation::Insert { was, .. }
        | ModifyOperation::Delete { was, .. } = operation
        {
            *was = None;
        }
    }
    let edit =
        FileEdit { path, current: &current, version: version.clone(), before_run: None, request: &request };
    let mut failed = FailedSearch::default();
    let edited = edit.apply(&mut |_| None, &mut |operations, numbering| {
        let is_cancelled = || call.cancel.is_cancelled();
        let applied =
            apply_until(text.as_bytes(), operations, numbering, &EditLimits::default(), &is_cancelled);
        applied.map_err(|error| failed.taken_from(error))
    });
    edited.map_err(|error| (error, failed))
}

/// Checks whether two edits touch the same lines. An edit that changes a secret and restores it touches more than the
/// model sees.
fn has_same_lines(one: &Edited, other: &Edited) -> bool {
    let counts = |edited: &Edited| -> Vec<(usize, usize)> {
        edited.outcomes.iter().map(|outcome| (outcome.removed_lines, outcome.added_lines)).collect()
    };
    one.line_map.hunks() == other.line_map.hunks() && counts(one) == counts(other)
}

/// Checks whether a model sees the text of a file as it expects it, with every secret hidden that was hidden before.
fn is_same_view(secrets: &Secrets, call: &Call<'_>, file: &str, expected: &str) -> Result<bool, WapError> {
    let trial = secrets.trial(file);
    let secrets = trial.as_ref().unwrap_or(secrets);
    let masked = masked(secrets, call, file)?;
    Ok(masked == expected || masked == secrets.mask_rest(expected))
}

/// Masks the text of a file, which may be long, unless the call is cancelled in the meantime.
fn masked<'t>(secrets: &Secrets, call: &Call<'_>, text: &'t str) -> Result<Cow<'t, str>, WapError> {
    let masked = secrets.mask_unless(text, &|| call.cancel.is_cancelled());
    masked
        .ok_or_else(|| WapError::new(Reason::Cancelled, "the call was cancelled before the file was changed"))
}

fn uncovers(text: &str) -> WapError {
    WapError::new(Reason::Protected, text)
}
