//! An allow-list as the network of sandboxed commands.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sandbox_exec::{AllowedName, Carrier, Denied, NetworkPolicy, Outward};

use crate::allow::{AllowEntry, AllowList, HostName};
use crate::dial::{Dialer, Grant};
use crate::network::Network;
use crate::refusal::Refusal;

/// The most different refusals of one command that are kept.
const MOST_REFUSALS: usize = 20;

/// The highest count of one refusal.
const HIGHEST_COUNT: u32 = 1000;

impl Network {
    /// Returns the equivalent policy for commands. Names are dialled by this process, see [`Dialer::of_process`].
    #[must_use]
    pub fn policy(&self) -> NetworkPolicy {
        match self {
            Network::Off => NetworkPolicy::Off,
            Network::On => NetworkPolicy::Host,
            Network::Names(list) => {
                NetworkPolicy::Named(Arc::new(AllowedNetwork::new(list.clone(), Dialer::of_process())))
            }
        }
    }
}

/// The names of a list, dialled by one dialer for all commands.
#[derive(Debug)]
pub struct AllowedNetwork {
    list: Arc<AllowList>,
    dialer: Dialer,
}

impl AllowedNetwork {
    /// Makes a network of these names.
    #[must_use]
    pub fn new(list: AllowList, dialer: Dialer) -> AllowedNetwork {
        AllowedNetwork { list: Arc::new(list), dialer }
    }
}

impl Outward for AllowedNetwork {
    fn names(&self) -> Vec<AllowedName> {
        let name = |entry: &AllowEntry| AllowedName {
            pattern: entry.names.to_string(),
            ports: entry.ports.as_slice().to_vec(),
        };
        self.list.entries().iter().map(name).collect()
    }

    fn begin(&self) -> Box<dyn Carrier> {
        let refusals = Refusals::default();
        let log = refusals.clone();
        let grant = Grant::new(&self.dialer, Arc::clone(&self.list), move |refusal| log.record(refusal));
        Box::new(CommandNetwork { grant, refusals })
    }
}

/// The network of one command, with its receipts.
struct CommandNetwork {
    grant: Grant,
    refusals: Refusals,
}

impl Carrier for CommandNetwork {
    fn carry(&mut self, name: &str, port: u16, stream: OwnedFd) {
        // A text that is not a host name is on no list; the stream is dropped.
        if let Ok(name) = name.parse::<HostName>() {
            self.grant.carry(name, port, stream);
        }
    }

    fn refusals(&mut self) -> Vec<Denied> {
        // The command's last bytes are still refused or passed on.
        self.grant.finish();
        let denied = |(refusal, count): &(Refusal, u32)| {
            let Refusal { what, why, allow } = refusal.clone();
            Denied::new(what, why, allow, *count)
        };
        self.refusals.lock().iter().map(denied).collect()
    }
}

/// Refusals in order of arrival, each once with a count.
#[derive(Clone, Default)]
struct Refusals(Arc<Mutex<Vec<(Refusal, u32)>>>);

impl Refusals {
    fn lock(&self) -> MutexGuard<'_, Vec<(Refusal, u32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, refusal: Refusal) {
        let mut refusals = self.lock();
        if let Some((_, count)) = refusals.iter_mut().find(|(other, _)| *other == refusal) {
            *count = (*count + 1).min(HIGHEST_COUNT);
        } else if refusals.len() < MOST_REFUSALS {
            refusals.push((refusal, 1));
        }
    }
}
