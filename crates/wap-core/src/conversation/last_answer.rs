//! The versions of a conversation's files at the moment of its last answer.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::{Call, CancelFlag, FileVersion, Moment, SeenVersions, ShownVersions, Workspace};

/// The files that a conversation was shown, as they were when it received its last answer.
///
/// Together with [`ShownVersions`] it determines the possible meanings of a line number: the file as it was shown, or as it was
/// at the last answer, because the output of a command has numbers of that version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LastAnswer {
    moment: Moment,
    versions: BTreeMap<String, FileVersion>,
    /// The shown files, in the order in which they were first shown.
    order: VecDeque<String>,
    /// True if shown files were forgotten.
    has_forgotten: bool,
}

impl LastAnswer {
    /// The number of shown files that a conversation remembers. The earliest is forgotten first; from then on, line numbers of
    /// files that are not remembered are refused until they are shown again.
    pub const FILES: usize = 128;

    /// Records the present versions of the files, because an answer is about to be given.
    ///
    /// Forgets the shown versions of files beyond [`FILES`](Self::FILES). A version that cannot be determined counts as unknown.
    pub fn take<W: Workspace + ?Sized>(
        &mut self,
        workspace: &W,
        call: &Call<'_>,
        shown_versions: &mut ShownVersions,
    ) {
        self.order.retain(|path| shown_versions.version_for(path, 1).is_some());
        for path in shown_versions.paths() {
            if !self.order.iter().any(|earlier| earlier == path) {
                self.order.push_back(path.to_owned());
            }
        }
        while self.order.len() > LastAnswer::FILES {
            self.has_forgotten = true;
            if let Some(path) = self.order.pop_front() {
                shown_versions.forget(&path);
            }
        }
        let paths: Vec<String> = self.order.iter().cloned().collect();
        // The answer is sent even if its call was cancelled in the meantime, so its versions have to be recorded.
        let call = Call { cancel: &CancelFlag::new(), time_left: None, ..*call };
        self.versions.clear();
        if let Ok(states) = workspace.file_states(&call, &paths, None) {
            self.moment = states.moment;
            let by_path = paths.into_iter().zip(states.files);
            self.versions.extend(by_path.filter_map(|(path, state)| Some((path, state?.version?))));
        }
    }

    /// Returns the moment of the answer.
    #[must_use]
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// Records a file that the conversation just wrote as a whole: its numbers mean that version only.
    pub fn note_written(&mut self, path: &str, version: &FileVersion) {
        self.versions.insert(path.to_owned(), version.clone());
    }

    /// Records the version that the answer itself showed or created.
    pub fn note_answered(&mut self, path: &str, version: &FileVersion) {
        if let Some(recorded) = self.versions.get_mut(path) {
            *recorded = version.clone();
        }
    }

    /// Returns the versions that the line numbers of some operations on a file may mean; `lines` holds the first number of
    /// each operation.
    ///
    /// For a file that was never shown, `now` holds its version, and true if it has changed since the last answer.
    #[must_use]
    pub fn seen_versions(
        &self,
        shown_versions: &ShownVersions,
        path: &str,
        lines: &[u64],
        now: Option<(&FileVersion, bool)>,
    ) -> SeenVersions {
        let versions: Vec<Option<FileVersion>> =
            lines.iter().map(|line| shown_versions.version_for(path, *line).cloned()).collect();
        if shown_versions.version_for(path, 1).is_some() {
            let last_answer = self.versions.get(path).cloned();
            return SeenVersions { by_operation: versions, unknown: last_answer.is_none(), last_answer };
        }
        // A forgotten file may have been shown: its numbers may mean a version that is not remembered.
        let unknown = self.has_forgotten || now.is_none_or(|(_, has_changed)| has_changed);
        let last_answer = now.map(|(version, _)| version.clone()).filter(|_| !unknown);
        SeenVersions { by_operation: Vec::new(), last_answer, unknown }
    }
}
