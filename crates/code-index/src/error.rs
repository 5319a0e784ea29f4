//! Errors of opening an index, and the mapping of store errors.

use std::io;

use wap_core::IndexError;

/// The reason why an index cannot be opened. For the user of the program, never for a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The index's folder cannot be created or used.
    #[error("the folder of the index cannot be used")]
    Folder(#[source] io::Error),
    /// The store cannot be opened, even after it was rebuilt.
    #[error("the store of the index cannot be opened")]
    Store(#[source] rusqlite::Error),
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> OpenError {
        OpenError::Store(error)
    }
}

/// Maps an error of the store to one for the caller, without a path and without SQLite's own text.
pub(crate) fn store_failed(error: &rusqlite::Error) -> IndexError {
    let cause = match error.sqlite_error_code() {
        Some(code) if is_damage(code) => "its store is damaged and has to be rebuilt",
        Some(rusqlite::ErrorCode::DiskFull) => "the disk is full",
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            "its store is in use by another process"
        }
        Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen) => {
            "its store cannot be written"
        }
        Some(rusqlite::ErrorCode::OperationInterrupted) => return IndexError::Cancelled,
        _ => "its store failed",
    };
    IndexError::Failed { cause: cause.to_owned() }
}

/// Returns true if an error shows that the store is damaged.
pub(crate) fn is_damaged(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code().is_some_and(is_damage)
        || matches!(
            error,
            rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..)
                // An intact store always has the rows of single-row queries.
                | rusqlite::Error::QueryReturnedNoRows
        )
        // Nor does it lack a table. A store that could not be rebuilt, for example on a full disk, has none.
        || error.to_string().starts_with("no such table")
}

fn is_damage(code: rusqlite::ErrorCode) -> bool {
    // Our statements do not violate any constraint of an intact store.
    matches!(
        code,
        rusqlite::ErrorCode::DatabaseCorrupt
            | rusqlite::ErrorCode::NotADatabase
            | rusqlite::ErrorCode::ConstraintViolation
    )
}
