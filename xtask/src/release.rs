//! The book, the packages of the crates, and the files of a release.

pub(crate) mod book;
pub(crate) mod dist;
pub(crate) mod packages;
