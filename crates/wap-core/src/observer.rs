//! Watching a command while it runs.

/// An observer of one command: its start and its output. The methods are called on the thread that drains the pipes and
/// must not block.
pub trait CommandObserver: Send {
    /// The command was started under the confinement that `sandbox` reports.
    fn started(&mut self, sandbox: &str) {
        let _ = sandbox;
    }

    /// A piece of output arrived; pieces may split a character.
    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let _ = (stream, bytes);
    }
}

/// The pipe that a piece of output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl CommandObserver for Unobserved {}
