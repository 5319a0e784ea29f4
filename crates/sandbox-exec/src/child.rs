//! The process that becomes the shell: the rights it drops for good, and the filters it applies.

mod abstract_names;
pub(crate) mod call_filter;
pub(crate) mod confine;
mod file_rules;
pub(crate) mod mode_filter;
mod processes;
pub(crate) mod refused_calls;
pub(crate) mod shell_process;
