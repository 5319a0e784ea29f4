//! Restoring the base of a task: only the bundles that the host lacks.

use std::path::PathBuf;
use std::sync::Arc;

use super::context::WorkerContext;
use crate::contract::ExecuteError;
use crate::names::BundleOwner;
use crate::store::BundleError;
use crate::task::{BaseBundle, Task};

/// A base that could not be restored.
#[derive(Debug)]
pub(super) enum BaseError {
    /// Home has to upload a bundle again.
    Unusable(String),
    /// This host failed.
    Failed(String),
}

/// Fetches and adds the bundles that lead from the host's commits to the base commit.
pub(super) async fn restore(context: &WorkerContext, task: &Task) -> Result<(), BaseError> {
    let _turn = context.base_turn.lock().await;
    if has(context, &task.base_commit).await {
        return Ok(());
    }
    let mut first = task.bases.len();
    while first > 0 && !has(context, &task.bases[first - 1].tip).await {
        first -= 1;
    }
    for base in &task.bases[first..] {
        fetch(context, base).await?;
    }
    if has(context, &task.base_commit).await {
        return Ok(());
    }
    Err(BaseError::Unusable(format!("the bundles do not lead to the commit {}", task.base_commit)))
}

async fn has(context: &WorkerContext, commit: &str) -> bool {
    let (executor, commit) = (Arc::clone(&context.executor), commit.to_owned());
    tokio::task::spawn_blocking(move || executor.has_base(&commit)).await.unwrap_or(false)
}

async fn fetch(context: &WorkerContext, base: &BaseBundle) -> Result<(), BaseError> {
    let folder = tempfile::Builder::new().prefix("base-").tempdir_in(&context.config.folder);
    let folder = folder.map_err(|error| BaseError::Failed(format!("no folder for a bundle: {error}")))?;
    let path: PathBuf = folder.path().join("bundle");
    context.connection.get_bundle(&BundleOwner::Home, &base.bundle, &path).await.map_err(|error| {
        let text = crate::text::chain(&error);
        match error {
            BundleError::Missing { .. } | BundleError::Damaged { .. } | BundleError::TooLarge(_) => {
                BaseError::Unusable(text)
            }
            _ => BaseError::Failed(text),
        }
    })?;
    let (executor, tip) = (Arc::clone(&context.executor), base.tip.clone());
    let adding = tokio::task::spawn_blocking(move || {
        let added = executor.add_base(&path, &tip);
        drop(folder);
        added
    });
    match adding.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(ExecuteError::BaseUnusable(reason))) => Err(BaseError::Unusable(reason)),
        Ok(Err(error)) => Err(BaseError::Failed(error.to_string())),
        Err(_) => Err(BaseError::Failed("adding the bundle panicked".to_owned())),
    }
}
