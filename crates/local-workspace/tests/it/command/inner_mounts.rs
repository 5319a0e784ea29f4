//! Mounts of the host in the workspace: a command's leftovers there are not caught, so it may only read them; build
//! folders and mounts within them are examined like other build folders.

use std::fs;
use std::path::Path;
use std::process::Command;

use local_workspace::LocalWorkspace;
use test_support::{child, folder_of_child, write_program};

use crate::fixture::workspace::*;

/// Runs the ignored test in a mount namespace of its own, in a folder that is removed once its mounts are gone.
#[test]
fn mounts_in_the_workspace_hold_nothing_that_a_command_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let program = child("command::inner_mounts::child_with_mounts", folder.path());
    let is_root = rustix::process::geteuid().is_root();
    let flags: &[&str] = if is_root { &["--mount"] } else { &["--map-root-user", "--mount"] };
    let output = Command::new("unshare")
        .args(flags)
        .arg("--")
        .arg(program.get_program())
        .args(program.get_args())
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("TMPDIR", folder.path())
        .output()
        .expect("this test needs the program unshare");
    let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success() && out.contains("1 passed"), "the child printed:\n{out}{error}");
}

#[test]
#[ignore = "run by mounts_in_the_workspace_hold_nothing_that_a_command_leaves"]
fn child_with_mounts() {
    if folder_of_child().is_none() {
        return;
    }
    for layered in LAYERS {
        let fixture = with_mounts();
        let workspace = fixture.open_with(fixture.open_journal(), fixture.layered_config(layered)).0;
        mounts_are_read_only(&fixture, &workspace);
        build_folders_are_looked_through(&fixture, &workspace);
    }
}

/// A repository whose `.git` is a mount, with a folder and a build folder that are mounts, too.
fn with_mounts() -> Fixture {
    let fixture = Fixture::new();
    let bind = |source: &str, target: &str| {
        let (source, target) = (fixture.outside().join(source), fixture.root().join(target));
        fs::create_dir_all(&source).unwrap();
        fs::create_dir_all(&target).unwrap();
        let mounted = Command::new("mount").arg("--bind").args([source, target]).status().unwrap();
        assert!(mounted.success());
    };
    bind("git", ".git");
    bind("data", "data");
    bind("modules", "node_modules");
    bind("volume", "target/volume");
    fixture.put(".gitignore", "node_modules/\ntarget/\n");
    fixture.put("src/a", "a\n");
    let script = "git init -q -b main . && git add . && git -c user.name=u -c user.email=u@x commit -qm one && git status";
    let made = Command::new("sh").args(["-c", script]).current_dir(fixture.root()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    fixture
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn mounts_are_read_only(fixture: &Fixture, workspace: &LocalWorkspace) {
    let hook =
        "printf '#!/bin/sh\\ntouch ../ran\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit";
    for (script, path) in [
        (hook, ".git/hooks/pre-commit"),
        ("git config core.fsmonitor /bin/true", ".git/config.lock"),
        ("mkdir data/.vscode", "data/.vscode"),
        ("echo '{}' > data/.mcp.json", "data/.mcp.json"),
    ] {
        let response = run(workspace, script).unwrap();
        assert_ne!(response.exit_code, 0, "{script}");
        assert!(!is_there(&fixture.root().join(path)), "{script}");
        let is_named = response.denied.iter().any(|denied| {
            let text = format!("{denied:?}");
            text.contains(path.trim_end_matches(".lock")) && text.contains("it is a mount of its own")
        });
        assert!(is_named, "{script}: {response:?}");
    }
    // The controls: the user may, and a command may elsewhere.
    write_program(&fixture.root().join("data/own"), "#!/bin/sh\n");
    let response = run(workspace, "echo x > src/new && cat data/own").unwrap();
    assert_eq!((response.exit_code, response.stdout.as_str()), (0, "#!/bin/sh\n"), "{response:?}");
    assert_eq!(fixture.text("src/new").as_deref(), Some("x\n"));
}

fn build_folders_are_looked_through(fixture: &Fixture, workspace: &LocalWorkspace) {
    // The first command begins to watch what can be watched.
    let response =
        run(workspace, "mkdir -p node_modules/p target/volume/q && echo x > node_modules/p/x").unwrap();
    assert_eq!(response.exit_code, 0, "{response:?}");
    assert_eq!(fixture.text("node_modules/p/x").as_deref(), Some("x\n"));
    for folder in ["node_modules/p", "target/volume/q", "node_modules"] {
        let script = format!(
            "cd {folder} && git init -q . && printf '#!/bin/sh\\n' > .git/hooks/pre-commit && \
             chmod +x .git/hooks/pre-commit && git config core.fsmonitor /bin/true"
        );
        let response = run(workspace, &script).unwrap();
        assert_eq!(response.exit_code, 0, "{response:?}");
        for name in ["hooks/pre-commit", "config"] {
            let path = fixture.root().join(folder).join(".git").join(name);
            assert!(!is_there(&path), "{folder}/.git/{name} stays: {response:?}");
            let renamed = path
                .with_file_name(format!("{}.agentd-refused", path.file_name().unwrap().to_str().unwrap()));
            assert!(is_there(&renamed), "{response:?}");
        }
        assert!(response.warnings.iter().any(|warning| warning.contains(folder)), "{response:?}");
    }
}
