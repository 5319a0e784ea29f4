//! Clients that name their conversation in a header, since HTTP itself has no conversations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::runtime::Handle;
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

    /// Returns a client with a new conversation.
    pub(crate) fn unnamed(&self, kind: &str) -> Arc<Client> {
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
        let oldest = named.iter().min_by_key(|(_, (_, last_seen))| *last_seen).map(|(name, _)| name.clone());
        let forgotten = oldest.filter(|_| named.len() >= MOST).and_then(|oldest| named.remove(&oldest));
        let client = self.unnamed("http");
        named.insert(name.to_owned(), (Arc::clone(&client), Instant::now()));
        drop(named);
        // A running call of the forgotten client still completes: it holds its own reference.
        if let Some((forgotten, _)) = forgotten {
            end(forgotten);
        }
        Some(client)
    }
}

/// Drops a client on a thread that may block: this waits for its processes, and the current thread serves all connections.
pub(crate) fn end(client: Arc<Client>) {
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(move || drop(client))),
        // Without a runtime, there are no connections that could wait.
        Err(_) => drop(client),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{self, ThreadId};

    use memory_workspace::MemoryWorkspace;
    use wap_core::{
        Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
        ExploreFilesResponse, FileChange, FileChanged, ReadFile, ReadFileResponse, SearchFiles,
        SearchFilesResponse, WapError, WorkspaceInfo,
    };

    use super::*;

    /// A workspace that reports the thread on which a conversation ends.
    struct Ending(MemoryWorkspace, Mutex<Sender<ThreadId>>);

    impl Workspace for Ending {
        fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
            self.0.workspace_info(call)
        }

        fn explore_files(
            &self,
            call: &Call<'_>,
            what: &ExploreFiles,
        ) -> Result<ExploreFilesResponse, WapError> {
            self.0.explore_files(call, what)
        }

        fn read_file(&self, call: &Call<'_>, what: &ReadFile) -> Result<ReadFileResponse, WapError> {
            self.0.read_file(call, what)
        }

        fn search_files(&self, call: &Call<'_>, what: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
            self.0.search_files(call, what)
        }

        fn change_files(
            &self,
            call: &Call<'_>,
            changes: &[FileChange],
        ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
            self.0.change_files(call, changes)
        }

        fn execute_command(
            &self,
            call: &Call<'_>,
            what: &ExecuteCommand,
            observer: &mut dyn CommandObserver,
        ) -> Result<ExecuteCommandResponse, WapError> {
            self.0.execute_command(call, what, observer)
        }

        fn end_conversation(&self, _: &ConversationId) {
            let _ = self.1.lock().unwrap().send(thread::current().id());
        }
    }

    #[test]
    fn a_forgotten_conversation_ends_on_another_thread_than_the_connections() {
        let (sender, ended) = channel();
        let workspace: Arc<dyn Workspace> = Arc::new(Ending(MemoryWorkspace::new(), Mutex::new(sender)));
        let clients = Clients::new(workspace, CallPool::new());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for number in 0..MOST {
                clients.named(&number.to_string()).unwrap();
            }
            assert!(ended.try_recv().is_err(), "there is room for them");
            clients.named("one-more").unwrap();
        });
        assert_ne!(ended.recv().unwrap(), thread::current().id());
        // The one that was silent longest is a new client now, and the others are unchanged.
        let last = (MOST - 1).to_string();
        assert!(Arc::ptr_eq(&clients.named(&last).unwrap(), &clients.named(&last).unwrap()));
        assert_eq!(clients.named.lock().unwrap().len(), MOST);
    }
}
