//! The context of answering one need.

use std::time::Duration;

use rel_path::RelPath;
use wap_core::{Call, CodeIndex, Freshness, IndexError, IndexState, WapError};

use super::failure::{Failure, excerpt};
use super::{Sources, Stopwatch};
use crate::{NeedResult, Warning, WarningCode};

/// The result of a need, or its failure.
pub(super) type Answer = Result<NeedResult, Failure>;

/// The context of answering one need.
pub(super) struct NeedCall<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) call: &'a Call<'a>,
    /// The absolute path of the workspace, which requests may use as a prefix.
    pub(super) root: &'a str,
    /// The size limit of the result's content in bytes.
    pub(super) room: usize,
    pub(super) stopwatch: &'a dyn Stopwatch,
    /// The time on the stopwatch at which the need has to be answered.
    pub(super) deadline: Duration,
    pub(super) warnings: &'a mut Vec<Warning>,
}

impl NeedCall<'_> {
    /// Returns true if no further call is to be made for this need.
    pub(super) fn is_over(&self) -> bool {
        self.call.cancel.is_cancelled() || self.stopwatch.elapsed() >= self.deadline
    }

    pub(super) fn warn(&mut self, code: WarningCode, detail: impl Into<String>) {
        self.warnings.push(Warning::with(code, detail));
    }

    /// Warns that a result was truncated.
    pub(super) fn warn_cut(&mut self, what: &str, kept: u64, total: u64) {
        self.warn(WarningCode::Truncated, format!("{} {kept}/{total}", excerpt(what)));
    }

    /// Warns that a result is truncated and only a lower bound of the number of items is known.
    pub(super) fn warn_cut_of_more(&mut self, what: &str, kept: u64, least: u64) {
        self.warn(WarningCode::Truncated, format!("{} {kept}/{least}+", excerpt(what)));
    }

    /// Queries the index; `failed` is the code of a failure.
    pub(super) fn ask<T>(
        &self,
        failed: WarningCode,
        ask: impl FnOnce(&dyn CodeIndex, &Call<'_>) -> Result<T, IndexError>,
    ) -> Result<T, Failure> {
        let index = self.sources.index.ok_or(IndexError::Unavailable);
        index.and_then(|index| ask(index, self.call)).map_err(|error| Failure::of_index(&error, failed))
    }

    /// Warns about stale files and an incomplete index.
    pub(super) fn note(&mut self, freshness: &Freshness) {
        match freshness.state {
            IndexState::Ready => {}
            IndexState::Building => self.once(Warning::new(WarningCode::DocdexIndexBuilding)),
            IndexState::Empty => self.once(Warning::new(WarningCode::DocdexIndexEmpty)),
        }
        for path in &freshness.stale_paths {
            self.once(Warning::with(WarningCode::DocdexIndexStale, excerpt(path)));
        }
    }

    fn once(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns the path of a file in the index.
    pub(super) fn indexed_path(&self, path: &str) -> Result<String, Failure> {
        let canonical = self.canonical(path)?;
        if canonical.is_root() {
            Err(Failure::about(WarningCode::NotAFile, path))
        } else {
            Ok(canonical.to_string())
        }
    }

    /// Resolves `..` in a path textually, without following links.
    pub(super) fn canonical(&self, path: &str) -> Result<RelPath, Failure> {
        let mut canonical = RelPath::root();
        for part in self.path(path)?.components() {
            canonical = match part {
                b".." => canonical.parent().unwrap_or_default(),
                name => canonical.child(name).expect("it is a component of a path within the limits"),
            };
        }
        Ok(canonical)
    }

    /// Parses a path, and refuses one that leaves the workspace textually.
    pub(super) fn path(&self, path: &str) -> Result<RelPath, Failure> {
        RelPath::parse_beneath(path, &[self.root.as_bytes()]).map_err(|error| {
            Failure::about(WarningCode::PathOutsideWorkspace, path).saying(error.to_string())
        })
    }
}

/// Maps errors of the workspace for `path`.
pub(super) fn refused<'e>(path: &'e str, otherwise: WarningCode) -> impl Fn(WapError) -> Failure + use<'e> {
    move |error| Failure::of_workspace(&error, path, otherwise)
}
