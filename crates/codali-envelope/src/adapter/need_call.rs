//! One need on its way to an answer.

use rel_path::RelPath;
use wap_core::{Call, CodeIndex, Freshness, IndexError, IndexState, WapError};

use super::Sources;
use super::failure::{Failure, shown};
use crate::{NeedResult, Warning, WarningCode};

/// What a need gave, or why it gave nothing.
pub(super) type Answer = Result<NeedResult, Failure>;

/// The frame around one need.
pub(super) struct NeedCall<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) call: &'a Call<'a>,
    /// The absolute path of the workspace, by which requests may name it.
    pub(super) root: &'a str,
    /// How many bytes the content of the result may have.
    pub(super) room: usize,
    pub(super) warnings: &'a mut Vec<Warning>,
}

impl NeedCall<'_> {
    pub(super) fn warn(&mut self, code: WarningCode, detail: impl Into<String>) {
        self.warnings.push(Warning::with(code, detail));
    }

    /// Says that something was cut.
    pub(super) fn warn_cut(&mut self, what: &str, shown_count: u64, total: u64) {
        self.warn(WarningCode::Truncated, format!("{} {shown_count}/{total}", shown(what)));
    }

    /// Asks the index; `failed` is the code for the case that it has no answer.
    pub(super) fn ask<T>(
        &self,
        failed: WarningCode,
        ask: impl FnOnce(&dyn CodeIndex, &Call<'_>) -> Result<T, IndexError>,
    ) -> Result<T, Failure> {
        let index = self.sources.index.ok_or(IndexError::Unavailable);
        index.and_then(|index| ask(index, self.call)).map_err(|error| Failure::of_index(&error, failed))
    }

    /// Says how far an answer of the index can be relied on.
    pub(super) fn note(&mut self, freshness: &Freshness) {
        match freshness.state {
            IndexState::Ready => {}
            IndexState::Building => self.once(Warning::new(WarningCode::DocdexIndexBuilding)),
            IndexState::Empty => self.once(Warning::new(WarningCode::DocdexIndexEmpty)),
        }
        for path in &freshness.stale_paths {
            self.once(Warning::with(WarningCode::DocdexIndexStale, shown(path)));
        }
    }

    fn once(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns the path of a file by which an index knows it.
    pub(super) fn indexed_path(&self, asked: &str) -> Result<String, Failure> {
        let path = self.canonical(asked)?;
        if path.is_root() { Err(Failure::about(WarningCode::NotAFile, asked)) } else { Ok(path.to_string()) }
    }

    /// Returns a path without steps back, on paper: a step back undoes the step before it.
    pub(super) fn canonical(&self, asked: &str) -> Result<RelPath, Failure> {
        let mut canonical = RelPath::root();
        for part in self.path(asked)?.components() {
            canonical = match part {
                b".." => canonical.parent().unwrap_or_default(),
                name => canonical.child(name).expect("it is a component of a path within the limits"),
            };
        }
        Ok(canonical)
    }

    /// Checks on paper that a path stays within the workspace.
    pub(super) fn path(&self, asked: &str) -> Result<RelPath, Failure> {
        RelPath::parse_beneath(asked, &[self.root.as_bytes()]).map_err(|error| {
            Failure::about(WarningCode::PathOutsideWorkspace, asked).saying(error.to_string())
        })
    }
}

/// Turns what a workspace says into a failure of a need.
pub(super) fn refused<'e>(asked: &'e str, otherwise: WarningCode) -> impl Fn(WapError) -> Failure + use<'e> {
    move |error| Failure::of_workspace(&error, asked, otherwise)
}
