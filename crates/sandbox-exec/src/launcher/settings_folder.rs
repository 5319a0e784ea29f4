//! `/etc` as commands see it: everything that every user of the machine may read, apart from names that hold secrets.
//!
//! Commands see the folder itself, and rules by path let them read the entries that are listed here. So an entry that
//! appears or is replaced while a command runs stays closed until the folder is listed again, and the permissions of a
//! file apply in any case: commands of root run as a user who owns nothing.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::launcher::canonical::canonicalize;
use crate::policy::isolation::Isolation;

/// The path at which commands see the folder.
pub(crate) const ETC: &str = "/etc";

/// Files that are replaced for commands: accounts and host names of the sandbox.
pub(crate) const REPLACED: [&str; 3] = ["passwd", "group", "hosts"];

/// Names that only the network needs.
const NETWORK_NAMES: [&str; 4] = ["resolv.conf", "host.conf", "gai.conf", "nsswitch.conf"];

/// Names of files and folders, at any depth, that hold passwords, private keys or tokens, or identify the machine and
/// its accounts.
const SECRET_NAMES: &[&str] = &[
    ".git-credentials",
    ".netrc",
    ".pgpass",
    "auth.conf",
    "auth.conf.d",
    "boto.cfg",
    "chap-secrets",
    "cloud",
    "credentials",
    "credentials.d",
    "credentials.json",
    "credstore",
    "credstore.encrypted",
    "crypttab",
    "debian.cnf",
    "group-",
    "gshadow",
    "gshadow-",
    "ipsec.d",
    "ipsec.secrets",
    "krb5.keytab",
    "kubernetes",
    "letsencrypt",
    "libvirt",
    "machine-id",
    "master.passwd",
    "msmtprc",
    "netrc",
    "networkmanager",
    "openvpn",
    "opasswd",
    "pap-secrets",
    "passwd-",
    "passwd.client",
    "ppp",
    "private",
    "rancher",
    "rclone.conf",
    "sasl_passwd",
    "secret",
    "secrets",
    "secrets.d",
    "shadow",
    "shadow-",
    "smbcredentials",
    "ssmtp",
    "strongswan",
    "subgid",
    "subgid-",
    "subuid",
    "subuid-",
    "sudoers",
    "sudoers.d",
    "swanctl",
    "system-connections",
    "vault",
    "vpnc",
    "wireguard",
    "wpa_supplicant",
];

/// Suffixes of names of files that hold private keys or passwords.
const SECRET_ENDS: &[&str] = &[
    "_dsa", "_ecdsa", "_ed25519", "_key", "_rsa", ".jks", ".kdbx", ".key", ".keytab", ".p12", ".pfx", ".ppk",
];

/// Substrings of names of files that may hold certificates, private keys, or both: their contents decide.
const CERTIFICATE_PARTS: &[&str] = &[".cer", ".crt", ".pem", "cert"];
const PRIVATE_KEY: &[u8] = b"PRIVATE KEY-----";

/// The most bytes of such a file that are read. A longer file is a bundle of certificates.
const CERTIFICATE_LIMIT_BYTES: u64 = 1 << 16;

/// The most entries that are examined. Further ones stay closed.
const ENTRY_LIMIT: usize = 20_000;

/// The age at which the list is refreshed, even if the folder itself has not changed.
const AGE_LIMIT: Duration = Duration::from_secs(60);

/// The machine's folder of settings, and the list of its entries that commands may read.
#[derive(Debug)]
pub(crate) struct SettingsFolder {
    path: PathBuf,
    list: Mutex<Option<List>>,
}

#[derive(Debug)]
struct List {
    identity: Identity,
    made: Instant,
    entries: Arc<BTreeSet<PathBuf>>,
}

/// The state of the folder itself, which changes when an entry is made, removed or replaced in it.
type Identity = (u64, u64, i64, i64);

impl SettingsFolder {
    /// Uses this folder of the machine as [`ETC`].
    pub(crate) fn new(path: PathBuf) -> SettingsFolder {
        SettingsFolder { path, list: Mutex::new(None) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder as a command with this confinement sees it.
    pub(crate) fn view(&self, isolation: Isolation, with_network: bool) -> EtcView {
        let has_rules = isolation.contains(Isolation::LANDLOCK);
        let has_root = isolation.contains(Isolation::ROOT);
        // The sandbox's own files are mounted over these, and a link cannot be a mount point.
        let is_file =
            |name: &str| fs::symlink_metadata(self.path.join(name)).is_ok_and(|file| file.is_file());
        EtcView {
            source: self.path.clone(),
            has_root,
            is_whole: has_root && has_rules && REPLACED.iter().all(|name| is_file(name)),
            entries: if has_rules { self.entries(with_network) } else { Vec::new() },
        }
    }

    /// Returns the relative names of the files and folders that a command may read, including their contents.
    fn entries(&self, with_network: bool) -> Vec<PathBuf> {
        let is_for_all =
            |path: &&PathBuf| with_network || !NETWORK_NAMES.iter().any(|name| path.ends_with(name));
        self.all_entries().iter().filter(is_for_all).cloned().collect()
    }

    fn all_entries(&self) -> Arc<BTreeSet<PathBuf>> {
        let Ok(metadata) = fs::metadata(&self.path) else { return Arc::default() };
        let identity = (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec());
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = &*list
            && list.identity == identity
            && list.made.elapsed() < AGE_LIMIT
        {
            return list.entries.clone();
        }
        let mut walk = Walk { device: metadata.dev(), left: ENTRY_LIMIT, entries: BTreeSet::new() };
        // Never list the folder itself: entries that appear in it later must be checked first.
        walk.folder(&self.path, Path::new(""));
        let entries = Arc::new(walk.entries);
        *list = Some(List { identity, made: Instant::now(), entries: entries.clone() });
        entries
    }
}

/// `/etc` as one command sees it.
#[derive(Debug)]
pub(crate) struct EtcView {
    source: PathBuf,
    has_root: bool,
    is_whole: bool,
    /// Names relative to the folder.
    entries: Vec<PathBuf>,
}

impl EtcView {
    /// True if the command's own root has the whole folder, and rules by path keep closed entries closed. Otherwise such a
    /// root has a few of its files.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the folder of the machine.
    pub(crate) fn source(&self) -> &Path {
        &self.source
    }

    /// Returns the path at which the command finds the folder.
    fn target(&self) -> &Path {
        if self.has_root { Path::new(ETC) } else { &self.source }
    }

    /// Returns the paths that rules let through, with their contents.
    pub(crate) fn rules(&self) -> Vec<PathBuf> {
        let replaced = REPLACED.iter().map(Path::new).filter(|_| self.is_whole);
        self.entries
            .iter()
            .map(PathBuf::as_path)
            .chain(replaced)
            .map(|name| self.target().join(name))
            .collect()
    }

    /// Returns the path at which to mount a mask over a file of the machine's folder; `None` for other files.
    pub(crate) fn mask_target(&self, path: &Path) -> Option<PathBuf> {
        let name = path.strip_prefix(&self.source).ok().filter(|_| self.is_whole)?;
        Some(self.target().join(name))
    }

    /// Checks whether a path in the folder, with its links resolved, can be read.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        let Ok(path) = canonicalize(path) else { return false };
        let is_open = |name: &Path| self.entries.iter().any(|entry| name.starts_with(entry));
        (self.is_whole || !self.has_root) && path.strip_prefix(self.target()).is_ok_and(is_open)
    }
}

struct Walk {
    device: u64,
    left: usize,
    entries: BTreeSet<PathBuf>,
}

impl Walk {
    /// Lists the readable entries of a folder. Returns whether all of them are.
    fn folder(&mut self, path: &Path, name: &Path) -> bool {
        let Ok(entries) = fs::read_dir(path) else { return false };
        let mut is_open = true;
        for entry in entries {
            let Some(entry) = entry.ok().filter(|_| self.left > 0) else {
                return false;
            };
            self.left -= 1;
            is_open &= self.entry(&entry.path(), name.join(entry.file_name()));
        }
        is_open
    }

    /// Lists one entry, or its readable parts. Returns whether all of it is readable.
    fn entry(&mut self, path: &Path, name: PathBuf) -> bool {
        let Ok(metadata) = fs::symlink_metadata(path) else { return false };
        // A link reveals nothing: its target decides, and a target outside does not exist for a command.
        if metadata.is_symlink() {
            return true;
        }
        if is_secret(path) {
            return false;
        }
        let mode = metadata.permissions().mode();
        if metadata.is_file() {
            let is_open = mode & 0o004 != 0 && !holds_private_key(path, metadata.len());
            return is_open && self.entries.insert(name);
        }
        if !metadata.is_dir() || mode & 0o005 != 0o005 || metadata.dev() != self.device {
            return false;
        }
        let is_open = self.folder(path, &name);
        if is_open {
            // One rule for the folder covers all its entries, including those installed later.
            self.entries.retain(|entry| !entry.starts_with(&name));
            self.entries.insert(name);
        }
        is_open
    }
}

fn is_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    SECRET_NAMES.contains(&name.as_str()) || SECRET_ENDS.iter().any(|end| name.ends_with(end))
}

/// Checks whether a file that may hold certificates also holds a private key; an unreadable file counts as one.
fn holds_private_key(path: &Path, length: u64) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    if length > CERTIFICATE_LIMIT_BYTES || !CERTIFICATE_PARTS.iter().any(|part| name.contains(part)) {
        return false;
    }
    let mut contents = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(CERTIFICATE_LIMIT_BYTES).read_to_end(&mut contents));
    read.is_err() || contents.windows(PRIVATE_KEY.len()).any(|window| window == PRIVATE_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(folder: &SettingsFolder) -> Vec<String> {
        folder.entries(false).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn what_every_user_may_read_is_listed_by_whole_folders() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["java-17/security", "maven", "ssl/certs", "ssl/private", "closed"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let private_key = "-----BEGIN RSA PRIVATE KEY-----\n";
        for (name, text) in [
            ("java-17/security/java.policy", ""),
            ("maven/settings.xml", ""),
            ("ssl/certs/ca.pem", "-----BEGIN CERTIFICATE-----\n"),
            ("ssl/server.pem", private_key),
            ("ssl/private/x", ""),
            ("ssh_host_rsa_key", ""),
            ("closed/file", ""),
            ("resolv.conf", ""),
            ("Shadow", ""),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        symlink("/outside", root.join("maven/link")).unwrap();
        for (name, mode) in [("closed", 0o750), ("ssl/private", 0o755), ("ssh_host_rsa_key", 0o644)] {
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let settings = SettingsFolder::new(root.to_owned());
        assert_eq!(names(&settings), ["java-17", "maven", "ssl/certs"]);
        assert!(settings.entries(true).contains(&"resolv.conf".into()));
        assert!(!settings.view(Isolation::ALL, false).is_whole());
        // A later entry is listed once the folder's time differs: older kernels count in steps of 4 ms.
        let is_listed = || {
            fs::write(root.join("later.conf"), "").unwrap();
            let is_listed = names(&settings) == ["java-17", "later.conf", "maven", "ssl/certs"];
            fs::remove_file(root.join("later.conf")).unwrap();
            is_listed
        };
        assert!((0..100_000).any(|_| is_listed()));
    }
}
