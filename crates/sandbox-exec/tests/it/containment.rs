//! The files that a command sees and may change, beyond the corpus of attacks; and the truth of the report.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use sandbox_exec::{
    Ending, FileConfinement, HomeVisibility, KillReach, LayerKind, LayerMount, Level, NetworkConfinement,
    PolicyError, ShellCommand, SpawnError,
};

use crate::fixture::{CANARY, Fixture, stderr, stdout};

#[test]
fn the_report_is_one_line_with_every_field() {
    for highest in [Level::None, Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let fixture = Fixture::at_level(highest);
        let report = fixture.launcher.report();
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
    let none = Fixture::at_level(Level::None);
    let report = none.launcher.report();
    assert_eq!(
        (report.level, report.fs, report.kill),
        (Level::None, FileConfinement::Open, KillReach::Sweep)
    );
    let process = Fixture::at_level(Level::Process);
    let report = process.launcher.report();
    assert_eq!((report.fs, report.net), (FileConfinement::Open, NetworkConfinement::Open));
    for name in ["namespaces", "landlock", "system call filter"] {
        assert!(report.missing.iter().any(|missing| missing == name), "{report}");
    }
    let namespaces = Fixture::at_level(Level::Namespaces);
    assert_ne!(namespaces.launcher.report().level, Level::Full);
}

#[test]
fn what_the_report_says_about_files_holds() {
    for highest in [Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let fixture = Fixture::at_level(highest);
        let report = fixture.launcher.report();
        let secret = fixture.outside("secret.txt");
        let outcome = fixture.run(&format!("cat {0}; test -e {0} && echo there", secret.display()));
        let (is_read, is_seen) = (stdout(&outcome).contains(CANARY), stdout(&outcome).contains("there"));
        let expected = match report.fs {
            FileConfinement::Root => (false, false),
            FileConfinement::Landlock => (false, true),
            _ => (true, true),
        };
        assert_eq!((is_read, is_seen), expected, "{report}");
        let outcome = fixture.run(&format!("cat {}/home/.netrc", fixture.root().display()));
        let is_open = report.home == HomeVisibility::Open;
        assert_eq!(stdout(&outcome).contains(CANARY), is_open, "{report}");
    }
}

#[test]
fn the_workspace_is_writable_at_every_level() {
    for highest in [Level::None, Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let fixture = Fixture::at_level(highest);
        let outcome = fixture.run("mkdir a && echo text > a/b && mv a/b c && ln c d && rm d && cat c");
        assert_eq!(stdout(&outcome), "text\n", "{highest}: {}", stderr(&outcome));
        assert_eq!(fs::read_to_string(fixture.workspace().join("c")).unwrap(), "text\n", "{highest}");
    }
}

#[test]
fn temporary_files_and_the_home_are_private_and_gone_afterwards() {
    for highest in [Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let fixture = Fixture::at_level(highest);
        let text = "git init -q . && git commit -q --allow-empty -m x; \
                    echo x > $TMPDIR/t && echo y > ~/h && cat $TMPDIR/t ~/h";
        let outcome = fixture.run(text);
        assert_eq!((stdout(&outcome).as_str(), stderr(&outcome).as_str()), ("x\ny\n", ""), "{highest}");
        assert_eq!(fixture.run("cat $TMPDIR/t ~/h").ending, Ending::Exited(1), "{highest}");
        assert_eq!(fs::read_dir(fixture.root().join("home")).unwrap().count(), 3, "{highest}");
        assert_eq!(fs::read_dir(fixture.root().join("scratch")).unwrap().count(), 0, "{highest}");
    }
}

#[test]
fn further_folders_are_readable_or_writable_as_the_policy_says() {
    let mut fixture = Fixture::contained();
    fs::create_dir(fixture.root().join("cache")).unwrap();
    fixture.policy.readable.push(fixture.root().join("outside"));
    fixture.policy.writable.push(fixture.root().join("cache"));
    let root = fixture.root();
    let outcome =
        fixture.run(&format!("cat {}/outside/secret.txt; echo x > {0}/outside/new", root.display()));
    assert_eq!(stdout(&outcome), CANARY);
    assert!(!root.join("outside/new").exists());
    assert!(fixture.run(&format!("echo x > {}/cache/new", root.display())).ending.is_success());
    assert!(root.join("cache/new").exists());
}

#[test]
fn a_folder_in_the_workspace_that_leads_out_of_it_is_not_given() {
    for level in [Level::Full, Level::Landlock] {
        let mut fixture = Fixture::at_level(level);
        let workspace = fixture.policy.workspace.clone();
        let outside = fixture.root().join("outside");
        fs::create_dir(workspace.join("target")).unwrap();
        symlink(&outside, workspace.join("link")).unwrap();
        let write = |fixture: &Fixture, folder: &Path| {
            let text = format!("echo x > {}/new", folder.display());
            fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap())
        };
        for named in ["link", "link/.", "target/../link"] {
            let path = workspace.join(named);
            for is_writable in [true, false] {
                let (paths, policy) = (vec![path.clone()], &mut fixture.policy);
                (policy.writable, policy.readable) =
                    if is_writable { (paths, Vec::new()) } else { (Vec::new(), paths) };
                let error = write(&fixture, &path).unwrap_err();
                assert!(matches!(error, SpawnError::Policy(PolicyError::LeadsOut)), "{level}: {error}");
            }
            fixture.policy.readable.clear();
        }
        assert!(!outside.join("new").exists());
        // The controls: a folder of the workspace is given, and so is the target if the user names it.
        for path in [workspace.join("target"), outside.clone()] {
            fixture.policy.writable.push(path.clone());
            let outcome = fixture.run(&format!("echo x > {}/new", path.display()));
            assert!(outcome.ending.is_success() && path.join("new").exists(), "{level}: {}", path.display());
        }
    }
}

#[test]
fn a_folder_is_seen_and_changed_in_the_place_of_another() {
    let mut fixture = Fixture::contained();
    let root = fixture.root();
    for name in ["shared/place", "own"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("shared/place/theirs"), "theirs").unwrap();
    fs::write(root.join("own/mine"), "mine").unwrap();
    let target = root.join("shared/place").display().to_string();
    let text =
        format!("cat {target}/*; rm -f {target}/theirs; echo new > {target}/new; mv {target} {target}.gone");
    fixture.policy.readable.push(root.join("shared"));
    fixture.policy.replaced.push((root.join("own"), root.join("shared/place")));
    assert_eq!(stdout(&fixture.run(&text)), "mine");
    assert_eq!(fs::read_to_string(root.join("own/new")).unwrap(), "new\n");
    assert_eq!(fs::read_dir(root.join("shared/place")).unwrap().count(), 1);
    // The control: where nothing is replaced, the same command reaches what is there.
    fixture.policy.replaced.clear();
    fixture.policy.writable.push(root.join("shared"));
    assert_eq!(stdout(&fixture.run(&text)), "theirs");
    assert!(root.join("shared/place.gone/new").exists());
}

#[test]
fn replacing_a_folder_takes_a_root_of_ones_own() {
    let mut fixture = Fixture::at_level(Level::Landlock);
    fs::create_dir(fixture.root().join("own")).unwrap();
    fixture.policy.replaced.push((fixture.root().join("own"), fixture.root().join("outside")));
    let error = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(PolicyError::NoRootForReplaced)), "{error}");
}

#[test]
fn a_missing_folder_of_the_policy_is_refused() {
    let mut fixture = Fixture::new();
    fixture.policy.readable.push(fixture.root().join("missing"));
    let error = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(PolicyError::MissingPath { .. })), "{error}");
    let text = error.to_string();
    assert!(text.contains("\"missing\"") && !text.contains(fixture.root().to_str().unwrap()), "{text}");
}

#[test]
fn hidden_folders_and_files_are_covered() {
    let mut fixture = Fixture::contained();
    let workspace = fixture.workspace();
    fs::create_dir(workspace.join("state")).unwrap();
    fs::write(workspace.join("state/inner"), CANARY).unwrap();
    fs::write(workspace.join("file"), CANARY).unwrap();
    fixture.policy.hidden = ["state", "file"].map(|name| fixture.policy.workspace.join(name)).into();
    let text = "cat file state/inner; ls state; mv state moved; rm -rf state file; echo x > state/new; echo x > file";
    let outcome = fixture.run(text);
    assert!(!stdout(&outcome).contains(CANARY), "{}", stdout(&outcome));
    assert_eq!(fs::read_to_string(workspace.join("state/inner")).unwrap(), CANARY);
    assert_eq!(fs::read_to_string(workspace.join("file")).unwrap(), CANARY);
    assert!(!workspace.join("state/new").exists());
}

#[test]
fn a_hidden_folder_reads_as_an_empty_one_that_cannot_be_changed() {
    let mut fixture = Fixture::contained();
    let workspace = fixture.workspace();
    fs::create_dir(workspace.join("state")).unwrap();
    fs::write(workspace.join("state/inner"), CANARY).unwrap();
    fs::write(workspace.join("file"), "words\n").unwrap();
    let text = format!(
        "grep -r {CANARY} .; grep -r words . && find . && tar cf /tmp/all . && cp -r . /tmp/copy && ls -A state /tmp/copy/state"
    );
    // The control: without the policy, the content is there.
    assert!(stdout(&fixture.run(&text)).contains(CANARY));
    fixture.policy.hidden = vec![fixture.policy.workspace.join("state")];
    for policy in with_and_without_layer(&fixture) {
        let command = ShellCommand::new(&text).unwrap();
        let outcome = fixture.launcher.spawn(&policy, &command).unwrap().wait().unwrap();
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
        fixture.policy = policy;
    }
    fixture.policy.layer = None;
    for change in
        ["echo x > state/new", "mkdir state/new", "rmdir state", "mv state other", "chmod 777 state"]
    {
        assert_ne!(fixture.run(change).ending, Ending::Exited(0), "{change}");
    }
    assert_eq!(fs::read_dir(workspace.join("state")).unwrap().count(), 1);
}

/// Returns the policy of the fixture, and where there are layers the same with one.
fn with_and_without_layer(fixture: &Fixture) -> Vec<sandbox_exec::Policy> {
    let mut policies = vec![fixture.policy.clone()];
    if fixture.launcher.report().layer == LayerKind::Overlay {
        let folder = fixture.root().join("layer");
        for part in ["upper", "work"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        let layer = LayerMount::new(fixture.workspace(), folder.join("upper"), folder.join("work"));
        policies.push(fixture.policy.clone().with_layer(layer));
    }
    policies
}

#[test]
fn git_passes_over_a_hidden_folder() {
    let mut fixture = Fixture::contained();
    let workspace = fixture.workspace();
    fs::create_dir(workspace.join("state")).unwrap();
    fs::write(workspace.join("state/inner"), CANARY).unwrap();
    fs::write(workspace.join("file"), "words\n").unwrap();
    let text = "git init -q && git add . && git commit -qm one && echo x > new && \
                git stash push -q --include-untracked && test ! -e new && git stash pop -q > /dev/null && test -e new && \
                git clean -qfd && test ! -e new && git status --porcelain && git ls-files";
    // The control: without the policy, git sees the folder.
    assert_eq!(stdout(&fixture.run(text)), "file\nstate/inner\n");
    fixture.policy.hidden = vec![fixture.policy.workspace.join("state")];
    for policy in with_and_without_layer(&fixture) {
        fs::remove_dir_all(workspace.join(".git")).unwrap();
        let outcome =
            fixture.launcher.spawn(&policy, &ShellCommand::new(text).unwrap()).unwrap().wait().unwrap();
        assert_eq!(
            (outcome.ending, stdout(&outcome), stderr(&outcome)),
            (Ending::Exited(0), "file\n".to_owned(), String::new())
        );
    }
}

#[test]
fn protected_paths_that_are_links_are_named_and_never_followed() {
    let mut fixture = Fixture::contained();
    let workspace = fixture.workspace();
    symlink(fixture.root().join("outside"), workspace.join("link")).unwrap();
    fixture.policy.hidden.push(fixture.policy.workspace.join("link/secret.txt"));
    fixture.policy.read_only.push(fixture.policy.workspace.join("link"));
    let running =
        fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("cat link/secret.txt").unwrap()).unwrap();
    let unprotected = running.unprotected().to_vec();
    for name in ["link", "link/secret.txt"] {
        assert!(unprotected.contains(&fixture.policy.workspace.join(name)), "{unprotected:?}");
    }
    assert!(!stdout(&running.wait().unwrap()).contains(CANARY));
}

#[test]
fn a_workspace_given_through_a_link_is_the_folder_itself() {
    let mut fixture = Fixture::contained();
    let link = fixture.root().join("link");
    symlink(fixture.workspace(), &link).unwrap();
    fs::create_dir(fixture.workspace().join("sub")).unwrap();
    fs::write(fixture.workspace().join("sub/inner"), CANARY).unwrap();
    fixture.policy = sandbox_exec::Policy::for_workspace(&link);
    fixture.policy.hidden.push(link.join("sub"));
    let command = ShellCommand::new("pwd; ls sub; cat sub/inner").unwrap().in_directory(link.clone());
    let outcome = fixture.launcher.spawn(&fixture.policy, &command).unwrap().wait().unwrap();
    assert_eq!(stdout(&outcome).trim(), fixture.workspace().to_str().unwrap());
    assert_ne!(outcome.ending, Ending::Exited(0));
}

#[test]
fn a_workspace_below_the_home_is_shown_and_the_rest_of_the_home_is_not() {
    let mut fixture = Fixture::contained();
    let workspace = fixture.root().join("home/code/project");
    fs::create_dir_all(&workspace).unwrap();
    fixture.policy = sandbox_exec::Policy::for_workspace(&workspace);
    let outcome = fixture.run("echo x > made; ls -A ~ ~/code; cat ~/.netrc");
    assert!(workspace.join("made").exists(), "{}", stderr(&outcome));
    assert!(stdout(&outcome).contains("project"), "{}", stdout(&outcome));
    assert!(!stdout(&outcome).contains(".ssh") && !stdout(&outcome).contains(CANARY), "{}", stdout(&outcome));
}

#[test]
fn the_home_itself_is_no_workspace() {
    let mut fixture = Fixture::contained();
    fixture.policy = sandbox_exec::Policy::for_workspace(&fixture.root().join("home"));
    let error = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap()).unwrap_err();
    assert!(matches!(error, SpawnError::Policy(PolicyError::HomeFolder)), "{error}");
}

#[test]
fn toolchains_in_the_home_are_found_without_the_secrets_next_to_them() {
    for highest in [Level::Process, Level::Landlock, Level::Namespaces, Level::Full] {
        let fixture = Fixture::at_level(highest);
        let home = fixture.root().join("home");
        fs::create_dir_all(home.join(".cargo/bin")).unwrap();
        fs::write(home.join(".cargo/credentials.toml"), CANARY).unwrap();
        fs::write(home.join(".cargo/bin/tool"), "#!/bin/sh\necho tool\n").unwrap();
        let outcome = fixture.run("sh ~/.cargo/bin/tool; ls -A ~/.cargo; touch ~/.cargo/bin/x");
        assert_eq!(stdout(&outcome), "tool\nbin\n", "{highest}");
        let is_writable = fixture.launcher.report().fs == FileConfinement::Open;
        assert_eq!(home.join(".cargo/bin/x").exists(), is_writable, "{highest}");
    }
}

#[test]
fn settings_of_toolchains_are_shown_without_their_secrets() {
    let show = "cat ~/.cargo/config.toml ~/.nvm/versions/node/v1/etc/npmrc; ls ~/.nvm/versions/node/v1/bin; \
                cat $REAL/.cargo/config.toml $REAL/.nvm/versions/node/v1/etc/npmrc";
    for highest in [Level::Landlock, Level::Namespaces, Level::Full] {
        let mut fixture = Fixture::at_level(highest);
        let home = fixture.root().join("home");
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
        fixture.policy.environment.insert("REAL".into(), home.clone().into());
        let outcome =
            fixture.run(&format!("{show}; grep -rs {CANARY} ~/. $REAL; ls ~/.dotnet ~/.local/share/uv"));
        let said = stdout(&outcome);
        assert!(!said.contains(CANARY), "{highest}: {said}");
        for text in ["[net]\noffline = true\n", "\nnode\n", "tools\n"] {
            assert!(said.contains(text), "{highest}: {text}: {said}");
        }
        // The control: files that the policy shares are shown unmasked.
        fixture.policy.readable =
            [".cargo/config.toml", ".nvm/versions/node/v1/etc/npmrc"].map(|name| home.join(name)).into();
        assert!(stdout(&fixture.run(show)).matches(CANARY).count() >= 2, "{highest}");
    }
}

#[test]
fn the_inits_memory_cannot_be_opened() {
    let outcome = Fixture::contained()
        .run("for part in mem environ maps fd/0 exe; do head -c 1 /proc/1/$part && echo $part; done");
    assert_eq!(stdout(&outcome), "");
    assert_eq!(stderr(&outcome).matches("ermission denied").count(), 5, "{}", stderr(&outcome));
}

#[test]
fn the_kernels_settings_are_read_only() {
    let fixture = Fixture::contained();
    for setting in ["sys/kernel/core_pattern", "sys/vm/drop_caches", "sysrq-trigger", "sys/kernel/pid_max"] {
        let outcome = fixture.run(&format!("echo 1 > /proc/{setting}"));
        assert!(!outcome.ending.is_success(), "{setting}");
    }
}

#[test]
fn proc_shows_the_command_line_of_no_kernel_and_what_programs_need() {
    let hidden = "head -c 1 /proc/cmdline | wc -c; head -c 1 /proc/interrupts | wc -c";
    let needed = "for name in cpuinfo meminfo stat loadavg uptime version filesystems vmstat mounts net/dev self/status \
                  sys/kernel/osrelease sys/vm/overcommit_memory sys/kernel/random/uuid diskstats; do \
                  head -c 1 /proc/$name > /dev/null || exit 1; done; echo all";
    let fixture = Fixture::contained();
    assert_eq!(stdout(&fixture.run(hidden)), "0\n0\n");
    let outcome = fixture.run(needed);
    assert_eq!(stdout(&outcome), "all\n", "{}", stderr(&outcome));
    // The control: the host's kernel shows it to every user.
    assert_eq!(stdout(&Fixture::at_level(Level::Process).run(hidden)), "1\n1\n");
}

#[test]
fn the_network_is_there_only_when_the_policy_says_so() {
    let mut fixture = Fixture::new();
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let text = format!(
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {}))\"",
        listener.local_addr().unwrap().port()
    );
    assert!(!fixture.run(&text).ending.is_success());
    fixture.policy.network = sandbox_exec::NetworkPolicy::Host;
    let outcome = fixture.run(&text);
    assert!(outcome.ending.is_success(), "{}", stderr(&outcome));
    let outcome =
        fixture.run("python3 -c \"import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)\"");
    assert!(!outcome.ending.is_success(), "a family outside of the network's");
}
