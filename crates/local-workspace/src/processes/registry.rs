//! The background processes of all conversations.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sandbox_exec::{BackgroundProcess, NetworkHolder};
use wap_core::{ConversationId, MOST_PROCESSES, Reason, WapError};

use crate::adopt::build_folder_check::{BuildFoldersBefore, Moment};
use crate::processes::unknown;

/// The maximum number of running processes of all conversations together.
const MOST_IN_ALL: usize = 64;

/// One process, running or ended.
#[derive(Debug)]
pub(crate) struct Entry {
    pub name: String,
    /// The beginning of the command's text, in one line.
    pub command: String,
    pub process: BackgroundProcess,
    pub began: Moment,
    /// The build folders before it; `None` once they were checked after its end.
    pub build_folders: Mutex<Option<BuildFoldersBefore>>,
    /// True once an answer has reported its end to its conversation.
    pub is_end_known: AtomicBool,
}

impl Entry {
    pub(crate) fn is_running(&self) -> bool {
        self.process.end().is_none()
    }
}

/// The processes by conversation and name. Dropping it kills all of them.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    groups: Mutex<BTreeMap<ConversationId, Group>>,
}

/// The processes of one conversation, and the network that it shares with them.
#[derive(Debug)]
struct Group {
    network: Arc<NetworkHolder>,
    /// In the order in which they were started.
    entries: Vec<Arc<Entry>>,
    /// The names of processes being started.
    starting: Vec<String>,
}

impl Group {
    /// Returns the number of processes that run or are being started.
    fn running(&self) -> usize {
        self.entries.iter().filter(|entry| entry.is_running()).count() + self.starting.len()
    }

    fn has(&self, name: &str) -> bool {
        let mut running = self.entries.iter().filter(|entry| entry.is_running());
        running.any(|entry| entry.name == name) || self.starting.iter().any(|starting| starting == name)
    }
}

/// A process that is being started: it counts, and its name is taken, until this is dropped.
struct Starting<'a> {
    processes: &'a Processes,
    conversation: &'a ConversationId,
    name: &'a str,
    network: Arc<NetworkHolder>,
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        let mut groups = self.processes.groups();
        let Some(group) = groups.get_mut(self.conversation) else { return };
        if !Arc::ptr_eq(&group.network, &self.network) {
            return;
        }
        group.starting.retain(|starting| starting != self.name);
        if group.entries.is_empty() && group.starting.is_empty() {
            groups.remove(self.conversation);
        }
    }
}

impl Processes {
    /// Adds a process, replacing an ended one of the same name. Other conversations do not wait while it is made.
    ///
    /// # Errors
    ///
    /// A process of this name runs, too many run, the conversation has ended meanwhile, or the errors of `make_network`
    /// and `make`.
    pub(crate) fn start(
        &self,
        conversation: &ConversationId,
        name: &str,
        make_network: impl FnOnce() -> Result<NetworkHolder, WapError>,
        make: impl FnOnce(&NetworkHolder) -> Result<Entry, WapError>,
    ) -> Result<Arc<Entry>, WapError> {
        let starting = self.reserve(conversation, name, make_network)?;
        let entry = Arc::new(make(&starting.network)?);
        let mut groups = self.groups();
        let group = groups.get_mut(conversation);
        let Some(group) = group.filter(|group| Arc::ptr_eq(&group.network, &starting.network)) else {
            drop(groups);
            // Dropping the process ends it.
            let text = "the conversation has ended, and the process with it";
            return Err(WapError::new(Reason::Cancelled, text));
        };
        group.entries.retain(|other| other.name != name);
        // Of ended processes, the newest can be read.
        if group.entries.len() >= 2 * MOST_PROCESSES
            && let Some(oldest) = group.entries.iter().position(|entry| !entry.is_running())
        {
            group.entries.remove(oldest);
        }
        group.entries.push(Arc::clone(&entry));
        drop(groups);
        Ok(entry)
    }

    /// Reserves the name of a new process.
    fn reserve<'a>(
        &'a self,
        conversation: &'a ConversationId,
        name: &'a str,
        make_network: impl FnOnce() -> Result<NetworkHolder, WapError>,
    ) -> Result<Starting<'a>, WapError> {
        let mut groups = self.groups();
        if groups.values().map(Group::running).sum::<usize>() >= MOST_IN_ALL {
            let text = format!("{MOST_IN_ALL} background processes run already: stop one that is not needed");
            return Err(WapError::new(Reason::Busy, text));
        }
        if let Some(group) = groups.get(conversation) {
            if group.has(name) {
                let text = format!(
                    "a background process '{name}' runs already: stop it first with stopProcess, or use another name"
                );
                return Err(WapError::new(Reason::Conflict, text).with("field", "background"));
            }
            if group.running() >= MOST_PROCESSES {
                let text = format!(
                    "{MOST_PROCESSES} background processes run already ({}): stop one of them first",
                    names(group.entries.iter().filter(|entry| entry.is_running())).join(", ")
                );
                return Err(WapError::new(Reason::Conflict, text).with("field", "background"));
            }
        }
        let group = match groups.entry(conversation.clone()) {
            MapEntry::Occupied(group) => group.into_mut(),
            MapEntry::Vacant(vacant) => {
                let network = Arc::new(make_network()?);
                vacant.insert(Group { network, entries: Vec::new(), starting: Vec::new() })
            }
        };
        group.starting.push(name.to_owned());
        let network = Arc::clone(&group.network);
        Ok(Starting { processes: self, conversation, name, network })
    }

    /// Returns a process of a conversation.
    pub(crate) fn find(&self, conversation: &ConversationId, name: &str) -> Result<Arc<Entry>, WapError> {
        let groups = self.groups();
        let Some(group) = groups.get(conversation) else { return Err(unknown(name, &[])) };
        let entry = group.entries.iter().find(|entry| entry.name == name);
        entry.cloned().ok_or_else(|| unknown(name, &names(group.entries.iter())))
    }

    /// Returns the network that commands of a conversation share with its processes; `None` if none runs.
    pub(crate) fn network(&self, conversation: &ConversationId) -> Option<Arc<NetworkHolder>> {
        let groups = self.groups();
        let group = groups.get(conversation).filter(|group| group.running() > 0)?;
        Some(Arc::clone(&group.network))
    }

    /// Returns the ended processes that were not yet reported to their conversation, and marks them as reported.
    pub(crate) fn newly_ended(&self, conversation: &ConversationId) -> Vec<Arc<Entry>> {
        let groups = self.groups();
        let entries = groups.get(conversation).into_iter().flat_map(|group| &group.entries);
        let is_new =
            |entry: &&Arc<Entry>| !entry.is_running() && !entry.is_end_known.swap(true, Ordering::Relaxed);
        entries.filter(is_new).cloned().collect()
    }

    /// Removes the processes of a conversation. Dropping them kills them, without the lock.
    pub(crate) fn remove(&self, conversation: &ConversationId) -> Vec<Arc<Entry>> {
        self.groups().remove(conversation).map(|group| group.entries).unwrap_or_default()
    }

    /// Returns all processes, by conversation.
    pub(crate) fn all(&self) -> Vec<(ConversationId, Arc<Entry>)> {
        let groups = self.groups();
        let entries = |(conversation, group): (&ConversationId, &Group)| {
            group.entries.iter().map(|entry| (conversation.clone(), Arc::clone(entry))).collect::<Vec<_>>()
        };
        groups.iter().flat_map(entries).collect()
    }

    fn groups(&self) -> MutexGuard<'_, BTreeMap<ConversationId, Group>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn names<'a>(entries: impl Iterator<Item = &'a Arc<Entry>>) -> Vec<String> {
    entries.map(|entry| format!("'{}'", entry.name)).collect()
}
