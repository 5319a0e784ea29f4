//! Owns the translation between the database's rows and the types of this crate.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};

use crate::change::{ChangeNumber, ChangeState, Entry, EntryKind, RecordedAttributes, RecordedChange};
use crate::clock::time_of;
use crate::document::{DocumentHead, DocumentVersion};
use crate::run::{RecordedRun, RunKey, RunNumber};
use crate::step::{RecordedStep, StepKind};
use content_hash::ContentHash;

/// A hash as 32 bytes of a column.
#[derive(Clone, Copy)]
pub(crate) struct HashColumn(pub ContentHash);

impl ToSql for HashColumn {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.0.as_bytes())))
    }
}

impl FromSql for HashColumn {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        FromSql::column_result(value).map(|bytes| HashColumn(ContentHash::from_bytes(bytes)))
    }
}

impl ToSql for RecordedAttributes {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            RecordedAttributes::Unknown => ValueRef::Null,
            RecordedAttributes::None => ValueRef::Blob(&[]),
            RecordedAttributes::Content(hash) => ValueRef::Blob(hash.as_bytes()),
        }))
    }
}

impl FromSql for RecordedAttributes {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(RecordedAttributes::Unknown),
            ValueRef::Blob([]) => Ok(RecordedAttributes::None),
            hash => HashColumn::column_result(hash).map(|column| RecordedAttributes::Content(column.0)),
        }
    }
}

/// Maps unsigned 64-bit numbers to the signed ones of the same bits that SQLite stores.
macro_rules! number_column {
    ($($number:ident),*) => {$(
        impl ToSql for $number {
            fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
                Ok(self.0.cast_signed().into())
            }
        }

        impl FromSql for $number {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_i64().map(|number| Self(number.cast_unsigned()))
            }
        }
    )*};
}

number_column!(RunNumber, ChangeNumber, DocumentVersion);

/// Maps enums to words, which the schema checks as well.
macro_rules! word_column {
    ($type:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl ToSql for $type {
            fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
                Ok(match self { $(Self::$variant => $word,)* }.into())
            }
        }

        impl FromSql for $type {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                match value.as_str()? {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(FromSqlError::InvalidType),
                }
            }
        }
    };
}

word_column!(StepKind {
    FileChange = "file-change",
    ShellCommand = "shell-command",
    Reading = "reading",
});
word_column!(EntryKind { File = "file", Symlink = "symlink", Folder = "folder" });
word_column!(ChangeState {
    Intended = "intended",
    Published = "published",
    Settled = "settled",
    Conflicted = "conflicted",
});

pub(crate) const RUN_COLUMNS: &str =
    "number, conversation, sequence, content, began_at_ms, finished_at_ms, outcome";

pub(crate) fn run(row: &Row<'_>) -> Result<RecordedRun> {
    Ok(RecordedRun {
        number: row.get("number")?,
        key: RunKey {
            conversation: row.get("conversation")?,
            sequence: row.get::<_, i64>("sequence")?.cast_unsigned(),
            content: row.get::<_, HashColumn>("content")?.0,
        },
        began_at: time_of(row.get("began_at_ms")?),
        finished_at: row.get::<_, Option<i64>>("finished_at_ms")?.map(time_of),
        outcome: row.get("outcome")?,
    })
}

pub(crate) const STEP_COLUMNS: &str =
    "run, step_index, kind, description, started_at_ms, finished_at_ms, outcome";

pub(crate) fn step(row: &Row<'_>) -> Result<RecordedStep> {
    Ok(RecordedStep {
        run: row.get("run")?,
        index: row.get("step_index")?,
        kind: row.get("kind")?,
        description: row.get("description")?,
        started_at: time_of(row.get("started_at_ms")?),
        finished_at: row.get::<_, Option<i64>>("finished_at_ms")?.map(time_of),
        outcome: row.get("outcome")?,
    })
}

/// The columns of a change; the first parameter of the query is the name of this start of the machine.
pub(crate) const CHANGE_COLUMNS: &str = "number, run, step_index, path, \
     before_kind, before_content, before_length_bytes, before_mode, before_attributes, \
     after_kind, after_content, after_length_bytes, after_mode, after_attributes, \
     state, undoes, recorded_at_ms, \
     (SELECT boot_id = ?1 FROM opening WHERE opening.number = change.opening) AS this_boot";

pub(crate) fn change(row: &Row<'_>) -> Result<RecordedChange> {
    Ok(RecordedChange {
        number: row.get("number")?,
        run: row.get("run")?,
        step: row.get("step_index")?,
        path: row.get("path")?,
        before: entry(
            row,
            ["before_kind", "before_content", "before_length_bytes", "before_mode", "before_attributes"],
        )?,
        after: entry(
            row,
            ["after_kind", "after_content", "after_length_bytes", "after_mode", "after_attributes"],
        )?,
        state: row.get("state")?,
        undoes: row.get("undoes")?,
        recorded_at: time_of(row.get("recorded_at_ms")?),
        this_boot: row.get("this_boot")?,
    })
}

fn entry(row: &Row<'_>, [kind, content, length_bytes, mode, attributes]: [&str; 5]) -> Result<Option<Entry>> {
    let Some(kind) = row.get(kind)? else { return Ok(None) };
    Ok(Some(Entry {
        kind,
        content: row.get::<_, Option<HashColumn>>(content)?.map(|column| column.0),
        length_bytes: row.get::<_, Option<i64>>(length_bytes)?.map(i64::cast_unsigned),
        mode: row.get(mode)?,
        attributes: row.get(attributes)?,
    }))
}

pub(crate) const DOCUMENT_COLUMNS: &str = "name, version, hash, length(bytes) AS length_bytes";

pub(crate) fn document_head(row: &Row<'_>) -> Result<DocumentHead> {
    Ok(DocumentHead {
        name: row.get("name")?,
        version: row.get("version")?,
        hash: row.get::<_, HashColumn>("hash")?.0,
        length_bytes: row.get::<_, i64>("length_bytes")?.cast_unsigned(),
    })
}
