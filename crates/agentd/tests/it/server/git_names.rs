//! Files of the workspace that the user's settings of git name: git runs them, or obeys them, outside of all confinement.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::project::{Project, Ran};

/// A project whose user has settings of git, in the home folder and in the repository.
struct Desk {
    project: Project,
}

const FILES: [&str; 5] =
    ["shared.gitconfig", "tools/fsmonitor", "scripts/hooks/pre-commit", "tools/other", "plain.txt"];

impl Desk {
    fn new() -> Desk {
        let desk = Desk { project: Project::new() };
        for file in FILES {
            desk.project.write(file, "the user's\n");
        }
        for folder in ["code/.git/objects", "code/.git/refs", "home"] {
            fs::create_dir_all(desk.project.folder().join(folder)).unwrap();
        }
        desk.project.write(".git/HEAD", "ref: refs/heads/main\n");
        desk
    }

    fn with_settings() -> Desk {
        let desk = Desk::new();
        let included = desk.project.workspace().join("shared.gitconfig");
        let of_user = format!("[include]\n\tpath = {}\n", included.display());
        fs::write(desk.project.folder().join("home/.gitconfig"), of_user).unwrap();
        desk.project
            .write(".git/config", "[core]\n\thooksPath = scripts/hooks\n\tfsmonitor = ./tools/fsmonitor\n");
        desk
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command.env("HOME", self.project.folder().join("home")).env_remove("XDG_CONFIG_HOME");
        for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT"] {
            command.env_remove(variable);
        }
        command
    }

    fn serve(&self, layer: &str) -> LineClient {
        LineClient::start(self.command(&["wap", "--layer", layer]))
    }

    fn call(&self, path: &str, more: &[&str]) -> Ran {
        let request = write_of(path).to_string();
        Ran::of(self.command(&[&["call", "writeFile", &request], more].concat()).output().unwrap())
    }

    #[track_caller]
    fn is_untouched(&self, path: &str) {
        assert_eq!(self.project.read(path), "the user's\n", "{path}");
    }
}

fn write_of(path: &str) -> Value {
    json!({ "path": path, "content": "planted\n", "mode": "overwrite" })
}

/// Sends a write that must be refused because of a setting.
#[track_caller]
fn is_refused(client: &mut LineClient, path: &str, setting: &str) {
    let error = client.ask("writeFile", write_of(path))["error"].to_string();
    assert!(error.contains("PROTECTED") && error.contains(setting), "{path}: {error}");
}

#[test]
fn no_tool_changes_silently_what_settings_of_git_name() {
    for layer in ["on", "off"] {
        let desk = Desk::with_settings();
        let mut client = desk.serve(layer);
        is_refused(&mut client, "shared.gitconfig", "git obeys the settings in it: include.path");
        is_refused(&mut client, "tools/fsmonitor", "git runs it: core.fsmonitor");
        let plant = "for file in shared.gitconfig tools/fsmonitor scripts/hooks/pre-commit tools/other plain.txt; do \
                     echo planted > $file; done";
        let ran = client.does("executeCommand", json!({ "command": plant }));
        let warned = ran["warnings"].to_string();
        for said in ["`shared.gitconfig`", "include.path", "`tools/fsmonitor`", "core.fsmonitor"] {
            assert!(warned.contains(said), "{said} ({layer}): {warned}");
        }
        desk.is_untouched("shared.gitconfig");
        desk.is_untouched("tools/fsmonitor");
        // People have hooks edited: that is made, and pointed out.
        let said = "`scripts/hooks/pre-commit` (git runs what is in it: core.hooksPath)";
        assert!(warned.contains(said), "{layer}: {warned}");
        let written = client.does("writeFile", write_of("scripts/hooks/pre-push"));
        assert!(written["warnings"].to_string().contains("core.hooksPath"), "{written}");
        // Neither is another folder put in the place of the hooks.
        let exchange = "mkdir evil && mv scripts/hooks evil/hooks && rmdir scripts && ln -s evil scripts";
        let ran = client.does("executeCommand", json!({ "command": exchange }));
        assert!(!desk.project.workspace().join("scripts").is_symlink(), "{layer}: {ran}");
        // The control: what no setting names is changed as ever.
        for path in ["tools/other", "plain.txt"] {
            assert_eq!(desk.project.read(path), "planted\n", "{path} ({layer})");
        }
        client.end().ok();
        let desk = Desk::new();
        let mut client = desk.serve(layer);
        let ran = client.does("executeCommand", json!({ "command": plant }));
        assert!(ran["warnings"].as_array().is_none_or(Vec::is_empty), "{ran}");
        for path in FILES {
            assert_eq!(desk.project.read(path), "planted\n", "{path} ({layer})");
        }
        client.end().ok();
    }
}

#[test]
fn a_setting_that_changes_is_obeyed_and_none_that_goes_takes_protection_away() {
    let desk = Desk::with_settings();
    let mut client = desk.serve("on");
    client.does("writeFile", write_of("tools/other"));
    desk.project.write("tools/other", "the user's\n");
    desk.project.write(".git/config", "[diff \"x\"]\n\ttextconv = sh tools/other\n");
    fs::remove_file(desk.project.folder().join("home/.gitconfig")).unwrap();
    is_refused(&mut client, "tools/other", "diff.*.textconv");
    is_refused(&mut client, "shared.gitconfig", "include.path");
    is_refused(&mut client, "tools/fsmonitor", "core.fsmonitor");
    client.end().ok();
    // The next process knows only the settings of its time.
    desk.call("shared.gitconfig", &[]).ok();
    desk.call("tools/other", &[]).exits(1);
}

#[test]
fn the_users_options_move_what_settings_of_git_name() {
    let desk = Desk::with_settings();
    desk.call("shared.gitconfig", &[]).exits(1);
    desk.call("shared.gitconfig", &["--unprotect", "./tools/fsmonitor"]).exits(1);
    desk.is_untouched("shared.gitconfig");
    desk.call("shared.gitconfig", &["--unprotect", "./shared.gitconfig"]).ok();
    let reported = desk.call("tools/fsmonitor", &["--ask-about", "tools/fsmonitor"]).ok();
    assert!(reported.stdout.contains("the user has put it on the list"), "{reported:?}");
    desk.call("scripts/hooks/pre-commit", &["--protect", "scripts/hooks"]).exits(1);
    desk.is_untouched("scripts/hooks/pre-commit");
    // A name that is misspelt is still refused.
    desk.call("plain.txt", &["--unprotect", "shared.gitconfi"]).exits(2).says("./shared.gitconfi");
}

#[test]
fn what_variables_and_links_among_hooks_name_is_not_changed_silently() {
    let desk = Desk::new();
    for folder in [".git/hooks", "bin"] {
        fs::create_dir_all(desk.project.workspace().join(folder)).unwrap();
    }
    let hook = desk.project.workspace().join(".git/hooks/pre-commit");
    std::os::unix::fs::symlink("../../plain.txt", hook).unwrap();
    let path = format!("{}:/usr/bin:/bin", desk.project.workspace().join("bin").display());
    let mut command = desk.command(&["wap"]);
    command.env("GIT_EDITOR", "./tools/other --wait").env("PATH", path);
    let mut client = LineClient::start(command);
    is_refused(&mut client, "tools/other", "git runs it: GIT_EDITOR");
    for (path, reason) in [("plain.txt", "hooks of the repository"), ("bin/git", "by name: PATH")] {
        let written = client.does("writeFile", write_of(path));
        assert!(written["warnings"].to_string().contains(reason), "{path}: {written}");
    }
    client.end().ok();
    // The control.
    let desk = Desk::new();
    fs::create_dir(desk.project.workspace().join("bin")).unwrap();
    for path in ["tools/other", "plain.txt", "bin/git"] {
        let written = desk.call(path, &[]).ok();
        assert!(!written.stdout.contains("obey"), "{written:?}");
    }
}

#[test]
fn nothing_that_a_command_adds_displaces_the_users_settings() {
    let desk = Desk::new();
    let aliases: String = (0..9).map(|number| format!("\ta{number} = !./tools/{number}\n")).collect();
    fs::write(desk.project.folder().join("home/.gitconfig"), format!("[alias]\n{aliases}")).unwrap();
    desk.project.write(".git/config", "[core]\n\tfsmonitor = ./tools/fsmonitor\n");
    fs::create_dir(desk.project.workspace().join(".git/hooks")).unwrap();
    let hook = desk.project.workspace().join(".git/hooks/pre-commit");
    std::os::unix::fs::symlink("../../plain.txt", hook).unwrap();
    desk.project.write("tools/8", "the user's\n");
    let mut client = desk.serve("on");
    let add = "for n in $(seq 60); do mkdir -p wt/$n .git/worktrees/$n; echo ../.. > .git/worktrees/$n/commondir; \
               echo \"$PWD/wt/$n/.git\" > .git/worktrees/$n/gitdir; cp .git/HEAD .git/worktrees/$n; \
               echo \"gitdir: $PWD/.git/worktrees/$n\" > wt/$n/.git; done; \
               for n in $(seq 400); do echo > .git/hooks/$n.sample; done; \
               { printf '[branch \"x\"]\\n\\tdescription = \"%01000000d\"\\n' 0; cat .git/config; } > .git/new; \
               cat .git/new > .git/config; rm .git/new";
    let ran = client.does("executeCommand", json!({ "command": add }));
    client.end().ok();
    // The control: all of it is there.
    let at = |path: &str| desk.project.workspace().join(path);
    assert!(at("wt/60/.git").exists() && at(".git/hooks/400.sample").exists(), "{ran}");
    assert!(fs::metadata(at(".git/config")).unwrap().len() > 1_000_000, "{ran}");
    // The next process knows only what it reads.
    let mut client = desk.serve("on");
    is_refused(&mut client, "tools/8", "alias.a8");
    is_refused(&mut client, "wt/60/tools/8", "alias.a8");
    is_refused(&mut client, "tools/fsmonitor", "core.fsmonitor");
    let written = client.does("writeFile", write_of("plain.txt"));
    assert!(written["warnings"].to_string().contains("hooks of the repository"), "{written}");
    let written = client.does("writeFile", write_of("tools/other"));
    assert!(written["warnings"].as_array().is_none_or(Vec::is_empty), "the control: {written}");
    client.end().ok();
}
