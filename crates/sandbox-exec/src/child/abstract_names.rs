//! Abstract names of Unix sockets, which belong to the network and not to the file tree.

use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};

/// Checks whether this kernel can keep a command from the abstract sockets of other programs (Linux 6.12 and later).
pub(crate) fn can_be_closed() -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.scope(Scope::AbstractUnixSocket).is_ok()
}
