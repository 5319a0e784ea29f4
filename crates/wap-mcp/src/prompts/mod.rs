//! The prompts of the server, and the completion of their arguments and of resource names.

mod completion;
mod filling;
mod prompt;

pub(crate) use completion::complete;
pub(crate) use filling::fill;
pub(crate) use prompt::{ArgumentKind, ServerPrompt, is_of_workspace, list};
