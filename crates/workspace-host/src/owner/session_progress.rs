//! The progress of a reply that this process, or the owner of the state folder, executes.

use serde_json::Value;
use tagproto::{ExecutionObserver, Item};

use crate::owner::protocol::{
    BLOCK_FINISHED, BLOCK_STARTED, BlockFinished, BlockStarted, PRINTED, Printed, STARTED, Started,
};

/// The observer of a reply, with the items that both processes parse from the same text.
pub struct Watching<'a> {
    items: &'a [Item<'a>],
    observer: &'a mut dyn ExecutionObserver,
}

impl<'a> Watching<'a> {
    /// Returns a watcher of the execution of `items`.
    pub fn new(items: &'a [Item<'a>], observer: &'a mut dyn ExecutionObserver) -> Watching<'a> {
        Watching { items, observer }
    }

    /// Returns the observer, for an execution in this process.
    pub fn observer(&mut self) -> &mut dyn ExecutionObserver {
        self.observer
    }

    /// Passes on the owner's notifications. Unknown or unreadable ones are left out: they serve people who watch.
    pub fn notify(&mut self, method: &str, params: Value) {
        match method {
            BLOCK_STARTED => {
                // The index comes from another process: it is looked up and never trusted.
                if let Ok(BlockStarted { index, .. }) = serde_json::from_value(params)
                    && let Some(item) = self.items.get(index)
                {
                    self.observer.block_started(index, item);
                }
            }
            STARTED => {
                if let Ok(Started { sandbox, .. }) = serde_json::from_value(params) {
                    self.observer.command_started(&sandbox);
                }
            }
            PRINTED => {
                if let Ok(printed) = serde_json::from_value::<Printed>(params) {
                    self.observer.output(printed.stream(), printed.text.as_bytes());
                }
            }
            BLOCK_FINISHED => {
                if let Ok(BlockFinished { index, result, changed, .. }) = serde_json::from_value(params)
                    && let Some(item) = self.items.get(index)
                {
                    self.observer.block_finished(index, item, &result, changed.as_ref());
                }
            }
            _ => {}
        }
    }
}
