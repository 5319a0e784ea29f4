//! Views for users: terminal output, progress, the plan of a reply.

pub(crate) mod clipboard;
pub(crate) mod console;
pub(crate) mod count;
mod error_output;
pub(crate) mod plan_view;
pub(crate) mod progress;
pub(crate) mod screen;
pub(crate) mod terminal_text;
pub(crate) mod typed_line;
