//! What people see: at the terminal, in progress, before a reply is executed.

pub(crate) mod clipboard;
pub(crate) mod console;
pub(crate) mod plan_view;
pub(crate) mod progress;
pub(crate) mod terminal_text;
