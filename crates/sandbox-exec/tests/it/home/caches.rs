//! The user's caches under a kept home: read, never changed.

use std::fs;
use std::os::unix::fs::symlink;

use sandbox_exec::KeptHome;

use crate::fixture::{CANARY, Fixture, spawner, stderr, stdout, user};
use crate::home::{fingerprint, kept, output, write};

const CACHES: [(&str, &str); 4] = [
    (".cargo/registry", "cache/a.crate"),
    (".npm/_cacache", "content/a"),
    (".cache/pip", "http/a"),
    ("go/pkg/mod", "a@v1/a.go"),
];

#[test]
fn no_byte_of_the_users_caches_changes() {
    let fixture = kept();
    let home = fixture.root().join("home");
    let before = fingerprint(&home);
    for (cache, file) in CACHES {
        let text = format!(
            "cd ~/{cache} && test -s {file} && echo poison > {file} && echo new > new && mkdir more && chmod 600 {file} && \
             touch -d 2001-01-01 {file} && mv {file} moved && rm -r $(dirname {file}) && ln moved linked && \
             ln -s /etc/passwd link && cat moved"
        );
        assert_eq!(output(&fixture, &text), "poison\n", "{cache}");
    }
    assert_eq!(fingerprint(&home), before);
    // The control: the same writes do change a folder that is shared on purpose.
    let mut shared = kept();
    shared.policy.writable.push(shared.root().join("home/.cache/pip"));
    let before = fingerprint(&shared.root().join("home"));
    output(&shared, "echo poison > ~/.cache/pip/http/a");
    assert_ne!(fingerprint(&shared.root().join("home")), before);
}

#[test]
fn what_is_written_to_a_cache_is_there_for_the_next_command_and_for_no_other_workspace() {
    let mut fixture = kept();
    output(&fixture, "echo poison > ~/.npm/_cacache/content/a; echo new > ~/.npm/_cacache/new");
    assert_eq!(output(&fixture, "cat ~/.npm/_cacache/content/a ~/.npm/_cacache/new"), "poison\nnew\n");
    assert_eq!(
        fs::read_to_string(fixture.root().join("home/.npm/_cacache/content/a")).unwrap(),
        "package a\n"
    );
    fixture.policy.kept_home = Some(KeptHome::new(fixture.root().join("kept-other")));
    assert_eq!(output(&fixture, "cat ~/.npm/_cacache/content/a; ls ~/.npm/_cacache"), "package a\ncontent\n");
}

#[test]
fn a_store_that_programs_do_not_find_by_themselves_is_named() {
    let fixture = kept();
    assert_eq!(output(&fixture, "echo ${pnpm_config_store_dir-none}"), "none\n", "there is no store");
    write(&fixture.root().join("home/.local/share/pnpm/store/v11/a"), "package a\n");
    let text = "cat $pnpm_config_store_dir/v11/a && echo more > $pnpm_config_store_dir/v11/b";
    assert_eq!(output(&fixture, text), "package a\n");
    assert_eq!(output(&fixture, "cat ~/.local/share/pnpm/store/v11/b"), "more\n");
    assert!(!fixture.root().join("home/.local/share/pnpm/store/v11/b").exists());
}

#[test]
fn what_the_user_downloads_later_is_seen() {
    let fixture = kept();
    output(&fixture, "ls ~/.npm/_cacache");
    write(&fixture.root().join("home/.npm/_cacache/content/later"), "later\n");
    write(&fixture.root().join("home/.cache/uv/wheel"), "a cache that was not there\n");
    assert_eq!(
        output(&fixture, "cat ~/.npm/_cacache/content/later ~/.cache/uv/wheel"),
        "later\na cache that was not there\n"
    );
}

#[test]
fn removed_entries_stay_removed_for_this_workspace_only() {
    let fixture = kept();
    output(&fixture, "rm -rf ~/.npm/_cacache/content");
    assert_eq!(output(&fixture, "ls ~/.npm/_cacache"), "");
    assert!(fixture.root().join("home/.npm/_cacache/content/a").exists());
}

#[test]
fn credentials_next_to_the_caches_are_hidden() {
    let fixture = kept();
    let outcome = fixture.run(&format!(
        "grep -r {CANARY} ~ / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr 2>/dev/null"
    ));
    assert_eq!(stdout(&outcome), "", "{}", stderr(&outcome));
    // The control: in a cache it would be seen.
    write(&fixture.root().join("home/.npm/_cacache/content/token"), CANARY);
    assert!(!stdout(&fixture.run(&format!("grep -r {CANARY} ~"))).is_empty());
}

#[test]
fn a_secret_in_a_caches_own_settings_is_masked() {
    let fixture = kept();
    let config = "[remote \"origin\"]\n\turl = https://me:hunter2@git.example/a\n";
    write(&fixture.root().join("home/.cargo/git/db/a-1/config"), config);
    write(&fixture.root().join("home/.cargo/git/db/b-2/config"), "[core]\n\tbare = true\n");
    let text = "cat ~/.cargo/git/db/a-1/config ~/.cargo/git/db/b-2/config; ls ~/.cargo/git/db; \
                mv ~/.cargo/git/db/a-1/config ~/x 2>/dev/null; rm -f ~/.cargo/git/db/a-1/config 2>/dev/null; cat ~/.cargo/git/db/a-1/config";
    assert_eq!(output(&fixture, text), "[core]\n\tbare = true\na-1\nb-2\n");
}

#[test]
fn a_cache_that_is_a_link_is_not_shown() {
    let fixture = kept();
    let (root, home) = (fixture.root(), fixture.root().join("home"));
    write(&root.join("outside/a"), CANARY);
    symlink(root.join("outside"), home.join(".cache/uv")).unwrap();
    symlink("/", home.join(".cache/go-build")).unwrap();
    symlink(fixture.workspace(), home.join(".cache/pnpm")).unwrap();
    let text = "ls -A ~/.cache; mkdir -p ~/.cache/uv ~/.cache/go-build ~/.cache/pnpm && echo new | tee ~/.cache/uv/a ~/.cache/pnpm/a";
    assert_eq!(output(&fixture, text), "pip\nnew\n");
    assert_eq!(fs::read_to_string(root.join("outside/a")).unwrap(), CANARY);
    assert_eq!(fs::read_dir(fixture.workspace()).unwrap().count(), 0);
}

#[test]
fn a_home_that_is_reached_by_a_link_has_its_caches() {
    let fixture = kept();
    let link = fixture.root().join("link-to-home");
    symlink(fixture.root().join("home"), &link).unwrap();
    let config = sandbox_exec::LauncherConfig::new(spawner(), user(&link), fixture.root().join("scratch"));
    let launcher = sandbox_exec::Launcher::start(config).unwrap();
    let command = sandbox_exec::ShellCommand::new("cat ~/.cache/pip/http/a").unwrap();
    let outcome = launcher.spawn(&fixture.policy, &command).unwrap().wait().unwrap();
    assert_eq!(stdout(&outcome), "wheel a\n", "{}", stderr(&outcome));
}

#[test]
fn a_cache_on_a_file_system_of_its_own_or_read_only_is_read() {
    let fixture: Fixture = kept();
    let cache = fixture.root().join("home/.cache/pip");
    fs::set_permissions(&cache, std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    let text = "cat ~/.cache/pip/http/a && echo more >> ~/.cache/pip/http/a";
    assert_eq!(output(&fixture, text), "wheel a\n");
    assert_eq!(output(&fixture, "cat ~/.cache/pip/http/a"), "wheel a\nmore\n");
    fs::set_permissions(&cache, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}
