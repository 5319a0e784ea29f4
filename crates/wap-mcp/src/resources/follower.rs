//! The subscriptions of one client, and the notifications that it gets.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::SubscriptionContext;
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::Notify;
use wap_core::ConversationId;

use super::desk::{MOST_OF_A_CLIENT, Refused};
use super::reading::{failure, missing, unknown};
use super::{ResourceName, SubscriptionDesk};

/// The changed resources of which a client has not been notified yet: at most one entry for each subscription, so that a
/// client that does not read holds no more.
#[derive(Debug, Default)]
pub(super) struct News {
    changed: Mutex<BTreeSet<ResourceName>>,
    ready: Notify,
}

impl News {
    /// Adds a changed resource.
    pub(super) fn add(&self, name: ResourceName) {
        self.lock().insert(name);
        self.ready.notify_one();
    }

    /// Takes the changed resources.
    pub(super) fn take(&self) -> BTreeSet<ResourceName> {
        std::mem::take(&mut *self.lock())
    }

    /// Waits until a resource has changed, or may have.
    pub(super) async fn wait(&self) {
        self.ready.notified().await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<ResourceName>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The subscriptions of a client; they end with it.
pub(crate) struct Follower {
    desk: Arc<SubscriptionDesk>,
    number: u64,
    news: Arc<News>,
    /// True once a task notifies the client.
    notifies: Mutex<bool>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.desk.leave(self.number);
        // Wakes the task, which finds that it is alone.
        self.news.ready.notify_one();
    }
}

impl Follower {
    /// Returns the subscriptions of a client that has none yet.
    pub(crate) fn new(desk: &Arc<SubscriptionDesk>, conversation: ConversationId) -> Follower {
        let news = Arc::new(News::default());
        let number = desk.enter(conversation, &news);
        Follower { desk: Arc::clone(desk), number, news, notifies: Mutex::new(false) }
    }

    async fn watch(&self, name: &ResourceName, may_be_missing: bool) -> Result<bool, ErrorData> {
        self.desk.watch(self.number, name, may_be_missing).await.map_err(|refused| match refused {
            Refused::Missing => missing(name),
            Refused::Constant => {
                ErrorData::invalid_params(format!("{name} does not change any more: read it"), None)
            }
            Refused::TooMany => ErrorData::invalid_request(
                format!("too many subscriptions: a client has at most {MOST_OF_A_CLIENT}"),
                None,
            ),
            Refused::Failed(error) => failure(&error),
        })
    }

    /// Answers `resources/unsubscribe`.
    pub(crate) fn unwatch(&self, uri: &str) -> Result<(), ErrorData> {
        let name = uri.parse().map_err(|error| unknown(uri, error))?;
        self.desk.unwatch(self.number, &name);
        Ok(())
    }
}

/// Answers `resources/subscribe` of the older era. The first subscription starts the task that notifies the client.
pub(crate) async fn follow_for_older(
    follower: &Follower,
    uri: &str,
    peer: Peer<RoleServer>,
) -> Result<(), ErrorData> {
    let name: ResourceName = uri.parse().map_err(|error| unknown(uri, error))?;
    follower.watch(&name, false).await?;
    let mut notifies = follower.notifies.lock().unwrap_or_else(PoisonError::into_inner);
    if !std::mem::replace(&mut *notifies, true) {
        let news = Arc::clone(&follower.news);
        tokio::spawn(async move {
            // The follower and this task hold it; the follower goes with its client.
            while Arc::strong_count(&news) > 1 {
                for name in news.take() {
                    let params = ResourceUpdatedNotificationParam::new(name.to_string());
                    if peer.notify_resource_updated(params).await.is_err() {
                        return;
                    }
                }
                news.wait().await;
            }
        });
    }
    Ok(())
}

/// Returns the part of a filter of the newer era that can be followed: resources that change, a bounded number.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let can_change =
        |uri: &&String| uri.parse().is_ok_and(|name: ResourceName| !matches!(name, ResourceName::Output(_)));
    let names: BTreeSet<String> = uris.filter(can_change).take(MOST_OF_A_CLIENT).cloned().collect();
    if names.is_empty() {
        return SubscriptionFilter::new();
    }
    SubscriptionFilter::builder().resource_subscriptions(names).build()
}

/// The updates of resources for one subscription of the newer era.
pub(crate) struct ResourceUpdates {
    /// `None` if no resource is followed.
    follower: Option<Follower>,
    ready: tokio::sync::Mutex<BTreeSet<ResourceName>>,
}

impl ResourceUpdates {
    /// Begins to follow resources. Each that is there is updated once, since it was acknowledged before this look at it.
    pub(crate) async fn begin(
        follower: Option<Follower>,
        uris: &[String],
    ) -> Result<ResourceUpdates, ErrorData> {
        if let Some(follower) = &follower {
            for uri in uris {
                let name: ResourceName = uri.parse().map_err(|error| unknown(uri, error))?;
                if follower.watch(&name, true).await? {
                    follower.news.add(name);
                }
            }
        }
        Ok(ResourceUpdates { follower, ready: tokio::sync::Mutex::default() })
    }

    /// Waits for the next update and returns the name of its resource; it never ends if no resource is followed.
    pub(crate) async fn next(&self) -> String {
        let Some(follower) = &self.follower else { return std::future::pending().await };
        let mut ready = self.ready.lock().await;
        loop {
            if let Some(name) = ready.pop_first() {
                return name.to_string();
            }
            *ready = follower.news.take();
            if ready.is_empty() {
                follower.news.wait().await;
            }
        }
    }
}

/// Carries out `subscriptions/listen` of the newer era until its client ends it.
pub(crate) async fn follow_for_newer(
    follower: Follower,
    context: SubscriptionContext,
) -> Result<(), ErrorData> {
    let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    if uris.is_empty() {
        // Nothing to follow: only the client's own wait is held.
        drop(follower);
        context.cancelled().await;
        return Ok(());
    }
    let updates = ResourceUpdates::begin(Some(follower), &uris).await?;
    loop {
        let uri = tokio::select! {
            () = context.cancelled() => return Ok(()),
            uri = updates.next() => uri,
        };
        if context.sink().notify_resource_updated(uri).await.is_err() {
            return Ok(());
        }
    }
}
