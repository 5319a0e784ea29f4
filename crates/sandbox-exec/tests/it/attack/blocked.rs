//! Decides which cases of the attack corpus a confinement level must withstand, by the steps that the case names.

use sandbox_exec::Level;
use serde_json::Value;

/// The user who runs the attacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Attacker {
    Root,
    Ordinary,
}

impl Attacker {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Attacker::Root => "root",
            Attacker::Ordinary => "an ordinary user",
        }
    }
}

/// Checks whether a case must hold at this level: it names no step, or one of its steps is in force.
pub(crate) fn must_hold(case: &Value, level: Level, attacker: Attacker) -> bool {
    if level == Level::Full {
        return true;
    }
    let Some(layers) = case["blocked_by"].as_array() else { return true };
    layers.iter().any(|layer| is_there(layer.as_str().unwrap(), level, case, attacker))
}

fn is_there(layer: &str, level: Level, case: &Value, attacker: Attacker) -> bool {
    let has_namespaces = level >= Level::Namespaces;
    // At level `namespaces` these two are missing.
    let has_rules = matches!(level, Level::Full | Level::Landlock);
    let has_privileges_dropped = level >= Level::Process;
    match layer {
        "mount-ns"
        | "netns"
        | "pidns"
        | "pidns+fresh proc"
        | "ro proc/sys"
        | "ro-bind"
        | "ro-bind .git/hooks .git/config"
        | "nosuid"
        | "locked mounts"
        | "private-tmp" => has_namespaces,
        // Without its own root, a command only has another `HOME`.
        "home-hidden" => has_privileges_dropped,
        "landlock" | "landlock-refer" | "landlock-net" | "landlock-scope" | "landlock-scope-signal" => {
            has_rules
        }
        "seccomp"
        | "seccomp clone/clone3/unshare"
        | "seccomp-ioctl"
        | "seccomp-socket"
        | "seccomp deny socket(AF_UNIX)" => has_rules,
        // An ordinary user has none: root's privileges are refused at every level.
        "drop-caps" => {
            has_privileges_dropped && attacker == Attacker::Root
                || attacker == Attacker::Ordinary && case["class"] == "priv"
        }
        // The filter of modes is in force wherever there are filters at all, and calls in other numberings would bypass
        // it.
        "seccomp-modes" | "seccomp arch check" => has_privileges_dropped,
        "no_new_privs" | "rlimit-core" | "rlimit-as" | "nice" | "memory cgroup" | "pids.max"
        | "cpu cgroup" => has_privileges_dropped,
        "setsid" | "stdin=/dev/null" | "subreaper" => true,
        // Only a capability opens the memory of an undumpable process.
        "dumpable=0" => has_privileges_dropped || attacker == Attacker::Ordinary,
        // Steps of the program that embeds the launcher, other means of killing, and effects of a copy-on-write layer.
        "PR_SET_DUMPABLE=0"
        | "cgroup.kill"
        | "new session keyring"
        | "placeholder mount"
        | "post-run check" => false,
        other => panic!("unknown layer: {other}"),
    }
}

/// A case whose result at some levels differs from what its layers imply.
struct Exception {
    /// Words of the command that identify the attack.
    command: &'static str,
    levels: &'static [Level],
    attacker: Option<Attacker>,
    holds: bool,
    /// For the reader of this table.
    _reason: &'static str,
}

const BELOW_NAMESPACES: &[Level] = &[Level::Landlock, Level::Process, Level::None];
const BELOW_FULL: &[Level] = &[Level::Namespaces, Level::Landlock, Level::Process, Level::None];

const EXCEPTIONS: &[Exception] = &[
    holds(
        "mkdir -p .git/hooks && echo",
        BELOW_FULL,
        None,
        "the caller receives the paths that no mount protects",
    ),
    holds("mv $T/outside", &[Level::Namespaces], None, "other files do not exist in a root of its own"),
    holds("rm -rf \"$PWD\"", &[Level::Landlock], None, "the folder around the workspace cannot be changed"),
    holds("/environ", &[Level::Landlock], None, "a process with rules cannot look into one without"),
    holds("http://192.0.2.", BELOW_NAMESPACES, None, "no machine answers at this address"),
    holds("while :; do :; done", &[Level::None], None, "it is ended when its time is up"),
    holds("umount ", &[Level::Process, Level::None], None, "nothing is mounted there"),
    holds("ping -c1", &[Level::Process], None, "raw sockets take a capability that is dropped"),
    holds("ping -c1", &[Level::None], Some(Attacker::Ordinary), "and that an ordinary user does not have"),
    holds("su -c", &[Level::None], Some(Attacker::Ordinary), "they ask for a password"),
    holds(
        "0x40000000",
        &[Level::Namespaces, Level::Process],
        None,
        "they would get around the filter of modes",
    ),
    holds(
        "unshare -U",
        &[Level::Namespaces, Level::Process],
        Some(Attacker::Root),
        "root without capabilities may make one, but not map itself into it",
    ),
    holds(
        "unshare -U",
        &[Level::Namespaces],
        Some(Attacker::Ordinary),
        "in the namespace that it is in, no further one may be made",
    ),
    fails("pidfd_getfd", &[Level::Namespaces], "its parent is the shell in its own namespace"),
    fails("$AGENTD_STATE", &[Level::Landlock], "it is in the workspace; local-workspace refuses commands"),
];

const fn holds(
    command: &'static str,
    levels: &'static [Level],
    attacker: Option<Attacker>,
    reason: &'static str,
) -> Exception {
    Exception { command, levels, attacker, holds: true, _reason: reason }
}

const fn fails(command: &'static str, levels: &'static [Level], reason: &'static str) -> Exception {
    Exception { command, levels, attacker: None, holds: false, _reason: reason }
}

/// Returns what is expected of a case with the exceptions taken into account.
pub(crate) fn expected(case: &Value, level: Level, attacker: Attacker) -> bool {
    let command = case["command"].as_str().unwrap_or_default();
    let exception = EXCEPTIONS.iter().find(|exception| {
        command.contains(exception.command)
            && exception.levels.contains(&level)
            && exception.attacker.is_none_or(|whose| whose == attacker)
    });
    exception.map_or_else(|| must_hold(case, level, attacker), |exception| exception.holds)
}

/// Checks whether a case names a step among those that stop it.
pub(crate) fn names_layer(case: &Value, layer: &str) -> bool {
    case["blocked_by"].as_array().into_iter().flatten().any(|named| named == layer)
}

/// Checks whether a case makes processes or threads without end.
pub(crate) fn is_bomb(case: &Value) -> bool {
    names_layer(case, "pids.max") || case["class"] == "tree" && case["expect"] == "killed"
}

/// Returns the harm to the machine for which a case that is not expected to hold is not tried.
pub(crate) fn harm(case: &Value) -> Option<&'static str> {
    let command = case["command"].as_str().unwrap_or_default();
    if is_bomb(case) || names_layer(case, "memory cgroup") {
        return Some("without a limit it would use up the machine");
    }
    let marks = [
        ("kill -9 -1", "it would end every process that it may signal"),
        ("core_pattern", "it would change a setting of the machine"),
        ("/sys/fs/cgroup", "it would change the machine's own tree"),
        ("mount -t", "it would change the machine's own tree"),
    ];
    let reason = marks.into_iter().find(|(mark, _)| command.contains(mark)).map(|(_, why)| why);
    // The harm of an attack from another file of cases is unknown.
    reason
        .or_else(|| crate::attack::exec_attacks::are_from_elsewhere().then_some("it might hurt the machine"))
}
