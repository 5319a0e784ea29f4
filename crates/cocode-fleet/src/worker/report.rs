//! The host's entry in `hosts`, and what people ask of the host.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::time::timeout;

use super::context::WorkerContext;
use crate::names::Bucket;
use crate::store::drain_key;

/// Reports the host every `renew`, and soon after something changed; follows the key by which people drain it.
pub(super) async fn run(context: Arc<WorkerContext>) {
    let key = drain_key(&context.config.host);
    let subject = context.connection.subjects.key(Bucket::Control, &key);
    // Without the subscription, the key is read with every report.
    let mut requests = match context.connection.client.subscribe(subject).await {
        Ok(subscription) => subscription.boxed(),
        Err(_) => futures_util::stream::pending().boxed(),
    };
    loop {
        if let Ok(entry) = context.connection.get_key(Bucket::Control, &key).await {
            context.set_draining(entry.is_some_and(|entry| entry.value.is_some()));
        }
        let report = context.report().await;
        // The next report repeats what did not arrive.
        let _ = context.connection.report_host(&context.config.host, &report).await;
        let pause = context.connection.timings.renew;
        let _ = timeout(pause, async {
            tokio::select! {
                () = context.changed.notified() => {}
                _ = requests.next() => {}
            }
        })
        .await;
    }
}

/// Removes the host's entry, so that nothing waits for it until it expires.
pub(super) async fn leave(context: &WorkerContext) {
    let _ = context.connection.delete_key(Bucket::Hosts, context.config.host.as_str()).await;
}
