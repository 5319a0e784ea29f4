//! An asynchronous runtime on a separate thread, for work that must not block the connections' thread.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::Notify;

/// The time for its tasks to end when it is dropped.
const PARTING: Duration = Duration::from_secs(1);

/// A runtime of one thread; dropping it ends its tasks.
#[derive(Debug)]
pub struct SideRuntime {
    handle: Handle,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl SideRuntime {
    /// Starts a runtime on a thread of this name.
    ///
    /// # Errors
    ///
    /// If the system cannot provide a thread, or the means to wait for events.
    pub fn start(name: &str) -> io::Result<SideRuntime> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(stopped.notified());
            runtime.shutdown_timeout(PARTING);
        })?;
        Ok(SideRuntime { handle, stop, thread: Some(thread) })
    }

    /// Returns the handle for starting tasks.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Drop for SideRuntime {
    fn drop(&mut self) {
        // `notify_one` is remembered even if the thread does not wait for it yet.
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
