//! Owns the translation of SQLite's and the operating system's failures into the kinds of this crate.

use std::io;

use rusqlite::ffi;

use crate::error::{DatabaseFailure, JournalError, OpenError};

/// What a failure means for the journal, before it is told to anyone.
#[derive(Debug)]
pub(crate) enum Failure {
    NoSpace,
    ReadOnly,
    Denied,
    Missing,
    /// The database's pages make no sense.
    Damaged,
    /// A sync failed: the kernel may have dropped the pages, so that syncing them once more would prove nothing.
    SyncLost(DatabaseFailure),
    Io(io::Error),
    Database(DatabaseFailure),
}

impl DatabaseFailure {
    /// Whether one write broke a rule of the schema, which says nothing about the writes beside it.
    pub(crate) fn is_constraint(self) -> bool {
        self.code & 0xff == ffi::SQLITE_CONSTRAINT
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let code = match &error {
            rusqlite::Error::SqliteFailure(failure, _) => failure.extended_code,
            // A column of the wrong type in a strict table can only come from damaged pages.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..) => return Self::Damaged,
            _ => return Self::Database(DatabaseFailure { code: 0, text: "unexpected use of the database" }),
        };
        let failure = DatabaseFailure { code, text: ffi::code_to_str(code) };
        match (code & 0xff, code) {
            // The shared index only ever fails to grow when there is no space for it.
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
