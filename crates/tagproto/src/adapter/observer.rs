//! The observer of a reply that is being carried out.

use wap_core::{CommandObserver, FileChanged, OutputStream};

use crate::{CommandResult, Item};

/// Observes the blocks of a reply while they are carried out. Its methods must not block.
///
/// Blocks begin and end in order; a block that is answered from the record of an earlier run is reported again.
pub trait ExecutionObserver: Send {
    /// A block is about to be carried out; `index` is its position among the items, 0-based.
    fn block_started(&mut self, index: usize, item: &Item<'_>) {
        let _ = (index, item);
    }

    /// The block's command was started under the confinement that `sandbox` reports.
    fn command_started(&mut self, sandbox: &str) {
        let _ = sandbox;
    }

    /// A piece of the command's output arrived; pieces may split a character.
    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// A block has ended. `changed` is its change of a file, if it made one.
    fn block_finished(
        &mut self,
        index: usize,
        item: &Item<'_>,
        result: &CommandResult,
        changed: Option<&FileChanged>,
    ) {
        let _ = (index, item, result, changed);
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnobservedExecution;

impl ExecutionObserver for UnobservedExecution {}

/// An observer of one command that forwards to an [`ExecutionObserver`].
pub(super) struct ForwardedCommand<'a>(pub(super) &'a mut dyn ExecutionObserver);

impl CommandObserver for ForwardedCommand<'_> {
    fn started(&mut self, sandbox: &str) {
        self.0.command_started(sandbox);
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.0.output(stream, bytes);
    }
}
