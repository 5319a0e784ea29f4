//! The names of a session's documents in the journal.

use change_journal::ContentHash;
use tagproto::SessionId;

/// What the names of all session documents begin with.
pub(crate) const SESSIONS: &str = "session/";

/// What the names of all documents about executed files begin with.
pub(crate) const TAKEN_FILES: &str = "inbox/";

/// What the names of all documents about line numbers begin with.
pub(crate) const BASE_VERSIONS: &str = "base/";

/// The session itself, exactly as its file holds it.
pub(crate) fn session(id: SessionId) -> String {
    format!("{SESSIONS}{id}")
}

/// An outbox, exactly as its file holds it.
pub(crate) fn outbox(id: SessionId, sequence: u32) -> String {
    format!("outbox/{id}/{sequence:04}")
}

/// The document that a file in `outbox/` is written from, if it has the name of one.
pub(crate) fn outbox_of_file(name: &str) -> Option<String> {
    let (id, sequence) = name.strip_suffix(".txt")?.split_once("_seq")?;
    Some(outbox(id.parse().ok()?, sequence.parse().ok()?))
}

/// The text of the reply that answered an outbox.
pub(crate) fn reply(id: SessionId, sequence: u32) -> String {
    format!("reply/{id}/{sequence:04}")
}

/// Which file of the inbox the last executed reply of a session came in.
pub(crate) fn taken_file(id: SessionId) -> String {
    format!("{TAKEN_FILES}{id}")
}

/// Present while nobody knows whether a reply to the pending outbox of a session was begun: its journal was lost.
pub(crate) fn lost_history(id: SessionId) -> String {
    format!("lost/{id}")
}

/// The text of a reply under way; gone when it is finished.
pub(crate) fn begun(id: SessionId, sequence: u32) -> String {
    format!("begun/{id}/{sequence:04}")
}

/// What replies to the pending outbox had done that were stopped and not gone on with; gone when it is told.
pub(crate) fn stopped(id: SessionId, sequence: u32) -> String {
    format!("stopped/{id}/{sequence:04}")
}

/// The number of the last change in the workspace that the pending outbox may know of.
pub(crate) fn known_changes(id: SessionId) -> String {
    format!("known/{id}")
}

/// What the line numbers of a reply under way mean; gone when it is finished. Another reply to the same outbox has a
/// document of its own.
pub(crate) fn base_versions(id: SessionId, sequence: u32, reply: &ContentHash) -> String {
    format!("{BASE_VERSIONS}{id}/{sequence:04}/{reply}")
}
