//! The subscriptions of one client, and its notifications.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::SubscriptionContext;
use rmcp::{ErrorData, Peer, RoleServer};
use wap_core::ConversationId;

use super::desk::{MOST_OF_A_CLIENT, Refused};
use super::listing::is_of_workspace;
use super::reading::{failure, missing, not_followed, unknown};
use super::{Followed, News, ResourceName, SubscriptionDesk};
use crate::McpConfig;
use crate::contributed::{Contributions, TooMany};

/// The subscriptions of a client; they end with it.
pub(crate) struct Follower {
    /// The desk of the workspace with the client's number there; `None` if the workspace has no resources.
    workspace: Option<(Arc<SubscriptionDesk>, u64)>,
    contributions: Arc<Contributions>,
    /// The client's number among the subscriptions to contributed resources.
    number: u64,
    news: Arc<News>,
    /// True once a task notifies the client.
    notifies: Mutex<bool>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some((desk, number)) = &self.workspace {
            desk.leave(*number);
        }
        self.contributions.subscriptions().leave(self.number);
        // The task then finds that it holds the last reference.
        self.news.wake();
    }
}

impl Follower {
    /// Returns empty subscriptions for a client; `None` if there are no resources that change.
    pub(crate) fn new(config: &McpConfig, conversation: ConversationId) -> Option<Follower> {
        let contributions = &config.contributions;
        if config.resources.is_none() && !contributions.has_changes() {
            return None;
        }
        let news = Arc::new(News::default());
        let workspace = config.resources.as_ref();
        let workspace = workspace.map(|desk| (Arc::clone(desk), desk.enter(conversation.clone(), &news)));
        let number = contributions.subscriptions().enter(conversation, &news);
        let contributions = Arc::clone(contributions);
        Some(Follower { workspace, contributions, number, news, notifies: Mutex::new(false) })
    }

    /// Adds a subscription. Returns the resource if it exists now.
    async fn watch(&self, uri: &str, may_be_missing: bool) -> Result<Option<Followed>, ErrorData> {
        if self.contributions.can_change(uri) {
            let watched = self.contributions.subscriptions().watch(self.number, uri);
            return match watched {
                Ok(()) => Ok(Some(Followed::Contributed(uri.to_owned()))),
                Err(TooMany) => Err(too_many()),
            };
        }
        let Some((desk, number)) = self.workspace.as_ref().filter(|_| self.is_for_workspace(uri)) else {
            return Err(not_followed(uri));
        };
        let name: ResourceName = uri.parse().map_err(|error| unknown(uri, error))?;
        let watched = desk.watch(*number, &name, may_be_missing).await;
        let is_there = watched.map_err(|refused| match refused {
            Refused::Missing => missing(&name),
            Refused::Constant => {
                ErrorData::invalid_params(format!("{name} does not change any more: read it"), None)
            }
            Refused::TooMany => too_many(),
            Refused::Failed(error) => failure(&error),
        })?;
        Ok(is_there.then_some(Followed::OfWorkspace(name)))
    }

    /// Answers `resources/unsubscribe`.
    pub(crate) fn unwatch(&self, uri: &str) -> Result<(), ErrorData> {
        let Some((desk, number)) = self.workspace.as_ref().filter(|_| self.is_for_workspace(uri)) else {
            self.contributions.subscriptions().unwatch(self.number, uri);
            self.news.forget(&Followed::Contributed(uri.to_owned()));
            return Ok(());
        };
        let name = uri.parse().map_err(|error| unknown(uri, error))?;
        desk.unwatch(*number, &name);
        Ok(())
    }

    /// Checks whether the workspace decides about a name: if nothing else can be followed, it decides about all.
    fn is_for_workspace(&self, uri: &str) -> bool {
        is_of_workspace(uri) || !self.contributions.has_changes()
    }
}

fn too_many() -> ErrorData {
    ErrorData::invalid_request(
        format!("too many subscriptions: a client has at most {MOST_OF_A_CLIENT}"),
        None,
    )
}

/// Answers `resources/subscribe` of the older era. The first subscription starts the task that notifies the client.
pub(crate) async fn follow_for_older(
    follower: &Follower,
    uri: &str,
    peer: Peer<RoleServer>,
) -> Result<(), ErrorData> {
    follower.watch(uri, false).await?;
    let mut notifies = follower.notifies.lock().unwrap_or_else(PoisonError::into_inner);
    if !std::mem::replace(&mut *notifies, true) {
        let news = Arc::clone(&follower.news);
        tokio::spawn(async move {
            // The follower and this task hold it; the follower is dropped with its client.
            while Arc::strong_count(&news) > 1 {
                for resource in news.take() {
                    let params = ResourceUpdatedNotificationParam::new(resource.to_string());
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

/// Returns the part of a filter of the newer era that can be followed: a bounded number of resources that change.
pub(crate) fn accepted(config: &McpConfig, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let is_of_workspace =
        |uri: &str| uri.parse().is_ok_and(|name: ResourceName| !matches!(name, ResourceName::Output(_)));
    let can_change = |uri: &&String| {
        config.contributions.can_change(uri) || config.resources.is_some() && is_of_workspace(uri)
    };
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
    ready: tokio::sync::Mutex<BTreeSet<Followed>>,
}

impl ResourceUpdates {
    /// Begins to follow resources. Each existing one is updated once, since it was acknowledged before this poll.
    pub(crate) async fn begin(
        follower: Option<Follower>,
        uris: &[String],
    ) -> Result<ResourceUpdates, ErrorData> {
        if let Some(follower) = &follower {
            for uri in uris {
                if let Some(resource) = follower.watch(uri, true).await? {
                    follower.news.add(resource);
                }
            }
        }
        Ok(ResourceUpdates { follower, ready: tokio::sync::Mutex::default() })
    }

    /// Waits for the next update and returns the name of its resource; never returns if no resource is followed.
    pub(crate) async fn next(&self) -> String {
        let Some(follower) = &self.follower else { return std::future::pending().await };
        let mut ready = self.ready.lock().await;
        loop {
            if let Some(resource) = ready.pop_first() {
                return resource.to_string();
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
        // Nothing to follow: only hold the client's wait.
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
