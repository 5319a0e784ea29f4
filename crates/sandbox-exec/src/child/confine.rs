//! Confines a child for good just before the shell: limits, capabilities, privileges, files, system calls.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
};

use crate::child::call_filter::CallFilters;
use crate::child::file_rules::{self, LateRules};
use crate::child::{abstract_names, mode_filter, processes};
use crate::init::step::{AtStep, Step, StepError};
use crate::policy::isolation::{Isolation, Sockets};
use crate::spawner::preparation::Preparation;
use crate::spawner::request::ChildLimits;

/// The work that remains once a process has confined itself.
pub(crate) struct Restricted {
    /// Rules for files that wait for a mount; they must be in force before any of the command's code runs.
    pub(crate) late_rules: Option<LateRules>,
    /// Delivers the system calls that a supervisor answers.
    pub(crate) listener: Option<OwnedFd>,
}

/// Confines the calling process as the preparation says.
pub(crate) fn restrict(preparation: &Preparation, filters: &CallFilters) -> Result<Restricted, StepError> {
    let isolation = preparation.isolation;
    if isolation.contains(Isolation::PRIVILEGES) {
        be_killed_first();
        // Commands must not keep the launcher from answering.
        let _ = rustix::process::nice(5);
        set_limits(&preparation.limits, isolation).at(Step::ResourceLimits)?;
    }
    let sockets = match isolation.sockets() {
        Sockets::Network if !separates_unix_sockets(isolation) => Sockets::Internet,
        sockets => sockets,
    };
    let late_rules = if isolation.contains(Isolation::LANDLOCK) {
        file_rules::restrict(&preparation.access, sockets == Sockets::None)?
    } else {
        None
    };
    let has_filter = isolation.contains(Isolation::FILTER);
    let listener =
        if has_filter { filters.apply(isolation, sockets, preparation.has_layer())? } else { None };
    if isolation.contains(Isolation::MODES) {
        let has_mode_rules = listener.is_some() && sockets == Sockets::Loopback;
        mode_filter::apply(!has_filter, has_mode_rules)?;
    }
    Ok(Restricted { late_rules, listener })
}

/// Has the kernel, when it runs out of memory, kill commands before the launcher and other programs. Raising the
/// score takes no privilege; without `/proc` the score stays.
fn be_killed_first() {
    // The file belongs to root while its process is not dumpable. None of the command's programs runs yet.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Checks whether a command in the host's network can make Unix sockets without reaching a server of the host through
/// them: named sockets of the host are not in its file tree, and rules keep it from abstract names, which belong to
/// the network.
fn separates_unix_sockets(isolation: Isolation) -> bool {
    isolation.contains(Isolation::ROOT | Isolation::LANDLOCK) && abstract_names::can_be_closed()
}

fn set_limits(limits: &ChildLimits, isolation: Isolation) -> rustix::io::Result<()> {
    // One byte is too small for a file and, unlike none, also keeps the kernel from starting the host's handler.
    setrlimit(Resource::Core, Rlimit { current: Some(1), maximum: Some(1) })?;
    lower(Resource::Fsize, limits.file_size_bytes)?;
    lower(Resource::Nofile, limits.open_files.into())?;
    if isolation.contains(Isolation::USER) {
        lower(Resource::Nproc, limits.processes.into())?;
    } else if !rustix::process::geteuid().is_root() && !isolation.contains(Isolation::GROUP) {
        // The kernel counts all of the user's processes, so those that exist now are added. If the user starts more, the
        // command's share shrinks; without any limit, no search would ever catch up with a fork bomb.
        let present = processes::count_of_user(rustix::process::geteuid().as_raw());
        lower(Resource::Nproc, present.saturating_add(limits.processes.into()))?;
    }
    // The kernel counts these per user, too: half of them stay for the user's other programs.
    for resource in [Resource::Sigpending, Resource::Msgqueue] {
        if let Some(present) = rustix::process::getrlimit(resource).current {
            lower(resource, present / 2)?;
        }
    }
    // Data and not address space: runtimes reserve far more addresses than they ever use.
    lower(Resource::Data, limits.memory_bytes)
}

/// Sets a limit, but never above the one in force.
fn lower(resource: Resource, value: u64) -> rustix::io::Result<()> {
    let maximum = rustix::process::getrlimit(resource).maximum.map_or(value, |maximum| maximum.min(value));
    setrlimit(resource, Rlimit { current: Some(maximum), maximum: Some(maximum) })
}

/// Removes every capability from all that this process will ever execute, but none from the process itself.
pub(crate) fn limit_capabilities() -> rustix::io::Result<()> {
    // Only a process with this capability can do it; without it there is nothing to drop.
    if !rustix::thread::capabilities(None)?.effective.contains(CapabilitySet::SETPCAP) {
        return Ok(());
    }
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // The kernel may know fewer capabilities than this list.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Drops every capability, and keeps a program executed as root from regaining them.
pub(crate) fn drop_capabilities() -> rustix::io::Result<()> {
    if rustix::thread::capabilities(None)?.effective.contains(CapabilitySet::SETPCAP) {
        set_capabilities_secure_bits(
            CapabilitiesSecureBits::NO_ROOT
                | CapabilitiesSecureBits::NO_ROOT_LOCKED
                | CapabilitiesSecureBits::NO_SETUID_FIXUP
                | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
                | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
                | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
        )?;
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}
