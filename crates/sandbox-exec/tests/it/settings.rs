//! The folder of settings, `/etc`: commands read what every user of the machine may read, apart from secrets.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use sandbox_exec::{FileConfinement, Launcher, LauncherConfig, Level};

use crate::fixture::{CANARY, Fixture, spawner, stderr, stdout, user};

/// Files that hold the secret, with their modes: closed ones, readable ones with a name or contents that give them away.
const CLOSED: [(&str, u32); 10] = [
    ("closed.conf", 0o600),
    ("group.conf", 0o640),
    ("closed/file", 0o644),
    ("shadow", 0o644),
    ("tls/server.key", 0o644),
    ("tls/bundle.pem", 0o644),
    ("tls/private/x", 0o644),
    ("ssh/ssh_host_ed25519_key", 0o644),
    ("wireguard/wg0.conf", 0o644),
    ("npmrc", 0o644),
];

/// Files that programs need.
const OPEN: [&str; 7] = [
    "java-17-openjdk/security/java.security",
    "maven/m2.conf",
    "gradle/init.gradle",
    "chromium.d/flags",
    "tls/ca.pem",
    "ssh/ssh_config",
    "unknown.conf",
];

/// Makes a folder of settings in the fixture, and a launcher that uses it.
fn with_settings(fixture: &mut Fixture, highest: Level) -> PathBuf {
    let folder = fixture.root().join("etc");
    for name in CLOSED.map(|(name, _)| name).into_iter().chain(OPEN) {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
    }
    for (name, mode) in CLOSED {
        let kind = if name.ends_with(".pem") { "-----BEGIN PRIVATE KEY-----\n" } else { "_auth=" };
        fs::write(folder.join(name), format!("{kind}{CANARY}\n")).unwrap();
        fs::set_permissions(folder.join(name), Permissions::from_mode(mode)).unwrap();
    }
    for name in OPEN {
        fs::write(folder.join(name), format!("open {name}\n")).unwrap();
    }
    for name in ["passwd", "group", "hosts", "resolv.conf"] {
        fs::write(folder.join(name), format!("machine's {name}\n")).unwrap();
    }
    fs::set_permissions(folder.join("closed"), Permissions::from_mode(0o700)).unwrap();
    symlink(fixture.outside("secret.txt"), folder.join("link-out")).unwrap();
    symlink("closed.conf", folder.join("link-to-closed")).unwrap();
    symlink("maven/m2.conf", folder.join("link-to-open")).unwrap();
    fixture.launcher = launcher(fixture, highest, &folder, BTreeMap::new());
    folder
}

fn launcher(
    fixture: &Fixture,
    highest: Level,
    settings: &Path,
    certificates: BTreeMap<OsString, OsString>,
) -> Launcher {
    let root = fixture.root();
    let mut config = LauncherConfig::new(spawner(), user(&root.join("home")), root.join("scratch"));
    config.highest_level = highest;
    config.settings = settings.to_owned();
    config.certificates = certificates;
    Launcher::start(config).unwrap()
}

/// Runs a body with a fixture at each level that has rules by path, and with the path at which commands see the folder.
fn at_each_level(body: impl Fn(&mut Fixture, &Path, &Path)) {
    for highest in [Level::Full, Level::Landlock] {
        let mut fixture = Fixture::at_level(highest);
        let folder = with_settings(&mut fixture, highest);
        let report = fixture.launcher.report();
        assert_eq!(report.level, highest, "not run: {report}");
        let seen_at = if report.fs == FileConfinement::Root { Path::new("/etc") } else { &*folder };
        body(&mut fixture, &folder, seen_at);
    }
}

#[test]
fn settings_that_every_user_may_read_are_there() {
    at_each_level(|fixture, _, etc| {
        for name in OPEN {
            let outcome = fixture.run(&format!("cat {}/{name}", etc.display()));
            assert_eq!(stdout(&outcome), format!("open {name}\n"), "{}", stderr(&outcome));
        }
        let outcome = fixture.run(&format!("cd {} && cat link-to-open && ls | grep -c .", etc.display()));
        assert!(stdout(&outcome).starts_with("open maven/m2.conf\n"), "{}", stderr(&outcome));
        assert!(!fixture.run(&format!("echo x >> {}/unknown.conf", etc.display())).ending.is_success());
    });
}

#[test]
fn closed_files_readable_secrets_and_links_out_are_not_there() {
    at_each_level(|fixture, folder, etc| {
        let names = CLOSED.map(|(name, _)| name);
        for name in names.into_iter().chain(["link-out", "link-to-closed"]) {
            // The control: the user who runs the commands can read it.
            assert!(fs::read_to_string(folder.join(name)).unwrap().contains(CANARY), "{name}");
            let outcome = fixture.run(&format!("cat {}/{name}", etc.display()));
            assert!(!stdout(&outcome).contains(CANARY), "{}: {name}", fixture.launcher.report().level);
            assert!(!outcome.ending.is_success() || name == "npmrc", "{name}");
        }
        let outcome = fixture.run(&format!("grep -r {CANARY} {}; cat {0}/*", etc.display()));
        assert!(!stdout(&outcome).contains(CANARY), "{}", stdout(&outcome));
    });
}

#[test]
fn a_secret_that_appears_while_a_command_runs_stays_closed() {
    let mut fixture = Fixture::contained();
    let folder = with_settings(&mut fixture, Level::Full);
    // It waits for this test's signal in its workspace, and then reads.
    let text = "while ! test -e go; do sleep 0.01; done; cat /etc/later.conf /etc/closed.conf; cat /etc/unknown.conf";
    let command = sandbox_exec::ShellCommand::new(text).unwrap();
    let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
    for name in ["later.conf", "closed.conf"] {
        fs::write(folder.join("new"), CANARY).unwrap();
        fs::rename(folder.join("new"), folder.join(name)).unwrap();
    }
    fs::write(fixture.workspace().join("go"), "").unwrap();
    let outcome = running.wait().unwrap();
    assert_eq!(stdout(&outcome), "open unknown.conf\n", "{}", stderr(&outcome));
    // The control: the next command's rules are made anew, for what every user may read now.
    fs::write(fixture.workspace().join("go"), "").unwrap();
    let outcome = fixture.run("cat /etc/later.conf /etc/closed.conf");
    assert_eq!(stdout(&outcome), CANARY.repeat(2), "{}", stderr(&outcome));
}

#[test]
fn accounts_and_host_names_are_the_sandboxs_own_and_the_network_brings_its_settings() {
    let mut fixture = Fixture::contained();
    with_settings(&mut fixture, Level::Full);
    let outcome = fixture.run("cat /etc/passwd /etc/group /etc/hosts; cat /etc/resolv.conf");
    assert!(!stdout(&outcome).contains("machine's"), "{}", stdout(&outcome));
    assert!(stdout(&outcome).contains("localhost sandbox"), "{}", stderr(&outcome));
    fixture.policy.network = sandbox_exec::NetworkPolicy::Host;
    assert_eq!(stdout(&fixture.run("cat /etc/resolv.conf")), "machine's resolv.conf\n");
}

#[test]
fn certificates_are_named_with_the_network_if_they_are_visible() {
    let mut fixture = Fixture::contained();
    let folder = with_settings(&mut fixture, Level::Full);
    let visible = fixture.workspace().join("ca.pem");
    fs::write(&visible, "").unwrap();
    let hidden = fixture.outside("secret.txt");
    let both = std::env::join_paths([&visible, &hidden]).unwrap();
    let variables: [(&str, OsString); 4] = [
        ("SSL_CERT_FILE", visible.clone().into()),
        ("NODE_EXTRA_CA_CERTS", hidden.into()),
        ("SSL_CERT_DIR", both),
        ("REQUESTS_CA_BUNDLE", "/usr/bin/env".into()),
    ];
    let variables = variables.into_iter().map(|(name, value)| (name.into(), value)).collect();
    fixture.launcher = launcher(&fixture, Level::Full, &folder, variables);
    let text = "env | grep -E 'CERT|BUNDLE' | sort";
    assert_eq!(stdout(&fixture.run(text)), "");
    fixture.policy.network = sandbox_exec::NetworkPolicy::Host;
    let expected = format!("REQUESTS_CA_BUNDLE=/usr/bin/env\nSSL_CERT_FILE={}\n", visible.display());
    assert_eq!(stdout(&fixture.run(text)), expected);
}

#[test]
fn programs_find_the_settings_of_this_machine() {
    let fixture = Fixture::contained();
    let commands = [
        ("/etc/java-17-openjdk", "java -version"),
        ("/etc/maven", "mvn --version"),
        ("/etc/perl", "perl -e 'use Net::hostent; print 1'"),
    ];
    for (folder, text) in commands {
        if !Path::new(folder).exists() {
            println!("{folder} is not installed here");
            continue;
        }
        let outcome = fixture.run(&format!("ls {folder} && {text}"));
        assert!(outcome.ending.is_success(), "{text}: {}{}", stdout(&outcome), stderr(&outcome));
    }
}

#[test]
fn accounts_that_the_caller_names_are_shown_as_they_are() {
    let mut fixture = Fixture::new();
    let machine = fs::read_to_string("/etc/passwd").unwrap();
    let control = stdout(&fixture.run("cat /etc/passwd"));
    assert_ne!(control, machine);
    fixture.policy.readable.push("/etc/passwd".into());
    assert_eq!(stdout(&fixture.run("cat /etc/passwd")), machine);
}
