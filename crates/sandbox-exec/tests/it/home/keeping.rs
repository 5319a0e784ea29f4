//! Keeping the files that commands write at home, except for settings that programs obey.

use std::fs;

use crate::fixture::{CANARY, stderr, stdout};
use crate::home::{kept, output};

#[test]
fn what_a_command_writes_at_home_is_there_for_the_next_one() {
    let fixture = kept();
    output(&fixture, "mkdir -p ~/.cache/tool ~/data && echo 1 > ~/.cache/tool/a && echo 2 > ~/data/b");
    assert_eq!(output(&fixture, "cat ~/.cache/tool/a ~/data/b"), "1\n2\n");
    assert!(fixture.root().join("kept/home/data/b").exists());
    assert!(!fixture.root().join("home/data").exists());
}

#[test]
fn without_a_kept_home_everything_is_discarded() {
    let mut fixture = kept();
    fixture.policy.kept_home = None;
    output(&fixture, "echo 1 > ~/a && test -e ~/a");
    assert_eq!(output(&fixture, "ls -A ~ | grep -v '^\\.' || true"), "go\n");
    assert!(!fixture.root().join("kept").exists());
}

#[test]
fn settings_that_programs_obey_do_not_outlive_their_command() {
    let fixture = kept();
    let names = ".gitconfig .npmrc .netrc .config/git/config .config/pip/pip.conf .cargo/config.toml .m2/settings.xml \
                 .gradle/init.gradle .gradle/init.d/a.gradle .ssh/config .local/bin/ls .pypirc .zshenv .cargo/env go/bin/a";
    let text =
        format!("cd && for f in {names}; do mkdir -p $(dirname $f) && echo planted > $f || exit 1; done");
    output(&fixture, &text);
    let search = format!("cd && for f in {names}; do grep -H planted $f 2>/dev/null; done; true");
    assert_eq!(output(&fixture, &search), "");
    assert_eq!(
        output(&fixture, "git config --global user.name && git config --global --list | wc -l"),
        "agentd\n3\n"
    );
    // The control: other files are kept.
    output(
        &fixture,
        "echo planted > ~/notes && mkdir -p ~/.local/share/x && echo planted > ~/.local/share/x/y",
    );
    assert_eq!(output(&fixture, "cat ~/notes ~/.local/share/x/y"), "planted\nplanted\n");
}

#[test]
fn a_command_may_change_gits_settings_for_itself() {
    let fixture = kept();
    let text = "git config --global user.name other && git config --global user.name";
    assert_eq!(output(&fixture, text), "other\n");
    assert_eq!(output(&fixture, "git config --global user.name"), "agentd\n");
}

#[test]
fn start_up_files_of_shells_cannot_be_changed() {
    let fixture = kept();
    for _ in 0..2 {
        let outcome = fixture.run(
            "echo evil > ~/.bashrc; rm -f ~/.profile; mv ~/.zshrc ~/x; cat ~/.bashrc ~/.profile ~/.zshrc",
        );
        assert_eq!(stdout(&outcome), "", "{}", stderr(&outcome));
        assert!(!stderr(&outcome).contains("No such file"), "{}", stderr(&outcome));
    }
}

#[test]
fn links_that_a_command_leaves_lead_neither_mounts_nor_the_launcher_outside() {
    let fixture = kept();
    let outside = fixture.root().join("outside");
    let text = format!(
        "cd && for f in .cache .config .local .cargo go .npm .gitconfig .ssh .m2 .gradle; do \
         mv $f old$f 2>/dev/null; ln -s {0} $f 2>/dev/null; done; ls -la; true",
        outside.display()
    );
    for _ in 0..3 {
        output(&fixture, &text);
        let listed = output(
            &fixture,
            "cat ~/.cargo/registry/cache/a.crate ~/.cache/pip/http/a && git config user.name",
        );
        assert_eq!(listed, "crate a\nwheel a\nagentd\n");
    }
    let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["secret.txt"]);
    assert_eq!(fs::read_to_string(outside.join("secret.txt")).unwrap(), CANARY);
}

#[test]
fn closed_folders_that_a_command_leaves_are_no_obstacle() {
    let fixture = kept();
    output(&fixture, "cd && mkdir -p .config/a .cache/x .local/share && chmod 0 .config .local .cache");
    assert_eq!(output(&fixture, "cat ~/.cache/pip/http/a; ls -A ~/.config 2>/dev/null; true"), "wheel a\n");
}

#[test]
fn the_home_and_the_folders_of_its_layers_are_seen_nowhere_else() {
    let fixture = kept();
    output(&fixture, "echo mine > ~/marker");
    let text = format!(
        "ls -A {0}/kept {0}/home/.ssh /.hidden/home/* 2>/dev/null; find / '(' -path /proc -o -path /usr ')' -prune -o -name marker -print 2>/dev/null; true",
        fixture.root().display()
    );
    assert_eq!(output(&fixture, &text), format!("{}/home/marker\n", fixture.root().display()));
}

#[test]
fn devices_and_set_id_files_are_not_kept() {
    let fixture = kept();
    let text = "cd && cp /bin/true t; chmod 4755 t 2>/dev/null; chmod 2755 t 2>/dev/null; mknod d c 1 3 2>/dev/null; \
                cp t ~/.npm/_cacache/t; chmod 4755 ~/.npm/_cacache/t 2>/dev/null; ls -A | sort | grep -x '[dt]'; \
                find . -perm /6000";
    assert_eq!(output(&fixture, text), "t\n");
}

#[test]
fn a_workspace_in_the_home_folder_works_as_anywhere() {
    let mut fixture = kept();
    let workspace = fixture.root().join("home/projects/p");
    fs::create_dir_all(&workspace).unwrap();
    fixture.policy.workspace = workspace.clone();
    for round in 0..3 {
        assert_eq!(
            output(&fixture, "pwd; ls; echo x > made; cat ~/.cache/pip/http/a").lines().count(),
            2 + usize::from(round > 0)
        );
    }
    assert!(workspace.join("made").exists());
    assert_eq!(fs::read_dir(fixture.root().join("kept/home/projects/p")).unwrap().count(), 0);
}

#[test]
fn a_home_within_a_folder_that_commands_are_given_is_not_used() {
    let mut fixture = kept();
    fixture.policy.writable.push(fixture.root().join("kept"));
    fs::create_dir(fixture.root().join("kept")).unwrap();
    let command = sandbox_exec::ShellCommand::new("echo 1 > ~/a").unwrap();
    let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
    assert_eq!(running.home_fault(), Some("it is in a folder that commands are given"));
    assert!(running.wait().unwrap().ending.is_success());
    assert!(!fixture.root().join("kept/home/a").exists());
}

#[test]
fn a_version_manager_may_write_its_small_programs_anew_and_leaves_none() {
    let fixture = kept();
    crate::home::write(&fixture.root().join("home/.pyenv/shims/tool"), "#!/bin/sh\necho tool\n");
    let text = "cat ~/.pyenv/shims/tool && test -w ~/.pyenv/shims && echo evil > ~/.pyenv/shims/ls && rm ~/.pyenv/shims/tool";
    for _ in 0..2 {
        assert_eq!(output(&fixture, text), "#!/bin/sh\necho tool\n");
    }
    assert_eq!(output(&fixture, "ls ~/.pyenv/shims"), "tool\n");
}
