//! The files that a command may change, to explain why others stayed as they were.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::report::denial::{Denied, one_line};

/// Folders of the system: no option lets a command change files there.
const SYSTEM: [&str; 17] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
];

/// Settings that the sandbox makes for each command, readable by it.
const MADE_UP: [&str; 3] = ["/etc/passwd", "/etc/group", "/etc/hosts"];

/// The reason that a mount of the host is read-only.
const OF_MOUNT: &str = "it is a mount of its own, which commands cannot change";

/// The mounts that one receipt names.
const MOST_MOUNTS: usize = 3;

/// The trees that a command may change. Every path is absolute.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileView {
    /// The base of paths in receipts, which do not show its location.
    pub(crate) workspace: PathBuf,
    /// The start of relative paths.
    pub(crate) working_directory: PathBuf,
    /// Trees that the command may change.
    pub(crate) writable: Vec<PathBuf>,
    /// Trees inside those that it may only read, such as parts of the host's home.
    pub(crate) shared: Vec<PathBuf>,
    /// Paths that git or an editor would obey and that no layer catches.
    pub(crate) obeyed: Vec<PathBuf>,
    /// Paths that can be neither renamed nor removed for the same reason.
    pub(crate) pinned: Vec<PathBuf>,
    /// The daemon's own paths, which appear empty.
    pub(crate) hidden: Vec<PathBuf>,
    /// Mounts of the host in the workspace that a command may only read.
    pub(crate) mounts: Vec<PathBuf>,
    /// The folders of the workspace that contain mounts.
    pub(crate) around_mounts: BTreeSet<PathBuf>,
    /// The workspace, if this command may only read it.
    pub(crate) unchanging: Option<PathBuf>,
}

impl FileView {
    /// Returns the receipt for a change that failed; `None` if the sandbox does not keep the command from it.
    pub(crate) fn refused_change(&self, path: &Path) -> Option<Denied> {
        let path = self.absolute(path)?;
        let within = |trees: &[PathBuf]| trees.iter().any(|tree| path.starts_with(tree));
        let denied = |why: &str, allow: Option<String>| {
            Some(Denied::new(self.named("write", &path), why.to_owned(), allow, 1))
        };
        if within(&self.hidden) {
            return denied("closed to commands", None);
        }
        if let Some(mount) = self.mount_around(&path) {
            return denied(OF_MOUNT, self.instead_of(mount));
        }
        if within(&self.obeyed) {
            return denied("not on an overlay, and git would obey it outside of the sandbox", None);
        }
        if within(self.unchanging.as_slice()) && !within(&self.writable) {
            return denied("a process in the background sees the folder read-only", None);
        }
        let is_shared = within(&self.shared);
        if !is_shared && within(&self.writable) {
            return None;
        }
        if is_named_as_git_folder(&path) {
            return denied("a folder of git, which git would obey outside of the sandbox", None);
        }
        let folder = path.parent().unwrap_or(&path);
        let option = || Some(format!("--cache {}", word_of_shell(&folder.to_string_lossy())?));
        let sharing = || (folder.components().count() > 2).then(option).flatten();
        if is_shared {
            return denied("shared with the host, read-only", sharing());
        }
        let is_system = SYSTEM.iter().any(|tree| path.starts_with(tree));
        denied("outside the workspace", sharing().filter(|_| !is_system))
    }

    /// Returns the receipt for a removal or rename that failed because of a mount.
    pub(crate) fn refused_removal(&self, path: &Path) -> Option<Denied> {
        let path = self.absolute(path)?;
        if let Some(mount) = self.mounts.iter().find(|mount| **mount == path) {
            return Some(Denied::new(
                self.named("rename or remove", mount),
                OF_MOUNT.to_owned(),
                outside(),
                1,
            ));
        }
        if self.around_mounts.contains(&path) {
            let why = "it contains a mount, which would be moved".to_owned();
            return Some(Denied::new(self.named("rename or remove", &path), why, None, 1));
        }
        let is_mounted = self.obeyed.contains(&path) || self.pinned.contains(&path);
        let why = "not on an overlay, and git would obey what took its place".to_owned();
        is_mounted.then(|| Denied::new(self.named("rename or remove", &path), why, None, 1))
    }

    /// Returns the receipt for a change of a read-only file that the program has printed without a usable path, since it was
    /// in another folder. In the workspace only mounts are read-only.
    pub(crate) fn refused_in_mount(&self) -> Option<Denied> {
        let mut names: Vec<String> =
            self.mounts.iter().take(MOST_MOUNTS).map(|mount| self.name_of(mount)).collect();
        let allow =
            self.mounts.first().filter(|_| self.mounts.len() == 1).and_then(|mount| self.instead_of(mount));
        names.extend(self.mounts.get(MOST_MOUNTS).map(|_| "another mount".to_owned()));
        let last = names.pop()?;
        let what = match names.join(", ") {
            names if names.is_empty() => format!("write in {last}"),
            names => format!("write in {names} or {last}"),
        };
        Some(Denied::new(what, OF_MOUNT.to_owned(), allow, 1))
    }

    /// Returns the read-only mount that contains a path, unless a nested tree that is given to the command contains it.
    fn mount_around(&self, path: &Path) -> Option<&Path> {
        let depth = |tree: &&PathBuf| tree.components().count();
        let mount = self.mounts.iter().filter(|mount| path.starts_with(mount)).max_by_key(depth)?;
        let given = self.writable.iter().chain(&self.shared).filter(|tree| path.starts_with(tree));
        given.map(|tree| depth(&tree)).all(|given| given < depth(&mount)).then_some(mount)
    }

    /// Checks whether a file could be closed to a command that may see it: only settings are.
    pub(crate) fn refused_reading(&self, path: &Path) -> Option<Denied> {
        let path = self.absolute(path).filter(|path| path.starts_with("/etc"))?;
        if MADE_UP.iter().any(|made_up| path == Path::new(made_up)) {
            return self.refused_change(&path);
        }
        let why =
            "settings that not every user may read, or that hold secrets, are closed to commands".to_owned();
        Some(Denied::new(self.named("read", &path), why, None, 1))
    }

    /// Returns the remedy for a refused change in a mount: give all of it to commands, unless it is a repository.
    fn instead_of(&self, mount: &Path) -> Option<String> {
        let word = word_of_shell(&self.relative(mount).to_string_lossy());
        let word = word.filter(|_| !is_named_as_git_folder(mount));
        word.map(|word| format!("--cache {word}")).or_else(outside)
    }

    /// Names an attempt at a path that a program has printed, escaped to fit in one line.
    fn named(&self, attempt: &str, path: &Path) -> String {
        format!("{attempt} {}", self.name_of(path))
    }

    fn name_of(&self, path: &Path) -> String {
        one_line(&self.relative(path).to_string_lossy())
    }

    /// Returns a path inside the workspace relative to it, and any other path unchanged.
    fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        match path.strip_prefix(&self.workspace) {
            Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
            Ok(rest) => rest,
            Err(_) => path,
        }
    }

    /// Makes a path absolute, lexically.
    fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let mut absolute = PathBuf::new();
        for component in self.working_directory.join(path).components() {
            match component {
                Component::ParentDir => {
                    absolute.pop();
                }
                Component::CurDir => {}
                other => absolute.push(other),
            }
        }
        absolute.is_absolute().then_some(absolute)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every caller needs one")]
fn outside() -> Option<String> {
    Some("change it outside of the sandbox".to_owned())
}

/// Quotes a text as one shell word if necessary; `None` if a person should not copy it: it comes from a program's output,
/// and could be a command.
fn word_of_shell(text: &str) -> Option<String> {
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+@:,%".contains(character);
    if text.chars().all(is_plain) {
        return Some(text.to_owned());
    }
    let is_unquotable = |character: char| character == '\'' || character.is_control();
    (!text.contains(is_unquotable)).then(|| format!("'{text}'"))
}

/// Checks whether a path leads through a folder of git, by its names alone: a receipt about a path that a program has
/// printed must not depend on the host's files. `--cache` itself checks them.
fn is_named_as_git_folder(path: &Path) -> bool {
    path.components().any(|component| component.as_os_str().as_encoded_bytes().ends_with(b".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_refused_by_its_location() {
        let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut view = FileView {
            workspace: "/w".into(),
            working_directory: "/w/deep".into(),
            writable: paths(&["/w", "/tmp", "/home/u", "/w/data/cache"]),
            shared: paths(&["/home/u/.cargo/bin"]),
            obeyed: paths(&["/w/.git/config"]),
            pinned: paths(&["/w/.git"]),
            hidden: paths(&["/w/.agentd"]),
            mounts: paths(&["/w/data", "/w/sub/.git"]),
            around_mounts: BTreeSet::from(["/w/sub".into()]),
            unchanging: None,
        };
        let line = |view: &FileView, path: &str| {
            view.refused_change(Path::new(path))
                .map_or_else(|| format!("{path}: none"), |denied| denied.to_string())
        };
        let list = [
            "/etc/hosts",
            "/new",
            "../other/x",
            "/data/other/x",
            "/data/other/.git/worktrees/w/index.lock",
            "/data/bare.git/HEAD.lock",
            "/tmp/x",
            "x",
            "../.git/config",
            "../.agentd/journal/db",
            "../data/x",
            "../data/cache/x",
            "../sub/.git/hooks/pre-commit",
            "/home/u/.cargo/bin/tool",
            "/home/u/.npmrc",
            "/home/other/.npmrc",
        ];
        let lines: Vec<String> = list.iter().map(|path| line(&view, path)).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        write /etc/hosts · outside the workspace
        write /new · outside the workspace
        ../other/x: none
        write /data/other/x · outside the workspace · --cache /data/other
        write /data/other/.git/worktrees/w/index.lock · a folder of git, which git would obey outside of the sandbox
        write /data/bare.git/HEAD.lock · a folder of git, which git would obey outside of the sandbox
        /tmp/x: none
        x: none
        write .git/config · not on an overlay, and git would obey it outside of the sandbox
        write .agentd/journal/db · closed to commands
        write data/x · it is a mount of its own, which commands cannot change · --cache data
        ../data/cache/x: none
        write sub/.git/hooks/pre-commit · it is a mount of its own, which commands cannot change · change it outside of the sandbox
        write /home/u/.cargo/bin/tool · shared with the host, read-only · --cache /home/u/.cargo/bin
        /home/u/.npmrc: none
        write /home/other/.npmrc · outside the workspace · --cache /home/other
        ");
        let removal = |path: &str| view.refused_removal(Path::new(path)).map(|denied| denied.what);
        assert_eq!(removal("../.git").as_deref(), Some("rename or remove .git"));
        assert_eq!(removal("../.git/config").as_deref(), Some("rename or remove .git/config"));
        assert_eq!(removal("../src"), None);
        assert_eq!(removal("../data").as_deref(), Some("rename or remove data"));
        assert_eq!(removal("../data/x"), None);
        let in_mount = |view: &FileView| view.refused_in_mount().map(|denied| denied.what);
        assert_eq!(in_mount(&view).as_deref(), Some("write in data or sub/.git"));
        let reading = |path: &str| view.refused_reading(Path::new(path)).map(|denied| denied.what);
        assert_eq!(reading("/etc/shadow").as_deref(), Some("read /etc/shadow"));
        assert_eq!(reading("/etc/hosts").as_deref(), Some("write /etc/hosts"));
        assert_eq!(reading("x"), None);
        view.unchanging = Some("/w".into());
        view.writable = paths(&["/w/target"]);
        let lines: Vec<String> = ["x", "../target/x"].iter().map(|path| line(&view, path)).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        write deep/x · a process in the background sees the folder read-only
        ../target/x: none
        ");
    }
}
