//! The verdict on an agent's work, and what users do with that work.

mod bare_folders;
pub(crate) mod clean;
pub(crate) mod continued;
pub(crate) mod contract_check;
pub(crate) mod evidence;
pub(crate) mod in_the_way;
pub(crate) mod judgement;
pub(crate) mod obeyed_files;
pub(crate) mod pick;
