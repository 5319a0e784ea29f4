//! The reasons that a connection is not made, and the receipts for them.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::greeting::GreetingFault;
use super::outside::ResolveError;
use super::proxy::{ConnectError, ProxyError};
use crate::address::AddressKind;
use crate::allow::{AllowEntry, HostName, NamePattern, Ports};
use crate::refusal::{Refusal, connecting};

/// The reason that a connection is not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("not on the allow-list")]
    NotAllowed,
    #[error(transparent)]
    Greeting(#[from] GreetingFault),
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error("the name leads to {0}, {1}")]
    Address(IpAddr, AddressKind),
    #[error("{0}: {kind}", kind = .1.kind())]
    Connect(SocketAddr, io::Error),
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error("the proxy cannot be reached: {0}")]
    ProxyAway(Box<Fault>),
    #[error(transparent)]
    ProxyAnswer(#[from] ConnectError),
    #[error("{open} connections are open and {waiting} wait")]
    Busy { open: usize, waiting: usize },
    #[error("{open} connections of the command are open and {waiting} wait")]
    CommandBusy { open: usize, waiting: usize },
    #[error("this machine has no thread for the connection")]
    NoThread,
}

impl Fault {
    /// Returns the receipt.
    pub(crate) fn refusal(&self, name: &HostName, port: u16) -> Refusal {
        let allow = match self {
            Fault::NotAllowed => return Refusal::of_name(name, port),
            Fault::Greeting(GreetingFault::OtherName(other)) => Refusal::of_name(other, port).allow,
            // Do not suggest to allow addresses where clouds serve credentials, or that no host has.
            Fault::Address(
                address,
                AddressKind::Private | AddressKind::Loopback | AddressKind::Shared | AddressKind::Own,
            ) => {
                let names = NamePattern::Exact(name.clone());
                let entry = AllowEntry { names, ports: Ports::One(port), address: Some(*address) };
                Some(format!("--network allow={entry}"))
            }
            _ => None,
        };
        Refusal { what: connecting(name, port), why: self.to_string(), allow }
    }
}
