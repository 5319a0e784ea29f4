//! The meaning of exit codes, and how failures are reported.

pub(crate) use workspace_host::{Exit, Failure};

use crate::views::console::Console;

/// The meaning of each code, for people.
pub(crate) const MEANINGS: [(Exit, &str); 8] = [
    (Exit::Done, "Done; for apply, the reply was carried out, even if blocks failed."),
    (Exit::Failed, "Failed: a tool answered with an error, no agent is ready, a disk is full."),
    (Exit::Usage, "Bad usage or bad input."),
    (Exit::Missing, "Something is missing on this machine; agentd doctor says what."),
    (Exit::Refused, "Refused: by policy, by a process with other options, or a reply that cannot be used."),
    (
        Exit::Held,
        "Another process owns the state folder, and either does not answer or cannot do this for you.",
    ),
    (
        Exit::TimedOut,
        "A time ran out: the agent of cocode check had none left, or git did not come to an end.",
    ),
    (Exit::Interrupted, "Interrupted."),
];

/// The result of a command: how to end, or why it failed.
pub(crate) type Outcome = Result<Exit, Failure>;

/// Reports a failure on standard error, and returns how the process ends.
pub(crate) fn report(failure: &Failure, console: Console) -> Exit {
    if failure.exit != Exit::Interrupted || !failure.message.is_empty() {
        console.notice(&format!("agentd: {}", failure.message));
    }
    if let Some(advice) = &failure.advice {
        console.notice(&format!("  {advice}"));
    }
    failure.exit
}
