//! The repository that requests are answered in.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::Step;
use crate::conformance::expected::equal;
use crate::conformance::fixture::Fixture;
use crate::conformance::problem::Problem;

/// The description of the repository in the words of the cases.
fn description() -> Value {
    json!({
        "files": {
            "README.md": "# R\n",
            "src/a.txt": "one\ntwo\n (committed), then \"three\\n\" appended",
            "src/sub/b.html": "<p>\n",
            ".hid/c.html": "x",
            "node_modules/m/d.html": "x",
            "empty.txt": "",
            "..dots": "ok",
            "bin.dat": "bytes ff 00 41",
            "link.txt": "symlink to ../outside/secret.txt (\"SECRET\\n\")",
        },
        "git": "all committed except the appended line",
    })
}

/// Checks that the words of the cases are those that the repository is made after.
pub(super) fn is_as_described(case: &Value) -> Result<(), Problem> {
    equal("the repository", &case["input"], &description())
}

/// Makes the repository in a workspace.
pub(super) fn make(fixture: &Fixture) -> Result<(), Problem> {
    fs::write(fixture.outside().join("secret.txt"), "SECRET\n")?;
    for (name, content) in [
        ("README.md", &b"# R\n"[..]),
        ("src/a.txt", b"one\ntwo\n"),
        ("src/sub/b.html", b"<p>\n"),
        (".hid/c.html", b"x"),
        ("node_modules/m/d.html", b"x"),
        ("empty.txt", b""),
        ("..dots", b"ok"),
        ("bin.dat", b"\xff\0A"),
    ] {
        fixture.put(name, content)?;
    }
    fixture.link("link.txt", "../outside/secret.txt")?;
    // The daemon's folder has a rule of its own that keeps it out of every commit.
    fs::write(fixture.state().join(".gitignore"), "*\n")?;
    let workspace = fixture.workspace();
    git(&workspace, &["init", "--quiet"])?;
    git(&workspace, &["add", "--all"])?;
    git(
        &workspace,
        &["-c", "user.name=N", "-c", "user.email=n@example.org", "commit", "--quiet", "--message", "all"],
    )?;
    fixture.put("src/a.txt", "one\ntwo\nthree\n")
}

/// Runs git without the settings of a user or the machine.
fn git(folder: &Path, arguments: &[&str]) -> Result<(), Problem> {
    let step = Step::new("git", "git", arguments).folder(folder);
    let step = step.variable("GIT_CONFIG_GLOBAL", "/dev/null").variable("GIT_CONFIG_SYSTEM", "/dev/null");
    step.output()?;
    Ok(())
}
