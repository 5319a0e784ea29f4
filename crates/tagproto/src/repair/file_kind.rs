//! The kind of a file by its name, as far as repairs depend on it.

pub(crate) use wap_core::FileKind;
