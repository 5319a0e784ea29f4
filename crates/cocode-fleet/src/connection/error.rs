//! Failures of connecting and of single calls.

use std::time::Duration;

use super::Role;

/// A connection that could not be made; the text of each kind says what a person can do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address is not one of a server.
    #[error("{url} is not the address of a NATS server")]
    Address {
        /// The address.
        url: String,
    },
    /// There is no server.
    #[error("no server answers at {url}")]
    Unreachable {
        /// The address.
        url: String,
        /// The cause.
        #[source]
        source: async_nats::ConnectError,
    },
    /// A server accepted the connection and did not answer.
    #[error("{url} took the connection and did not answer within {deadline:?}")]
    NoAnswer {
        /// The address.
        url: String,
        /// The deadline.
        deadline: Duration,
    },
    /// The server does not know the key, or requires one.
    #[error("the server at {url} does not accept the key")]
    Credentials {
        /// The address.
        url: String,
    },
    /// The server knows the key as that of another role.
    #[error("the key is not that of {role} at {url}")]
    OtherRole {
        /// The address.
        url: String,
        /// The role that the key would have to be for.
        role: Role,
    },
    /// The seed is not one.
    #[error("the key is not the seed of an NKey user")]
    Seed,
    /// TLS failed.
    #[error("no secure connection to {url}")]
    Tls {
        /// The address.
        url: String,
        /// The cause.
        #[source]
        source: async_nats::ConnectError,
    },
    /// The server is too old.
    #[error("the server has version {version}, and a fleet needs 2.9 or later")]
    TooOld {
        /// Its version.
        version: String,
    },
    /// The server's messages are too small.
    #[error("the server takes messages of {bytes} bytes, and a fleet needs 1048576")]
    SmallMessages {
        /// The limit.
        bytes: usize,
    },
    /// JetStream is off.
    #[error("JetStream is off on the server: it needs a section `jetstream` in its configuration")]
    NoJetStream,
    /// A first call failed.
    #[error("the first call to the server failed")]
    Call(#[from] FleetError),
}

/// A call to the server that did not succeed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// There was no answer within the deadline. The call may have been carried out.
    #[error("no answer within {deadline:?} to {call}{}", refusal.as_ref().map(|text| format!(" (the server said: {text})")).unwrap_or_default())]
    NoAnswer {
        /// The call.
        call: &'static str,
        /// The deadline.
        deadline: Duration,
        /// The server's last refusal, if any; refusals of permissions come without the call's name.
        refusal: Option<String>,
    },
    /// Another writer was first.
    #[error("changed by another program meanwhile")]
    Conflict,
    /// The fleet's streams are missing.
    #[error("the fleet is not on this server")]
    Missing,
    /// The queue is full.
    #[error("the queue is full: {waiting} tasks wait")]
    QueueFull {
        /// The tasks in it.
        waiting: u64,
    },
    /// A stream of that name exists and is not a fleet's.
    #[error("the stream {stream} has another shape: {difference}")]
    Shape {
        /// The stream.
        stream: String,
        /// The setting that differs.
        difference: String,
    },
    /// The server refused the call.
    #[error("{call}: {reason}")]
    Refused {
        /// The call.
        call: &'static str,
        /// The reason.
        reason: String,
    },
}
