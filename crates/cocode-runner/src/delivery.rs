//! Work delivered by another machine, judged on this one.
//!
//! The other machine is not trusted. It claims that an agent has ended, and how; the claim can make a verdict worse, never
//! better. Its commits are imported like a confined agent's objects, and the runner of this machine decides the verdict.

pub(crate) mod begin;
pub(crate) mod check_setup;
pub(crate) mod claim;
pub(crate) mod error;
pub(crate) mod import;
pub(crate) mod judge;
pub(crate) mod leftovers;
pub(crate) mod log;
pub(crate) mod size;

use std::collections::BTreeMap;
use std::path::PathBuf;

use cocode_env::AgentState;

use crate::bundle::BUNDLE_LIMIT_BYTES;

/// The result of an agent that ran on another machine, as claimed by that machine.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The file with the bundle of its commits; `None` if it has committed nothing.
    pub bundle: Option<PathBuf>,
    /// The commit at its `HEAD`, by its full name.
    pub head: Option<String>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// The state in which it has ended. `Ready` and `Completed` are equivalent here: the verdict decides between them.
    pub state: AgentState,
    /// True if nothing was uncommitted or untracked in its worktree; `None` if unknown. It counts only if a clean tree is
    /// part of the verdict, which then fails without `true`.
    pub is_clean: Option<bool>,
    /// A remark on how it has ended.
    pub detail: Option<String>,
    /// The name of the other machine.
    pub host: String,
    /// The number of the attempt.
    pub epoch: u64,
    /// Further variables for the check, which runs here: those of the agent's definition. Records do not hold them.
    pub environment: BTreeMap<String, String>,
    /// The limits.
    pub limits: DeliveryLimits,
}

/// The limits of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryLimits {
    /// The most bytes of the bundle.
    pub bundle_bytes: u64,
    /// The most bytes of all added and changed files together, once checked out. Each of them, and each of their folders,
    /// counts 1 KiB in addition to its contents.
    pub checkout_bytes: u64,
}

impl Default for DeliveryLimits {
    /// 256 MiB for the bundle, 2 GiB for the files.
    fn default() -> DeliveryLimits {
        DeliveryLimits { bundle_bytes: BUNDLE_LIMIT_BYTES, checkout_bytes: 2 << 30 }
    }
}
