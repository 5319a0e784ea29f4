//! The system call filter: refuses calls that no program under development needs, or that lead out of a sandbox.
//!
//! A refused call answers EPERM. Calls that programs can do without, `clone3` for instance, and those that have not
//! been reviewed answer ENOSYS, see [`refused_calls`]. Calls of another architecture's numbering end the process, and
//! those of the x32 numbering answer ENOSYS.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use crate::child::mode_filter;
use crate::child::refused_calls::{self, CallGroup, REVIEWED};
use crate::init::step::{Step, StepError};
#[cfg(doc)]
use crate::init::supervisor::Supervisor;
use crate::policy::isolation::{Isolation, Sockets};
use crate::sys;

/// Flags with which `clone` would make a namespace.
const NAMESPACE_FLAGS: [libc::c_int; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Terminal requests that type into a terminal or paste from its selection.
const TERMINAL_REQUESTS: [u64; 2] = [TIOCSTI, TIOCLINUX];
// Spelled out, since the type of libc's constant depends on the C library.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541C;

/// Families that a command with network may use; netlink is how the C library learns of interfaces.
const NETWORK_FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Families that reach no further than the command's own network namespace.
const LOOPBACK_FAMILIES: [libc::c_int; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Protocols of the loopback's sockets; 0 stands for the usual one of a type. Others load code into the kernel.
const LOOPBACK_PROTOCOLS: [libc::c_int; 3] = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP];

/// The compiled programs: one for each choice of sockets, and those for objects without a namespace of the command's own.
#[derive(Debug)]
pub(crate) struct CallFilters {
    missing_calls: BpfProgram,
    without_sockets: BpfProgram,
    with_loopback: BpfProgram,
    supervised: BpfProgram,
    supervised_on_layer: BpfProgram,
    file_calls: BpfProgram,
    with_network: BpfProgram,
    with_internet: BpfProgram,
    shared_objects: BpfProgram,
    foreign_limits: BpfProgram,
    unreviewed_calls: BpfProgram,
}

impl CallFilters {
    /// Compiles the programs once; a child only puts them in force.
    pub(crate) fn compile() -> Result<CallFilters, StepError> {
        let compile = || {
            Ok(CallFilters {
                missing_calls: program(whole(refused_calls::UNKNOWN), Errno::NOSYS)?,
                without_sockets: program(without_unix(vec![])?, Errno::PERM)?,
                with_loopback: program(without_unix(beyond_loopback(false)?)?, Errno::PERM)?,
                supervised: supervised(program(supervised_calls()?, Errno::PERM)?),
                supervised_on_layer: {
                    let mut rules = supervised_calls()?;
                    rules.extend(file_calls()?);
                    supervised(program(rules, Errno::PERM)?)
                },
                file_calls: supervised(program(file_calls()?, Errno::PERM)?),
                with_network: program(refusals(vec![foreign_family(&NETWORK_FAMILIES)?])?, Errno::PERM)?,
                with_internet: program(
                    without_unix(vec![foreign_family(&LOOPBACK_FAMILIES)?])?,
                    Errno::PERM,
                )?,
                shared_objects: program(whole(refused_calls::SHARED), Errno::PERM)?,
                foreign_limits: program(foreign_limits()?, Errno::PERM)?,
                unreviewed_calls: all_but(&REVIEWED),
            })
        };
        compile().map_err(|error: BackendError| StepError::caused_by(Step::Seccomp, &error))
    }

    /// Puts the filter in force for this process and its descendants, for good. The process must have given up gaining
    /// privileges.
    ///
    /// With loopback sockets, refused calls and connections are left to a [`Supervisor`], for which the listener is
    /// returned. Where the kernel provides no listener, the filter refuses them itself, and Unix sockets with them.
    ///
    /// On a layer, the supervisor also handles renames and removals of folders; without it, the kernel refuses some of them.
    ///
    /// Refuses all calls to objects that no namespace of `isolation` separates from those of other programs.
    pub(crate) fn apply(
        &self,
        isolation: Isolation,
        sockets: Sockets,
        is_on_layer: bool,
    ) -> Result<Option<OwnedFd>, StepError> {
        let apply =
            |program| apply_filter(program).map_err(|error| StepError::caused_by(Step::Seccomp, &error));
        apply(&self.missing_calls)?;
        if !isolation.contains(Isolation::IPC_AND_NAME) {
            apply(&self.shared_objects)?;
        }
        if !isolation.contains(Isolation::PROCESSES) {
            apply(&self.foreign_limits)?;
        }
        let of_files = || is_on_layer.then(|| sys::install_with_listener(&self.file_calls).ok()).flatten();
        let supervised = if is_on_layer { &self.supervised_on_layer } else { &self.supervised };
        let listener = match sockets {
            Sockets::None => apply(&self.without_sockets).map(|()| of_files())?,
            Sockets::Network => apply(&self.with_network).map(|()| of_files())?,
            Sockets::Internet => apply(&self.with_internet).map(|()| of_files())?,
            Sockets::Loopback => match sys::install_with_listener(supervised) {
                Ok(listener) => Some(listener),
                Err(_) => apply(&self.with_loopback).map(|()| None)?,
            },
        };
        apply(&self.unreviewed_calls)?;
        Ok(listener)
    }
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: Errno) -> Result<BpfProgram, BackendError> {
    let refusal = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture)?.try_into()
}

/// Returns rules that match these calls whatever their arguments.
fn whole(groups: &'static [CallGroup]) -> BTreeMap<i64, Vec<SeccompRule>> {
    refused_calls::numbers(groups).map(|call| (call, vec![])).collect()
}

/// Returns all rules; `socket` is refused when one of its rules matches, or always if it has none.
fn refusals(socket: Vec<SeccompRule>) -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules = whole(refused_calls::REFUSED);
    rules.insert(libc::SYS_socket, socket);
    let namespaces = NAMESPACE_FLAGS.map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        rule(CLONE_FLAGS_ARGUMENT, SeccompCmpOp::MaskedEq(flag), flag)
    });
    rules.insert(libc::SYS_clone, namespaces.into_iter().collect::<Result<_, _>>()?);
    let requests = TERMINAL_REQUESTS.map(|request| rule(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, requests.into_iter().collect::<Result<_, _>>()?);
    Ok(rules)
}

/// The index of the flags among `clone`'s arguments, counted from 0.
#[cfg(not(target_arch = "s390x"))]
const CLONE_FLAGS_ARGUMENT: u8 = 0;
#[cfg(target_arch = "s390x")]
const CLONE_FLAGS_ARGUMENT: u8 = 1;

/// Matches a socket of a family that is not in the list.
fn foreign_family(families: &[libc::c_int]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(none_of(0, families)?)
}

/// Matches sockets that a command with a loopback interface does not need: other families, raw sockets, protocols
/// other than TCP and UDP, netlink other than route queries, and Unix sockets, or at least Unix datagrams.
///
/// A datagram's receiver is named in memory, which no filter can read.
fn beyond_loopback(has_unix: bool) -> Result<Vec<SeccompRule>, BackendError> {
    const OTHER_INTERNET_TYPES: [(u64, u64); 4] =
        [(0b100, 0b100), (0b1000, 0b1000), (0b11, 0b11), (0b1111, 0)];
    let mut families = LOOPBACK_FAMILIES.to_vec();
    families.extend(has_unix.then_some(libc::AF_UNIX));
    let is_family = |family: libc::c_int| condition(0, SeccompCmpOp::Eq, u64::from(family.unsigned_abs()));
    let is_internet = || none_of(0, &[libc::AF_NETLINK, libc::AF_UNIX]);
    let netlink = [vec![is_family(libc::AF_NETLINK)?], none_of(2, &[libc::NETLINK_ROUTE])?].concat();
    let protocol = [is_internet()?, none_of(2, &LOOPBACK_PROTOCOLS)?].concat();
    let mut rules = vec![foreign_family(&families)?, SeccompRule::new(netlink)?, SeccompRule::new(protocol)?];
    // The kernel reads the type's four lowest bits. Streams are 1 and datagrams 2: all other numbers have one of
    // the two higher bits, both of the lower ones, or none.
    for (mask, bits) in OTHER_INTERNET_TYPES {
        let is_type = condition(1, SeccompCmpOp::MaskedEq(mask), bits)?;
        rules.push(SeccompRule::new([is_internet()?, vec![is_type]].concat())?);
    }
    for is_type in unix_datagrams()? {
        rules.push(SeccompRule::new(vec![is_family(libc::AF_UNIX)?, is_type])?);
    }
    Ok(rules)
}

/// Matches Unix socket types other than streams (1) and sequenced packets (5), in a call's second argument.
fn unix_datagrams() -> Result<Vec<SeccompCondition>, BackendError> {
    let types = [(0b1000, 0b1000), (0b11, 0b10), (0b11, 0b11), (0b11, 0)];
    types.into_iter().map(|(mask, bits)| condition(1, SeccompCmpOp::MaskedEq(mask), bits)).collect()
}

/// Returns the rules for calls that a supervisor answers: all refused ones, connections, and datagrams with an address.
fn supervised_calls() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules = refusals(beyond_loopback(true)?)?;
    rules.insert(libc::SYS_connect, vec![]);
    // Only with an address. The kernel carries the call out; the supervisor sees it for the receipt.
    rules.insert(libc::SYS_sendto, vec![rule(4, SeccompCmpOp::Ne, 0)?]);
    rules.extend(mode_filter::mode_refusals()?);
    rules.insert(libc::SYS_socketpair, datagram_pairs()?);
    Ok(rules)
}

/// Returns all rules for a command whose only Unix sockets are pairs. `socket` matches those families, too.
fn without_unix(socket: Vec<SeccompRule>) -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules = refusals(socket)?;
    rules.insert(libc::SYS_socketpair, datagram_pairs()?);
    Ok(rules)
}

/// Matches pairs of datagram sockets: each of the two can send to any receiver that has a name in the file tree.
fn datagram_pairs() -> Result<Vec<SeccompRule>, BackendError> {
    unix_datagrams()?.into_iter().map(|is_type| SeccompRule::new(vec![is_type])).collect()
}

/// Returns the rule for a call that sets limits of another process, such as its file size or CPU time.
fn foreign_limits() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    // A null pointer only reads the limits. All 64 bits of a pointer count.
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let rule = SeccompRule::new(vec![condition(0, SeccompCmpOp::Ne, 0)?, sets])?;
    Ok([(libc::SYS_prlimit64, vec![rule])].into())
}

/// Returns the rules for calls that rename something, or remove a folder.
fn file_calls() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let removes_folder = libc::AT_REMOVEDIR.unsigned_abs().into();
    let unlinkat = rule(2, SeccompCmpOp::MaskedEq(removes_folder), removes_folder)?;
    Ok(BTreeMap::from([
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_rename, vec![]),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_rmdir, vec![]),
        #[cfg(not(target_arch = "riscv64"))]
        (libc::SYS_renameat, vec![]),
        (libc::SYS_renameat2, vec![]),
        (libc::SYS_unlinkat, vec![unlinkat]),
    ]))
}

/// Makes a program pass the calls that it refuses to a supervisor.
fn supervised(mut program: BpfProgram) -> BpfProgram {
    const RETURN: u16 = 0x06;
    let refusal = libc::SECCOMP_RET_ERRNO | Errno::PERM.raw_os_error().unsigned_abs();
    for instruction in &mut program {
        if (instruction.code, instruction.k) == (RETURN, refusal) {
            instruction.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    program
}

/// Matches an argument that is not one of these numbers.
fn none_of(argument: u8, numbers: &[libc::c_int]) -> Result<Vec<SeccompCondition>, BackendError> {
    let differs =
        |number: &libc::c_int| condition(argument, SeccompCmpOp::Ne, u64::from(number.unsigned_abs()));
    numbers.iter().map(differs).collect()
}

/// Matches one argument.
fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![condition(argument, operator, value)?])
}

/// Compares the lower 32 bits of one argument. The kernel reads only those, so a number with more bits must not slip
/// through.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

/// Answers ENOSYS to all calls whose numbers are outside of these runs, each given by its first and last number.
///
/// This includes the calls in the x32 numbering, which share their architecture with the ordinary ones.
fn all_but(runs: &[(u32, u32)]) -> BpfProgram {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const JUMP_IF_GREATER: u16 = 0x25;
    const RETURN: u16 = 0x06;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    // The call's number is the first word of a filter's input.
    let mut program = vec![instruction(LOAD_WORD, 0, 0, 0)];
    for (first, last) in runs {
        program.push(instruction(JUMP_IF_AT_LEAST, 0, 2, *first));
        program.push(instruction(JUMP_IF_GREATER, 1, 0, *last));
        program.push(instruction(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    }
    program.push(instruction(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()));
    program
}

/// Answers ENOSYS to calls in the x32 numbering alone.
#[cfg(target_arch = "x86_64")]
pub(crate) fn all_but_x32() -> BpfProgram {
    const X32_BIT: u32 = 0x4000_0000;
    all_but(&[(0, X32_BIT - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_outside_of_the_reviewed_numbers_is_unknown() {
        let number = u32::try_from(libc::SYS_statfs).unwrap();
        let answer = |runs: &'static [(u32, u32)]| {
            // A filter applies to the thread that installs it.
            let thread = std::thread::spawn(move || {
                apply_filter(&all_but(runs)).unwrap();
                rustix::fs::statfs("/").map(|_| ())
            });
            thread.join().unwrap()
        };
        let leak = |runs: Vec<(u32, u32)>| -> &'static [(u32, u32)] { runs.leak() };
        assert_eq!(answer(leak(vec![(0, number - 1), (number + 1, u32::MAX)])), Err(Errno::NOSYS));
        for (first, last) in [(0, number), (number, u32::MAX), (0, u32::MAX)] {
            let others = [(0, number.saturating_sub(1)), (number + 1, u32::MAX)];
            let runs = others.into_iter().chain([(first, last)]).collect();
            assert_eq!(answer(leak(runs)), Ok(()));
        }
        assert_eq!(answer(&REVIEWED), Ok(()));
    }
}
