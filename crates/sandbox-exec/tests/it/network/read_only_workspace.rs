//! A server in the background on a read-only workspace: it sees later edits, and can change only caches.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use sandbox_exec::{BackgroundProcess, PolicyError, Readiness, ShellCommand, SpawnError};

use crate::fixture::{Fixture, HANG, stdout};
use crate::network::{at_level_full, python};

/// All ways in which a command may change a file, each reported with its outcome.
const ATTEMPTS: &str = "\
import os
def attempt(name, change):
    try:
        change()
        print(name, \"done\")
    except OSError as error:
        print(name, \"refused\")
attempt(\"write\", lambda: open(\"kept.txt\", \"r+\").write(\"x\"))
attempt(\"create\", lambda: open(\"new.txt\", \"w\"))
attempt(\"remove\", lambda: os.remove(\"kept.txt\"))
attempt(\"rename\", lambda: os.rename(\"kept.txt\", \"other.txt\"))
attempt(\"out of a cache\", lambda: os.rename(\"node_modules/cached.txt\", \"cached.txt\"))
attempt(\"link into a cache\", lambda: os.link(\"kept.txt\", \"node_modules/kept.txt\"))
attempt(\"mode\", lambda: os.chmod(\"kept.txt\", 0o777))
attempt(\"time\", lambda: os.utime(\"kept.txt\", (1, 1)))
attempt(\"attribute\", lambda: os.setxattr(\"kept.txt\", \"user.x\", b\"1\"))
attempt(\"truncate\", lambda: os.truncate(\"kept.txt\", 0))
attempt(\"git\", lambda: open(\".git/HEAD\", \"w\"))
attempt(\"by process\", lambda: open(\"/proc/self/cwd/kept.txt\", \"w\"))
attempt(\"cache\", lambda: open(\"node_modules/new.txt\", \"w\").write(\"x\"))
print(\"tried all\", flush=True)
";

fn furnish(workspace: &Path) {
    for folder in ["node_modules", ".git"] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    for name in ["kept.txt", "node_modules/cached.txt", ".git/HEAD"] {
        fs::write(workspace.join(name), "before").unwrap();
    }
}

fn start(fixture: &Fixture, text: &str, ready: &str) -> BackgroundProcess {
    let network = fixture.launcher.make_network().unwrap();
    let mut policy = fixture.policy.clone();
    policy.layer = None;
    policy.is_workspace_read_only = true;
    policy.writable.push(fixture.workspace().join("node_modules"));
    let running = fixture.launcher.spawn_in(&network, &policy, &ShellCommand::new(text).unwrap()).unwrap();
    BackgroundProcess::start(running, Some(ready), 1 << 16).unwrap()
}

fn output_when_ready(process: &BackgroundProcess) -> String {
    let readiness = process.wait_ready(Instant::now() + HANG, &|| false);
    let output = process.output().text(|omitted| format!("<{omitted} bytes>"));
    assert_ne!(readiness, Readiness::Waiting, "{output}");
    output
}

#[test]
fn nothing_but_what_is_writable_can_be_changed() {
    at_level_full("network::read_only_workspace::nothing_but_what_is_writable_can_be_changed", |fixture| {
        let workspace = fixture.workspace();
        furnish(&workspace);
        let before = fs::metadata(workspace.join("kept.txt")).unwrap();
        let refused = output_when_ready(&start(fixture, &python(ATTEMPTS), "tried all"));
        let (done, others): (Vec<_>, Vec<_>) = refused.lines().partition(|line| line.ends_with("done"));
        assert_eq!(done, ["cache done"], "{refused}");
        assert_eq!(others.len(), 13, "{refused}");
        assert_eq!(fs::read(workspace.join("kept.txt")).unwrap(), b"before");
        let after = fs::metadata(workspace.join("kept.txt")).unwrap();
        assert_eq!((after.mode(), after.mtime_nsec()), (before.mode(), before.mtime_nsec()));
        assert!(workspace.join("node_modules/new.txt").exists());
        // The control: the same attempts change an ordinary command's workspace.
        furnish(&workspace);
        let changed = stdout(&super::run(fixture, &python(ATTEMPTS)));
        let done = changed.lines().filter(|line| line.ends_with("done")).count();
        assert!(changed.contains("write done") && changed.contains("create done") && done >= 4, "{changed}");
    });
}

#[test]
fn later_edits_are_seen_and_reported() {
    at_level_full("network::read_only_workspace::later_edits_are_seen_and_reported", |fixture| {
        let workspace = fixture.workspace();
        furnish(&workspace);
        let text = "\
import ctypes, os
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(0)
assert libc.inotify_add_watch(watch, b\".\", 0x80 | 0x8 | 0x100) > 0
print(\"watching\", flush=True)
os.read(watch, 4096)
print(\"saw\", open(\"later.txt\").read(), flush=True)
";
        let watcher = start(fixture, &python(text), "watching");
        assert!(output_when_ready(&watcher).contains("watching"));
        let new = fixture.root().join("outside/new");
        fs::write(&new, "a later edit").unwrap();
        fs::rename(new, workspace.join("later.txt")).unwrap();
        assert!(watcher.wait_end(Instant::now() + HANG));
        let output = watcher.output().text(|omitted| format!("<{omitted} bytes>"));
        assert!(output.contains("saw a later edit"), "{output}");
    });
}

#[test]
fn a_read_only_workspace_has_no_layer() {
    let mut fixture = Fixture::contained();
    crate::layer::renew(&mut fixture, "layer");
    fixture.policy.is_workspace_read_only = true;
    let refused = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap());
    assert!(matches!(refused, Err(SpawnError::Policy(PolicyError::ReadOnlyWithLayer))), "{refused:?}");
}
