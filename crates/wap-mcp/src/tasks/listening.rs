//! `subscriptions/listen` of 2026-07-28 with names of tasks, which the SDK forwards under another name.

use rmcp::RoleServer;
use rmcp::model::{
    CustomNotification, CustomRequest, CustomResult, ErrorData, RequestId, ServerNotification,
    SubscriptionFilter,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::desk::TaskDesk;
use crate::McpServer;
use crate::resources::{self, Follower, ResourceUpdates};

/// The most tasks that one subscription follows.
const MOST_TASKS: usize = 32;

/// The key of the subscription in a notification.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The most notifications that are queued for a client that is slow to read.
const WAITING: usize = 16;

impl McpServer {
    /// Carries out a subscription to tasks and resources until its client ends it.
    pub(crate) async fn listen_to_tasks(
        &self,
        tasks: &TaskDesk,
        request: CustomRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let filter = &request.params.as_ref().map_or(&Value::Null, |params| &params["notifications"]);
        let wanted: SubscriptionFilter = serde_json::from_value((*filter).clone())
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let resources = resources::accepted(&self.config, &wanted).resource_subscriptions.unwrap_or_default();
        let declares = context.client_capabilities().is_some_and(|declared| declared.supports_tasks());
        let named = filter["taskIds"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut ids: Vec<String> = Vec::new();
        for id in named.filter(|_| declares).take(MOST_TASKS) {
            // The acknowledgement leaves out missing and repeated tasks.
            if !ids.iter().any(|other| other == id)
                && matches!(tasks.show(id, Duration::ZERO).await, Ok(Some(_)))
            {
                ids.push(id.to_owned());
            }
        }
        let follower = match resources.is_empty() {
            true => None,
            false => {
                let client = self.with_processes(context).client;
                Follower::new(&self.config, client.origin().conversation)
            }
        };
        let id = &context.id;
        let mut accepted = json!({});
        if !ids.is_empty() {
            accepted["taskIds"] = json!(ids);
        }
        if !resources.is_empty() {
            accepted["resourceSubscriptions"] = json!(resources);
        }
        let acknowledged = json!({ "notifications": accepted });
        if notify(context, "notifications/subscriptions/acknowledged", acknowledged).await.is_err() {
            return Ok(ended(id));
        }
        let (sender, mut changes) = mpsc::channel(WAITING);
        // These tasks end with this request.
        let mut following = JoinSet::new();
        for id in ids {
            following.spawn(tasks.clone().send_newer(id, sender.clone()));
        }
        let updates = ResourceUpdates::begin(follower, &resources).await?;
        loop {
            let sent = tokio::select! {
                () = context.ct.cancelled() => break,
                // `sender` is held, so that a subscription outlasts its tasks: only its client ends it.
                Some(task) = changes.recv() => notify(context, "notifications/tasks", task).await,
                uri = updates.next() => {
                    notify(context, "notifications/resources/updated", json!({ "uri": uri })).await
                }
            };
            if sent.is_err() {
                break;
            }
        }
        drop(sender);
        Ok(ended(id))
    }
}

/// Sends a notification of a subscription.
async fn notify(
    context: &RequestContext<RoleServer>,
    method: &str,
    mut params: Value,
) -> Result<(), rmcp::service::ServiceError> {
    params["_meta"] = json!({ SUBSCRIPTION: context.id });
    let notification = CustomNotification::new(method, Some(params));
    context.peer.send_notification(ServerNotification::CustomNotification(notification)).await
}

/// Returns the result of an ended subscription.
fn ended(id: &RequestId) -> CustomResult {
    CustomResult::new(json!({ "resultType": "complete", "_meta": { SUBSCRIPTION: id } }))
}
