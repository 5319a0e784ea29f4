//! Watching a reply being executed, by this process or by the owner of the state folder.

use serde_json::Value;
use tagproto::{ExecutionObserver, Item};

use crate::owner::protocol::{
    BLOCK_FINISHED, BLOCK_STARTED, BlockFinished, BlockStarted, PRINTED, Printed, STARTED, Started,
};

/// The observer of a reply with its items, which both processes read from the same text.
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

    /// Passes on what the owner reports. What it does not know is left out: it is for people who watch.
    pub fn notify(&mut self, method: &str, params: Value) {
        match method {
            BLOCK_STARTED => {
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
