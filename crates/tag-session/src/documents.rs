//! The names of a session's documents in the journal.

use change_journal::ContentHash;
use tagproto::SessionId;

/// The prefix of the names of all session documents.
pub(crate) const SESSIONS: &str = "session/";

/// The prefix of the names of all documents about executed files.
pub(crate) const TAKEN_FILES: &str = "inbox/";

/// The prefix of the names of all documents about line numbers.
pub(crate) const BASE_VERSIONS: &str = "base/";

/// Names the session itself, exactly as its file holds it.
pub(crate) fn session(id: SessionId) -> String {
    format!("{SESSIONS}{id}")
}

/// Names what a session began with: the files of its first message, and the list of the workspace.
pub(crate) fn beginning(id: SessionId) -> String {
    format!("beginning/{id}")
}

/// Names an outbox, exactly as its file holds it.
pub(crate) fn outbox(id: SessionId, sequence: u32) -> String {
    format!("outbox/{id}/{sequence:04}")
}

/// Names the document of a file in `outbox/`; `None` if the file does not have the name of an outbox.
pub(crate) fn outbox_of_file(name: &str) -> Option<String> {
    let (id, sequence) = name.strip_suffix(".txt")?.split_once("_seq")?;
    Some(outbox(id.parse().ok()?, sequence.parse().ok()?))
}

/// Names the text of the reply that answered an outbox.
pub(crate) fn reply(id: SessionId, sequence: u32) -> String {
    format!("reply/{id}/{sequence:04}")
}

/// Names the stamp of the inbox file with the last executed reply of a session.
pub(crate) fn taken_file(id: SessionId) -> String {
    format!("{TAKEN_FILES}{id}")
}

/// Names a document that exists while it cannot be determined whether a reply to the pending outbox was begun, because
/// the journal was lost.
pub(crate) fn lost_history(id: SessionId) -> String {
    format!("lost/{id}")
}

/// Names the text of a reply under way, which is removed when the reply is finished.
pub(crate) fn begun(id: SessionId, sequence: u32) -> String {
    format!("begun/{id}/{sequence:04}")
}

/// Names the results of interrupted replies to the pending outbox that a later reply supersedes. It is removed when they
/// are reported.
pub(crate) fn stopped(id: SessionId, sequence: u32) -> String {
    format!("stopped/{id}/{sequence:04}")
}

/// Names the number of the last change in the workspace that the pending outbox takes into account.
pub(crate) fn known_changes(id: SessionId) -> String {
    format!("known/{id}")
}

/// Names the file versions that the line numbers of a reply under way refer to. It is removed when the reply is finished;
/// another reply to the same outbox has a document of its own.
pub(crate) fn base_versions(id: SessionId, sequence: u32, reply: &ContentHash) -> String {
    format!("{BASE_VERSIONS}{id}/{sequence:04}/{reply}")
}
