//! The book, the packages of the crates, the files of a release, and other systems.

pub(crate) mod book;
pub(crate) mod dist;
pub(crate) mod packages;
pub(crate) mod systems;
