//! The read-only system that every command sees: parts of the host, and generated files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::init::forwarder::names::NAME_SERVER;
use crate::init::mount_entry::{Access, MountEntry};
use crate::launcher::canonical::canonicalize;
use crate::launcher::private_folder::START_UP_FILES;
use crate::launcher::settings_folder::{ETC, EtcView};
use crate::policy::Policy;
use crate::policy::network::NetworkPolicy;

/// Trees that hold installed programs and no user data.
const TREES: [&str; 11] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
];

/// The settings in `/etc` that programs need most, for machines where rules by path cannot close the others: `/etc` holds
/// keys, which a command could read as root.
const SETTINGS: [&str; 21] = [
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/mime.types",
    "/etc/protocols",
    "/etc/services",
    "/etc/ca-certificates",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust",
    "/etc/fonts",
    "/etc/perl",
    "/etc/python3",
    "/etc/magic",
    "/etc/terminfo",
];

/// Settings in `/etc` that the network needs, shown only with the network.
const NETWORK_SETTINGS: [&str; 4] =
    ["/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/nsswitch.conf"];

const RESOLVER_SETTINGS: &str = "/etc/resolv.conf";

const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Folders that the sandbox lays out itself: a workspace can neither be nor contain one of them.
const OWN_FOLDERS: [&str; 8] = ["/usr", "/etc", "/dev", "/proc", "/sys", "/tmp", "/var/tmp", "/run"];

/// Checks whether showing this folder as a workspace would expose or cover the system.
pub(crate) fn is_made_of(workspace: &Path) -> bool {
    let below = ["/dev", "/proc", "/sys"];
    OWN_FOLDERS.iter().chain(&TREES).any(|folder| Path::new(folder).starts_with(workspace))
        || below.iter().any(|folder| workspace.starts_with(folder))
}

/// Checks whether every command sees this folder of the host.
pub(crate) fn shows(folder: &Path) -> bool {
    TREES.iter().any(|tree| folder.starts_with(tree))
}

/// Returns the readable paths of the system, for rules by path.
pub(crate) fn readable() -> impl Iterator<Item = PathBuf> {
    let made_up = ["/proc", "/etc/passwd", "/etc/group", "/etc/hosts"];
    TREES
        .iter()
        .chain(&SETTINGS)
        .chain(&NETWORK_SETTINGS)
        .map(PathBuf::from)
        .chain(made_up.map(PathBuf::from))
}

/// Returns the device files that may be opened for writing too, for rules by path.
pub(crate) fn devices_to_open() -> impl Iterator<Item = PathBuf> {
    DEVICES.iter().map(PathBuf::from)
}

/// Returns the path of the private home: the real home's, so that absolute paths in toolchains hold.
pub(crate) fn private_home(real_home: &Path) -> PathBuf {
    let is_usable = real_home.is_absolute() && !is_made_of(real_home) && !shows(real_home);
    if is_usable { real_home.to_owned() } else { "/home/user".into() }
}

/// Returns the entries for the system, in order; the user's trees come after them.
pub(crate) fn entries(policy: &Policy, home: &Path, etc: &EtcView) -> Vec<MountEntry> {
    let mut entries = Vec::new();
    for tree in TREES.map(Path::new) {
        match fs::read_link(tree) {
            // Merged systems: `/bin` is a link to `usr/bin`.
            Ok(to) => entries.push(MountEntry::Symlink { target: tree.into(), to }),
            Err(_) => entries.extend(bind(tree, Access::System)),
        }
    }
    for folder in ["/sys", "/run", "/mnt", "/srv", "/var"] {
        entries.push(MountEntry::Directory { target: folder.into(), mode: 0o755 });
    }
    entries.push(MountEntry::Proc { process_limit: policy.limits.processes });
    entries.extend(devices());
    let accounts = accounts(home);
    if etc.is_whole() {
        let (source, target) = (etc.source().to_owned(), ETC.into());
        entries.push(MountEntry::Bind { source, target, access: Access::System });
        entries.extend(
            accounts.map(|(target, contents)| MountEntry::Mask { target, contents: contents.into() }),
        );
        if matches!(policy.network, NetworkPolicy::Host) {
            entries.extend(NETWORK_SETTINGS.iter().filter_map(|path| bind_target(Path::new(path))));
        }
        if matches!(policy.network, NetworkPolicy::Named(_)) {
            let path = etc.source().join("resolv.conf");
            // A mask is mounted at a link's target.
            let path = canonicalize(&path).unwrap_or(path);
            let target = etc.mask_target(&path).unwrap_or(path);
            entries.push(MountEntry::Mask { target, contents: resolver_settings() });
        }
        return entries;
    }
    entries.extend(SETTINGS.iter().filter_map(|path| bind(Path::new(path), Access::System)));
    if matches!(policy.network, NetworkPolicy::Host) {
        entries.extend(NETWORK_SETTINGS.iter().filter_map(|path| bind(Path::new(path), Access::System)));
    }
    if matches!(policy.network, NetworkPolicy::Named(_)) {
        let others = NETWORK_SETTINGS.iter().filter(|path| **path != RESOLVER_SETTINGS);
        entries.extend(others.filter_map(|path| bind(Path::new(path), Access::System)));
        let target = RESOLVER_SETTINGS.into();
        entries.push(MountEntry::File { target, contents: resolver_settings(), mode: 0o444 });
    }
    entries.extend(accounts.map(|(target, contents)| MountEntry::File {
        target,
        contents: contents.into(),
        mode: 0o444,
    }));
    entries
}

fn devices() -> Vec<MountEntry> {
    let mut entries = vec![MountEntry::Tmpfs { target: "/dev".into(), size_bytes: 1 << 20, mode: 0o755 }];
    entries.extend(DEVICES.iter().filter_map(|device| bind(Path::new(device), Access::Device)));
    let links = [
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
        ("/dev/ptmx", "pts/ptmx"),
    ];
    entries.extend(links.map(|(target, to)| MountEntry::Symlink { target: target.into(), to: to.into() }));
    entries.push(MountEntry::Terminals);
    entries.push(MountEntry::Tmpfs { target: "/dev/shm".into(), size_bytes: 256 << 20, mode: 0o1777 });
    entries.push(MountEntry::Seal { target: "/dev".into() });
    entries
}

/// Returns the `resolv.conf` of a command that may connect to some names.
fn resolver_settings() -> Vec<u8> {
    format!("nameserver {NAME_SERVER}\noptions timeout:2 attempts:2\n").into()
}

/// Returns accounts and host names that reveal nothing of the host.
fn accounts(home: &Path) -> [(PathBuf, String); 3] {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let home = home.display();
    let name = if uid == 0 { "root" } else { "user" };
    let mut passwd = format!("{name}:x:{uid}:{gid}:user:{home}:/bin/sh\n");
    let mut group = format!("{name}:x:{gid}:\n");
    if uid != 0 {
        passwd.push_str("root:x:0:0:root:/root:/bin/sh\n");
        group.push_str("root:x:0:\n");
    }
    passwd.push_str("nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
    group.push_str("nogroup:x:65534:\n");
    let hosts = "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n";
    [("/etc/passwd".into(), passwd), ("/etc/group".into(), group), ("/etc/hosts".into(), hosts.into())]
}

/// Returns git's settings: the author of commits, and that the workspace may belong to another user.
pub(crate) fn git_settings(policy: &Policy, workspace: &Path) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
    format!(
        "[user]\n\tname = \"{}\"\n\temail = \"{}\"\n[safe]\n\tdirectory = \"{}\"\n",
        quoted(&policy.git_identity.name),
        quoted(&policy.git_identity.email),
        quoted(&workspace.to_string_lossy()),
    )
}

/// Returns the files of the private home: a git identity, and shell start-up files that cannot be changed.
pub(crate) fn home_files(policy: &Policy, home: &Path, workspace: &Path) -> Vec<MountEntry> {
    let git = git_settings(policy, workspace);
    let file = |name: &str, contents: String| MountEntry::File {
        target: home.join(name),
        contents: contents.into(),
        mode: 0o444,
    };
    let mut entries = vec![file(".gitconfig", git)];
    for name in START_UP_FILES {
        entries.push(file(name, String::new()));
        entries.push(MountEntry::Protect { target: home.join(name) });
    }
    entries
}

/// Binds a path of the host at the same path, if it exists; a link is resolved to its target.
fn bind(path: &Path, access: Access) -> Option<MountEntry> {
    let source = canonicalize(path).ok()?;
    Some(MountEntry::Bind { source, target: path.into(), access })
}

/// Binds the target of a link in `/etc` at its own path, if it is outside of all visible trees: systemd keeps
/// `resolv.conf` in `/run`.
fn bind_target(link: &Path) -> Option<MountEntry> {
    let source = canonicalize(link).ok().filter(|source| !source.starts_with(ETC) && !shows(source))?;
    Some(MountEntry::Bind { target: source.clone(), source, access: Access::System })
}
