//! The thread that takes connections from a command's forwarder and gives them to the policy's carrier.

use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use crate::init::forwarder;
use crate::policy::network::Carrier;
use crate::report::denial::Denied;
use crate::spawner::channel;

/// The carrier of one command, on a thread that ends with the command.
#[derive(Debug)]
pub(crate) struct Carriage {
    thread: JoinHandle<Vec<Denied>>,
}

impl Carriage {
    /// Serves what comes from the forwarder at the other end.
    pub(crate) fn start(inward: OwnedFd, mut carrier: Box<dyn Carrier>) -> std::io::Result<Carriage> {
        let serve = move || {
            // The end of the stream, or an error, says that the forwarder has ended.
            while let Ok(Some((message, descriptors))) = channel::receive(&inward) {
                if let (Some((name, port)), Some(stream)) =
                    (forwarder::decode(&message), descriptors.into_iter().next())
                {
                    carrier.carry(name, port, stream);
                }
            }
            carrier.refusals()
        };
        let thread = std::thread::Builder::new().name("network of a command".into()).spawn(serve)?;
        Ok(Carriage { thread })
    }

    /// Returns what the carrier refused. The command must have ended.
    pub(crate) fn finish(self) -> Vec<Denied> {
        self.thread.join().unwrap_or_default()
    }
}
