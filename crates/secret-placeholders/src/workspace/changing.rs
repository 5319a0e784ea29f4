//! Changing files.

use std::borrow::Cow;

use wap_core::{
    Call, DeleteFile, FileChange, FileChanged, JudgedFile, Limits, ModifyFile, ModifyFileResponse,
    ModifyOperation, RegexReplacements, WapError, Workspace, WriteFile, WriteFileResponse, WriteMode,
};

use super::PlaceholderWorkspace;
use super::expression::with_grouped_markers;
use super::judging::{ShownAnswer, depends_on_text, placeholder_warning, with_advice};
use super::putting_back::{MOST_CONTENT_BYTES, PuttingBack};
use super::veil::{MOST_KEPT_BYTES, Veil};
use crate::Secrets;
use crate::new_values::NewValues;
use crate::withheld::{NOT_COMPARED, READ_FOR_VERSION, Verdict, refusal};

/// The maximum number of times that an item is judged again because its file has changed in the meantime.
const MOST_JUDGINGS: usize = 10;

/// The outcome of one item of a batch.
type Outcome = Result<FileChanged, WapError>;

/// An item to carry out, with its values.
struct Waiting {
    change: FileChange,
    visible: ShownAnswer,
    warning: Option<String>,
}

/// The progress of a batch.
#[derive(Default)]
struct Batch<'a> {
    /// As the model has sent them.
    changes: &'a [FileChange],
    /// The outcomes so far.
    outcomes: Vec<Outcome>,
    /// The judged items after those.
    waiting: Vec<Waiting>,
    /// The number of times that they were judged again. If too often, each is carried out alone: two may name one file
    /// by different paths.
    overtaken: usize,
}

impl<'a> Batch<'a> {
    fn next(&self) -> Option<&'a FileChange> {
        self.changes.get(self.outcomes.len() + self.waiting.len())
    }

    /// Checks whether a waiting item may change the file at a path.
    fn may_change(&self, path: &str) -> bool {
        self.waiting.iter().any(|earlier| may_be_same_file(earlier.change.path(), path))
    }
}

/// The engine's answer to an item, and the matches to show instead of the engine's.
type Answer = (FileChanged, Option<Vec<RegexReplacements>>);

/// The refusal of an item.
enum Refused {
    /// The engine's refusal, which may quote a file.
    Quoted(WapError),
    /// A refusal without secrets.
    Visible(WapError),
}

impl<W: Workspace> PlaceholderWorkspace<W> {
    /// Restores and carries out a batch. An item that is refused here divides it: the items around it keep their steps.
    ///
    /// An item is carried out only on the state of the file by which it was judged, and judged again if the file has
    /// changed.
    pub(super) fn change_masked(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Outcome>, WapError> {
        let mut batch = Batch { changes, outcomes: Vec::with_capacity(changes.len()), ..Batch::default() };
        let mut putting_back = PuttingBack::new(secrets);
        loop {
            let next = batch.next();
            // The text that an earlier item writes into the same file is judged with it.
            let is_divided = next.is_none_or(|next| depends_on_text(next) && batch.may_change(next.path()));
            let is_alone = batch.overtaken > 0;
            // The engine answers empty batches, too.
            if (is_divided || is_alone) && (!batch.waiting.is_empty() || changes.is_empty()) {
                if !self.carry_out_unless_changed(secrets, call, &mut batch)? {
                    putting_back = PuttingBack::new(secrets);
                }
                if !changes.is_empty() {
                    continue;
                }
            }
            let Some(change) = next else { return Ok(batch.outcomes) };
            let restored = self.restored_change(secrets, &putting_back, call, change);
            let restored = restored.and_then(|mut restored| {
                let visible = self.check_uncovers_nothing(secrets, call, change, &mut restored)?;
                let warning = self.escaped_value_warning(secrets, call, change, restored.path());
                Ok(Waiting { change: restored, visible, warning })
            });
            match restored {
                Ok(restored) => batch.waiting.push(restored),
                Err(error) => {
                    if batch.waiting.is_empty() || self.carry_out_unless_changed(secrets, call, &mut batch)? {
                        batch.outcomes.push(Err(error));
                    } else {
                        putting_back = PuttingBack::new(secrets);
                    }
                }
            }
        }
    }

    /// Carries out the waiting items. Returns false if a file has changed since it was judged: they are then judged
    /// again.
    fn carry_out_unless_changed(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        batch: &mut Batch<'_>,
    ) -> Result<bool, WapError> {
        let first = batch.outcomes.len();
        let sent = &batch.changes[first..first + batch.waiting.len()];
        match self.carry_out(secrets, call, sent, &mut batch.waiting, &mut batch.outcomes) {
            Err(error) if JudgedFile::has_refused(&error) => {
                batch.overtaken += 1;
                if batch.overtaken > MOST_JUDGINGS {
                    batch.outcomes.extend(sent.iter().map(|_| Err(error.clone())));
                    batch.overtaken = 0;
                }
                Ok(batch.outcomes.len() > first)
            }
            carried_out => {
                batch.overtaken = batch.overtaken.min(1);
                carried_out.map(|()| true)
            }
        }
    }

    /// Carries out the waiting items; `sent` are the same items as the model has sent them.
    fn carry_out(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        sent: &[FileChange],
        waiting: &mut Vec<Waiting>,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<(), WapError> {
        let step = call.origin.step.saturating_add(u32::try_from(outcomes.len()).unwrap_or(u32::MAX));
        let origin = call.origin.at_step(step);
        let part = Call { origin: &origin, ..*call };
        let (changes, answers): (Vec<FileChange>, Vec<(ShownAnswer, Option<String>)>) =
            waiting.drain(..).map(|one| (one.change, (one.visible, one.warning))).unzip();
        let (visible, escaped): (Vec<ShownAnswer>, Vec<Option<String>>) = answers.into_iter().unzip();
        let carried_out = self.inner.change_files(&part, &changes);
        for (change, outcome) in sent.iter().zip(carried_out.iter().flatten()) {
            let path = match outcome {
                Ok(FileChanged::Written(written)) => &written.path,
                Ok(FileChanged::Modified(modified)) => &modified.path,
                Ok(FileChanged::Deleted(_)) | Err(_) => continue,
            };
            self.written.add(&call.origin.conversation, path, change);
        }
        let carried_out =
            carried_out.map_err(|error| Veil::new(&self.inner, secrets, call, None).all(error))?;
        let quoted = carried_out.into_iter().zip(visible).map(|(outcome, visible)| match outcome {
            Ok(FileChanged::Modified(mut modified)) => {
                let matches = visible.matches(&mut modified);
                Ok((FileChanged::Modified(modified), matches))
            }
            Ok(changed) => Ok((changed, None)),
            // The engine's quotation of a file may be cut within a secret.
            Err(error) => Err(match visible.error(error) {
                Ok(visible) => Refused::Visible(visible),
                Err(quoted) => Refused::Quoted(quoted),
            }),
        });
        let quoted: Vec<Result<Answer, Refused>> = quoted.collect();
        let mut values = NewValues::default();
        let mut left = MOST_KEPT_BYTES;
        let mut veils = Vec::with_capacity(quoted.len());
        for (change, outcome) in changes.iter().zip(&quoted) {
            let veil = Veil::new(&self.inner, secrets, call, Some(change.path()));
            left -= match outcome {
                Ok((changed, _)) => veil.add_values(changed, &mut values, left),
                Err(Refused::Quoted(error)) => veil.add_values(error, &mut values, left),
                Err(Refused::Visible(_)) => 0,
            };
            veils.push(veil);
        }
        secrets.keep_all(&values);
        let answered = changes.iter().zip(quoted).zip(veils).zip(sent).zip(escaped);
        for ((((change, outcome), veil), sent), escaped) in answered {
            outcomes.push(match outcome {
                Ok((changed, matches)) => {
                    let mut changed = self.masked_answer(change, &veil, changed);
                    match &mut changed {
                        FileChanged::Written(WriteFileResponse { warnings, .. })
                        | FileChanged::Modified(ModifyFileResponse { warnings, .. }) => {
                            warnings.extend(placeholder_warning(secrets, sent));
                            warnings.extend(escaped);
                        }
                        FileChanged::Deleted(_) => {}
                    }
                    if let (FileChanged::Modified(modified), Some(matches)) = (&mut changed, matches) {
                        modified.replacements = matches;
                    }
                    Ok(changed)
                }
                Err(Refused::Quoted(error)) => Err(with_advice(veil.all(error))),
                Err(Refused::Visible(error)) => Err(error),
            });
        }
        Ok(())
    }

    fn masked_answer(
        &self,
        change: &FileChange,
        veil: &Veil<'_, W>,
        mut changed: FileChanged,
    ) -> FileChanged {
        // The answer about the previous content would quote it, and count its lines that a guess has hit.
        if let FileChanged::Written(written) = &mut changed
            && !written.created
            && self.withheld.may_leave_out(&written.path)
        {
            written.changed = None;
            written.lines_removed = 0;
            if let FileChange::Write(write) = change {
                written.lines_added = u32::try_from(write.content.lines().count()).unwrap_or(u32::MAX);
                if write.write_mode() == WriteMode::Append {
                    // The version identifies the whole content, so it could confirm a guess.
                    written.version = None;
                    if self.withheld.verdict(&written.path) == Verdict::IfSecret {
                        written.warnings.push(READ_FOR_VERSION.to_owned());
                    }
                }
            }
            written.warnings.push(NOT_COMPARED.to_owned());
        }
        veil.all(changed)
    }

    fn restored_change(
        &self,
        secrets: &Secrets,
        putting_back: &PuttingBack<'_>,
        call: &Call<'_>,
        change: &FileChange,
    ) -> Result<FileChange, WapError> {
        let path = putting_back.name(change.path(), "path")?;
        Ok(match change {
            FileChange::Write(write) => {
                let content = putting_back.content(&write.content, "content")?;
                FileChange::Write(WriteFile { path, content, ..write.clone() })
            }
            FileChange::Modify(modify) => {
                // A conflict would quote the file, and an edit of a text would reveal whether it occurs.
                if self.is_withheld(call, secrets, &path) {
                    return Err(refusal(change.path()));
                }
                let operations = modify.operations.iter().map(|one| restored_operation(putting_back, one));
                let operations = operations.collect::<Result<_, _>>()?;
                FileChange::Modify(ModifyFile { path, operations, ..modify.clone() })
            }
            FileChange::Delete(delete) => {
                // A deletion would reveal whether the file has the expected lines.
                if delete.expected_lines.is_some() && self.is_withheld(call, secrets, &path) {
                    return Err(refusal(change.path()));
                }
                FileChange::Delete(DeleteFile { path, ..delete.clone() })
            }
        })
    }
}

/// Checks whether two paths may name the same file. Every change refuses symlinks.
fn may_be_same_file(one: &str, other: &str) -> bool {
    let name = |path: &str| path.split('/').rfind(|name| !matches!(*name, "" | ".")).map(str::to_owned);
    let is_odd = |path: &str| path.ends_with("..");
    name(one) == name(other) || is_odd(one) || is_odd(other)
}

fn restored_operation(
    putting_back: &PuttingBack<'_>,
    operation: &ModifyOperation,
) -> Result<ModifyOperation, WapError> {
    let put_back = |text: &mut String, field| -> Result<(), WapError> {
        *text = putting_back.content(text, field)?;
        Ok(())
    };
    let put_back_line = |was: &mut Option<String>| -> Result<(), WapError> {
        if let Some(was) = was {
            *was = putting_back.line(was, "was")?;
        }
        Ok(())
    };
    let mut operation = operation.clone();
    match &mut operation {
        ModifyOperation::Replace { new_content, was, .. }
        | ModifyOperation::Insert { new_content, was, .. } => {
            put_back(new_content, "newContent")?;
            put_back_line(was)?;
        }
        ModifyOperation::Delete { was, .. } => put_back_line(was)?,
        ModifyOperation::ReplaceText { old_text, new_text, whole_lines, .. } => {
            put_back(old_text, "oldText")?;
            put_back(new_text, "newText")?;
            for line in whole_lines.iter_mut().flat_map(|whole| &mut whole.behind) {
                *line = putting_back.line(line, "oldText")?;
            }
        }
        ModifyOperation::RegexReplace { pattern, replacement, .. } => {
            let grouped = with_grouped_markers(pattern, "pattern")?;
            *pattern = putting_back.written(&grouped, "pattern", Limits::MAX_PATTERNS_BYTES, |value| {
                Cow::Owned(regex::escape(value))
            })?;
            *replacement = putting_back.written(replacement, "replacement", MOST_CONTENT_BYTES, |value| {
                Cow::Owned(value.replace('$', "$$"))
            })?;
        }
    }
    Ok(operation)
}
