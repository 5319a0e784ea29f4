//! A session as a single text: the files at its start, and every message, reply and result.

use std::collections::BTreeMap;

use change_journal::{ContentHash, EntryKind, JournalReader, RunFilter};
use rel_path::RelPath;
use sandbox_fs::{Expected, FileMode, FileRoot, FsError};
use serde::{Deserialize, Serialize};
use tagproto::{CommandResult, Dialect, Session, SessionId};
use wap_core::TaskFile;

use crate::beginning::{Beginning, BeginningDocument};
use crate::documents;
use crate::error::SessionError;
use crate::outcome::results;
use crate::round::identity;
use crate::summary::read_session;

/// The supported format of transcripts.
const FORMAT: u32 = 1;

/// The record of a session, with everything that a replay needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Transcript {
    /// The format of the transcript: 1.
    pub format: u32,
    /// The session's id, which its replies quote.
    pub session: SessionId,
    /// The task.
    pub task: String,
    /// The dialect.
    pub dialect: Dialect,
    /// The budget of a message, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u32>,
    /// The files that matter for the task, as they were ranked when the session began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_files: Vec<TaskFile>,
    /// The files that the first message shows whole because the user named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_files: Vec<String>,
    /// The files at the beginning of the session, as far as they can be determined.
    pub files: Vec<TranscriptFile>,
    /// The other files that existed.
    pub left_out: Vec<LeftOut>,
    /// The finished rounds, oldest first.
    pub rounds: Vec<TranscriptRound>,
    /// The message that waits for a reply; `None` if the session is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
}

/// One message with its reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TranscriptRound {
    /// The number of the message, 1-based.
    pub sequence: u32,
    /// The message.
    pub outbox: String,
    /// The reply, as it was pasted.
    pub reply: String,
    /// The results of its blocks.
    pub results: Vec<CommandResult>,
}

/// A file at the beginning of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TranscriptFile {
    /// Its path.
    pub path: String,
    /// Its permission bits; `None` if they are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Its content.
    #[serde(flatten)]
    pub content: TranscriptContent,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TranscriptContent {
    /// Text in UTF-8.
    Text(String),
    /// Other bytes, as hexadecimal digits.
    Hex(String),
    /// The target of a symlink.
    Link(String),
}

/// An omission from a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LeftOut {
    /// The path, or a description of the files.
    pub what: String,
    /// The reason.
    pub why: String,
}

impl Transcript {
    /// Collects the transcript of a session from the journal.
    ///
    /// The files are those listed by the first message and those changed by the session. Their content is the content before the
    /// first change, else the content in a message, else the current content in `workspace` if its size is the same.
    ///
    /// # Errors
    ///
    /// [`SessionError::Unknown`]; [`SessionError::Unrecorded`] if the journal does not contain the first message; or if the
    /// journal cannot be read.
    pub fn collect(
        journal: &JournalReader,
        id: SessionId,
        workspace: &FileRoot,
    ) -> Result<Transcript, SessionError> {
        let session = read_session(journal, id)?;
        let rounds = rounds(journal, &session)?;
        let pending = if session.is_complete {
            None
        } else {
            document(journal, &documents::outbox(id, session.sequence_number))?
        };
        let first = rounds.first().map(|round| &round.outbox).or(pending.as_ref());
        // A session that was imported after its journal was lost has no first message.
        let is_first = rounds.first().map_or(session.sequence_number, |round| round.sequence) == 1;
        let Some(first) = first.filter(|_| is_first) else {
            return Err(SessionError::Unrecorded { id });
        };
        let mut beginning = Beginning::new(journal, workspace);
        let outboxes: Vec<_> = rounds.iter().map(|round| &*round.outbox).chain(pending.as_deref()).collect();
        let document = BeginningDocument::read(journal, id)?;
        beginning.collect(&session, &document, first, &outboxes)?;
        let Beginning { files, left_out, .. } = beginning;
        Ok(Transcript {
            format: FORMAT,
            session: id,
            task: session.task,
            dialect: session.dialect,
            token_budget: session.token_budget,
            task_files: document.task_files,
            read_files: document.read_files,
            files,
            left_out,
            rounds,
            pending,
        })
    }

    /// Reads a transcript.
    ///
    /// # Errors
    ///
    /// If the text is malformed, or has another format.
    pub fn parse(text: &[u8]) -> Result<Transcript, TranscriptError> {
        let transcript: Transcript = serde_json::from_slice(text).map_err(TranscriptError::Malformed)?;
        match transcript.format {
            FORMAT => Ok(transcript),
            format => Err(TranscriptError::OtherFormat { format }),
        }
    }

    /// Writes the files into an empty folder.
    ///
    /// # Errors
    ///
    /// If a path leads outside or may not be written, or the operating system fails.
    pub fn lay_out(&self, root: &FileRoot) -> Result<(), TranscriptError> {
        self.files.iter().try_for_each(|file| file.lay_out(root))
    }
}

/// The reason why a transcript cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// It is not a transcript.
    #[error("this is not a transcript: {0}")]
    Malformed(serde_json::Error),
    /// It has an unknown format.
    #[error("the transcript has format {format}, and only format {FORMAT} is supported")]
    OtherFormat {
        /// Its format.
        format: u32,
    },
    /// The bytes of a file are not in hexadecimal digits.
    #[error("the bytes of `{path}` are not hexadecimal digits")]
    BadHex {
        /// The file.
        path: String,
    },
    /// A file cannot be written.
    #[error("a file of the transcript cannot be written: {0}")]
    Files(#[from] FsError),
}

impl TranscriptFile {
    pub(crate) fn of(
        path: &str,
        mode: Option<u32>,
        kind: EntryKind,
        bytes: Vec<u8>,
    ) -> Option<TranscriptFile> {
        let content = match (kind, String::from_utf8(bytes)) {
            (EntryKind::Symlink, Ok(target)) => TranscriptContent::Link(target),
            (EntryKind::File, Ok(text)) => TranscriptContent::Text(text),
            (EntryKind::File, Err(error)) => TranscriptContent::Hex(to_hex(error.as_bytes())),
            _ => return None,
        };
        Some(TranscriptFile { path: path.to_owned(), mode, content })
    }

    fn lay_out(&self, root: &FileRoot) -> Result<(), TranscriptError> {
        let path = RelPath::parse(&self.path).map_err(FsError::from)?;
        if let Some(folder) = path.parent().filter(|folder| !folder.is_root()) {
            root.create_dirs(&folder)?;
        }
        let bytes = match &self.content {
            TranscriptContent::Link(target) => {
                root.restore_link(&path, target.as_bytes())?;
                return Ok(());
            }
            TranscriptContent::Text(text) => text.clone().into_bytes(),
            TranscriptContent::Hex(hex) => {
                from_hex(hex).ok_or_else(|| TranscriptError::BadHex { path: self.path.clone() })?
            }
        };
        let mode = self.mode.map_or(FileMode::Keep, FileMode::Exact);
        // The folder was empty: a file at this path means that the transcript names it twice.
        root.stage(&path, &bytes, mode)?.publish(Expected::Absent)?;
        Ok(())
    }
}

fn rounds(journal: &JournalReader, session: &Session) -> Result<Vec<TranscriptRound>, SessionError> {
    let id = session.session_id;
    let filter = RunFilter { conversation: Some(id.to_string()), ..RunFilter::default() };
    // There are several outcomes for a message whose first reply was interrupted and superseded, newest first.
    let mut outcomes: BTreeMap<u64, Vec<(ContentHash, Vec<CommandResult>)>> = BTreeMap::new();
    for run in journal.runs(&filter, u32::MAX)? {
        if let Some(outcome) = &run.outcome {
            outcomes.entry(run.key.sequence).or_default().push((run.key.content, results(outcome)));
        }
    }
    let outcome = |sequence: u32, reply: &str| {
        let outcomes = outcomes.get(&u64::from(sequence))?;
        let of_reply = outcomes.iter().find(|(content, _)| *content == identity(reply));
        of_reply.or(outcomes.first()).map(|(_, results)| results.clone())
    };
    let mut rounds = Vec::new();
    for sequence in 1..=session.sequence_number {
        let outbox = document(journal, &documents::outbox(id, sequence))?;
        let reply = document(journal, &documents::reply(id, sequence))?;
        if let (Some(outbox), Some(reply)) = (outbox, reply)
            && let Some(results) = outcome(sequence, &reply)
        {
            rounds.push(TranscriptRound { sequence, outbox, reply, results });
        }
    }
    Ok(rounds)
}

fn document(journal: &JournalReader, name: &str) -> Result<Option<String>, SessionError> {
    let document = journal.document(name)?;
    Ok(document.map(|document| String::from_utf8_lossy(&document.bytes).into_owned()))
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    // Only ASCII: the slices below must not cut a character.
    if !digits.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
