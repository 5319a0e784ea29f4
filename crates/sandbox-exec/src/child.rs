//! The process that becomes the shell: what it gives up for good, and the filters that it keeps.

mod abstract_names;
pub(crate) mod call_filter;
pub(crate) mod confine;
mod file_rules;
pub(crate) mod mode_filter;
mod processes;
pub(crate) mod refused_calls;
pub(crate) mod shell_process;
