//! The verdict on an agent's work, and the users' operations on that work.

mod bare_folders;
pub(crate) mod clean;
pub(crate) mod continued;
pub(crate) mod contract_check;
pub(crate) mod evidence;
mod fast_forward;
pub(crate) mod in_the_way;
pub(crate) mod judgement;
mod merge;
pub(crate) mod obeyed_files;
mod obeyed_names;
mod obeyed_worktree;
pub(crate) mod pick;
pub(crate) mod search_limit;
pub(crate) mod tree_links;
