//! A sandbox prepared before its command is the same as one that was not.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use sandbox_exec::Ending;

use crate::fixture::{CANARY, Fixture, stderr, stdout};

/// Long enough for the next sandbox to be prepared; if it is not, a test passes for the wrong reason, never fails.
fn wait_for_the_reserve() {
    std::thread::sleep(Duration::from_millis(150));
}

#[test]
fn nothing_of_a_command_is_there_for_the_next() {
    let fixture = Fixture::contained();
    let text = "ls -A ~ /tmp /var/tmp /dev/shm; ls /proc > /tmp/l; grep -c '^[0-9]' /tmp/l; rm /tmp/l; ulimit -n; hostname; umask; \
                cat /proc/self/oom_score_adj; nice; ipcs -q 2>/dev/null | grep -c 0x; pwd; env | sort";
    let first = stdout(&fixture.run(text));
    for _ in 0..10 {
        wait_for_the_reserve();
        let spoil = "for at in ~ /tmp /var/tmp /dev/shm; do echo x > $at/left; done; ipcmk -Q; \
                     (setsid sleep 300 &) ; ulimit -n 10; umask 0; cd /; mkdir /tmp/d; exit 3";
        assert_eq!(fixture.run(spoil).ending, Ending::Exited(3));
        wait_for_the_reserve();
        assert_eq!(stdout(&fixture.run(text)), first);
    }
}

#[test]
fn a_workspace_that_was_replaced_is_the_new_one() {
    let fixture = Fixture::contained();
    for round in 0..5 {
        assert_eq!(fixture.run("echo x > mark").ending, Ending::Exited(0));
        wait_for_the_reserve();
        fs::rename(fixture.workspace(), fixture.root().join(format!("old{round}"))).unwrap();
        fs::create_dir(fixture.workspace()).unwrap();
        fs::write(fixture.workspace().join("new"), "").unwrap();
        assert_eq!(stdout(&fixture.run("ls")), "new\n");
        fs::remove_file(fixture.workspace().join("new")).unwrap();
    }
}

#[test]
fn what_came_into_the_workspace_meanwhile_is_protected() {
    let mut fixture = Fixture::contained();
    fixture.policy.hidden.push(fixture.policy.workspace.join(".agentd"));
    assert_eq!(fixture.run("true").ending, Ending::Exited(0));
    wait_for_the_reserve();
    let workspace = fixture.workspace();
    for folder in [".git/hooks", ".agentd"] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    for name in [".git/config", ".agentd/secret"] {
        fs::write(workspace.join(name), CANARY).unwrap();
    }
    let outcome =
        fixture.run("echo x >> .git/config; echo x > .git/hooks/a; mv .git else; cat .agentd/secret; :");
    assert_eq!(stderr(&outcome).lines().count(), 4, "{}", stderr(&outcome));
    assert_eq!(fs::read_to_string(workspace.join(".git/config")).unwrap(), CANARY);
    // Replaced as git replaces it: the new file is the protected one.
    for _ in 0..3 {
        wait_for_the_reserve();
        fs::write(workspace.join(".git/new"), CANARY).unwrap();
        fs::rename(workspace.join(".git/new"), workspace.join(".git/config")).unwrap();
        assert!(!fixture.run("echo x >> .git/config").ending.is_success());
        assert_eq!(fs::read_to_string(workspace.join(".git/config")).unwrap(), CANARY);
    }
}

#[test]
fn another_policy_is_not_given_what_was_prepared_for_the_last() {
    let mut fixture = Fixture::contained();
    let secret = fixture.outside("secret.txt");
    fixture.policy.readable.push(fixture.root().join("outside"));
    assert_eq!(stdout(&fixture.run(&format!("cat {}", secret.display()))), CANARY);
    wait_for_the_reserve();
    fixture.policy.readable.clear();
    assert_eq!(stdout(&fixture.run(&format!("cat {}", secret.display()))), "");
    wait_for_the_reserve();
    fixture.policy.limits.open_files = 77;
    assert_eq!(stdout(&fixture.run("ulimit -n")), "77\n");
}

#[test]
fn what_the_host_mounts_meanwhile_is_seen() {
    // This test is also the host: it runs itself a second time in a mount namespace that it may change.
    const STAND_IN: &str = "SANDBOX_EXEC_TEST_HOST";
    if std::env::var_os(STAND_IN).is_some() {
        let fixture = Fixture::contained();
        assert_eq!(fixture.run("true").ending, Ending::Exited(0));
        wait_for_the_reserve();
        let mount = Command::new("mount").args(["-t", "tmpfs", "none"]).arg(fixture.workspace()).status();
        assert!(mount.unwrap().success());
        fs::write(fixture.workspace().join("mounted"), "").unwrap();
        assert_eq!(stdout(&fixture.run("ls")), "mounted\n");
        wait_for_the_reserve();
        assert!(Command::new("umount").arg(fixture.workspace()).status().unwrap().success());
        assert_eq!(stdout(&fixture.run("ls")), "");
        return;
    }
    let is_root = rustix::process::geteuid().is_root();
    let unshare = if is_root { vec!["--mount"] } else { vec!["--user", "--map-root-user", "--mount"] };
    let host = Command::new("unshare")
        .args(unshare)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "reserve::what_the_host_mounts_meanwhile_is_seen"])
        .env(STAND_IN, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(host.status.success(), "{}", String::from_utf8_lossy(&host.stdout));
}
