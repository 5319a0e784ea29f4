//! The thread that takes connections from a command's forwarder and gives them to the policy's carrier.

use std::os::fd::OwnedFd;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::{Shutdown, shutdown};

use crate::init::forwarder;
use crate::policy::network::Carrier;
use crate::report::denial::Denied;
use crate::spawner::channel;

/// The carrier of one command, on a thread that ends with the command.
#[derive(Debug)]
pub(crate) struct Carriage {
    thread: JoinHandle<Vec<Denied>>,
    inward: OwnedFd,
    /// Disconnected when everything from the forwarder has arrived.
    served: Receiver<()>,
}

impl Carriage {
    /// Serves connections from the forwarder at the other end.
    pub(crate) fn start(inward: OwnedFd, mut carrier: Box<dyn Carrier>) -> std::io::Result<Carriage> {
        let own_end = inward.try_clone()?;
        let (is_serving, served) = mpsc::channel::<()>();
        let serve = move || {
            // The end of the stream, or an error, says that the forwarder has ended.
            while let Ok(Some((message, descriptors))) = channel::receive(&inward) {
                if let (Some((name, port)), Some(stream)) =
                    (forwarder::decode(&message), descriptors.into_iter().next())
                {
                    carrier.carry(name, port, stream);
                }
            }
            drop(is_serving);
            carrier.refusals()
        };
        let thread = std::thread::Builder::new().name("network of a command".into()).spawn(serve)?;
        Ok(Carriage { thread, inward: own_end, served })
    }

    /// Makes the forwarder pass on the connections that it has not accepted yet, and end. Waits for that, but no longer
    /// than `limit`.
    pub(crate) fn hand_over(&self, limit: Duration) {
        // A forwarder that is gone has nothing to pass on.
        let _ = shutdown(&self.inward, Shutdown::Write);
        // The channel carries no messages: it only disconnects.
        let _ = self.served.recv_timeout(limit);
    }

    /// Returns the carrier's refusals. The command must have ended.
    pub(crate) fn finish(self) -> Vec<Denied> {
        self.thread.join().unwrap_or_default()
    }
}
