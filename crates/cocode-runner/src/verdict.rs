//! Whether an agent is really done, and what people do with its work.

pub(crate) mod clean;
pub(crate) mod contract_check;
pub(crate) mod evidence;
pub(crate) mod obeyed_files;
pub(crate) mod pick;
