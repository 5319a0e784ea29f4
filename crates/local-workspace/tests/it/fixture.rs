//! The set-up of the tests: a workspace on the disk, processes of their own, whole trees as values.

pub(crate) mod caseless;
pub(crate) mod faults;
pub(crate) mod meanwhile;
pub(crate) mod tree;
pub(crate) mod user_shell;
pub(crate) mod workspace;
