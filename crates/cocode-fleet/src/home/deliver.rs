//! Fetching and judging deliveries. A record is a hint; the claim is under keys that only its host can write.

use std::path::PathBuf;

use super::context::HomeContext;
use super::events;
use super::step::{StepError, distrust};
use crate::contract::{Delivered, JudgeError, Notice};
use crate::names::{Bucket, BundleOwner, HostName, TaskName};
use crate::store::{BundleError, claim_key};
use crate::task::{Claim, RunRecord};

/// The outcome of examining a delivery.
enum Judged {
    Resolved,
    NotBelieved(String),
}

/// Judges the delivery of a record that says done, or publishes the task again.
pub(super) async fn run(
    context: &HomeContext,
    name: &TaskName,
    record: RunRecord,
    revision: u64,
) -> Result<(), StepError> {
    let Some(host) = record.host.clone() else {
        return distrust(context, name, record, revision, "it says done, without a host").await;
    };
    let claim = match claim(context, name, &host, &record).await? {
        Ok(claim) => claim,
        Err(reason) => return distrust(context, name, record, revision, &reason).await,
    };
    events::catch_up(context).await;
    context.notice(name, Notice::Delivered { host: host.clone(), epoch: record.epoch }).await;
    let judged = judge(context, name, &host, record.epoch, &claim).await?;
    if let Some(bundle) = &claim.bundle {
        // Leftovers expire by themselves.
        let owner = BundleOwner::Start { host, task: name.clone(), epoch: record.epoch };
        let _ = context.connection.delete_bundle(&owner, bundle).await;
    }
    match judged {
        Judged::Resolved => {
            context.forget(name);
            Ok(())
        }
        Judged::NotBelieved(reason) => distrust(context, name, record, revision, &reason).await,
    }
}

/// Reads the claim that a record refers to. The inner error is the reason not to believe it.
async fn claim(
    context: &HomeContext,
    name: &TaskName,
    host: &HostName,
    record: &RunRecord,
) -> Result<Result<Claim, String>, StepError> {
    let key = claim_key(host, name, record.epoch);
    let entry = context.connection.get_key(Bucket::Results, &key).await?;
    let Some(value) = entry.and_then(|entry| entry.value) else {
        return Ok(Err(format!("{host} has no claim under its keys for epoch {}", record.epoch)));
    };
    let claim = match Claim::parse(&value, crate::BUNDLE_LIMIT_BYTES) {
        Ok(claim) => claim,
        Err(error) => return Ok(Err(crate::text::chain(&error))),
    };
    if claim.bundle.as_ref().map(|bundle| &bundle.digest) != record.result.as_ref() {
        return Ok(Err("record and claim name different bundles".to_owned()));
    }
    Ok(Ok(claim))
}

async fn judge(
    context: &HomeContext,
    name: &TaskName,
    host: &HostName,
    epoch: u64,
    claim: &Claim,
) -> Result<Judged, StepError> {
    let _turn = context.judging.acquire().await;
    let submitted = context.submitted(name).await?;
    let failed = |error: std::io::Error| JudgeError::Failed(format!("no folder for a bundle: {error}"));
    let folder =
        tempfile::Builder::new().prefix("delivery-").tempdir_in(&context.config.folder).map_err(failed)?;
    let mut bundle: Option<PathBuf> = None;
    if let Some(claimed) = &claim.bundle {
        let path = folder.path().join("bundle");
        let owner = BundleOwner::Start { host: host.clone(), task: name.clone(), epoch };
        match context.connection.get_bundle(&owner, claimed, &path).await {
            Ok(()) => bundle = Some(path),
            Err(BundleError::Call(error)) => return Err(error.into()),
            Err(BundleError::File(error)) => {
                return Err(JudgeError::Failed(format!("the bundle cannot be written: {error}")).into());
            }
            Err(error) => return Ok(Judged::NotBelieved(crate::text::chain(&error))),
        }
    }
    let delivery =
        Delivered { task: submitted.task, host: host.clone(), epoch, claim: claim.clone(), bundle };
    let judgement = context.ask_judge(move |judge| {
        let judgement = judge.judge(&delivery);
        drop(folder);
        judgement
    });
    match judgement.await {
        Some(Ok(())) => Ok(Judged::Resolved),
        Some(Err(JudgeError::NotBelieved(reason))) => Ok(Judged::NotBelieved(reason)),
        Some(Err(error)) => Err(error.into()),
        None => Err(JudgeError::Failed("the judge panicked".to_owned()).into()),
    }
}
