//! Landlock: limits a command to some files, and to its own sockets and processes.
//!
//! The rules are made after the mounts, in the new root: made earlier, they would name files of the old root. Where a
//! layer is mounted last, the rule for the files on it is made last, too.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, make_bitflags, path_beneath_rules,
};
use rustix::io::Errno;

use crate::init::step::{Step, StepError};
use crate::spawner::request::FileAccess;

/// The rights of this ABI version; an older kernel enforces those that it supports.
const RIGHTS: ABI = ABI::V7;

/// The rights that plain folders lack.
const NOT_PLAIN: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeSym | MakeFifo | MakeChar});

/// The right that plain folders have and others lack. A move must not gain rights, so no folder with links in it can be
/// moved there, while files and folders move among plain folders. The right is otherwise useless: devices take a capability.
const ONLY_PLAIN: AccessFs = AccessFs::MakeBlock;

/// Rules that are not in force yet, because one of their paths does not exist yet.
pub(crate) struct LateRules {
    rules: RulesetCreated,
}

/// Puts the rules in force for this process and its descendants, for good. If a writable path exists only once all
/// mounts are made, prepares the rules as far as possible and returns them.
pub(crate) fn restrict(access: &FileAccess, without_network: bool) -> Result<Option<LateRules>, StepError> {
    let rules =
        make(access, without_network).map_err(|error| StepError::caused_by(Step::Landlock, &error))?;
    if access.late_writable.is_empty() {
        return enforce(rules).map(|()| None);
    }
    Ok(Some(LateRules { rules }))
}

impl LateRules {
    /// Completes the rules, once all mounts are made, and puts them in force.
    pub(crate) fn restrict(self, access: &FileAccess) -> Result<(), StepError> {
        let writable = path_beneath_rules(access.late_writable.clone(), AccessFs::from_all(RIGHTS));
        let rules = self.rules.add_rules(writable);
        enforce(rules.map_err(|error| StepError::caused_by(Step::Landlock, &error))?)
    }
}

fn enforce(rules: RulesetCreated) -> Result<(), StepError> {
    match rules.restrict_self().map(|status| status.ruleset) {
        Ok(RulesetStatus::NotEnforced) => Err(StepError::new(Step::Landlock, Errno::OPNOTSUPP)),
        Ok(_) => Ok(()),
        Err(error) => Err(StepError::caused_by(Step::Landlock, &error)),
    }
}

fn make(access: &FileAccess, without_network: bool) -> Result<RulesetCreated, RulesetError> {
    let mut rules =
        Ruleset::default().handle_access(AccessFs::from_all(RIGHTS))?.scope(Scope::from_all(RIGHTS))?;
    if without_network {
        // No port is ever allowed: with the right handled and no rule, every one is refused.
        rules = rules.handle_access(AccessNet::from_all(RIGHTS))?;
    }
    let existing = |paths: &[PathBuf]| paths.to_vec();
    let (plain, writable): (Vec<_>, Vec<_>) =
        access.writable.iter().cloned().partition(|path| access.plain.contains(path));
    let mut rights = AccessFs::from_all(RIGHTS);
    if !plain.is_empty() {
        rights.remove(ONLY_PLAIN);
    }
    rules
        .create()?
        .add_rules(path_beneath_rules(existing(&access.listable), AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(existing(&access.readable), AccessFs::from_read(RIGHTS)))?
        .add_rules(path_beneath_rules(writable, rights))?
        .add_rules(path_beneath_rules(plain, AccessFs::from_all(RIGHTS) & !NOT_PLAIN))
}
