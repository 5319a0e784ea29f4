//! Running programs.

use std::time::Duration;

use xtask::{Step, TaskError};

#[test]
fn a_program_that_fails_fails_the_step() {
    assert!(Step::cargo("version", &["--version"]).run().is_ok());
    let failed = Step::cargo("nonsense", &["no-such-task-anywhere"]).run().unwrap_err();
    assert!(matches!(&failed, TaskError::StepFailed { step } if step == "nonsense"), "{failed}");
    let missing = Step::new("missing", "a-program-that-is-not-there", &["x"]).run().unwrap_err();
    assert!(matches!(missing, TaskError::NotStarted { .. }));
}

#[test]
fn variables_and_the_folder_reach_the_program() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"sample\"\n").unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/lib.rs"), "").unwrap();
    let step = Step::cargo("id", &["metadata", "--format-version", "1", "--no-deps"])
        .variable("CARGO_TARGET_DIR", "elsewhere")
        .folder(folder.path());
    let output = String::from_utf8(step.output().unwrap()).unwrap();
    assert!(output.contains("\"name\":\"sample\""), "{output}");
    assert!(output.contains("elsewhere\""), "{output}");
}

#[test]
fn an_exit_code_is_returned_and_a_program_beyond_its_time_is_interrupted() {
    let shell = |script: &str| Step::new("shell", "sh", &["-c", script]);
    assert_eq!(shell("exit 3").exit_code(None).unwrap(), Some(3));
    assert_eq!(shell("exit 3").exit_code(Some(Duration::from_secs(600))).unwrap(), Some(3));
    assert_eq!(shell("exec sleep 600").exit_code(Some(Duration::ZERO)).unwrap(), None);
}
