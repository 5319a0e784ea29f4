//! The bundles of a task's base on the server.

use super::context::HomeContext;
use super::step::StepError;
use crate::contract::{BaseFile, SubmittedTask};
use crate::names::BundleOwner;
use crate::store::{BundleError, bundle_name};

/// Uploads the bundles of a task that are not on the server. The inner error is a reason for which the task cannot be published.
pub(super) async fn ensure(
    context: &HomeContext,
    submitted: &SubmittedTask,
) -> Result<Result<(), String>, StepError> {
    upload(context, submitted, false).await
}

/// Uploads all bundles of a task, also those that seem to be there: a host has found one missing or damaged.
pub(super) async fn repair(
    context: &HomeContext,
    submitted: &SubmittedTask,
) -> Result<Result<(), String>, StepError> {
    upload(context, submitted, true).await
}

async fn upload(
    context: &HomeContext,
    submitted: &SubmittedTask,
    anew: bool,
) -> Result<Result<(), String>, StepError> {
    let named: Vec<_> = submitted.bases.iter().map(|file| &file.base).collect();
    if named != submitted.task.bases.iter().collect::<Vec<_>>() {
        return Ok(Err("the files of the bundles are not those that the task names".to_owned()));
    }
    let mut uploaded = context.uploaded.lock().await;
    for BaseFile { base, path } in &submitted.bases {
        let digest = &base.bundle.digest;
        if !anew && uploaded.contains(digest) {
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
                Ok(_) => {}
                Err(BundleError::Call(error)) => return Err(error.into()),
                Err(error) => return Ok(Err(crate::text::chain(&error))),
            }
        }
        uploaded.insert(digest.clone());
    }
    Ok(Ok(()))
}
