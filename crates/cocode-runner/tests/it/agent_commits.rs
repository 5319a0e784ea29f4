//! The commits of an agent that is written with this library.

use std::fs;
use std::path::Path;
use std::process::Command;

use cocode_runner::{AgentRepository, finished_message, unfinished_message};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn repository() -> (tempfile::TempDir, AgentRepository) {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["config", "user.name", "An agent"]);
    git(folder.path(), &["config", "user.email", "agent@example.invalid"]);
    fs::write(folder.path().join(".gitignore"), "ignored\n").unwrap();
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "first"]);
    let repository = AgentRepository::find(folder.path()).unwrap();
    (folder, repository)
}

#[test]
fn everything_is_committed_but_ignored_files_and_caches() {
    let (folder, repository) = repository();
    // A name that is also a pattern must not add the files that the pattern matches.
    for path in ["src/a.rs", "*", "ignored", "__pycache__/a.pyc", "made/CACHEDIR.TAG", "made/b"] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n").unwrap();
    }
    fs::write(folder.path().join("made/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n")
        .unwrap();
    let work = repository.commit_all("second\n\n# not a comment").unwrap();
    assert!(work.is_committed);
    assert_eq!(work.left_out.len(), 3, "{:?}", work.left_out);
    assert_eq!(git(folder.path(), &["ls-tree", "-r", "--name-only", "HEAD"]), "*\n.gitignore\nsrc/a.rs\n");
    assert_eq!(git(folder.path(), &["log", "-1", "--format=%B"]).trim(), "second\n\n# not a comment");
    let again = repository.commit_all("third").unwrap();
    assert!(!again.is_committed, "nothing has changed");
}

#[test]
fn messages_of_commits() {
    let variables = |name: &str| match name {
        "COCODE_REPO_PATH" => Some("/repo"),
        "COCODE_ISSUE_BODY_FILE" => Some("/issue"),
        "COCODE_ISSUE_NUMBER" => Some("7"),
        "COCODE_READY_MARKER" => Some("cocode ready for check"),
        "COCODE_ISSUE_URL" => Some("https://github.com/a/b/issues/7"),
        _ => None,
    };
    let context =
        cocode_env::AgentContext::from_variables(|variable| variables(variable.name()).map(Into::into));
    let context = context.unwrap();
    let long = "a word ".repeat(20);
    let messages = ["", "Sum is right", "Sum is right\nIt was off by one.", long.as_str()];
    let messages: Vec<String> = messages.map(|summary| finished_message(&context, summary)).into();
    insta::assert_snapshot!(format!("{}\n----\n{}", messages.join("\n----\n"), unfinished_message(&context)));
}
