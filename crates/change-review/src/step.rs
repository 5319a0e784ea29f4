//! The steps of a proposal, as they are shown to the reviewer.

use std::collections::BTreeMap;

use content_hash::ContentHash;
use serde::{Deserialize, Serialize};

use crate::hunk::{Hunk, hunks};

/// Characters of a mark.
const MARK_LENGTH: usize = 32;

/// One step of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedStep {
    /// Its number within the run, 0-based; verdicts name it.
    pub step: u32,
    /// Its effect, in one line.
    pub title: String,
    /// The change to a file, or the command.
    pub effect: StepEffect,
    /// The reason why it would fail, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The effect of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepEffect {
    /// It changes a file.
    File(FileStep),
    /// It runs a command.
    Command(CommandStep),
}

/// Returns a text that differs for different steps. A decision names the mark of the steps that the reviewer saw: they
/// change if the folder has changed, or another window has tried everything.
#[must_use]
pub fn steps_mark(steps: &[ProposedStep]) -> String {
    let bytes = serde_json::to_vec(steps).expect("steps have string keys");
    let mut mark = ContentHash::of(&bytes).to_string();
    mark.truncate(MARK_LENGTH);
    mark
}

/// Returns the files of planned steps in the state before their first step, by path: the hash of the content, or `None`
/// if there is no file. Files that could not be planned are omitted.
#[must_use]
pub fn files_before(steps: &[ProposedStep]) -> BTreeMap<String, Option<String>> {
    let mut files = BTreeMap::new();
    for step in steps {
        if let StepEffect::File(file) = &step.effect
            && let Some((before, _)) = file.mark.split_once(' ')
        {
            files.entry(file.path.clone()).or_insert_with(|| (!before.is_empty()).then(|| before.to_owned()));
        }
    }
    files
}

/// A change of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileStep {
    /// The canonical path.
    pub path: String,
    /// The kind of change: the file is new, has another content, or is gone.
    #[serde(default)]
    pub kind: FileChangeKind,
    /// The hash of both contents, which reveals changes even of a file that is not shown.
    #[serde(default)]
    pub mark: String,
    /// The text before the step; `None` if there is no file, or it is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text after the step; `None` if the file is removed, or it is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The hunks between the two; empty where only the whole step can be chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<Hunk>,
    /// The reason why there are no hunks, or why the file deserves attention, such as a program that obeys it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandStep {
    /// The text for the shell.
    pub command: String,
    /// The folder within the workspace; `None` for the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The name of the background process, if it is left running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// The variables that it is given, by their names. The value of a variable can matter more than the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The text in its output that shows that a background process is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// The files that it changed when all steps were tried; empty until then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<FileStep>,
    /// A digest of the unlisted changes, so that the mark of the steps covers them as well; empty if all are listed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unlisted: String,
}

impl CommandStep {
    /// Returns its inputs in addition to its text, one per line: `with NAME="value"`. Values are quoted, so that none
    /// can look like another line. The lines are as long as the values.
    pub fn surroundings(&self) -> impl Iterator<Item = String> + '_ {
        let variables =
            self.environment.iter().map(|(name, value)| format!("with {}={value:?}", name.escape_debug()));
        let ready = self.ready.iter().map(|ready| format!("ready as soon as it prints {ready:?}"));
        variables.chain(ready)
    }
}

impl FileStep {
    /// The longest file, in bytes, whose hunks can be chosen.
    pub const MOST_BYTES: usize = 1 << 20;

    /// Describes a change of a file; `None` for a missing file. Contents that are not text, or too long, are not kept,
    /// and then only the whole step can be chosen.
    #[must_use]
    pub fn between(path: impl Into<String>, before: Option<&[u8]>, after: Option<&[u8]>) -> FileStep {
        let kind = FileChangeKind::between(before.is_some(), after.is_some());
        let hash =
            |side: Option<&[u8]>| side.map_or(String::new(), |bytes| ContentHash::of(bytes).to_string());
        let mark = format!("{} {}", hash(before), hash(after));
        let step = FileStep { path: path.into(), kind, mark, ..FileStep::default() };
        let sides = [before, after].into_iter().flatten();
        if sides.clone().any(|bytes| bytes.len() > Self::MOST_BYTES) {
            return step.with_note("too long to show");
        }
        if sides.clone().any(|bytes| std::str::from_utf8(bytes).is_err()) {
            return step.with_note("not a text");
        }
        let text = |side: Option<&[u8]>| side.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let (before, after) = (text(before), text(after));
        let hunks = match (&before, &after) {
            // A file that is created or removed is one decision.
            (None, _) | (_, None) => Vec::new(),
            (Some(before), Some(after)) => hunks(before, after),
        };
        FileStep { before, after, hunks, ..step }
    }

    /// Appends a note to the existing ones.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> FileStep {
        self.note = Some(match self.note {
            Some(notes) => format!("{notes}; {note}"),
            None => note.to_owned(),
        });
        self
    }

    /// Returns the effect in a few words: `delete src/old.rs`.
    #[must_use]
    pub fn title(&self) -> String {
        let verb = match self.kind {
            FileChangeKind::Created => "create",
            FileChangeKind::Changed => "change",
            FileChangeKind::Deleted => "delete",
        };
        format!("{verb} {}", self.path)
    }
}

/// The effect of a step on its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChangeKind {
    /// There is a new file.
    Created,
    /// The file has another content.
    #[default]
    Changed,
    /// The file is gone.
    Deleted,
}

impl FileChangeKind {
    /// Returns the kind of a change, given the presence of a file before and after it.
    #[must_use]
    pub fn between(before: bool, after: bool) -> FileChangeKind {
        match (before, after) {
            (false, true) => FileChangeKind::Created,
            (true, false) => FileChangeKind::Deleted,
            _ => FileChangeKind::Changed,
        }
    }
}

impl ProposedStep {
    /// Returns the path of the file that it changes; `None` for a command.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match &self.effect {
            StepEffect::File(file) => Some(&file.path),
            StepEffect::Command(_) => None,
        }
    }
}
