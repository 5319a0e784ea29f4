//! The repository as tasks read it: its root folder, its files, its crates, its pages and their date.

pub(crate) mod crate_list;
pub(crate) mod page;
pub(crate) mod root;
pub(crate) mod today;
pub(crate) mod tree;
