//! The contents that unfinished sessions need; garbage collection may remove all others.

use std::collections::HashSet;

use change_journal::{ContentHash, JournalReader};

use crate::documents;
use crate::error::SessionError;
use crate::sessions::encode;
use crate::summary::sessions;

/// Returns the versions of files to which line numbers of unfinished sessions may refer. To be safe, this includes everything in
/// their documents that looks like a hash.
///
/// # Errors
///
/// If the journal cannot be read.
pub fn needed_contents(journal: &JournalReader) -> Result<HashSet<ContentHash>, SessionError> {
    let mut needed = HashSet::new();
    for session in sessions(journal)?.into_iter().filter(|session| !session.is_complete) {
        needed.extend(hashes(&encode(&session)));
    }
    // Replies under way count too: their line numbers refer to versions that no file has any longer.
    for head in journal.documents(documents::BASE_VERSIONS)? {
        if let Some(document) = journal.document(&head.name)? {
            needed.extend(hashes(&document.bytes));
        }
    }
    Ok(needed)
}

fn hashes(bytes: &[u8]) -> impl Iterator<Item = ContentHash> {
    bytes
        .split(|byte| !byte.is_ascii_hexdigit())
        .filter_map(|word| std::str::from_utf8(word).ok())
        .filter_map(|word| word.parse().ok())
}
