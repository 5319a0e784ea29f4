//! `fixtures/modes/tricks.json`, and a search for their leftovers. Used by the tests of every crate through which a command
//! or an agent may write.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::io::Errno;
use serde_json::Value;

/// The group of tricks that need one besides the user's own.
pub(crate) const GROUP: &str = "12345";

/// One way to leave a forbidden file.
#[derive(Clone, Debug)]
pub(crate) struct Trick {
    pub(crate) name: String,
    pub(crate) command: String,
    /// Commands of the user beforehand.
    pub(crate) setup: String,
    /// The kind of file that is left if nothing refuses it.
    pub(crate) leaves: String,
    /// True if it uses a file of the user's that already had the bits.
    pub(crate) is_own: bool,
    pub(crate) who: String,
    pub(crate) program: Option<String>,
}

pub(crate) fn tricks() -> Vec<Trick> {
    let fixture: Value =
        serde_json::from_str(include_str!("../../../../fixtures/modes/tricks.json")).unwrap();
    let text = |trick: &Value, key: &str| trick[key].as_str().map(str::to_owned);
    let trick = |trick: &Value| Trick {
        name: text(trick, "name").unwrap(),
        command: text(trick, "command").unwrap(),
        setup: text(trick, "setup").unwrap_or_else(|| ":".to_owned()),
        leaves: text(trick, "leaves").unwrap(),
        is_own: trick["own"] == true,
        who: text(trick, "who").unwrap(),
        program: text(trick, "program"),
    };
    let tricks: Vec<Trick> = fixture["tricks"].as_array().unwrap().iter().map(trick).collect();
    assert!(tricks.len() >= 25);
    tricks
}

impl Trick {
    /// Checks whether this user can carry it out if nothing refuses it.
    pub(crate) fn is_possible(&self) -> bool {
        let is_root = rustix::process::geteuid().is_root();
        let is_installed = self.program.as_ref().is_none_or(|program| {
            ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].iter().any(|at| Path::new(at).join(program).exists())
        });
        is_installed
            && match self.who.as_str() {
                "anyone" => true,
                "member" => is_root || is_member(),
                "root" => is_root,
                other => panic!("{other}"),
            }
    }

    /// Returns the command in its own subfolder of `folder`, in which the shell expands variables.
    pub(crate) fn in_folder(&self, folder: &str) -> String {
        format!("mkdir -p \"{folder}/{0}\" && cd \"{folder}/{0}\" && {{ {1}; }}", self.name, self.command)
    }

    /// Makes the trick's folder with the user's files in it.
    pub(crate) fn set_up(&self, folder: &Path) -> PathBuf {
        let own = folder.join(&self.name);
        fs::create_dir(&own).unwrap();
        // Overrides a group inherited from the temporary folder.
        std::os::unix::fs::chown(&own, None, Some(rustix::process::getegid().as_raw())).unwrap();
        let setup = Command::new("sh").args(["-c", &self.setup]).current_dir(&own).status().unwrap();
        assert!(setup.success(), "{self:?}");
        own
    }

    /// Carries it out unconfined, and panics unless it leaves the expected file, which is then removed.
    pub(crate) fn bites(&self, folder: &Path) {
        let own = self.set_up(folder);
        let done = Command::new("sh").args(["-c", &self.command]).current_dir(&own).output().unwrap();
        let left = left_in(&own);
        fs::remove_dir_all(&own).unwrap();
        assert!(left.iter().any(|(kind, _)| *kind == self.leaves), "{self:?}: {left:?} {done:?}");
    }
}

fn is_member() -> bool {
    rustix::process::getgroups().unwrap().iter().any(|group| group.as_raw().to_string() == GROUP)
}

/// Returns the entries of the four kinds in a folder.
pub(crate) fn left_in(folder: &Path) -> Vec<(&'static str, String)> {
    let mut left = Vec::new();
    look_at(folder, &mut left);
    left
}

fn look_at(path: &Path, left: &mut Vec<(&'static str, String)>) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let name = || format!("{} {:o} {}:{}", path.display(), metadata.mode(), metadata.uid(), metadata.gid());
    if !metadata.is_symlink() && metadata.mode() & 0o6000 != 0 {
        left.push(("bits", name()));
    }
    let kind = metadata.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        left.push(("device", name()));
    }
    let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    if (metadata.uid(), metadata.gid()) != own {
        left.push(("owner", name()));
    }
    let mut value = [0_u8; 64];
    match rustix::fs::lgetxattr(path, "security.capability", &mut value[..]) {
        Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
        other => left.push(("capability", format!("{} {other:?}", name()))),
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            look_at(&entry.unwrap().path(), left);
        }
    }
}
