//! A workspace whose repository is elsewhere: a linked worktree, or a submodule.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fixture::project::Project;

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=x", "-c", "user.email=x@localhost"]).args(arguments).current_dir(folder);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    assert!(command.status().unwrap().success(), "{arguments:?}");
}

/// A project whose workspace is a worktree of a repository next to it.
fn worktree() -> Project {
    let project = Project::new();
    let repository = project.folder().join("repository");
    fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "-q", "-b", "main"]);
    fs::write(repository.join("a.txt"), "one\n").unwrap();
    git(&repository, &["add", "a.txt"]);
    git(&repository, &["commit", "-q", "-m", "the first one"]);
    let workspace = project.workspace();
    fs::remove_dir_all(&workspace).unwrap();
    git(&repository, &["worktree", "add", "-q", "-b", "side", workspace.to_str().unwrap()]);
    project
}

/// The outbox after a command.
fn after(project: &Project, command: &str) -> String {
    let id = project.begin("look");
    project.apply(&format!("[RUN_COMMAND]\n{command}\n[/RUN_COMMAND]\n"), &[]).ok();
    project.outbox(&id, 2)
}

#[test]
fn git_answers_in_a_linked_worktree_and_its_repository_stays_as_it_is() {
    let project = worktree();
    project.write("a.txt", "one\ntwo\n");
    let outbox = after(&project, "git status --short; git log --format='%s of %D'; git diff");
    for text in [" M a.txt", "the first one of HEAD -> side, main", "+two"] {
        assert!(outbox.contains(text), "{text}:\n{outbox}");
    }
    let outbox = after(&project, "git commit -q -a -m no; touch $(git rev-parse --git-common-dir)/x");
    assert_eq!(outbox.matches("Read-only file system").count(), 2, "{outbox}");
    git(&project.workspace(), &["commit", "-q", "-a", "-m", "outside of commands it works"]);
}

#[test]
fn git_answers_in_a_submodule() {
    let project = worktree();
    let repository = project.folder().join("repository");
    let outer = project.folder().join("outer");
    fs::create_dir(&outer).unwrap();
    git(&outer, &["init", "-q", "-b", "main"]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    git(&outer, &[&add[..], &[repository.to_str().unwrap(), "inner"]].concat());
    let inner = outer.join("inner");
    fs::write(inner.join("a.txt"), "one\ntwo\n").unwrap();
    let workspace = inner.to_str().unwrap();
    let call = r#"{"command":"git status --short; git log --format=%s"}"#;
    let ran = project.run(&["call", "executeCommand", call, "--workspace", workspace]).ok();
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["stdout"], " M a.txt\nthe first one\n", "{ran}");
}

#[test]
fn a_git_file_that_names_another_folder_shows_nothing_of_it() {
    let project = worktree();
    let outside = project.folder().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "SECRET\n").unwrap();
    project.write(".git", &format!("gitdir: {}\n", outside.display()));
    let outbox = after(&project, &format!("cat {}/secret || echo hidden", outside.display()));
    assert!(outbox.contains("hidden") && !outbox.contains("SECRET"), "{outbox}");
}
