//! `fixtures/modes/tricks.json`: no command leaves a set-user-ID program, a capability, a device or a foreign file
//! anywhere that it may write, at any level with a filter; unconfined, every trick does.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use sandbox_exec::{Ending, Level};

use crate::attack::exec_attacks::become_ordinary;
use crate::fixture::{Fixture, stderr, stdout};
use crate::tricks::{GROUP, left_in, tricks};

/// Set for the copy of this program that runs as another user.
const STAND_IN: &str = "SANDBOX_EXEC_TEST_MODES";

const CONFINED: [Level; 4] = [Level::Full, Level::Namespaces, Level::Landlock, Level::Process];

fn nothing_is_left_at(level: Level) {
    let fixture = Fixture::at_level(level);
    assert_eq!(fixture.launcher.report().level, level, "not run: {}", fixture.launcher.report());
    // A user's file that already had the bits is judged afterwards, not by the filter of calls.
    for trick in tricks().iter().filter(|trick| !trick.is_own) {
        let folder = trick.set_up(&fixture.workspace());
        let outcome = fixture.run(&trick.in_folder("."));
        let left = left_in(&folder);
        assert!(left.is_empty(), "{level:?} {}: {left:?}\n{}", trick.name, stderr(&outcome));
    }
}

fn every_trick_bites() {
    let fixture = Fixture::at_level(Level::None);
    for trick in tricks().iter().filter(|trick| trick.is_possible()) {
        trick.bites(&fixture.workspace());
        let folder = trick.set_up(&fixture.workspace());
        let outcome = fixture.run(&trick.in_folder("."));
        let left = left_in(&folder);
        // Remove them as soon as they have been checked.
        fs::remove_dir_all(&folder).unwrap();
        let is_left = left.iter().any(|(kind, _)| *kind == trick.leaves);
        assert!(is_left, "{trick:?}: {left:?}\n{}", stderr(&outcome));
    }
}

/// Runs a test of this module as an ordinary user and, in another copy, as one who is in one more group.
fn as_others(test: &str, run: impl Fn()) {
    let is_copy = std::env::var_os(STAND_IN).is_some();
    if rustix::process::geteuid().is_root() && !is_copy {
        become_ordinary(&format!("modes::{test}"), STAND_IN);
        as_member(&format!("modes::{test}"));
    }
    run();
}

fn as_member(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(folder.path(), Some(1000), Some(1000)).unwrap();
    let groups = format!("--groups=1000,{GROUP}");
    // The programs of the test are in folders that this user may not read.
    let copies = ["test", "spawner"].map(|name| folder.path().join(name));
    for (from, to) in [std::env::current_exe().unwrap(), crate::fixture::spawner_path()].iter().zip(&copies) {
        let copied = Command::new("install").args(["-m", "755"]).args([from, to]).status().unwrap();
        assert!(copied.success());
    }
    let output = Command::new("setpriv")
        .args(["--reuid=1000", "--regid=1000", &groups])
        .arg(&copies[0])
        .args(["--exact", test, "--nocapture"])
        .env(STAND_IN, "1")
        .env(crate::fixture::SPAWNER_VARIABLE, &copies[1])
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn no_trick_leaves_anything_at_any_level_with_a_filter() {
    as_others("no_trick_leaves_anything_at_any_level_with_a_filter", || {
        CONFINED.into_iter().for_each(nothing_is_left_at);
    });
}

#[test]
fn every_trick_leaves_what_it_says_where_nothing_refuses_it() {
    as_others("every_trick_leaves_what_it_says_where_nothing_refuses_it", every_trick_bites);
}

#[test]
fn what_programs_do_every_day_is_let_through() {
    const TEXT: &str = "set -e
        echo x > file; chmod 755 file; mkdir -m 750 inner; cp -p file copy; cp -a inner other
        install -m 755 file installed; mkfifo pipe; umask 022
        tar -cf all.tar file inner; mkdir out; tar -xpf all.tar -C out
        chown $(id -u) file; chown :$(id -g) file; chown $(id -u):$(id -g) file; ln -s file link; chown -h $(id -u) link
        sed -i s/x/y/ file; mv inner moved
        git init -q repository; cd repository; echo a > a; git add a; git commit -q -m a
        python3 - <<'END'
import os, shutil
# The kernel takes no such bit of a new folder's mode, so the call need not be refused.
os.mkdir('new', 0o6777); os.makedirs('c/b', 0o7755)
# Without the flags that make a file, the mode argument means nothing.
os.open('a', os.O_RDONLY, 0o6755)
os.chown('a', -1, -1); os.chmod('a', 0o644); os.mknod('plain', 0o100644); os.mkfifo('named')
shutil.copytree('c', '../tree')
END
        echo done";
    as_others("what_programs_do_every_day_is_let_through", || {
        for level in CONFINED {
            let fixture = Fixture::at_level(level);
            let outcome = fixture.run(TEXT);
            let is_done = outcome.ending == Ending::Exited(0) && stdout(&outcome).ends_with("done\n");
            assert!(is_done, "{level:?}: {} {}", stdout(&outcome), stderr(&outcome));
            assert_eq!(left_in(&fixture.workspace()), []);
        }
    });
}

#[test]
fn a_new_folder_has_the_group_bit_of_the_users_folder_around_it() {
    let fixture = Fixture::new();
    let shared = fixture.workspace().join("shared");
    assert!(Command::new("install").args(["-d", "-m", "2775"]).arg(&shared).status().unwrap().success());
    let outcome = fixture.run("mkdir shared/new && echo x > shared/new/file && mkdir plain");
    assert_eq!(outcome.ending, Ending::Exited(0), "{}", stderr(&outcome));
    let mode = |name: &str| fs::metadata(fixture.workspace().join(name)).unwrap().mode() & 0o6000;
    assert_eq!((mode("shared/new"), mode("shared/new/file"), mode("plain")), (0o2000, 0, 0));
}

#[test]
fn a_refusal_says_so_to_the_program() {
    let fixture = Fixture::new();
    let outcome = fixture.run("touch file; chmod u+s file; echo $?; chgrp 1 file; echo $?");
    assert_eq!(stdout(&outcome), "1\n1\n");
    assert_eq!(stderr(&outcome).matches("Operation not permitted").count(), 2, "{}", stderr(&outcome));
}
