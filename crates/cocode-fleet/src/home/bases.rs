//! The bundles of a task's base on the server.

use std::time::Instant;

use super::context::HomeContext;
use super::step::StepError;
use crate::contract::{BaseFile, SubmittedTask};
use crate::names::BundleOwner;
use crate::store::{BundleError, bundle_name};

/// Uploads the bundles of a task that are not on the server. The inner error is the reason why the task cannot be
/// published.
pub(super) async fn ensure(
    context: &HomeContext,
    submitted: &SubmittedTask,
) -> Result<Result<(), String>, StepError> {
    Ok(upload(context, submitted, false).await?.map(drop))
}

/// Uploads all bundles of a task, even if they seem to be there: a host has found one missing or damaged. Bundles that
/// were uploaded for this reason within a lease are skipped: many hosts may find the same one damaged, and a host may
/// repeat its report. Returns whether any were uploaded.
pub(super) async fn repair(
    context: &HomeContext,
    submitted: &SubmittedTask,
) -> Result<Result<bool, String>, StepError> {
    upload(context, submitted, true).await
}

async fn upload(
    context: &HomeContext,
    submitted: &SubmittedTask,
    anew: bool,
) -> Result<Result<bool, String>, StepError> {
    let named: Vec<_> = submitted.bases.iter().map(|file| &file.base).collect();
    if named != submitted.task.bases.iter().collect::<Vec<_>>() {
        return Ok(Err("the files of the bundles are not those that the task names".to_owned()));
    }
    let mut uploaded = context.uploaded.lock().await;
    let mut repaired = context.repaired.lock().await;
    let mut has_sent = false;
    for BaseFile { base, path } in &submitted.bases {
        let digest = &base.bundle.digest;
        let lease = context.connection.timings.lease;
        let is_there = match anew {
            true => repaired.get(digest).is_some_and(|time| time.elapsed() < lease),
            false => uploaded.contains(digest),
        };
        if is_there {
            continue;
        }
        if anew || !context.connection.has_bundle(&BundleOwner::Home, &base.bundle).await? {
            let put = async {
                if bundle_name(path).await? != base.bundle {
                    return Err(BundleError::Damaged { digest: digest.clone() });
                }
                context.connection.put_bundle(&BundleOwner::Home, path).await
            };
            match put.await {
                Ok(_) => has_sent = true,
                Err(BundleError::Call(error)) => return Err(error.into()),
                Err(error) => return Ok(Err(crate::text::chain(&error))),
            }
        }
        uploaded.insert(digest.clone());
        if anew {
            repaired.insert(digest.clone(), Instant::now());
        }
    }
    Ok(Ok(has_sent))
}
