//! Commands on a copy-on-write layer: the workspace stays unchanged, and no confinement is lost.

mod folders;
mod scripts;
mod tree_image;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use sandbox_exec::{Ending, LayerKind, LayerMount, Level, PolicyError, ShellCommand, SpawnError, Step};

use crate::fixture::{CANARY, Fixture, stderr, stdout};

/// A fixture whose policy has a layer, next to the workspace.
pub(crate) fn layered() -> Fixture {
    let mut fixture = Fixture::contained();
    let report = fixture.launcher.report();
    assert_eq!(report.layer, LayerKind::Overlay, "not run: this machine gives only {report}");
    renew(&mut fixture, "layer");
    fixture
}

/// Gives the policy a new, empty layer in the folder `name`.
pub(crate) fn renew(fixture: &mut Fixture, name: &str) -> PathBuf {
    let folder = fixture.root().join(name);
    for part in ["upper", "work"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
    let layer = LayerMount::new(fixture.workspace(), folder.join("upper"), folder.join("work"));
    fixture.policy = fixture.policy.clone().with_layer(layer);
    folder.join("upper")
}

/// The kernel leaves a folder without permissions in the work folder, and the folder is to be removed.
impl Drop for Fixture {
    fn drop(&mut self) {
        let shell = std::process::Command::new("chmod").args(["-R", "u+rwx"]).arg(self.root()).output();
        assert!(shell.is_ok());
    }
}

#[test]
fn what_a_command_changes_goes_to_the_layer_and_not_to_the_workspace() {
    let fixture = layered();
    let (workspace, upper) = (fixture.workspace(), fixture.root().join("layer/upper"));
    for name in ["kept", "gone"] {
        fs::write(workspace.join(name), name).unwrap();
    }
    let outcome = fixture.run("pwd; echo more >> kept; rm gone; mkdir made; echo x > made/x; cat kept; ls");
    let expected = format!("{}\nkeptmore\nkept\nmade\n", workspace.display());
    assert_eq!((stdout(&outcome), stderr(&outcome)), (expected, String::new()));
    assert_eq!(fs::read_to_string(workspace.join("kept")).unwrap(), "kept");
    assert!(workspace.join("gone").exists() && !workspace.join("made").exists());
    assert_eq!(fs::read_to_string(upper.join("kept")).unwrap(), "keptmore\n");
    assert_eq!(fs::symlink_metadata(upper.join("gone")).unwrap().rdev(), 0);
    assert_eq!(fs::read_to_string(upper.join("made/x")).unwrap(), "x\n");
}

#[test]
fn the_confinement_is_the_same_on_a_layer() {
    let mut fixture = layered();
    let root = fixture.root();
    let text = format!(
        "cat {0}/outside/secret.txt {0}/home/.netrc; echo x > {0}/outside/new; ls {0}/layer; echo done",
        root.display()
    );
    let outcome = fixture.run(&text);
    assert_eq!(stdout(&outcome), "done\n", "{}", stderr(&outcome));
    assert!(!stderr(&outcome).contains(CANARY) && !root.join("outside/new").exists());
    // The list of mounts does not reveal the layer's location.
    renew(&mut fixture, "second");
    let outcome = fixture.run("cat /proc/self/mountinfo");
    assert!(
        stdout(&outcome).contains(" overlay ") && !stdout(&outcome).contains("second"),
        "{}",
        stdout(&outcome)
    );
}

#[test]
fn a_second_command_on_a_used_layer_fails_by_name_and_nothing_runs() {
    let fixture = layered();
    assert!(fixture.run("echo x > made").ending.is_success());
    let command = ShellCommand::new("echo y > made").unwrap();
    let error = fixture.launcher.spawn(&fixture.policy, &command).unwrap_err();
    // The kernel cannot know whether the machine failed since the first.
    assert!(matches!(error, SpawnError::Step(error) if error.step == Step::Layer), "{error}");
    assert_eq!(fs::read_to_string(fixture.root().join("layer/upper/made")).unwrap(), "x\n");
}

#[test]
fn a_layer_that_cannot_be_mounted_is_a_step_error_and_the_workspace_stays() {
    let mut fixture = layered();
    fs::remove_dir(fixture.root().join("layer/upper")).unwrap();
    let command = ShellCommand::new("echo x > made").unwrap();
    let error = fixture.launcher.spawn(&fixture.policy, &command).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot mount a copy-on-write layer: No such file or directory (os error 2)"
    );
    assert!(!fixture.workspace().join("made").exists());
    // The same launcher runs the command without a layer, if its owner decides so.
    fixture.policy.layer = None;
    assert!(fixture.run("echo x > made").ending.is_success() && fixture.workspace().join("made").exists());
}

#[test]
fn a_layer_through_a_link_is_refused() {
    let mut fixture = layered();
    let link = fixture.root().join("link");
    std::os::unix::fs::symlink(fixture.root().join("layer"), &link).unwrap();
    let layer = LayerMount::new(fixture.workspace(), link.join("upper"), link.join("work"));
    fixture.policy = fixture.policy.clone().with_layer(layer);
    let error = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap()).unwrap_err();
    assert!(matches!(error, SpawnError::Step(error) if error.step == Step::Layer), "{error}");
}

#[test]
fn a_layer_over_another_folder_is_refused() {
    let mut fixture = layered();
    let upper = fixture.root().join("layer/upper");
    let layer = LayerMount::new(fixture.root().join("outside"), upper.clone(), upper.join("../work"));
    fixture.policy = fixture.policy.clone().with_layer(layer);
    let error = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(PolicyError::ForeignLayer)), "{error}");
}

#[test]
fn without_a_root_of_its_own_a_command_gets_no_layer_and_does_not_run() {
    let mut fixture = Fixture::at_level(Level::Landlock);
    let report = fixture.launcher.report();
    assert_eq!(report.layer, LayerKind::None, "{report}");
    assert!(report.missing.iter().any(|missing| missing.starts_with("copy-on-write layer: ")), "{report}");
    renew(&mut fixture, "layer");
    let command = ShellCommand::new("echo x > made").unwrap();
    let error = fixture.launcher.spawn(&fixture.policy, &command).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(PolicyError::NoRootForLayer)), "{error}");
    assert!(!fixture.workspace().join("made").exists());
}

#[test]
fn hidden_protected_and_pinned_paths_hold_on_a_layer_inside_the_workspace() {
    let mut fixture = layered();
    let workspace = fixture.workspace();
    fs::create_dir_all(workspace.join(".git/hooks")).unwrap();
    fs::write(workspace.join(".git/config"), "[core]\n").unwrap();
    fs::create_dir_all(workspace.join(".agentd")).unwrap();
    fs::write(workspace.join(".agentd/secret"), CANARY).unwrap();
    let upper = renew(&mut fixture, "workspace/.agentd/layers/1");
    fixture.policy.hidden = vec![fixture.policy.workspace.join(".agentd")];
    let text = "cat .agentd/secret; ls .agentd; rm -rf .agentd; mv .agentd x; mv .git y; \
                echo x >> .git/config; touch .git/hooks/pre-commit; echo ok > .git/HEAD; find . -name upper; cat .git/HEAD";
    let outcome = fixture.run(text);
    assert_eq!(stdout(&outcome), "ok\n", "{}", stderr(&outcome));
    let held: Vec<PathBuf> = fs::read_dir(&upper).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(held, [upper.join(".git")], "only what was allowed is in the layer");
    assert_eq!(fs::read_dir(upper.join(".git")).unwrap().count(), 1);
}

#[test]
fn git_may_write_its_configuration_where_the_policy_says_so() {
    let mut fixture = layered();
    let text = "git init -q . && git config user.name me && git remote add origin /x && git config user.name && ls .git/hooks | head -1";
    fixture.policy = fixture.policy.clone().with_git_writable();
    assert!(fixture.policy.read_only.is_empty() && fixture.policy.pinned.is_empty());
    let outcome = fixture.run(text);
    assert!(outcome.ending.is_success(), "{}", stderr(&outcome));
    assert!(!fixture.workspace().join(".git").exists());
    // The control: in an existing repository, they are protected unless the policy says otherwise.
    let init =
        std::process::Command::new("git").args(["init", "-q"]).arg(fixture.workspace()).status().unwrap();
    assert!(init.success());
    renew(&mut fixture, "second");
    let relaxed = fixture.run("git config user.name me");
    assert!(relaxed.ending.is_success(), "{}", stderr(&relaxed));
    renew(&mut fixture, "third");
    let layer = fixture.policy.layer.take().unwrap();
    fixture.policy = sandbox_exec::Policy::for_workspace(&fixture.workspace()).with_layer(layer);
    assert!(!fixture.run("git config user.name me").ending.is_success());
}

#[test]
fn uncovered_folders_are_changed_directly() {
    let mut fixture = layered();
    let workspace = fixture.workspace();
    fs::create_dir_all(workspace.join("target/debug")).unwrap();
    let layer = fixture.policy.layer.take().unwrap();
    let uncovered = ["target", "missing"].map(|name| fixture.policy.workspace.join(name)).into();
    fixture.policy = fixture.policy.clone().with_layer(layer.with_uncovered(uncovered));
    let outcome = fixture.run("echo a > target/debug/a; echo b > b; mkdir missing; rm -rf target; ls target");
    assert!(!outcome.ending.is_success() || stdout(&outcome).is_empty(), "{}", stdout(&outcome));
    assert!(workspace.join("target").is_dir(), "the folder itself is a mount");
    assert!(!workspace.join("b").exists() && !workspace.join("missing").exists());
    renew(&mut fixture, "second");
    let layer = fixture.policy.layer.take().unwrap();
    let uncovered = vec![fixture.policy.workspace.join("target")];
    fixture.policy = fixture.policy.clone().with_layer(layer.with_uncovered(uncovered));
    assert_eq!(fixture.run("echo a > target/a").ending, Ending::Exited(0));
    assert_eq!(fs::read_to_string(workspace.join("target/a")).unwrap(), "a\n");
}

#[test]
fn what_is_mounted_in_the_workspace_is_seen_through_the_layer() {
    const INSIDE: &str = "COW_LAYER_MOUNT_TEST";
    if std::env::var_os(INSIDE).is_none() {
        // The test runs itself again in a mount namespace of its own, where it may mount something.
        let own = std::env::current_exe().unwrap();
        let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
        let output = std::process::Command::new("unshare")
            .arg(flags)
            .arg(own)
            .args([
                "--exact",
                "layer::what_is_mounted_in_the_workspace_is_seen_through_the_layer",
                "--nocapture",
            ])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let text =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let fixture = layered();
    let mount_point = fixture.workspace().join("mounted here");
    fs::create_dir(&mount_point).unwrap();
    let mounted =
        std::process::Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&mount_point).status();
    assert!(mounted.unwrap().success());
    fs::write(mount_point.join("inside"), "seen\n").unwrap();
    let outcome = fixture.run("cat 'mounted here/inside'");
    let unmounted = std::process::Command::new("umount").arg(&mount_point).status();
    assert!(unmounted.unwrap().success());
    assert_eq!(stdout(&outcome), "seen\n", "{}", stderr(&outcome));
}
