//! The repository as tasks read it: its root folder, its files, its crates, its pages, and the date and machine of figures.

pub(crate) mod crate_list;
pub(crate) mod machine;
pub(crate) mod page;
pub(crate) mod root;
pub(crate) mod today;
pub(crate) mod tree;
