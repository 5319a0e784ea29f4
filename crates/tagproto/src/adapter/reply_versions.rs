//! The versions to which line numbers refer, while a reply is carried out and afterwards.

use std::collections::BTreeSet;

use wap_core::{FileVersion, LineSpan, ModifyFileResponse, SeenVersions, ShownVersions};

use super::BaseVersions;
use super::base_versions::for_each_operation;
use super::excerpt::Excerpt;

/// The versions that the model knew when it wrote the reply, and the versions that it will know after reading the results. The
/// two differ by the reply's own changes and by the excerpts in failures.
#[derive(Debug)]
pub(super) struct ReplyVersions {
    base: BaseVersions,
    after: ShownVersions,
    /// The canonical paths of files that the blocks so far change.
    changed: BTreeSet<String>,
}

impl ReplyVersions {
    pub(super) fn new(base: BaseVersions) -> ReplyVersions {
        ReplyVersions { after: base.shown_versions.clone(), base, changed: BTreeSet::new() }
    }

    /// Returns the versions to which `start_line` of a file may refer; `None` for the current file.
    pub(super) fn meant(&self, path: &str, start_line: i32) -> Option<SeenVersions> {
        let path = self.base.canonical(path);
        // A line number below 1 will be refused; the version only decides which text the refusal shows.
        let line = u64::try_from(start_line).unwrap_or(1).max(1);
        self.base.meant(&path, line)
    }

    /// Returns the versions to which `start_line` may refer, for each of several operations; `None` for the current file.
    pub(super) fn meant_by_all(
        &self,
        path: &str,
        start_line: i32,
        operations: usize,
    ) -> Option<SeenVersions> {
        self.meant(path, start_line).map(|versions| for_each_operation(versions, operations))
    }

    /// Returns the version that the model was shown, for each of several texts to replace; `None` if nothing was shown, or if an
    /// earlier block of the reply changes the file: that change may make a text unique.
    pub(super) fn shown_to_all(&self, path: &str, operations: usize) -> Option<SeenVersions> {
        let path = self.base.canonical(path);
        let version =
            self.base.shown_versions.version_for(&path, 1).filter(|_| !self.changed.contains(&path))?;
        Some(SeenVersions {
            by_operation: vec![Some(version.clone()); operations],
            ..SeenVersions::default()
        })
    }

    /// Records that a block of the reply will change a file.
    pub(super) fn will_change(&mut self, path: &str) {
        self.changed.insert(self.base.canonical(path));
    }

    /// Records an edit by the model. Within this reply, line numbers still refer to the version before it.
    pub(super) fn edited(&mut self, path: &str, response: &ModifyFileResponse) {
        self.base.learn(path, &response.path);
        if let (Some(version), Some(previous)) = (&response.version, &response.previous_version) {
            self.after.note_own_edit(&response.path, previous, version, &response.shifts);
        }
    }

    /// Records that the model wrote the whole file, so it knows every line.
    pub(super) fn written(&mut self, path: &str, canonical_path: &str, version: Option<&FileVersion>) {
        self.base.learn(path, canonical_path);
        // No message showed this text, but the model wrote it.
        if let (Some(answer), Some(version)) = (&mut self.base.last_answer, version) {
            answer.note_written(canonical_path, version);
        }
        // In a resumed run, the file existed at the look-up and may have been recorded as unknown.
        self.base.unknown.remove(canonical_path);
        for versions in [&mut self.base.shown_versions, &mut self.after] {
            match version {
                Some(version) => versions.record(canonical_path, version.clone(), LineSpan::ALL),
                None => versions.forget(canonical_path),
            }
        }
    }

    /// Records that the file was deleted.
    pub(super) fn deleted(&mut self, path: &str, canonical_path: &str) {
        self.base.learn(path, canonical_path);
        self.base.shown_versions.forget(canonical_path);
        self.after.forget(canonical_path);
    }

    /// Records the lines of the file that a failure shows.
    pub(super) fn excerpt_shown(&mut self, path: &str, excerpt: &Excerpt) {
        let path = self.base.canonical(path);
        for lines in &excerpt.lines {
            self.after.record(&path, excerpt.version.clone(), *lines);
        }
    }

    /// Returns the versions that the model knows once it has read the results.
    pub(super) fn into_shown(self) -> ShownVersions {
        self.after
    }
}
