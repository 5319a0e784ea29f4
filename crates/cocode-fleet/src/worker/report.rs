//! The host's entry in `hosts`, and requests of people to the host.
//!
//! The entry is also how two processes under one name are noticed. Each write states the number of the entry that its
//! writer wrote last, so only one of two can continue writing; the other stops.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::time::{Instant, sleep, timeout};

use super::WorkerStatus;
use super::context::WorkerContext;
use crate::connection::FleetError;
use crate::names::Bucket;
use crate::store::{Entry, drain_key};
use crate::task::HostReport;

/// The entry under the host's name, as this process sees it.
enum NameEntry {
    /// There is none, or it has expired.
    Free(u64),
    /// This process wrote it, or an earlier one of this installation did.
    Own(u64),
    /// Another one wrote it.
    Other(u64),
}

/// Writes the first report, and returns its number. `None` if another process works under the name, which is evident
/// when it renews its report; otherwise it has died, and its report is left to expire.
pub(super) async fn claim_name(context: &WorkerContext) -> Option<u64> {
    let timings = context.connection.timings;
    let mut other: Option<(u64, Instant)> = None;
    loop {
        match name_entry(context, |report| report.installation == context.config.installation).await {
            Ok(NameEntry::Free(revision) | NameEntry::Own(revision)) => {
                match write(context, revision).await {
                    Ok(revision) => return Some(revision),
                    // The next read shows which was first.
                    Err(FleetError::Conflict) => continue,
                    Err(error) => context.set_status(WorkerStatus::Troubled(crate::text::chain(&error))),
                }
            }
            Ok(NameEntry::Other(revision)) => match other {
                Some((first, _)) if first != revision => return None,
                Some((_, since)) if since.elapsed() > timings.lease * 2 => return None,
                Some(_) => {}
                None => {
                    let why = "another installation has reported under this name; this one waits until that report expires";
                    context.set_status(WorkerStatus::Troubled(why.to_owned()));
                    other = Some((revision, Instant::now()));
                }
            },
            Err(error) => context.set_status(WorkerStatus::Troubled(crate::text::chain(&error))),
        }
        sleep(timings.renew / 4).await;
    }
}

/// Reports the host every `renew`, and soon after something changed; follows the key by which people drain it. Ends when
/// another process has taken the name.
pub(super) async fn run(context: Arc<WorkerContext>, mut revision: u64) {
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
        match write(&context, revision).await {
            Ok(written) => revision = written,
            Err(FleetError::Conflict) => {
                // It expired while the connection was lost, the server lost it, or an answer to this process was lost.
                match name_entry(&context, |report| report.session == context.session).await {
                    Ok(NameEntry::Free(current) | NameEntry::Own(current)) => {
                        revision = current;
                        continue;
                    }
                    Ok(NameEntry::Other(_)) => return,
                    Err(_) => {}
                }
            }
            // The next report repeats lost data.
            Err(_) => {}
        }
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

async fn write(context: &WorkerContext, revision: u64) -> Result<u64, FleetError> {
    let report = context.report().await;
    context.connection.report_host(&context.config.host, &report, revision).await
}

async fn name_entry(
    context: &WorkerContext,
    is_own: impl Fn(&HostReport) -> bool,
) -> Result<NameEntry, FleetError> {
    let entry = context.connection.get_key(Bucket::Hosts, context.config.host.as_str()).await?;
    let Some(Entry { value, revision }) = entry else { return Ok(NameEntry::Free(0)) };
    let Some(value) = value else { return Ok(NameEntry::Free(revision)) };
    // An unreadable entry is from another version.
    let is_own = serde_json::from_slice::<HostReport>(&value).is_ok_and(|report| is_own(&report));
    Ok(if is_own { NameEntry::Own(revision) } else { NameEntry::Other(revision) })
}
