//! The kind of a file by its name, on which repairs depend.

pub(crate) use wap_core::FileKind;
