//! Which versions line numbers mean, while a reply is carried out and after it.

use wap_core::{FileVersion, LineSpan, ModifyFileResponse, SeenVersions, ShownVersions};

use super::BaseVersions;
use super::excerpt::Excerpt;

/// What the model knows of the files: what it knew when it wrote the reply, and what it will know when it has read the
/// results. The two differ in the excerpts that failures show.
#[derive(Debug)]
pub(super) struct ReplyVersions {
    base: BaseVersions,
    after: ShownVersions,
}

impl ReplyVersions {
    pub(super) fn new(base: BaseVersions) -> ReplyVersions {
        ReplyVersions { after: base.shown.clone(), base }
    }

    /// Returns what `start_line` of a file may mean; `None` means the file as it is.
    pub(super) fn meant(&self, path: &str, start_line: i32) -> Option<SeenVersions> {
        let path = self.base.canonical(path);
        // A line number below 1 will be refused; that the refusal shows the right text is all that matters.
        let line = u64::try_from(start_line).unwrap_or(1).max(1);
        self.base.meant(&path, line)
    }

    /// The model has edited the file. In this reply its numbers go on meaning what they did.
    pub(super) fn edited(&mut self, path: &str, response: &ModifyFileResponse) {
        self.base.learn(path, &response.path);
        if let (Some(version), Some(previous)) = (&response.version, &response.previous_version) {
            self.after.note_own_edit(&response.path, previous, version, &response.shifts);
        }
    }

    /// The model itself wrote the whole file, so it knows every line.
    pub(super) fn written(&mut self, path: &str, canonical_path: &str, version: Option<&FileVersion>) {
        self.base.learn(path, canonical_path);
        if let (Some(answer), Some(version)) = (&mut self.base.last_answer, version) {
            answer.note_written(canonical_path, version);
        }
        // In a run that is resumed, it was looked up when it existed already.
        self.base.unknown.remove(canonical_path);
        for shown in [&mut self.base.shown, &mut self.after] {
            match version {
                Some(version) => shown.record(canonical_path, version.clone(), LineSpan::ALL),
                None => shown.forget(canonical_path),
            }
        }
    }

    /// The file is gone.
    pub(super) fn deleted(&mut self, path: &str, canonical_path: &str) {
        self.base.learn(path, canonical_path);
        self.base.shown.forget(canonical_path);
        self.after.forget(canonical_path);
    }

    /// A failure shows lines of the file.
    pub(super) fn excerpt_shown(&mut self, path: &str, excerpt: &Excerpt) {
        let path = self.base.canonical(path);
        for lines in &excerpt.lines {
            self.after.record(&path, excerpt.version.clone(), *lines);
        }
    }

    /// Returns what the model knows once it has read the results.
    pub(super) fn into_shown(self) -> ShownVersions {
        self.after
    }
}
