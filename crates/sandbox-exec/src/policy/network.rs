//! The network of a command: none, the host's, or names whose connections a carrier makes outside of the sandbox.

use std::fmt::Debug;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::report::denial::Denied;

/// The network of a command.
#[derive(Clone, Debug, Default)]
pub enum NetworkPolicy {
    /// Only the command's own loopback interface.
    #[default]
    Off,
    /// The host's network.
    Host,
    /// These names. The command is refused where its connections cannot be limited to them, see
    /// [`PolicyError::NoNetworkForNames`](crate::PolicyError::NoNetworkForNames).
    Named(Arc<dyn Outward>),
}

impl NetworkPolicy {
    /// Checks whether a command has any network beyond its own loopback interface.
    pub fn is_off(&self) -> bool {
        matches!(self, NetworkPolicy::Off)
    }
}

/// Names that commands may connect to, and the means to connect to them from outside of the sandbox.
pub trait Outward: Debug + Send + Sync {
    /// Returns the names that the command's own name server resolves; it refuses all others.
    fn names(&self) -> Vec<AllowedName>;

    /// Begins to serve one command. The carrier is dropped when the command has ended, which ends its connections.
    fn begin(&self) -> Box<dyn Carrier>;
}

/// Makes the connections of one command.
pub trait Carrier: Send {
    /// Connects a stream that the command opened to a port of a name; `stream` is its other end, a TCP socket in the
    /// command's network namespace. Dropping it ends the command's connection.
    ///
    /// Must return at once, and check name and port again: they come from inside the sandbox. `name` is in lower case,
    /// without a final dot, and has at most 253 bytes.
    fn carry(&mut self, name: &str, port: u16, stream: OwnedFd);

    /// Returns the refused connections, each once with a count. Called when the command has ended.
    fn refusals(&mut self) -> Vec<Denied> {
        Vec::new()
    }
}

/// A name, or all subdomains of one, with the ports that may be connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedName {
    /// A host name in lower case without a final dot; `*.` before it stands for one or more labels.
    pub pattern: String,
    /// The TCP ports.
    pub ports: Vec<u16>,
}
