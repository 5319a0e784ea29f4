//! The changes of contributed resources, from a contribution to the clients that follow them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use wap_core::ConversationId;

use crate::resources::{Followed, MOST_OF_A_CLIENT, MOST_WATCHED, News};

/// The handle with which a contribution reports changed resources. Clones report to the same servers.
#[derive(Clone, Debug, Default)]
pub struct ResourceChanges {
    /// The subscriptions of all servers with the contribution.
    subscriptions: Arc<Mutex<Vec<Weak<Subscriptions>>>>,
}

impl ResourceChanges {
    /// Reports that the resource of this name has changed. Clients that follow it are notified; several reports before a client
    /// reads become one. Never waits.
    pub fn report(&self, uri: &str) {
        let mut all = lock(&self.subscriptions);
        all.retain(|one| one.strong_count() > 0);
        all.iter().filter_map(Weak::upgrade).for_each(|one| one.notify(uri));
    }

    /// Makes the handle report to the clients of a server.
    pub(super) fn report_to(&self, subscriptions: &Arc<Subscriptions>) {
        lock(&self.subscriptions).push(Arc::downgrade(subscriptions));
    }
}

/// The subscriptions of all clients of a server to contributed resources.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    entries: BTreeMap<u64, Entry>,
}

/// The subscriptions of one client.
#[derive(Debug)]
struct Entry {
    conversation: ConversationId,
    uris: BTreeSet<String>,
    news: Weak<News>,
}

/// The refusal of a subscription: its client, or all clients together, follow too many resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl Subscriptions {
    /// Adds a client and returns its number.
    pub(crate) fn enter(&self, conversation: ConversationId, news: &Arc<News>) -> u64 {
        let mut state = lock(&self.state);
        state.next += 1;
        let number = state.next;
        let entry = Entry { conversation, uris: BTreeSet::new(), news: Arc::downgrade(news) };
        state.entries.insert(number, entry);
        number
    }

    /// Removes a client.
    pub(crate) fn leave(&self, number: u64) {
        lock(&self.state).entries.remove(&number);
    }

    /// Adds a subscription for changes that are reported from now on.
    ///
    /// # Errors
    ///
    /// [`TooMany`] beyond the bounds, which are those of the workspace's own resources.
    pub(crate) fn watch(&self, number: u64, uri: &str) -> Result<(), TooMany> {
        let mut state = lock(&self.state);
        let total: usize = state.entries.values().map(|entry| entry.uris.len()).sum();
        let Some(entry) = state.entries.get(&number) else { return Ok(()) };
        // A client of the newer era can listen several times at once.
        let of_client = state.entries.values().filter(|other| other.conversation == entry.conversation);
        let count: usize = of_client.map(|entry| entry.uris.len()).sum();
        let Some(entry) = state.entries.get_mut(&number) else { return Ok(()) };
        if !entry.uris.contains(uri) {
            if count >= MOST_OF_A_CLIENT || total >= MOST_WATCHED {
                return Err(TooMany);
            }
            entry.uris.insert(uri.to_owned());
        }
        Ok(())
    }

    /// Removes a subscription.
    pub(crate) fn unwatch(&self, number: u64, uri: &str) {
        if let Some(entry) = lock(&self.state).entries.get_mut(&number) {
            entry.uris.remove(uri);
        }
    }

    /// Notifies the clients that follow a resource.
    fn notify(&self, uri: &str) {
        let state = lock(&self.state);
        let followers = state.entries.values().filter(|entry| entry.uris.contains(uri));
        for news in followers.filter_map(|entry| entry.news.upgrade()) {
            news.add(Followed::Contributed(uri.to_owned()));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wap_core::ConversationId;

    use super::{ResourceChanges, Subscriptions, TooMany};
    use crate::resources::{Followed, MOST_OF_A_CLIENT, MOST_WATCHED, News};

    fn named(name: &str) -> ConversationId {
        ConversationId(name.to_owned())
    }

    #[test]
    fn a_report_reaches_the_followers_of_the_resource_on_all_servers() {
        let changes = ResourceChanges::default();
        let servers = [Arc::<Subscriptions>::default(), Arc::default()];
        let (follower, other) = (Arc::<News>::default(), Arc::<News>::default());
        for server in &servers {
            changes.report_to(server);
            let number = server.enter(named("follower"), &follower);
            server.watch(number, "book://one").unwrap();
            server.watch(server.enter(named("other"), &other), "book://two").unwrap();
            changes.clone().report("book://one");
            let expected = [Followed::Contributed("book://one".to_owned())];
            assert_eq!(follower.take().into_iter().collect::<Vec<_>>(), expected);
            server.unwatch(number, "book://one");
            changes.report("book://one");
            assert!(follower.take().is_empty());
        }
        assert!(other.take().is_empty());
        // The control: the other client would have been notified.
        changes.report("book://two");
        assert_eq!(other.take().len(), 1);
    }

    #[test]
    fn a_client_follows_a_bounded_number_also_by_several_subscriptions() {
        let subscriptions = Subscriptions::default();
        let news = Arc::default();
        let (one, again) =
            (subscriptions.enter(named("one"), &news), subscriptions.enter(named("one"), &news));
        for index in 0..MOST_OF_A_CLIENT {
            let number = if index % 2 == 0 { one } else { again };
            subscriptions.watch(number, &format!("book://{index}")).unwrap();
        }
        assert_eq!(subscriptions.watch(again, "book://more"), Err(TooMany));
        // A resource that is already followed takes no space, and another client has its own limit.
        assert_eq!(subscriptions.watch(one, "book://0"), Ok(()));
        assert_eq!(subscriptions.watch(subscriptions.enter(named("other"), &news), "book://more"), Ok(()));
        subscriptions.unwatch(one, "book://0");
        assert_eq!(subscriptions.watch(again, "book://more"), Ok(()));
    }

    #[test]
    fn all_clients_together_follow_a_bounded_number() {
        let subscriptions = Subscriptions::default();
        let news = Arc::default();
        let mut numbers = Vec::new();
        for index in 0..MOST_WATCHED {
            let client = named(&(index / MOST_OF_A_CLIENT).to_string());
            let number = subscriptions.enter(client, &news);
            subscriptions.watch(number, "book://one").unwrap();
            numbers.push(number);
        }
        let number = subscriptions.enter(named("last"), &news);
        assert_eq!(subscriptions.watch(number, "book://one"), Err(TooMany));
        subscriptions.leave(numbers[0]);
        assert_eq!(subscriptions.watch(number, "book://one"), Ok(()));
    }
}
