//! The names of a session's documents in the journal.

use change_journal::ContentHash;
use tagproto::SessionId;

/// The prefix of the names of all session documents.
pub(crate) const SESSIONS: &str = "session/";

/// The prefix of the names of all documents about executed files.
pub(crate) const TAKEN_FILES: &str = "inbox/";

/// The prefix of the names of all documents about line numbers.
pub(crate) const BASE_VERSIONS: &str = "base/";

/// Returns the name of the session itself, with the same bytes as its file.
pub(crate) fn session(id: SessionId) -> String {
    format!("{SESSIONS}{id}")
}

/// Returns the name of the state in which a session began: the files of its first message, and the list of the workspace.
pub(crate) fn beginning(id: SessionId) -> String {
    format!("beginning/{id}")
}

/// Returns the name of an outbox, with the same bytes as its file.
pub(crate) fn outbox(id: SessionId, sequence: u32) -> String {
    format!("outbox/{id}/{sequence:04}")
}

/// Returns the name of the document of a file in `outbox/`; `None` if the file does not have the name of an outbox.
pub(crate) fn outbox_of_file(name: &str) -> Option<String> {
    let (id, sequence) = name.strip_suffix(".txt")?.split_once("_seq")?;
    Some(outbox(id.parse().ok()?, sequence.parse().ok()?))
}

/// Returns the name of the text of the reply that answered an outbox.
pub(crate) fn reply(id: SessionId, sequence: u32) -> String {
    format!("reply/{id}/{sequence:04}")
}

/// Returns the name of the stamp of the inbox file with the last executed reply of a session.
pub(crate) fn taken_file(id: SessionId) -> String {
    format!("{TAKEN_FILES}{id}")
}

/// Returns the name of a document that exists while it is unknown whether a reply to the pending outbox was begun, because the
/// journal was lost.
pub(crate) fn lost_history(id: SessionId) -> String {
    format!("lost/{id}")
}

/// Returns the name of the text of a reply under way, which is removed when the reply is finished.
pub(crate) fn begun(id: SessionId, sequence: u32) -> String {
    format!("begun/{id}/{sequence:04}")
}

/// Returns the name of the results of interrupted replies to the pending outbox that a later reply supersedes. It is removed when
/// they are reported.
pub(crate) fn stopped(id: SessionId, sequence: u32) -> String {
    format!("stopped/{id}/{sequence:04}")
}

/// Returns the name of the number of the last change in the workspace that the pending outbox takes into account.
pub(crate) fn known_changes(id: SessionId) -> String {
    format!("known/{id}")
}

/// Returns the name of the file versions to which the line numbers of a reply under way refer. It is removed when the reply is
/// finished; each reply to the same outbox has its own document.
pub(crate) fn base_versions(id: SessionId, sequence: u32, reply: &ContentHash) -> String {
    format!("{BASE_VERSIONS}{id}/{sequence:04}/{reply}")
}
