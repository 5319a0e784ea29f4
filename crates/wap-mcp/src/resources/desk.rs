//! The subscriptions of all clients. One task polls the resources as long as there are any.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use wap_core::{Call, CancelFlag, ConversationId, Origin, Reason, Retention, RunKey, WapError};

use super::{Followed, Mark, News, ResourceName, Watched, WorkspaceResources};

/// The polling interval. The owner of the state folder may be another process, which sends no events.
const PAUSE: Duration = Duration::from_millis(200);

/// The pause, as a multiple of the time of the last poll: long histories are not read constantly.
const SHARE: u32 = 9;

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The most resources that all clients of a server follow in total.
pub(crate) const MOST_WATCHED: usize = 1_024;

/// The most resources that one client follows.
pub(crate) const MOST_OF_A_CLIENT: usize = 64;

/// The subscriptions of all clients of a server.
pub struct SubscriptionDesk {
    source: Arc<dyn WorkspaceResources>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    entries: BTreeMap<u64, Entry>,
    is_looking: bool,
}

/// The subscriptions of one client.
struct Entry {
    conversation: ConversationId,
    marks: HashMap<ResourceName, Option<Mark>>,
    news: Weak<News>,
}

/// The refusal of a subscription.
#[derive(Debug)]
pub(super) enum Refused {
    /// There is no such resource.
    Missing,
    /// An output never changes.
    Constant,
    /// The client, or all clients together, follow too many.
    TooMany,
    /// The source cannot answer.
    Failed(WapError),
}

impl SubscriptionDesk {
    /// Returns a desk without subscriptions.
    #[must_use]
    pub fn new(source: Arc<dyn WorkspaceResources>) -> Arc<SubscriptionDesk> {
        Arc::new(SubscriptionDesk { source, state: Mutex::default() })
    }

    /// Returns the source of the resources.
    pub(crate) fn source(&self) -> &Arc<dyn WorkspaceResources> {
        &self.source
    }

    /// Adds a client and returns its number.
    pub(super) fn enter(&self, conversation: ConversationId, news: &Arc<News>) -> u64 {
        let mut state = self.lock();
        state.next += 1;
        let number = state.next;
        let entry = Entry { conversation, marks: HashMap::new(), news: Arc::downgrade(news) };
        state.entries.insert(number, entry);
        number
    }

    /// Removes a client.
    pub(super) fn leave(&self, number: u64) {
        self.lock().entries.remove(&number);
    }

    /// Removes a subscription.
    pub(super) fn unwatch(&self, number: u64, name: &ResourceName) {
        if let Some(entry) = self.lock().entries.get_mut(&number) {
            entry.marks.remove(name);
        }
    }

    /// Adds a subscription for changes after this call has returned; with `may_be_missing`, also for the appearance of a
    /// resource. Returns true if the resource exists now.
    pub(super) async fn watch(
        self: &Arc<Self>,
        number: u64,
        name: &ResourceName,
        may_be_missing: bool,
    ) -> Result<bool, Refused> {
        if matches!(name, ResourceName::Output(_)) {
            return Err(Refused::Constant);
        }
        let conversation = {
            let mut state = self.lock();
            let total: usize = state.entries.values().map(|entry| entry.marks.len()).sum();
            let Some(entry) = state.entries.get(&number) else { return Ok(false) };
            // A client of the newer era can listen several times at once.
            let of_client = state.entries.values().filter(|other| other.conversation == entry.conversation);
            let count: usize = of_client.map(|entry| entry.marks.len()).sum();
            let Some(entry) = state.entries.get_mut(&number) else { return Ok(false) };
            match entry.marks.get(name) {
                Some(Some(mark)) => return Ok(*mark != Mark::default()),
                // Another first poll is running, or was cancelled with its request: poll here as well.
                Some(None) => {}
                None if count >= MOST_OF_A_CLIENT || total >= MOST_WATCHED => {
                    return Err(Refused::TooMany);
                }
                // Reserve before the await, so that concurrent requests cannot exceed the bound.
                None => {
                    entry.marks.insert(name.clone(), None);
                }
            }
            entry.conversation.clone()
        };
        let watched = vec![Watched { conversation, name: name.clone() }];
        let marks = self.look(watched).await;
        let mark = match marks.into_iter().next() {
            Some(Ok(Some(mark))) => Ok(mark),
            Some(Err(error)) => Err(Refused::Failed(error)),
            Some(Ok(None)) if may_be_missing => Ok(Mark::default()),
            Some(Ok(None)) => Err(Refused::Missing),
            None => Err(Refused::Failed(WapError::new(
                Reason::ReadError,
                "agentd has a fault and could not look",
            ))),
        };
        let mut state = self.lock();
        if let Some(entry) = state.entries.get_mut(&number) {
            match &mark {
                Ok(mark) => {
                    // An unsubscription in the meantime has removed the entry.
                    if let Some(own) = entry.marks.get_mut(name) {
                        own.get_or_insert_with(|| mark.clone());
                    }
                }
                Err(_) => {
                    entry.marks.remove(name);
                }
            }
        }
        if mark.is_ok() && !std::mem::replace(&mut state.is_looking, true) {
            tokio::spawn(Arc::clone(self).keep_looking());
        }
        mark.map(|mark| mark != Mark::default())
    }

    /// Polls the followed resources until there are none.
    async fn keep_looking(self: Arc<Self>) {
        let mut pause = PAUSE;
        loop {
            tokio::time::sleep(pause).await;
            let began = Instant::now();
            let watched: Vec<(u64, Watched)> = {
                let mut state = self.lock();
                state.entries.retain(|_, entry| entry.news.strong_count() > 0);
                let of = |(number, entry): (&u64, &Entry)| {
                    // Without a mark, its first poll is still running.
                    let watched = entry.marks.iter().filter(|(_, mark)| mark.is_some());
                    let watched = watched.map(|(name, _)| Watched {
                        conversation: entry.conversation.clone(),
                        name: name.clone(),
                    });
                    watched.map(|watched| (*number, watched)).collect::<Vec<_>>()
                };
                let watched: Vec<_> = state.entries.iter().flat_map(of).collect();
                if state.entries.values().all(|entry| entry.marks.is_empty()) {
                    state.is_looking = false;
                    return;
                }
                watched
            };
            let marks = self.look(watched.iter().map(|(_, watched)| watched.clone()).collect()).await;
            pause = (began.elapsed() * SHARE).clamp(PAUSE, LONGEST_PAUSE);
            let mut state = self.lock();
            for ((number, Watched { name, .. }), mark) in watched.into_iter().zip(marks) {
                // Retry a resource that cannot be polled now.
                let Ok(mark) = mark else { continue };
                let Some(entry) = state.entries.get_mut(&number) else { continue };
                let Some(own) = entry.marks.get_mut(&name) else { continue };
                // A removed resource has an empty mark, which is reported once.
                let mark = mark.unwrap_or_default();
                if own.as_ref() != Some(&mark) {
                    *own = Some(mark);
                    if let Some(news) = entry.news.upgrade() {
                        news.add(Followed::OfWorkspace(name));
                    }
                }
            }
        }
    }

    async fn look(self: &Arc<Self>, watched: Vec<Watched>) -> Vec<Result<Option<Mark>, WapError>> {
        let source = Arc::clone(&self.source);
        let looked = tokio::task::spawn_blocking(move || {
            let origin = Origin {
                conversation: ConversationId("resources".to_owned()),
                run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
                step: 0,
                retention: Retention::Process,
            };
            let cancel = CancelFlag::new();
            source.marks(&Call { origin: &origin, cancel: &cancel, time_left: None }, &watched)
        });
        // After a fault nothing was polled: the next round polls again.
        looked.await.unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use wap_core::{Call, ConversationId, Reason, WapError};

    use super::super::{Followed, ListedPage, Mark, News, ResourceName, Watched, WorkspaceResources};
    use super::SubscriptionDesk;

    /// Run 1 cannot be read after the first poll; the others change with each poll.
    #[derive(Default)]
    struct OneUnreadable {
        looks: AtomicU64,
    }

    impl WorkspaceResources for OneUnreadable {
        fn list(&self, _: &Call<'_>, _: Option<u64>) -> Result<ListedPage, WapError> {
            Ok(ListedPage::default())
        }

        fn text(&self, _: &Call<'_>, _: &ResourceName) -> Result<Option<String>, WapError> {
            Ok(None)
        }

        fn marks(&self, _: &Call<'_>, watched: &[Watched]) -> Vec<Result<Option<Mark>, WapError>> {
            let look = self.looks.fetch_add(1, Ordering::SeqCst);
            let mark = |watched: &Watched| match watched.name {
                ResourceName::Run(1) if look > 0 => Err(WapError::new(Reason::ReadError, "damaged")),
                _ => Ok(Some(Mark(look.to_string()))),
            };
            watched.iter().map(mark).collect()
        }

        fn last_change(&self) -> Result<Option<u64>, WapError> {
            Ok(None)
        }

        fn failure(&self, _: Option<u64>) -> Result<Option<String>, WapError> {
            Ok(None)
        }

        fn work(&self, _: &Call<'_>, _: Option<&str>) -> Result<Option<String>, WapError> {
            Ok(None)
        }

        fn conversations(&self, _: &str, _: usize) -> Result<Vec<String>, WapError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn an_unreadable_resource_silences_no_other() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        runtime.block_on(async {
            let desk = SubscriptionDesk::new(Arc::new(OneUnreadable::default()));
            let news = Arc::new(News::default());
            let number = desk.enter(ConversationId("test".to_owned()), &news);
            for run in [1, 2] {
                assert!(desk.watch(number, &ResourceName::Run(run), false).await.expect("it is there"));
            }
            let heard = loop {
                let heard = news.take();
                if !heard.is_empty() {
                    break heard;
                }
                news.wait().await;
            };
            assert_eq!(heard.into_iter().collect::<Vec<_>>(), [Followed::OfWorkspace(ResourceName::Run(2))]);
            // A failed first poll is reported to the requesting client.
            assert!(desk.watch(number, &ResourceName::Run(3), false).await.is_ok());
        });
    }
}
