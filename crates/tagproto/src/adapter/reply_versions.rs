//! Which versions line numbers mean, while a reply is carried out and after it.

use wap_core::{FileVersion, LineSpan, ShownVersions};

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

    /// Returns the version that `start_line` of a file means; `None` means the file as it is.
    pub(super) fn meant(&self, path: &str, start_line: i32) -> Option<FileVersion> {
        let path = self.base.canonical(path);
        // A line number below 1 will be refused; that the refusal shows the right text is all that matters.
        let line = u64::try_from(start_line).unwrap_or(1).max(1);
        self.base.shown.version_for(&path, line).or_else(|| self.base.at_start(&path)).cloned()
    }

    /// The model itself wrote the whole file, so it knows every line.
    pub(super) fn written(&mut self, path: &str, canonical_path: &str, version: Option<&FileVersion>) {
        self.base.learn(path, canonical_path);
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
        if let Some((version, lines)) = &excerpt.shown {
            self.after.record(&self.base.canonical(path), version.clone(), *lines);
        }
    }

    /// Returns what the model knows once it has read the results.
    pub(super) fn into_shown(self) -> ShownVersions {
        self.after
    }
}
