//! Owns the translation of failures of SQLite and the operating system into the error kinds of this crate.

use std::io;

use rusqlite::ffi;

use crate::error::{DatabaseFailure, JournalError, OpenError};

/// The meaning of a failure for the journal, before it becomes a public error.
#[derive(Debug)]
pub(crate) enum Failure {
    NoSpace,
    ReadOnly,
    Denied,
    Missing,
    /// The database's pages are inconsistent.
    Damaged,
    /// A sync failed. The kernel may have dropped the pages, so a second sync would prove nothing.
    SyncLost(DatabaseFailure),
    Io(io::Error),
    Database(DatabaseFailure),
}

impl DatabaseFailure {
    /// Returns whether one write broke a rule of the schema, which leaves the other writes of the group
    /// unharmed.
    pub(crate) fn is_constraint(self) -> bool {
        self.code & 0xff == ffi::SQLITE_CONSTRAINT
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let code = match &error {
            rusqlite::Error::SqliteFailure(failure, _) => failure.extended_code,
            // In a strict table, a column of the wrong type means damaged pages.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..) => return Self::Damaged,
            _ => return Self::Database(DatabaseFailure { code: 0, text: "unexpected use of the database" }),
        };
        let failure = DatabaseFailure { code, text: ffi::code_to_str(code) };
        match (code & 0xff, code) {
            // The shared index fails to grow only for lack of space.
            (ffi::SQLITE_FULL, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => Self::NoSpace,
            (ffi::SQLITE_READONLY, _) => Self::ReadOnly,
            (ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB, _) | (_, ffi::SQLITE_IOERR_SHORT_READ) => {
                Self::Damaged
            }
            (ffi::SQLITE_PERM | ffi::SQLITE_AUTH, _) => Self::Denied,
            (_, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC) => Self::SyncLost(failure),
            _ => Self::Database(failure),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace,
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            io::ErrorKind::PermissionDenied => Self::Denied,
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            _ => Self::Io(error),
        }
    }
}

impl From<Failure> for OpenError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NoSpace => Self::NoSpace,
            Failure::ReadOnly => Self::ReadOnly,
            Failure::Denied => Self::Denied,
            Failure::Missing => Self::Missing,
            Failure::Damaged => Self::Damaged,
            Failure::Io(error) => Self::Io(error),
            Failure::SyncLost(failure) | Failure::Database(failure) => Self::Database(failure),
        }
    }
}

impl From<Failure> for JournalError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NoSpace => Self::NoSpace,
            Failure::ReadOnly => Self::ReadOnly,
            Failure::Denied => Self::Io(io::ErrorKind::PermissionDenied.into()),
            Failure::Missing => Self::Io(io::ErrorKind::NotFound.into()),
            Failure::Damaged => Self::Damaged,
            Failure::SyncLost(_) => Self::NotSynced,
            Failure::Io(error) => Self::Io(error),
            Failure::Database(failure) => Self::Database(failure),
        }
    }
}

impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        Failure::from(error).into()
    }
}
