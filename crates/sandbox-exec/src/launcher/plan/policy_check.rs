//! The check that a policy can be put in force on this machine.

use std::path::{Path, PathBuf};

use crate::launcher::canonical::canonicalize;
use crate::launcher::system_tree;
use crate::policy::Policy;
use crate::policy::isolation::Isolation;
use crate::policy::network::NetworkPolicy;

/// The reason that a policy cannot be put in force. Nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The workspace does not exist or is not a folder.
    #[error("the workspace is not a folder")]
    NotAFolder,
    /// The workspace is or contains a folder that the sandbox itself lays out, such as `/` or `/usr`, or is in `/dev`, `/proc`
    /// or `/sys`.
    #[error(
        "the workspace is a system folder, holds one, or is in /dev, /proc or /sys; commands run in folders elsewhere"
    )]
    SystemFolder,
    /// The workspace is the user's home folder, which is to be hidden.
    #[error("the workspace is the home folder")]
    HomeFolder,
    /// A readable or writable path of the policy, such as a folder of `--cache`, or a replaced folder, does not exist.
    #[error(
        "{name:?}, which commands are given in addition to the workspace, does not exist; create it, or leave it out"
    )]
    MissingPath {
        /// The last part of the path. A model may read the message, so the folders above are left out.
        name: String,
    },
    /// A readable or writable path of the policy is in the workspace and leads out of it through a symbolic link, which a
    /// command may have made.
    #[error(
        "a folder in the workspace that commands are given leads out of it through a symbolic link; name the folder that \
         the link leads to instead, if that is meant"
    )]
    LeadsOut,
    /// The policy has a layer, and this machine gives commands no root of their own to mount it in.
    #[error("a copy-on-write layer cannot be mounted without a root of the command's own")]
    NoRootForLayer,
    /// The policy replaces a folder, and this machine gives commands no root of their own to do that in.
    #[error("a folder cannot be replaced without a root of the command's own")]
    NoRootForReplaced,
    /// The policy's layer covers another folder than the workspace.
    #[error("the copy-on-write layer does not cover the workspace")]
    ForeignLayer,
    /// The policy has a layer over a read-only workspace.
    #[error("a read-only workspace cannot have a copy-on-write layer")]
    ReadOnlyWithLayer,
    /// The workspace is read-only, and this machine gives commands no root of their own to mount it in.
    #[error("the workspace cannot be read-only without a root of the command's own")]
    NoRootForReadOnly,
    /// The policy allows names, and this machine cannot limit a command's connections to them.
    #[error(
        "commands cannot be kept to allowed names here: that takes a network namespace and a root of their own, and a \
         filter of system calls with notifications; run `agentd doctor`, or choose --network off or on"
    )]
    NoNetworkForNames,
    /// The policy allows names, and the command is to share a network: other commands in it would reach them, too.
    #[error("allowed names are unavailable in a network that commands share; choose --network off or on")]
    NamesInSharedNetwork,
}

/// Checks the policy's demands on the workspace, and returns its canonical path. `isolation` is what this machine
/// supports, and `real_home` the canonical path of the user's home folder.
pub(super) fn workspace(
    policy: &Policy,
    isolation: Isolation,
    real_home: &Path,
) -> Result<PathBuf, PolicyError> {
    let workspace = canonicalize(&policy.workspace).map_err(|_| PolicyError::NotAFolder)?;
    if !workspace.is_dir() {
        return Err(PolicyError::NotAFolder);
    }
    if system_tree::is_made_of(&workspace) {
        return Err(PolicyError::SystemFolder);
    }
    let has_root = isolation.contains(Isolation::ROOT);
    if has_root && workspace == real_home {
        return Err(PolicyError::HomeFolder);
    }
    if let Some(layer) = &policy.layer {
        if !has_root {
            return Err(PolicyError::NoRootForLayer);
        }
        if canonicalize(&layer.lower).ok().as_ref() != Some(&workspace) {
            return Err(PolicyError::ForeignLayer);
        }
    }
    if policy.is_workspace_read_only {
        if policy.layer.is_some() {
            return Err(PolicyError::ReadOnlyWithLayer);
        }
        if !has_root {
            return Err(PolicyError::NoRootForReadOnly);
        }
    }
    if !policy.replaced.is_empty() && !has_root {
        return Err(PolicyError::NoRootForReplaced);
    }
    Ok(workspace)
}

/// Returns the isolation of a command with the policy's network.
pub(super) fn isolation(network: &NetworkPolicy, isolation: Isolation) -> Result<Isolation, PolicyError> {
    match network {
        NetworkPolicy::Off => Ok(isolation),
        NetworkPolicy::Host => Ok(isolation.without(Isolation::NETWORK | Isolation::NO_SOCKETS)),
        // Only an init with its own root reads the order, which holds the names.
        NetworkPolicy::Named(_) if isolation.contains(Isolation::FOR_NAMES) => Ok(isolation),
        NetworkPolicy::Named(_) => Err(PolicyError::NoNetworkForNames),
    }
}
