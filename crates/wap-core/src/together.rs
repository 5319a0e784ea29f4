//! Changes that are made all or none, for protocols that promise this.

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::{
    Call, DeleteFile, FileChange, FileChanged, FileVersion, LineNumbers, ModifyFile, ModifyOperation, RunKey,
    WapError, Workspace, WriteFile, WriteMode,
};

/// A change and its inverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversible {
    /// The change to make.
    pub change: FileChange,
    /// The change that undoes it. The version of its line numbers is filled in once the change is made.
    pub inverse: FileChange,
}

/// Lines of a text, and the lines that replace them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineExchange {
    /// The index of the first line, 0-based, in the text after the previous exchanges.
    pub at: usize,
    /// The present lines, without their endings; none for an insertion before that line.
    pub old: Vec<String>,
    /// The new lines; none for a deletion.
    pub new: Vec<String>,
}

impl Reversible {
    /// Returns the creation of a file with these lines and of its folders, which stay if it is reverted.
    #[must_use]
    pub fn create(path: &str, lines: &[String]) -> Reversible {
        let (path, content) = (path.to_owned(), text_of(lines));
        let inverse = FileChange::Delete(DeleteFile { path: path.clone(), ..DeleteFile::default() });
        let mode = Some(WriteMode::Create);
        let write = WriteFile { path, content, mode, create_directories: Some(true), judged: None };
        Reversible { change: FileChange::Write(write), inverse }
    }

    /// Returns the exchange of lines of this version of a file, in order. Lines that an exchange does not change are not written,
    /// so that their bytes stay. The others have the line ending of the file after a revert.
    #[must_use]
    pub fn edit(path: &str, version: Option<FileVersion>, exchanges: &[LineExchange]) -> Reversible {
        let modify = |operations, expected_version| {
            let (path, line_numbers) = (path.to_owned(), Some(LineNumbers::InTurn));
            FileChange::Modify(ModifyFile {
                path,
                operations,
                expected_version,
                line_numbers,
                seen_versions: None,
                judged: None,
                view_numbers: None,
            })
        };
        let exchanges: Vec<LineExchange> = exchanges.iter().flat_map(LineExchange::changed).collect();
        let forth = exchanges.iter().filter_map(|one| exchange(one.at, &one.old, &one.new)).collect();
        // The last one first: each then applies to the text that it left.
        let back = exchanges.iter().rev().filter_map(|one| exchange(one.at, &one.new, &one.old)).collect();
        Reversible { change: modify(forth, version), inverse: modify(back, None) }
    }
}

/// The most lines of either side that are compared to find unchanged ones.
const COMPARED_LINES: usize = 2_000;

impl LineExchange {
    /// Returns the pieces of the exchange that change lines, in their order.
    fn changed(&self) -> Vec<LineExchange> {
        // Trim equal lines at both ends first, so that only the changed middle is compared.
        let (mut old, mut new) = (&self.old[..], &self.new[..]);
        while let ([rest_of_old @ .., one], [rest_of_new @ .., other]) = (old, new)
            && one == other
        {
            (old, new) = (rest_of_old, rest_of_new);
        }
        let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        (old, new) = (&old[head..], &new[head..]);
        let at = self.at + head;
        // The comparison is quadratic in the worst case. Without it the whole middle is replaced, which is also correct.
        if old.len().max(new.len()) > COMPARED_LINES {
            return vec![LineExchange { at, old: old.to_vec(), new: new.to_vec() }];
        }
        let piece = |change: DiffOp| {
            let (old, new) = (&old[change.old_range()], &new[change.new_range()]);
            LineExchange { at: at + change.new_range().start, old: old.to_vec(), new: new.to_vec() }
        };
        let changes = capture_diff_slices(Algorithm::Myers, old, new).into_iter();
        changes.filter(|change| change.tag() != DiffTag::Equal).map(piece).collect()
    }
}

fn exchange(at: usize, old: &[String], new: &[String]) -> Option<ModifyOperation> {
    let number = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
    let (start_line, end_line, new_content) = (number(at + 1), number(at + old.len()), text_of(new));
    Some(match (old.is_empty(), new.is_empty()) {
        (true, true) => return None,
        (true, false) => ModifyOperation::Insert { after_line: number(at), new_content, was: None },
        (false, true) => ModifyOperation::Delete { start_line, end_line, was: None },
        (false, false) => ModifyOperation::Replace { start_line, end_line, new_content, was: None },
    })
}

/// Joins lines with a newline after each, also the last one: one newline at the end of a content adds no line.
fn text_of(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Changes that could not all be made, so none was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' could not be changed, so nothing was: {error}{}", .path, left_over(.left))]
#[non_exhaustive]
pub struct NotTogether {
    /// The path of the first change that failed, as the change spelled it.
    pub path: String,
    /// The failure of that change.
    #[source]
    pub error: WapError,
    /// Changes that could not be reverted, for instance because another process has changed the same lines: the path and the
    /// error. Nearly always empty.
    pub left: Vec<(String, WapError)>,
}

fn left_over(left: &[(String, WapError)]) -> String {
    let each = left.iter().map(|(path, error)| format!("; but '{path}' is changed and stays so: {error}"));
    each.collect()
}

/// Makes changes as one batch, and reverts those that were made if one of them fails.
///
/// The engine makes each change completely or not at all; this extends the guarantee to all of them, unless another process
/// changes the files in between. The changes are the steps of the call and the following ones; reverting uses as many after them,
/// so that a repeated call runs the same steps, and none of them twice. If the run has no sequence, and so is a single call,
/// reverting is a separate run whose key is derived from that of the call.
///
/// # Errors
///
/// [`NotTogether`]; the workspace is unchanged, except for the changes that the error lists in `left`.
pub fn change_together<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    changes: &[Reversible],
) -> Result<Vec<FileChanged>, NotTogether> {
    let batch: Vec<FileChange> = changes.iter().map(|one| one.change.clone()).collect();
    let failed = |index: usize, error: WapError| {
        let path = batch.get(index).map_or_else(String::new, |change| change.path().to_owned());
        NotTogether { path, error, left: Vec::new() }
    };
    let outcomes = workspace.change_files(call, &batch).map_err(|error| failed(0, error))?;
    let first =
        outcomes.iter().enumerate().find_map(|(index, one)| Some((index, one.as_ref().err()?.clone())));
    let Some((index, error)) = first else {
        return Ok(outcomes.into_iter().filter_map(Result::ok).collect());
    };
    let mut refusal = failed(index, error);
    // The last one first: a change may build on an earlier one. Items succeed one by one, so those after the failed one may have
    // been made, too.
    let made = changes.iter().zip(&outcomes).rev();
    let inverses: Vec<FileChange> =
        made.filter_map(|(one, outcome)| Some(inverse_of(one, outcome.as_ref().ok()?))).collect();
    if inverses.is_empty() {
        return Err(refusal);
    }
    let after = u32::try_from(changes.len()).unwrap_or(u32::MAX);
    // Use separate steps: for the steps of the batch, the engine would answer from its record and revert nothing.
    let mut origin = call.origin.at_step(call.origin.step.saturating_add(after));
    if origin.run.sequence == 0 {
        // Such a run is a single call and ended with the batch. Journals store the key: its text must not change.
        origin.run = RunKey::unnumbered(format!("{} taken back", origin.run.digest));
    }
    // Reverting cannot be cancelled: half of it would leave the very state that this prevents.
    let reverting = Call { origin: &origin, cancel: &crate::CancelFlag::new(), time_left: None };
    let left = match workspace.change_files(&reverting, &inverses) {
        Ok(outcomes) => inverses
            .iter()
            .zip(outcomes)
            .filter_map(|(one, outcome)| Some((one.path().to_owned(), outcome.err()?)))
            .collect(),
        Err(error) => inverses.iter().map(|one| (one.path().to_owned(), error.clone())).collect(),
    };
    refusal.left = left;
    Err(refusal)
}

/// Returns the inverse of a change, for the version that the change created.
fn inverse_of(one: &Reversible, done: &FileChanged) -> FileChange {
    let mut inverse = one.inverse.clone();
    if let (FileChange::Modify(modify), FileChanged::Modified(done)) = (&mut inverse, done) {
        modify.expected_version.clone_from(&done.version);
    }
    inverse
}
