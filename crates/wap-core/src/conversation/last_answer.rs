//! Which versions the files had that a conversation knows when it got its last answer.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::{Call, CancelFlag, FileVersion, Moment, SeenVersions, ShownVersions, Workspace};

/// The files that a conversation was shown, as they were when it got its last answer.
///
/// Together with [`ShownVersions`] it says what a line number may mean: the file as it was shown, or as it was when the
/// last answer was given, because the output of a command has numbers of that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LastAnswer {
    moment: Moment,
    versions: BTreeMap<String, FileVersion>,
    /// The files that were shown, in the order in which they first were.
    order: VecDeque<String>,
    /// Whether files that were shown have been forgotten.
    has_forgotten: bool,
}

impl LastAnswer {
    /// How many shown files a conversation remembers. The one shown first is forgotten first; from then on line numbers
    /// of files that are not remembered are refused until they are shown again.
    pub const FILES: usize = 128;

    /// Takes note of the files as they are, because an answer is about to be given.
    ///
    /// Forgets what was shown of files beyond [`FILES`](Self::FILES). What cannot be found out counts as unknown.
    pub fn take<W: Workspace + ?Sized>(&mut self, workspace: &W, call: &Call<'_>, shown: &mut ShownVersions) {
        self.order.retain(|path| shown.version_for(path, 1).is_some());
        for path in shown.paths() {
            if !self.order.iter().any(|known| known == path) {
                self.order.push_back(path.to_owned());
            }
        }
        while self.order.len() > LastAnswer::FILES {
            self.has_forgotten = true;
            if let Some(path) = self.order.pop_front() {
                shown.forget(&path);
            }
        }
        let paths: Vec<String> = self.order.iter().cloned().collect();
        // The answer is given even if its call is cancelled by now.
        let call = Call { cancel: &CancelFlag::new(), time_left: None, ..*call };
        self.versions.clear();
        if let Ok(states) = workspace.file_states(&call, &paths, None) {
            self.moment = states.moment;
            let known = paths.into_iter().zip(states.files);
            self.versions.extend(known.filter_map(|(path, state)| Some((path, state?.version?))));
        }
    }

    /// Returns the moment of the answer.
    #[must_use]
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// Takes note of a file that the conversation has just written whole: its numbers mean nothing else.
    pub fn note_written(&mut self, path: &str, version: &FileVersion) {
        self.versions.insert(path.to_owned(), version.clone());
    }

    /// Takes note of the version that the answer itself showed or made.
    pub fn note_answered(&mut self, path: &str, version: &FileVersion) {
        if let Some(known) = self.versions.get_mut(path) {
            *known = version.clone();
        }
    }

    /// Returns what the line numbers of some operations on a file may mean, `lines` being the first number of each.
    ///
    /// `now` is its version, and whether it has changed since the last answer, if it was never shown.
    #[must_use]
    pub fn seen(
        &self,
        shown: &ShownVersions,
        path: &str,
        lines: &[u64],
        now: Option<(&FileVersion, bool)>,
    ) -> SeenVersions {
        let versions: Vec<Option<FileVersion>> =
            lines.iter().map(|line| shown.version_for(path, *line).cloned()).collect();
        if shown.version_for(path, 1).is_some() {
            let last_answer = self.versions.get(path).cloned();
            return SeenVersions { shown: versions, unknown: last_answer.is_none(), last_answer };
        }
        let unknown = self.has_forgotten || now.is_none_or(|(_, has_changed)| has_changed);
        let last_answer = now.map(|(version, _)| version.clone()).filter(|_| !unknown);
        SeenVersions { shown: Vec::new(), last_answer, unknown }
    }
}
