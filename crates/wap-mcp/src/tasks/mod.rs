//! Commands as tasks of the protocol, in both eras.
//!
//! In 2026-07-28 the server decides: a command of a client that declares the extension becomes a task if it takes long. In
//! 2025-11-25 the client asks for a task, and polls it with methods that the SDK does not know; `older_messages` renames those
//! that the SDK would take for the newer methods.
//!
//! A client that does not want to poll is notified: of its own tasks in 2025-11-25, and of those that it names in
//! `subscriptions/listen` in 2026-07-28, for which the SDK has no field either.

mod desk;
mod listening;
mod newer;
mod older;
mod older_answers;
mod older_lines;
mod older_messages;
mod source;
mod status;

pub use older_messages::{LISTEN, rename_older};
pub use source::{CommandTasks, TaskProgress, TaskView};

pub(crate) use desk::TaskDesk;
pub(crate) use older_answers::for_older_client;
pub(crate) use older_lines::OlderLines;
