//! Why an index cannot be opened, and what its store says.

use std::io;

use wap_core::IndexError;

/// Why an index cannot be opened. For the person who runs the program, never for a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The index's folder cannot be made or used.
    #[error("the folder of the index cannot be used")]
    Folder(#[source] io::Error),
    /// The store cannot be opened, although it was made anew.
    #[error("the store of the index cannot be opened")]
    Store(#[source] rusqlite::Error),
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> OpenError {
        OpenError::Store(error)
    }
}

/// Turns what the store says into what a caller is told: no path, and no text of the store's own.
pub(crate) fn store_failed(error: &rusqlite::Error) -> IndexError {
    let cause = match error.sqlite_error_code() {
        Some(code) if is_damage(code) => "its store is damaged and has to be built anew",
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

/// Whether a store says that it is not what it should be.
pub(crate) fn is_damaged(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code().is_some_and(is_damage)
        || matches!(
            error,
            rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..)
                // Every row that is asked for as the only one is always there.
                | rusqlite::Error::QueryReturnedNoRows
        )
}

fn is_damage(code: rusqlite::ErrorCode) -> bool {
    // What we write violates no constraint of a store that is sound.
    matches!(
        code,
        rusqlite::ErrorCode::DatabaseCorrupt
            | rusqlite::ErrorCode::NotADatabase
            | rusqlite::ErrorCode::ConstraintViolation
    )
}
