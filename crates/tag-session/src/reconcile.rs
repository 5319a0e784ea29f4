//! Bringing session files and journal together when a state folder is opened.

use change_journal::{DocumentWrite, Journal};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError};
use tagproto::Session;

use crate::documents;
use crate::error::SessionError;
use crate::folders::StateFolders;
use crate::inbox::file::{TakenStamp, candidates};
use crate::projection;
use crate::summary;

/// The largest session file that is read.
const SESSION_LIMIT_BYTES: u64 = 64 << 20;

/// What was found when a state folder was opened. Names are relative to the state folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reconciled {
    /// Files that were written again from the journal.
    pub rewritten: Vec<String>,
    /// Session files that cannot be read, and under which name they are kept.
    pub damaged: Vec<(String, String)>,
    /// Session files that somebody has edited, and under which name they are kept; the journal's version is in force.
    pub edited: Vec<(String, String)>,
    /// Sessions that the journal did not know and that were taken over from their files.
    pub imported: Vec<String>,
    /// Replies that had been executed, and were moved to `processed/` only now.
    pub put_away: Vec<String>,
}

/// Compares every session's files with the journal; the journal wins, and nothing is overwritten that it does not have.
pub(crate) fn reconcile(journal: &Journal, folders: &StateFolders) -> Result<Reconciled, SessionError> {
    let mut found = Reconciled::default();
    for folder in [&folders.sessions, &folders.outbox] {
        projection::clear_leftovers(folder);
    }
    import(journal, folders, &mut found)?;
    for session in summary::sessions(journal.reader())? {
        restore_session_file(&session, journal, folders, &mut found)?;
        restore_outbox_file(&session, journal, folders, &mut found)?;
    }
    restore_emptied_outboxes(journal, folders, &mut found)?;
    put_away(journal, folders, &mut found)?;
    Ok(found)
}

/// Takes over session files that the journal does not know, because it is new or was set aside.
fn import(journal: &Journal, folders: &StateFolders, found: &mut Reconciled) -> Result<(), SessionError> {
    let mut sessions = Vec::new();
    for entry in folders.sessions.list(&RelPath::root())? {
        let name = entry.path.to_string();
        let Some(id) = name.strip_suffix(".json").and_then(|id| id.parse().ok()) else { continue };
        if entry.kind != FileKind::File || journal.reader().document(&documents::session(id))?.is_some() {
            continue;
        }
        let Some(bytes) = projection::read(&folders.sessions, &name, SESSION_LIMIT_BYTES)? else { continue };
        match serde_json::from_slice::<Session>(&bytes) {
            Ok(session) if session.session_id == id => sessions.push((session, bytes)),
            _ => {
                let kept = projection::keep_beside(&folders.sessions, &name, "damaged")?;
                found.damaged.push((format!("sessions/{name}"), format!("sessions/{kept}")));
            }
        }
    }
    // From here on their order in the journal says which one changed last; until now only their times do.
    sessions.sort_by(|(one, _), (other, _)| one.updated_at.cmp(&other.updated_at));
    for (session, bytes) in sessions {
        let id = session.session_id;
        let outbox = projection::read(&folders.outbox, &session.outbox_file_name(), SESSION_LIMIT_BYTES)?;
        let outbox_name = documents::outbox(id, session.sequence_number);
        let session_name = documents::session(id);
        let lost_name = documents::lost_history(id);
        let mut writes = vec![
            DocumentWrite::Put { name: &session_name, bytes: &bytes },
            DocumentWrite::Put { name: &lost_name, bytes: b"" },
        ];
        if let Some(outbox) = &outbox {
            writes.push(DocumentWrite::Put { name: &outbox_name, bytes: outbox });
        }
        journal.write_documents(&writes)?;
        found.imported.push(id.to_string());
    }
    Ok(())
}

/// Moves replies out of the inbox that were executed by a process that died before it could.
///
/// A reply without a token could otherwise not be told from one that is meant once more.
fn put_away(journal: &Journal, folders: &StateFolders, found: &mut Reconciled) -> Result<(), SessionError> {
    let mut taken = Vec::new();
    for head in journal.reader().documents(documents::TAKEN_FILES)? {
        if let Some(document) = journal.reader().document(&head.name)?
            && let Ok(stamp) = serde_json::from_slice::<TakenStamp>(&document.bytes)
        {
            taken.push(stamp);
        }
    }
    for candidate in candidates(folders)? {
        if taken.contains(&candidate.stamp.into()) {
            projection::move_to_processed(folders, &candidate.name)?;
            found.put_away.push(format!("inbox/{}", candidate.name));
        }
    }
    Ok(())
}

fn restore_session_file(
    session: &Session,
    journal: &Journal,
    folders: &StateFolders,
    found: &mut Reconciled,
) -> Result<(), SessionError> {
    let name = session.session_file_name();
    let Some(document) = journal.reader().document(&documents::session(session.session_id))? else {
        return Ok(());
    };
    let shown = format!("sessions/{name}");
    if let Some(bytes) = projection::read(&folders.sessions, &name, SESSION_LIMIT_BYTES)? {
        if bytes == document.bytes {
            return Ok(());
        }
        match serde_json::from_slice::<Session>(&bytes) {
            // The file is not synced, and this is what a loss of power makes of it.
            _ if is_unwritten(&bytes) => {}
            // An earlier version: a process died between commit and file.
            Ok(file) if is_behind(&file, session) => {}
            Ok(_) => {
                let kept = projection::keep_beside(&folders.sessions, &name, "edited")?;
                found.edited.push((shown.clone(), format!("sessions/{kept}")));
            }
            Err(_) => {
                let kept = projection::keep_beside(&folders.sessions, &name, "damaged")?;
                found.damaged.push((shown.clone(), format!("sessions/{kept}")));
            }
        }
    }
    projection::write(&folders.sessions, &name, &document.bytes)?;
    found.rewritten.push(shown);
    Ok(())
}

fn is_behind(file: &Session, session: &Session) -> bool {
    file.session_id == session.session_id
        && file.sequence_number <= session.sequence_number
        && (!file.is_complete || session.reopened.contains(&file.sequence_number))
        && (file.sequence_number < session.sequence_number || session.is_complete)
}

fn restore_outbox_file(
    session: &Session,
    journal: &Journal,
    folders: &StateFolders,
    found: &mut Reconciled,
) -> Result<(), SessionError> {
    if session.is_complete {
        return Ok(());
    }
    let name = session.outbox_file_name();
    let document = documents::outbox(session.session_id, session.sequence_number);
    let Some(document) = journal.reader().document(&document)? else { return Ok(()) };
    let file = match projection::read(&folders.outbox, &name, SESSION_LIMIT_BYTES) {
        // It is larger than any of ours.
        Err(FsError::TooLarge { .. }) => None,
        file => file?,
    };
    if file.as_deref() != Some(&document.bytes) {
        projection::write(&folders.outbox, &name, &document.bytes)?;
        found.rewritten.push(format!("outbox/{name}"));
    }
    Ok(())
}

/// Whether nothing of a projection was written when power was lost. What holds any byte is kept, whoever wrote it.
fn is_unwritten(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Writes outboxes again that are not pending any more and of which a loss of power has left only the name.
fn restore_emptied_outboxes(
    journal: &Journal,
    folders: &StateFolders,
    found: &mut Reconciled,
) -> Result<(), SessionError> {
    for entry in folders.outbox.list(&RelPath::root())? {
        if entry.kind != FileKind::File || entry.metadata.is_none_or(|metadata| metadata.size_bytes > 0) {
            continue;
        }
        let name = entry.path.to_string();
        let Some(document) = documents::outbox_of_file(&name) else { continue };
        if let Some(document) = journal.reader().document(&document)? {
            projection::write(&folders.outbox, &name, &document.bytes)?;
            found.rewritten.push(format!("outbox/{name}"));
        }
    }
    Ok(())
}
