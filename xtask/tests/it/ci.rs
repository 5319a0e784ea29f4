//! The whole run of checks, on a workspace of one small crate.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

const MANIFEST: &str = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n";
const CRATE: &str =
    "[package]\nname = \"sandbox-exec\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n";
const LIB: &str = "//! A sample.\n\nmod sum;\n\npub use sum::sum;\n";
const SUM: &str = "//! A sum.\n\n/// Adds.\n///\n/// ```\n/// assert_eq!(sandbox_exec::sum(1, 2), 3);\n/// ```\npub fn sum(left: u32, right: u32) -> u32 {\n    left + right\n}\n\n#[test]\nfn two_and_two_are_four() {\n    assert_eq!(sum(2, 2), 4);\n}\n";

/// A tidy workspace with some files changed.
fn workspace(changed: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("Cargo.toml", MANIFEST),
        ("deny.toml", "[licenses]\nallow = [\"MIT\"]\nprivate = { ignore = true }\n"),
        ("README.md", "| `sandbox-exec` | a crate of this sample |\n"),
        ("crates/sandbox-exec/Cargo.toml", CRATE),
        ("crates/sandbox-exec/README.md", "# sandbox-exec\n"),
        ("crates/sandbox-exec/src/lib.rs", LIB),
        ("crates/sandbox-exec/src/sum.rs", SUM),
    ];
    for (path, text) in files.iter().chain(changed) {
        let whole = folder.path().join(path);
        fs::create_dir_all(whole.parent().unwrap()).unwrap();
        fs::write(whole, text).unwrap();
    }
    folder
}

/// Runs the checks and returns whether they passed, with everything that was printed.
fn ci(folder: &TempDir) -> (bool, String) {
    // The clients that a real run requires are not in the sample's target folder.
    run(task(folder).env_remove("CI"))
}

fn task(folder: &TempDir) -> Command {
    let mut task = Command::new(env!("CARGO_BIN_EXE_xtask"));
    task.arg("ci")
        // Cargo says by this variable which workspace the task belongs to.
        .env("CARGO_MANIFEST_DIR", folder.path().join("xtask"))
        .env("CARGO_TARGET_DIR", folder.path().join("target"))
        // The settings of the run that this test is part of are not the sample's.
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTDOCFLAGS");
    task
}

fn run(task: &mut Command) -> (bool, String) {
    let output = task.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_workspace_that_keeps_the_rules_passes_every_step() {
    let (passed, text) = ci(&workspace(&[]));
    assert!(passed, "{text}");
    for step in ["fmt", "clippy", "examples", "test", "clients", "doc"] {
        assert!(text.contains(&format!("== {step}: ok in ")), "{step}: {text}");
    }
    assert!(text.contains("  tidy\n") && text.contains("  in all\n"), "{text}");
}

#[test]
fn the_first_failure_stops_the_run() {
    let wrong = SUM.replace("sum(2, 2), 4", "sum(2, 2), 5");
    let (passed, text) = ci(&workspace(&[("crates/sandbox-exec/src/sum.rs", &wrong)]));
    assert!(!passed, "{text}");
    assert!(text.contains("== clippy: ok in ") && text.contains("== test: FAILED in "), "{text}");
    assert!(text.contains("xtask: test failed") && !text.contains("== doc: "), "{text}");
}

#[test]
fn a_broken_example_in_the_documentation_fails() {
    let wrong = SUM.replace("sum(1, 2), 3", "sum(1, 2), 4");
    let (passed, text) = ci(&workspace(&[("crates/sandbox-exec/src/sum.rs", &wrong)]));
    assert!(!passed && text.contains("xtask: test failed"), "{text}");
}

#[test]
fn an_untidy_workspace_fails_before_anything_is_built() {
    let (passed, text) = ci(&workspace(&[("crates/sandbox-exec/src/utils.rs", "")]));
    assert!(!passed && text.contains("(banned name)"), "{text}");
    assert!(!text.contains("== clippy: "), "{text}");
}

#[test]
fn a_snapshot_that_no_test_asks_for_fails() {
    let source = "---\nsource: crates/sandbox-exec/src/sum.rs\n---\n4\n";
    let (passed, text) = ci(&workspace(&[("crates/sandbox-exec/src/snapshots/sum__old.snap", source)]));
    assert!(!passed, "{text}");
    assert!(text.contains("no test uses crates/sandbox-exec/src/snapshots/sum__old.snap"), "{text}");
}

#[test]
fn under_ci_missing_clients_fail_before_anything_else_runs() {
    let folder = workspace(&[]);
    let (passed, text) = run(task(&folder).env("CI", "true"));
    assert!(!passed, "{text}");
    assert!(text.contains("schemathesis==") && text.contains("cargo xtask setup"), "{text}");
    assert!(!text.contains("== fmt"), "{text}");
}

#[test]
fn a_dependency_rule_that_is_broken_stops_the_run() {
    let folder = workspace(&[("deny.toml", "[licenses]\nallow = []\n")]);
    let (passed, text) = ci(&folder);
    assert!(!passed && text.contains("names no licence"), "{text}");
}

#[test]
fn without_the_packages_of_the_tests_the_checks_do_not_begin() {
    let nothing = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let output =
        command.arg("ci").env("CI", "true").env("CARGO_TARGET_DIR", nothing.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("missing: ") && said.contains("; run `cargo xtask setup`, which installs them"),
        "{said}"
    );
    assert!(said.contains("mcp==") && said.contains("@modelcontextprotocol/inspector@"), "{said}");
    let begun = String::from_utf8_lossy(&output.stdout);
    assert!(!begun.contains("== fmt"), "{begun}");
}
