//! The setup language of the corpus.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::mount::{MountFlags, UnmountFlags};
use sandbox_fs::{FileRoot, FsPolicy, HardLinks, ResolveMethod, RootError, RootRules};
use serde_json::Value;

use super::Sandbox;
use super::case::{Case, expand};
use super::racer::Racer;

/// The reason why this machine or user cannot set a case up.
pub(super) struct Unable(pub(super) String);

/// The state to undo after a case, besides removing the folder.
#[derive(Default)]
pub(super) struct World {
    root: Option<PathBuf>,
    mounts: Vec<PathBuf>,
    closed_folders: Vec<PathBuf>,
    deep_folder: Option<PathBuf>,
    racers: Vec<Racer>,
    _listener: Option<UnixListener>,
}

/// Runs every step that comes before the root is opened.
pub(super) fn build(sandbox: &Sandbox, case: &Case) -> Result<World, Unable> {
    let mut world = World::default();
    for step in &case.setup {
        world.step(sandbox, step)?;
    }
    Ok(world)
}

fn text(step: &[Value], index: usize) -> &str {
    let word = step.get(index).and_then(Value::as_str);
    word.unwrap_or_else(|| panic!("the set-up step {step:?} has no text at {index}"))
}

fn number(step: &[Value], index: usize) -> u64 {
    let number = step.get(index).and_then(Value::as_u64);
    number.unwrap_or_else(|| panic!("the set-up step {step:?} has no number at {index}"))
}

impl World {
    fn step(&mut self, sandbox: &Sandbox, step: &[Value]) -> Result<(), Unable> {
        let path = || parent_made(sandbox.at(text(step, 1)));
        let target = || expand(text(step, 2), sandbox);
        match text(step, 0) {
            "file" => fs::write(path(), text(step, 2)).unwrap(),
            "file_b64" => {
                let name = decode_base64(text(step, 1));
                fs::write(sandbox.workspace().join(OsStr::from_bytes(&name)), text(step, 2)).unwrap();
            }
            "file_b64_content" => fs::write(path(), decode_base64(text(step, 2))).unwrap(),
            "file_mode" => {
                fs::write(path(), text(step, 2)).unwrap();
                set_mode(&path(), text(step, 3));
            }
            "repeat" => {
                let count = usize::try_from(number(step, 3)).unwrap();
                fs::write(path(), text(step, 2).repeat(count)).unwrap();
            }
            "one_line" => write_one_line(&path(), number(step, 2)),
            "sparse" => fs::File::create(path()).unwrap().set_len(number(step, 2)).unwrap(),
            "dir" => fs::create_dir_all(path()).unwrap(),
            "dir_mode" => {
                fs::create_dir_all(path()).unwrap();
                set_mode(&path(), text(step, 2));
                self.closed_folders.push(path());
            }
            "deep_dirs" => {
                make_deep(&path(), number(step, 2));
                self.deep_folder = Some(path());
            }
            "many_files" => {
                fs::create_dir(path()).unwrap();
                make_many(&path(), number(step, 2));
            }
            "symlink" => symlink(target(), path()).unwrap(),
            "symlink_chain" => {
                let mut to = target();
                for number in 1..=number(step, 3) {
                    let name = format!("{}{number}", text(step, 1));
                    symlink(&to, sandbox.at(&name)).unwrap();
                    to = name;
                }
            }
            "hardlink" => fs::hard_link(target(), path()).unwrap(),
            "fifo" => node(&path(), FileType::Fifo, 0)?,
            "mknod" => {
                let part = |index: usize| u32::try_from(number(step, index)).unwrap();
                assert_eq!(text(step, 2), "c");
                node(&path(), FileType::CharacterDevice, rustix::fs::makedev(part(3), part(4)))?;
            }
            "socket" => self._listener = Some(UnixListener::bind(path()).unwrap()),
            "bind_mount" => {
                fs::create_dir(path()).unwrap();
                rustix::mount::mount_bind(target(), path()).map_err(|errno| Unable(errno.to_string()))?;
                self.mounts.push(path());
            }
            "small_fs_inodes" => {
                let options = format!("nr_inodes={}", number(step, 1));
                let options = std::ffi::CString::new(options).unwrap();
                rustix::mount::mount("none", sandbox.workspace(), "tmpfs", MountFlags::empty(), &*options)
                    .map_err(|errno| Unable(errno.to_string()))?;
                self.mounts.push(sandbox.workspace());
                let filled = (0..).find(|number| fs::write(sandbox.at(&format!("f{number}")), "").is_err());
                assert!(filled.unwrap() < 20, "the file system is full");
            }
            "root" => self.root = Some(PathBuf::from(text(step, 1))),
            "root_via_symlink" => {
                let link = sandbox.top().join("link-to-workspace");
                symlink(sandbox.workspace(), &link).unwrap();
                self.root = Some(link);
            }
            // Run by `disturb`, while the root is open.
            "chdir" | "delete_root" | "move_root" | "replace_root" | "racer" => {}
            other => panic!("the set-up step '{other}' is not understood"),
        }
        Ok(())
    }

    pub(super) fn open_root(
        &self,
        sandbox: &Sandbox,
        case: &Case,
        method: ResolveMethod,
    ) -> Result<FileRoot, RootError> {
        let policy = match case.policy.as_deref() {
            None => FsPolicy::default(),
            Some("hard_links=refuse") => FsPolicy::default().with_hard_links(HardLinks::Refuse),
            Some(other) => panic!("the policy '{other}' is not understood"),
        };
        let path = self.root.clone().unwrap_or_else(|| sandbox.workspace());
        FileRoot::open_with_method(&path, &RootRules::default(), policy, method)
    }

    /// Runs the steps that happen while the root is open.
    pub(super) fn disturb(&mut self, sandbox: &Sandbox, case: &Case) {
        for step in &case.setup {
            match text(step, 0) {
                "chdir" => std::env::set_current_dir(text(step, 1)).unwrap(),
                "delete_root" => fs::remove_dir_all(sandbox.workspace()).unwrap(),
                "move_root" => fs::rename(sandbox.workspace(), expand(text(step, 1), sandbox)).unwrap(),
                "replace_root" => {
                    fs::remove_dir_all(sandbox.workspace()).unwrap();
                    fs::create_dir(sandbox.workspace()).unwrap();
                }
                "racer" => self.racers.push(Racer::start(sandbox, &step[1..])),
                _ => {}
            }
        }
    }

    /// Stops the racers and returns the number of their turns.
    pub(super) fn calm(&mut self) -> u64 {
        self.racers.drain(..).map(Racer::stop).sum()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.calm();
        for folder in &self.closed_folders {
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
        }
        for mount in &self.mounts {
            let _ = rustix::mount::unmount(mount, UnmountFlags::DETACH);
        }
        if let Some(folder) = &self.deep_folder {
            remove_deep(folder);
        }
    }
}

fn parent_made(path: PathBuf) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn set_mode(path: &Path, octal: &str) {
    fs::set_permissions(path, fs::Permissions::from_mode(u32::from_str_radix(octal, 8).unwrap())).unwrap();
}

fn node(path: &Path, kind: FileType, device: rustix::fs::Dev) -> Result<(), Unable> {
    let mode = Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(CWD, path, kind, mode, device).map_err(|errno| Unable(errno.to_string()))
}

/// Makes many names. Each thousand of them share a file, which is much cheaper than as many files.
fn make_many(folder: &Path, count: u64) {
    let mut shared = PathBuf::new();
    for number in 0..count {
        let name = folder.join(format!("{number:06}.txt"));
        if number % 1_000 == 0 {
            fs::write(&name, "x").unwrap();
            shared = name;
        } else {
            fs::hard_link(&shared, name).unwrap();
        }
    }
}

fn write_one_line(path: &Path, bytes: u64) {
    let piece = vec![b'a'; 1 << 20];
    let mut file = fs::File::create(path).unwrap();
    for _ in 0..bytes / (1 << 20) {
        file.write_all(&piece).unwrap();
    }
}

fn folder(path: &Path) -> OwnedFd {
    rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// Makes a chain of folders with the same name, deeper than the longest path.
fn make_deep(path: &Path, levels: u64) {
    fs::create_dir(path).unwrap();
    let mut held = folder(path);
    for _ in 1..levels {
        rustix::fs::mkdirat(&held, "n", Mode::from_raw_mode(0o755)).unwrap();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        held = rustix::fs::openat(&held, "n", flags, Mode::empty()).unwrap();
    }
}

/// Removes such a chain from the top, one level at a time, with no recursion and few handles.
fn remove_deep(path: &Path) {
    let above = folder(path.parent().unwrap());
    let name = path.file_name().unwrap();
    loop {
        let below = path.join("n");
        let moved = rustix::fs::renameat(CWD, &below, &above, "next").is_ok();
        rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR).unwrap();
        if !moved {
            return;
        }
        rustix::fs::renameat(&above, "next", &above, name).unwrap();
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("{other} is not base64"),
    };
    let mut bits = 0_u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        bits = bits << 6 | u32::from(digit(byte));
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}
