//! Abstract names of Unix sockets, which belong to the network and not to the file tree.

use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};

/// Checks whether this kernel has the rule that keeps a command from the abstract sockets of other programs: since Linux 6.12.
pub(crate) fn can_be_closed() -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.scope(Scope::AbstractUnixSocket).is_ok()
}
