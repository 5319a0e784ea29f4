//! The user's own toolchains work inside, at level full and without the network. A missing one is skipped by name, and a
//! failure where `CI` is set: `cargo xtask setup` installs those that a continuous integration host lacks.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sandbox_exec::{Launcher, LauncherConfig, Level, Policy, ShellCommand, Timeout};

use crate::fixture::{spawner, stderr, stdout, user};

/// Runs a command on a project of these files, with the real home's toolchains.
fn works(program: &str, files: &[(&str, &str)], text: &str, expected: &str) {
    // Go alone has a subcommand for it.
    let version = if program == "go" { "version" } else { "--version" };
    let is_there = Command::new(program).arg(version).output().is_ok_and(|output| output.status.success());
    if !is_there {
        assert!(std::env::var_os("CI").is_none(), "{program} is missing");
        println!("skipped: {program} is missing");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["workspace", "scratch"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let workspace = folder.path().join("workspace");
    for (name, contents) in files {
        let path = workspace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
    let home = std::env::var_os("HOME").unwrap_or_else(|| "/nonexistent".into());
    let config = LauncherConfig::new(spawner(), user(Path::new(&home)), folder.path().join("scratch"));
    let launcher = Launcher::start(config).unwrap();
    assert_eq!(launcher.report().level, Level::Full, "not run: {}", launcher.report());
    let timeout = Timeout::new(Duration::from_secs(300)).unwrap();
    let command = ShellCommand::new(text).unwrap().with_timeout(timeout);
    let outcome = launcher.spawn(&Policy::for_workspace(&workspace), &command).unwrap().wait().unwrap();
    let said = [stdout(&outcome), stderr(&outcome)].concat();
    assert!(outcome.ending.is_success() && said.contains(expected), "{}: {said}", outcome.ending);
}

#[test]
fn cargo_test_works() {
    let manifest = "[package]\nname = \"inside\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    let code = "#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", code)];
    works("cargo", &files, "cargo test --offline", "1 passed");
}

#[test]
fn npm_test_works() {
    let package = r#"{ "name": "inside", "version": "1.0.0", "scripts": { "test": "node test.js" } }"#;
    let code = "require('assert').strictEqual(1 + 1, 2); console.log('all fine');\n";
    works("npm", &[("package.json", package), ("test.js", code)], "npm test", "all fine");
}

#[test]
fn python_unittest_works() {
    let code = "import tempfile, unittest\n\n\nclass Adds(unittest.TestCase):\n    def test(self):\n        \
                tempfile.TemporaryFile().write(b'x')\n        self.assertEqual(1 + 1, 2)\n";
    works("python3", &[("test_adds.py", code)], "python3 -m unittest", "Ran 1 test");
}

#[test]
fn make_works() {
    works("make", &[("Makefile", "all: out\nout:\n\techo made > $@\n")], "make && cat out", "made");
}

#[test]
fn go_test_works() {
    let code = "package inside\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif 1+1 != 2 {\n\t\tt.Fatal()\n\t}\n}\n";
    works("go", &[("go.mod", "module inside\n\ngo 1.19\n"), ("adds_test.go", code)], "go test ./...", "ok");
}

#[test]
fn git_init_and_commit_work() {
    let text = "git init -q . && git add -A && git commit -q -m first && git log --format='%an: %s' && \
                git checkout -q -b second && echo y >> a && git commit -q -a -m second && git log --oneline | wc -l";
    works("git", &[("a", "x\n")], text, "agentd: first\n2");
}
