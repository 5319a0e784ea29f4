//! Landlock: which files a command may reach, and no sockets or processes outside its own.
//!
//! The rules are made after the mounts, in the new root: made before, they would name the old one's files.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope, path_beneath_rules,
};
use rustix::io::Errno;

use crate::request::FileAccess;
use crate::step::{Step, StepError};

/// Rights as of this version; an older kernel enforces those of them that it knows.
const RIGHTS: ABI = ABI::V7;

/// Puts the rules in force for this process and its descendants, for good.
pub(crate) fn restrict(access: &FileAccess, without_network: bool) -> Result<(), StepError> {
    match enforce(access, without_network) {
        Ok(RulesetStatus::NotEnforced) => Err(StepError::new(Step::Landlock, Errno::OPNOTSUPP)),
        Ok(_) => Ok(()),
        Err(error) => Err(StepError::caused_by(Step::Landlock, &error)),
    }
}

fn enforce(access: &FileAccess, without_network: bool) -> Result<RulesetStatus, RulesetError> {
    let mut rules =
        Ruleset::default().handle_access(AccessFs::from_all(RIGHTS))?.scope(Scope::from_all(RIGHTS))?;
    if without_network {
        // No port is ever allowed: with the right handled and no rule, every one is refused.
        rules = rules.handle_access(AccessNet::from_all(RIGHTS))?;
    }
    let existing = |paths: &[PathBuf]| paths.to_vec();
    let status = rules
        .create()?
        .add_rules(path_beneath_rules(existing(&access.readable), AccessFs::from_read(RIGHTS)))?
        .add_rules(path_beneath_rules(existing(&access.writable), AccessFs::from_all(RIGHTS)))?
        .restrict_self()?;
    Ok(status.ruleset)
}
