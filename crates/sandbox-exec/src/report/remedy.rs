//! Changes of the machine that enable more confinement.

use std::fs;
use std::path::Path;

/// A setting of the machine that disables a confinement step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remedy {
    /// The step, as the report's `missing` names it.
    pub layer: &'static str,
    /// The instruction, a sentence without a final period.
    pub text: &'static str,
}

/// A setting under `/proc/sys`, its obstructive value, and the remedy.
const SETTINGS: [(&str, &str, Remedy); 9] = [
    namespace_setting(
        "kernel/unprivileged_userns_clone",
        "0",
        "sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    namespace_setting(
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with `userns` for this program",
    ),
    namespace_setting("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    namespace_setting("user/max_pid_namespaces", "0", "sysctl -w user.max_pid_namespaces=15000"),
    namespace_setting("user/max_mnt_namespaces", "0", "sysctl -w user.max_mnt_namespaces=15000"),
    namespace_setting("user/max_net_namespaces", "0", "sysctl -w user.max_net_namespaces=15000"),
    namespace_setting("user/max_ipc_namespaces", "0", "sysctl -w user.max_ipc_namespaces=15000"),
    namespace_setting("user/max_uts_namespaces", "0", "sysctl -w user.max_uts_namespaces=15000"),
    namespace_setting("user/max_cgroup_namespaces", "0", "sysctl -w user.max_cgroup_namespaces=15000"),
];

const fn namespace_setting(
    name: &'static str,
    value: &'static str,
    text: &'static str,
) -> (&'static str, &'static str, Remedy) {
    (name, value, Remedy { layer: "namespaces", text })
}

/// Returns remedies for the steps that a report lists as missing, as far as the machine's settings show the cause.
///
/// `missing` is the field of a [`SandboxReport`](crate::SandboxReport).
pub fn remedies(missing: &[String]) -> Vec<Remedy> {
    remedies_on(Path::new("/"), missing)
}

/// As [`remedies`], on the machine with this root folder.
fn remedies_on(root: &Path, missing: &[String]) -> Vec<Remedy> {
    let lacks = |layer: &str| missing.iter().any(|entry| entry.starts_with(layer));
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    let mut remedies = Vec::new();
    if lacks("namespaces") {
        let in_the_way =
            SETTINGS.iter().filter(|(name, value, _)| read(&format!("proc/sys/{name}")).trim() == *value);
        remedies.extend(in_the_way.map(|(.., remedy)| *remedy));
        if remedies.is_empty() {
            let text = "a container or a system call filter around this program forbids namespaces: start the \
                        container with a seccomp profile that allows clone, unshare and mount";
            remedies.push(Remedy { layer: "namespaces", text });
        }
    }
    if lacks("landlock") {
        let text = if read("sys/kernel/security/lsm").contains("landlock") {
            "a system call filter around this program forbids landlock: allow landlock_create_ruleset, \
             landlock_add_rule and landlock_restrict_self"
        } else {
            "start Linux, 5.13 or newer, with landlock in its boot parameter lsm=, as in lsm=landlock,lockdown,yama"
        };
        remedies.push(Remedy { layer: "landlock", text });
    }
    if lacks("system call filter") {
        let text = "use a kernel with CONFIG_SECCOMP_FILTER, in a container that lets programs add filters";
        remedies.push(Remedy { layer: "system call filter", text });
    }
    if lacks("limit on the whole command's memory") {
        let text = "start this program where it may make control groups for memory and pids: \
                    systemd-run --user --scope -p Delegate=yes PROGRAM";
        remedies.push(Remedy { layer: "limit on the whole command's memory", text });
    }
    remedies
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn texts(files: &[(&str, &str)], missing: &[&str]) -> Vec<&'static str> {
        let missing: Vec<String> = missing.iter().map(|text| (*text).to_owned()).collect();
        remedies_on(machine(files).path(), &missing).iter().map(|remedy| remedy.text).collect()
    }

    #[test]
    fn the_setting_that_is_in_the_way_is_named() {
        let files = [
            ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"),
            ("proc/sys/user/max_user_namespaces", "95000\n"),
        ];
        let missing = ["namespaces: cannot map user ids: Permission denied"];
        let remedies = texts(&files, &missing);
        assert!(
            remedies.len() == 1 && remedies[0].contains("apparmor_restrict_unprivileged_userns=0"),
            "{remedies:?}"
        );
        let remedies = texts(&[("proc/sys/user/max_user_namespaces", "0\n")], &missing);
        assert_eq!(remedies, ["sysctl -w user.max_user_namespaces=15000"]);
        assert!(texts(&[], &missing)[0].contains("container"));
    }

    #[test]
    fn landlock_is_missing_at_boot_or_forbidden() {
        let remedies = texts(&[("sys/kernel/security/lsm", "capability,yama")], &["landlock"]);
        assert!(remedies[0].contains("lsm="), "{remedies:?}");
        let remedies = texts(&[("sys/kernel/security/lsm", "capability,landlock")], &["landlock: cannot …"]);
        assert!(remedies[0].contains("landlock_create_ruleset"), "{remedies:?}");
    }

    #[test]
    fn nothing_is_advised_where_nothing_is_missing() {
        assert!(texts(&[("proc/sys/user/max_user_namespaces", "0")], &["copy-on-write layer"]).is_empty());
    }
}
