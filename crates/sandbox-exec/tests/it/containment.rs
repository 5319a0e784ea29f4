//! What a command sees and may change, beyond the corpus of attacks; and that the report says what is so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use sandbox_exec::{
    Ending, FileConfinement, HomeVisibility, KillReach, LayerKind, LayerMount, Level, NetworkConfinement,
    PolicyError, ShellCommand, SpawnError,
};

use crate::ground::{CANARY, Ground, stderr, stdout};

#[test]
fn the_report_is_one_line_with_every_field() {
    for highest in [Level::None, Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let ground = Ground::at_level(highest);
        let report = ground.launcher.report();
        assert!(report.level <= highest, "{report}");
        let line = report.to_string();
        assert!(!line.contains('\n') && line.starts_with("sandbox: level="), "{line}");
        let fields: Vec<&str> = line["sandbox: ".len()..].splitn(7, "; ").collect();
        let names: Vec<&str> = fields.iter().map(|field| field.split_once('=').unwrap().0).collect();
        assert_eq!(names, ["level", "fs", "net", "home", "kill", "layer", "missing"], "{line}");
        assert!(fields[6].starts_with("missing=[") && line.ends_with(']'), "{line}");
    }
}

#[test]
fn no_level_claims_what_it_was_not_given() {
    let none = Ground::at_level(Level::None);
    let report = none.launcher.report();
    assert_eq!(
        (report.level, report.fs, report.kill),
        (Level::None, FileConfinement::Open, KillReach::Sweep)
    );
    let process = Ground::at_level(Level::Process);
    let report = process.launcher.report();
    assert_eq!((report.fs, report.net), (FileConfinement::Open, NetworkConfinement::Open));
    for name in ["namespaces", "landlock", "system call filter"] {
        assert!(report.missing.iter().any(|missing| missing == name), "{report}");
    }
    let namespaces = Ground::at_level(Level::Namespaces);
    assert_ne!(namespaces.launcher.report().level, Level::Full);
}

#[test]
fn what_the_report_says_about_files_holds() {
    for highest in [Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let ground = Ground::at_level(highest);
        let report = ground.launcher.report();
        let secret = ground.outside("secret.txt");
        let outcome = ground.run(&format!("cat {0}; test -e {0} && echo there", secret.display()));
        let (is_read, is_seen) = (stdout(&outcome).contains(CANARY), stdout(&outcome).contains("there"));
        let expected = match report.fs {
            FileConfinement::Root => (false, false),
            FileConfinement::Landlock => (false, true),
            _ => (true, true),
        };
        assert_eq!((is_read, is_seen), expected, "{report}");
        let outcome = ground.run(&format!("cat {}/home/.netrc", ground.root().display()));
        let is_open = report.home == HomeVisibility::Open;
        assert_eq!(stdout(&outcome).contains(CANARY), is_open, "{report}");
    }
}

#[test]
fn the_workspace_is_writable_at_every_level() {
    for highest in [Level::None, Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let ground = Ground::at_level(highest);
        let outcome = ground.run("mkdir a && echo text > a/b && mv a/b c && ln c d && rm d && cat c");
        assert_eq!(stdout(&outcome), "text\n", "{highest}: {}", stderr(&outcome));
        assert_eq!(fs::read_to_string(ground.workspace().join("c")).unwrap(), "text\n", "{highest}");
    }
}

#[test]
fn temporary_files_and_the_home_are_private_and_gone_afterwards() {
    for highest in [Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let ground = Ground::at_level(highest);
        let text = "git init -q . && git commit -q --allow-empty -m x; \
                    echo x > $TMPDIR/t && echo y > ~/h && cat $TMPDIR/t ~/h";
        let outcome = ground.run(text);
        assert_eq!((stdout(&outcome).as_str(), stderr(&outcome).as_str()), ("x\ny\n", ""), "{highest}");
        assert_eq!(ground.run("cat $TMPDIR/t ~/h").ending, Ending::Exited(1), "{highest}");
        assert_eq!(fs::read_dir(ground.root().join("home")).unwrap().count(), 3, "{highest}");
        assert_eq!(fs::read_dir(ground.root().join("scratch")).unwrap().count(), 0, "{highest}");
    }
}

#[test]
fn further_folders_are_readable_or_writable_as_the_policy_says() {
    let mut ground = Ground::contained();
    fs::create_dir(ground.root().join("cache")).unwrap();
    ground.policy.readable.push(ground.root().join("outside"));
    ground.policy.writable.push(ground.root().join("cache"));
    let root = ground.root();
    let outcome = ground.run(&format!("cat {}/outside/secret.txt; echo x > {0}/outside/new", root.display()));
    assert_eq!(stdout(&outcome), CANARY);
    assert!(!root.join("outside/new").exists());
    assert!(ground.run(&format!("echo x > {}/cache/new", root.display())).ending.is_success());
    assert!(root.join("cache/new").exists());
}

#[test]
fn a_folder_in_the_workspace_that_leads_out_of_it_is_not_given() {
    for level in [Level::Full, Level::Landlock] {
        let mut ground = Ground::at_level(level);
        let workspace = ground.policy.workspace.clone();
        let outside = ground.root().join("outside");
        fs::create_dir(workspace.join("target")).unwrap();
        symlink(&outside, workspace.join("link")).unwrap();
        let write = |ground: &Ground, folder: &Path| {
            let text = format!("echo x > {}/new", folder.display());
            ground.launcher.spawn(&ground.policy, &ShellCommand::new(&text).unwrap())
        };
        for named in ["link", "link/.", "target/../link"] {
            let path = workspace.join(named);
            for is_writable in [true, false] {
                let (paths, policy) = (vec![path.clone()], &mut ground.policy);
                (policy.writable, policy.readable) =
                    if is_writable { (paths, Vec::new()) } else { (Vec::new(), paths) };
                let error = write(&ground, &path).unwrap_err();
                assert!(matches!(error, SpawnError::Policy(PolicyError::LeadsOut)), "{level}: {error}");
            }
            ground.policy.readable.clear();
        }
        assert!(!outside.join("new").exists());
        // The controls: a folder of the workspace is given, and so is the target if the user names it.
        for path in [workspace.join("target"), outside.clone()] {
            ground.policy.writable.push(path.clone());
            let outcome = ground.run(&format!("echo x > {}/new", path.display()));
            assert!(outcome.ending.is_success() && path.join("new").exists(), "{level}: {}", path.display());
        }
    }
}

#[test]
fn a_folder_is_seen_and_changed_in_the_place_of_another() {
    let mut ground = Ground::contained();
    let root = ground.root();
    for name in ["shared/place", "own"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("shared/place/theirs"), "theirs").unwrap();
    fs::write(root.join("own/mine"), "mine").unwrap();
    let place = root.join("shared/place").display().to_string();
    let text =
        format!("cat {place}/*; rm -f {place}/theirs; echo new > {place}/new; mv {place} {place}.gone");
    ground.policy.readable.push(root.join("shared"));
    ground.policy.replaced.push((root.join("own"), root.join("shared/place")));
    assert_eq!(stdout(&ground.run(&text)), "mine");
    assert_eq!(fs::read_to_string(root.join("own/new")).unwrap(), "new\n");
    assert_eq!(fs::read_dir(root.join("shared/place")).unwrap().count(), 1);
    // The control: where nothing is replaced, the same command reaches what is there.
    ground.policy.replaced.clear();
    ground.policy.writable.push(root.join("shared"));
    assert_eq!(stdout(&ground.run(&text)), "theirs");
    assert!(root.join("shared/place.gone/new").exists());
}

#[test]
fn replacing_a_folder_takes_a_root_of_ones_own() {
    let mut ground = Ground::at_level(Level::Landlock);
    fs::create_dir(ground.root().join("own")).unwrap();
    ground.policy.replaced.push((ground.root().join("own"), ground.root().join("outside")));
    let error = ground.launcher.spawn(&ground.policy, &ShellCommand::new("true").unwrap()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(PolicyError::NoRootForReplaced)), "{error}");
}

#[test]
fn a_missing_folder_of_the_policy_is_refused() {
    let mut ground = Ground::new();
    ground.policy.readable.push(ground.root().join("missing"));
    let error = ground.launcher.spawn(&ground.policy, &ShellCommand::new("true").unwrap()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(PolicyError::MissingPath)), "{error}");
}

#[test]
fn hidden_folders_and_files_are_covered() {
    let mut ground = Ground::contained();
    let workspace = ground.workspace();
    fs::create_dir(workspace.join("state")).unwrap();
    fs::write(workspace.join("state/inner"), CANARY).unwrap();
    fs::write(workspace.join("file"), CANARY).unwrap();
    ground.policy.hidden = ["state", "file"].map(|name| ground.policy.workspace.join(name)).into();
    let text = "cat file state/inner; ls state; mv state moved; rm -rf state file; echo x > state/new; echo x > file";
    let outcome = ground.run(text);
    assert!(!stdout(&outcome).contains(CANARY), "{}", stdout(&outcome));
    assert_eq!(fs::read_to_string(workspace.join("state/inner")).unwrap(), CANARY);
    assert_eq!(fs::read_to_string(workspace.join("file")).unwrap(), CANARY);
    assert!(!workspace.join("state/new").exists());
}

#[test]
fn a_hidden_folder_reads_as_an_empty_one_that_cannot_be_changed() {
    let mut ground = Ground::contained();
    let workspace = ground.workspace();
    fs::create_dir(workspace.join("state")).unwrap();
    fs::write(workspace.join("state/inner"), CANARY).unwrap();
    fs::write(workspace.join("file"), "words\n").unwrap();
    let text = format!(
        "grep -r {CANARY} .; grep -r words . && find . && tar cf /tmp/all . && cp -r . /tmp/copy && ls -A state /tmp/copy/state"
    );
    // The control: without the policy, the content is there.
    assert!(stdout(&ground.run(&text)).contains(CANARY));
    ground.policy.hidden = vec![ground.policy.workspace.join("state")];
    let mut policies = vec![ground.policy.clone()];
    if ground.launcher.report().layer == LayerKind::Overlay {
        let folder = ground.root().join("layer");
        for part in ["upper", "work"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        let layer = LayerMount::new(ground.workspace(), folder.join("upper"), folder.join("work"));
        policies.push(ground.policy.clone().with_layer(layer));
    }
    for policy in policies {
        let command = ShellCommand::new(&text).unwrap();
        let outcome = ground.launcher.spawn(&policy, &command).unwrap().wait().unwrap();
        assert_eq!(
            (outcome.ending, stderr(&outcome)),
            (Ending::Exited(0), String::new()),
            "{}",
            stdout(&outcome)
        );
        assert!(
            !stdout(&outcome).contains(CANARY) && !stdout(&outcome).contains("inner"),
            "{}",
            stdout(&outcome)
        );
        ground.policy = policy;
    }
    ground.policy.layer = None;
    for change in
        ["echo x > state/new", "mkdir state/new", "rmdir state", "mv state other", "chmod 777 state"]
    {
        assert_ne!(ground.run(change).ending, Ending::Exited(0), "{change}");
    }
    assert_eq!(fs::read_dir(workspace.join("state")).unwrap().count(), 1);
}

#[test]
fn protected_paths_that_are_links_are_named_and_never_followed() {
    let mut ground = Ground::contained();
    let workspace = ground.workspace();
    symlink(ground.root().join("outside"), workspace.join("link")).unwrap();
    ground.policy.hidden.push(ground.policy.workspace.join("link/secret.txt"));
    ground.policy.read_only.push(ground.policy.workspace.join("link"));
    let running =
        ground.launcher.spawn(&ground.policy, &ShellCommand::new("cat link/secret.txt").unwrap()).unwrap();
    let unprotected = running.unprotected().to_vec();
    for name in ["link", "link/secret.txt"] {
        assert!(unprotected.contains(&ground.policy.workspace.join(name)), "{unprotected:?}");
    }
    assert!(!stdout(&running.wait().unwrap()).contains(CANARY));
}

#[test]
fn a_workspace_given_through_a_link_is_the_folder_itself() {
    let mut ground = Ground::contained();
    let link = ground.root().join("link");
    symlink(ground.workspace(), &link).unwrap();
    fs::create_dir(ground.workspace().join("sub")).unwrap();
    fs::write(ground.workspace().join("sub/inner"), CANARY).unwrap();
    ground.policy = sandbox_exec::Policy::for_workspace(&link);
    ground.policy.hidden.push(link.join("sub"));
    let command = ShellCommand::new("pwd; ls sub; cat sub/inner").unwrap().in_directory(link.clone());
    let outcome = ground.launcher.spawn(&ground.policy, &command).unwrap().wait().unwrap();
    assert_eq!(stdout(&outcome).trim(), ground.workspace().to_str().unwrap());
    assert_ne!(outcome.ending, Ending::Exited(0));
}

#[test]
fn a_workspace_below_the_home_is_shown_and_the_rest_of_the_home_is_not() {
    let mut ground = Ground::contained();
    let workspace = ground.root().join("home/code/project");
    fs::create_dir_all(&workspace).unwrap();
    ground.policy = sandbox_exec::Policy::for_workspace(&workspace);
    let outcome = ground.run("echo x > made; ls -A ~ ~/code; cat ~/.netrc");
    assert!(workspace.join("made").exists(), "{}", stderr(&outcome));
    assert!(stdout(&outcome).contains("project"), "{}", stdout(&outcome));
    assert!(!stdout(&outcome).contains(".ssh") && !stdout(&outcome).contains(CANARY), "{}", stdout(&outcome));
}

#[test]
fn the_home_itself_is_no_workspace() {
    let mut ground = Ground::contained();
    ground.policy = sandbox_exec::Policy::for_workspace(&ground.root().join("home"));
    let error = ground.launcher.spawn(&ground.policy, &ShellCommand::new("true").unwrap()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(PolicyError::HomeFolder)), "{error}");
}

#[test]
fn toolchains_in_the_home_are_found_without_the_secrets_beside_them() {
    for highest in [Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let ground = Ground::at_level(highest);
        let home = ground.root().join("home");
        fs::create_dir_all(home.join(".cargo/bin")).unwrap();
        fs::write(home.join(".cargo/credentials.toml"), CANARY).unwrap();
        fs::write(home.join(".cargo/bin/tool"), "#!/bin/sh\necho tool\n").unwrap();
        let outcome = ground.run("sh ~/.cargo/bin/tool; ls -A ~/.cargo; touch ~/.cargo/bin/x");
        assert_eq!(stdout(&outcome), "tool\nbin\n", "{highest}");
        let is_writable = ground.launcher.report().fs == FileConfinement::Open;
        assert_eq!(home.join(".cargo/bin/x").exists(), is_writable, "{highest}");
    }
}

#[test]
fn settings_of_toolchains_are_shown_without_their_secrets() {
    let show = "cat ~/.cargo/config.toml ~/.nvm/versions/node/v1/etc/npmrc; ls ~/.nvm/versions/node/v1/bin; \
                cat $REAL/.cargo/config.toml $REAL/.nvm/versions/node/v1/etc/npmrc";
    for highest in [Level::Landlock, Level::Namespaces, Level::Full] {
        let mut ground = Ground::at_level(highest);
        let home = ground.root().join("home");
        let write = |name: &str, text: String| {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let settings = format!("[net]\noffline = true\n[registry]\ntoken = \"{CANARY}\"\n");
        write(".cargo/config.toml", settings);
        write(".cargo/later-credentials", CANARY.into());
        write(".dotnet/corefx/cryptography/x509stores/my/key", CANARY.into());
        write(".dotnet/tools/tool", String::new());
        write(".local/share/uv/credentials/credentials.toml", CANARY.into());
        write(".local/share/uv/tools/tool", String::new());
        write(".nvm/versions/node/v1/bin/node", String::new());
        write(".nvm/versions/node/v1/etc/npmrc", format!("//npm.example/:_authToken={CANARY}\n"));
        ground.policy.environment.insert("REAL".into(), home.clone().into());
        let outcome =
            ground.run(&format!("{show}; grep -rs {CANARY} ~/. $REAL; ls ~/.dotnet ~/.local/share/uv"));
        let said = stdout(&outcome);
        assert!(!said.contains(CANARY), "{highest}: {said}");
        for shown in ["[net]\noffline = true\n", "\nnode\n", "tools\n"] {
            assert!(said.contains(shown), "{highest}: {shown}: {said}");
        }
        // The control: what the policy shares is shown as it is.
        ground.policy.readable =
            [".cargo/config.toml", ".nvm/versions/node/v1/etc/npmrc"].map(|name| home.join(name)).into();
        assert!(stdout(&ground.run(show)).matches(CANARY).count() >= 2, "{highest}");
    }
}

#[test]
fn the_inits_memory_cannot_be_opened() {
    let outcome = Ground::contained()
        .run("for part in mem environ maps fd/0 exe; do head -c 1 /proc/1/$part && echo $part; done");
    assert_eq!(stdout(&outcome), "");
    assert_eq!(stderr(&outcome).matches("ermission denied").count(), 5, "{}", stderr(&outcome));
}

#[test]
fn the_kernels_settings_are_read_only() {
    let ground = Ground::contained();
    for setting in ["sys/kernel/core_pattern", "sys/vm/drop_caches", "sysrq-trigger", "sys/kernel/pid_max"] {
        let outcome = ground.run(&format!("echo 1 > /proc/{setting}"));
        assert!(!outcome.ending.is_success(), "{setting}");
    }
}

#[test]
fn proc_shows_the_command_line_of_no_kernel_and_what_programs_need() {
    let hidden = "head -c 1 /proc/cmdline | wc -c; head -c 1 /proc/interrupts | wc -c";
    let needed = "for name in cpuinfo meminfo stat loadavg uptime version filesystems vmstat mounts net/dev self/status \
                  sys/kernel/osrelease sys/vm/overcommit_memory sys/kernel/random/uuid diskstats; do \
                  head -c 1 /proc/$name > /dev/null || exit 1; done; echo all";
    let ground = Ground::contained();
    assert_eq!(stdout(&ground.run(hidden)), "0\n0\n");
    let outcome = ground.run(needed);
    assert_eq!(stdout(&outcome), "all\n", "{}", stderr(&outcome));
    // The control: the host's kernel says it to everybody.
    assert_eq!(stdout(&Ground::at_level(Level::Process).run(hidden)), "1\n1\n");
}

#[test]
fn the_network_is_there_only_when_the_policy_says_so() {
    let mut ground = Ground::new();
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let text = format!(
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {}))\"",
        listener.local_addr().unwrap().port()
    );
    assert!(!ground.run(&text).ending.is_success());
    ground.policy.network = true;
    let outcome = ground.run(&text);
    assert!(outcome.ending.is_success(), "{}", stderr(&outcome));
    let outcome =
        ground.run("python3 -c \"import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)\"");
    assert!(!outcome.ending.is_success(), "a family that is none of the network's");
}
