//! The clients that name their conversation in a header, since HTTP itself has none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use wap_calls::{CallPool, Client};
use wap_core::Workspace;

/// The bound on remembered conversations; the one that was silent longest is forgotten first.
const MOST: usize = 1_024;

/// The header that names a conversation.
pub(crate) const HEADER: &str = "agentd-conversation";

/// The longest name of a conversation, in bytes.
const MOST_NAME_BYTES: usize = 128;

/// The clients of a server.
pub(crate) struct Clients {
    workspace: Arc<dyn Workspace>,
    pool: CallPool,
    named: Mutex<HashMap<String, (Arc<Client>, Instant)>>,
}

impl Clients {
    pub(crate) fn new(workspace: Arc<dyn Workspace>, pool: CallPool) -> Clients {
        Clients { workspace, pool, named: Mutex::default() }
    }

    /// Returns a client with a conversation of its own.
    pub(crate) fn stranger(&self, kind: &str) -> Arc<Client> {
        Client::new(kind, &self.workspace, &self.pool)
    }

    /// Returns the client of this name; `None` if the name is not valid.
    pub(crate) fn named(&self, name: &str) -> Option<Arc<Client>> {
        if name.is_empty()
            || name.len() > MOST_NAME_BYTES
            || !name.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return None;
        }
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((client, last_seen)) = named.get_mut(name) {
            *last_seen = Instant::now();
            return Some(Arc::clone(client));
        }
        // A call of the forgotten client still ends: it holds its own reference.
        if named.len() >= MOST {
            let oldest = named.iter().min_by_key(|(_, (_, last_seen))| *last_seen);
            if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
                named.remove(&oldest);
            }
        }
        let client = self.stranger("http");
        named.insert(name.to_owned(), (Arc::clone(&client), Instant::now()));
        Some(client)
    }
}
