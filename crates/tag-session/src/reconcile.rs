//! Reconciles session files and journal when a state folder is opened.

use change_journal::{DocumentWrite, Journal};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FsError};
use tagproto::Session;

use crate::documents;
use crate::error::SessionError;
use crate::folders::StateFolders;
use crate::inbox::file::{TakenStamp, candidates};
use crate::inbox::moving;
use crate::projection::{self, LIMIT_BYTES};
use crate::summary;

/// The repairs of opening a state folder. Names are relative to the state folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reconciled {
    /// Files that were rewritten from the journal.
    pub rewritten: Vec<String>,
    /// Session files that cannot be read, with the name of the kept copy.
    pub damaged: Vec<(String, String)>,
    /// Session files and pending messages that another program edited, with the name of the kept copy; the journal's version
    /// applies.
    pub edited: Vec<(String, String)>,
    /// Sessions that were missing from the journal and were imported from their files.
    pub imported: Vec<String>,
    /// Replies that an earlier process executed and that were now moved to `processed/`.
    pub put_away: Vec<String>,
}

/// Compares every session's files with the journal. The journal takes precedence, and text that it does not contain is never
/// overwritten.
pub(crate) fn reconcile(journal: &Journal, folders: &StateFolders) -> Result<Reconciled, SessionError> {
    let mut reconciled = Reconciled::default();
    for folder in [&folders.sessions, &folders.outbox] {
        projection::clear_leftovers(folder);
    }
    // Importing comes first: the later steps only restore the files of sessions in the journal.
    import(journal, folders, &mut reconciled)?;
    for session in summary::sessions(journal.reader())? {
        restore_session_file(&session, journal, folders, &mut reconciled)?;
        restore_outbox_file(&session, journal, folders, &mut reconciled)?;
    }
    restore_emptied_outboxes(journal, folders, &mut reconciled)?;
    put_away(journal, folders, &mut reconciled)?;
    Ok(reconciled)
}

/// Imports session files that the journal does not know, because it is new or the old one was quarantined.
fn import(
    journal: &Journal,
    folders: &StateFolders,
    reconciled: &mut Reconciled,
) -> Result<(), SessionError> {
    let mut sessions = Vec::new();
    for entry in folders.sessions.list(&RelPath::root())? {
        let name = entry.path.to_string();
        let Some(id) = name.strip_suffix(".json").and_then(|id| id.parse().ok()) else { continue };
        if entry.kind != FileKind::File || journal.reader().document(&documents::session(id))?.is_some() {
            continue;
        }
        let Some(bytes) = projection::read(&folders.sessions, &name, LIMIT_BYTES)? else { continue };
        match serde_json::from_slice::<Session>(&bytes) {
            Ok(session) if session.session_id == id => sessions.push((session, bytes)),
            _ => {
                let kept = projection::keep_copy(&folders.sessions, &name, "damaged")?;
                reconciled.damaged.push((format!("sessions/{name}"), format!("sessions/{kept}")));
            }
        }
    }
    // Written in the order of their times, since from now on the order in the journal determines which session changed last.
    sessions.sort_by(|(one, _), (other, _)| one.updated_at.cmp(&other.updated_at));
    for (session, bytes) in sessions {
        let id = session.session_id;
        let outbox = projection::read(&folders.outbox, &session.outbox_file_name(), LIMIT_BYTES)?;
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
        reconciled.imported.push(id.to_string());
    }
    Ok(())
}

/// Moves executed replies out of the inbox if a process was killed before moving them.
///
/// A reply without a token could not be distinguished later from a reply that is meant to run again.
fn put_away(
    journal: &Journal,
    folders: &StateFolders,
    reconciled: &mut Reconciled,
) -> Result<(), SessionError> {
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
            // A file that was replaced meanwhile was not executed.
            if moving::move_listed(folders, &candidate, &folders.processed)?.is_some() {
                reconciled.put_away.push(format!("inbox/{}", candidate.name));
            }
        }
    }
    Ok(())
}

fn restore_session_file(
    session: &Session,
    journal: &Journal,
    folders: &StateFolders,
    reconciled: &mut Reconciled,
) -> Result<(), SessionError> {
    let name = session.session_file_name();
    let Some(document) = journal.reader().document(&documents::session(session.session_id))? else {
        return Ok(());
    };
    let path = format!("sessions/{name}");
    if let Some(bytes) = projection::read(&folders.sessions, &name, LIMIT_BYTES)? {
        if bytes == document.bytes {
            return Ok(());
        }
        match serde_json::from_slice::<Session>(&bytes) {
            // The file is not synced, so a power loss leaves zeros or an empty file.
            _ if is_unwritten(&bytes) => {}
            // An earlier version: a process was killed between the commit and writing the file.
            Ok(file) if is_outdated(&file, session) => {}
            Ok(_) => {
                let kept = projection::keep_copy(&folders.sessions, &name, "edited")?;
                reconciled.edited.push((path.clone(), format!("sessions/{kept}")));
            }
            Err(_) => {
                let kept = projection::keep_copy(&folders.sessions, &name, "damaged")?;
                reconciled.damaged.push((path.clone(), format!("sessions/{kept}")));
            }
        }
    }
    projection::write(&folders.sessions, &name, &document.bytes)?;
    reconciled.rewritten.push(path);
    Ok(())
}

fn is_outdated(file: &Session, session: &Session) -> bool {
    file.session_id == session.session_id
        && file.sequence_number <= session.sequence_number
        && (!file.is_complete || session.reopened.contains(&file.sequence_number))
        // With the same number, only the file of a session that has completed since can be an earlier version.
        && (file.sequence_number < session.sequence_number || session.is_complete)
}

fn restore_outbox_file(
    session: &Session,
    journal: &Journal,
    folders: &StateFolders,
    reconciled: &mut Reconciled,
) -> Result<(), SessionError> {
    if session.is_complete {
        return Ok(());
    }
    let name = session.outbox_file_name();
    let document = documents::outbox(session.session_id, session.sequence_number);
    let Some(document) = journal.reader().document(&document)? else { return Ok(()) };
    let file = match projection::read(&folders.outbox, &name, LIMIT_BYTES) {
        Err(FsError::TooLarge { .. }) => None,
        file => file?,
    };
    let path = format!("outbox/{name}");
    if file.as_deref() != Some(&document.bytes) {
        if let Some(kept) = projection::write_outbox(&folders.outbox, session, &document.bytes)? {
            reconciled.edited.push((path.clone(), format!("outbox/{kept}")));
        }
        reconciled.rewritten.push(path);
    }
    restore_parts(session, &document.bytes, folders, reconciled)
}

/// Rewrites the parts of the pending outbox that are missing or different.
fn restore_parts(
    session: &Session,
    outbox: &[u8],
    folders: &StateFolders,
    reconciled: &mut Reconciled,
) -> Result<(), SessionError> {
    let Ok(text) = std::str::from_utf8(outbox) else { return Ok(()) };
    for (name, part) in session.outbox_parts(text) {
        let file = match projection::read(&folders.outbox, &name, LIMIT_BYTES) {
            Err(FsError::TooLarge { .. }) => None,
            file => file?,
        };
        if file.as_deref() != Some(part.as_bytes()) {
            projection::write(&folders.outbox, &name, part.as_bytes())?;
            reconciled.rewritten.push(format!("outbox/{name}"));
        }
    }
    Ok(())
}

/// Checks whether a power loss left only zeros of a projection. A file with any other byte is kept, since it may contain another
/// program's text.
fn is_unwritten(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Rewrites answered outboxes that a power loss left empty.
fn restore_emptied_outboxes(
    journal: &Journal,
    folders: &StateFolders,
    reconciled: &mut Reconciled,
) -> Result<(), SessionError> {
    for entry in folders.outbox.list(&RelPath::root())? {
        if entry.kind != FileKind::File || entry.metadata.is_none_or(|metadata| metadata.size_bytes > 0) {
            continue;
        }
        let name = entry.path.to_string();
        let Some(document) = documents::outbox_of_file(&name) else { continue };
        if let Some(document) = journal.reader().document(&document)? {
            projection::write(&folders.outbox, &name, &document.bytes)?;
            reconciled.rewritten.push(format!("outbox/{name}"));
        }
    }
    Ok(())
}
