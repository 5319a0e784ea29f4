//! Edits by the line numbers of an earlier version of a file with a value below its name.

use wap_core::{
    FileChange, FileVersion, ModifyFile, ModifyOperation, Reason, SeenVersions, WapError, Workspace,
};

use crate::over_workspace::{Masked, over, read, with_call};

fn file() -> String {
    "env:\n- name: DB_PASSWORD\n  value: correct-horse-battery-7\n- name: X\n  value: y\n- name: Z\n  value: z\n"
        .to_owned()
}

fn replace(line: i64, content: &str) -> ModifyOperation {
    ModifyOperation::Replace { start_line: line, end_line: line, new_content: content.into(), was: None }
}

fn version(masked: &Masked) -> FileVersion {
    let request = wap_core::ReadFile { path: "k.yaml".into(), ..wap_core::ReadFile::default() };
    with_call(0, |call| masked.read_file(call, &request)).unwrap().version.unwrap()
}

/// Edits by the numbers of a version.
fn edit(
    masked: &Masked,
    step: u32,
    base: &FileVersion,
    operation: ModifyOperation,
) -> Result<String, WapError> {
    let request = ModifyFile {
        path: "k.yaml".into(),
        operations: vec![operation],
        expected_version: Some(base.clone()),
        ..ModifyFile::default()
    };
    edit_by(masked, step, request)
}

fn edit_by(masked: &Masked, step: u32, request: ModifyFile) -> Result<String, WapError> {
    let change = FileChange::Modify(request);
    let outcome = with_call(step, |call| masked.change_files(call, &[change])).unwrap().remove(0);
    outcome.map(|_| masked.inner().text("k.yaml").unwrap())
}

#[test]
fn a_second_edit_by_the_numbers_that_were_shown_is_carried_out() {
    for is_read in [true, false] {
        let masked = over([("k.yaml", file())]);
        let other = over([("k.yaml", file())]);
        let base = version(if is_read { &masked } else { &other });
        let text = edit(&masked, 1, &base, replace(1, "# a\n# b\nenv:")).unwrap();
        assert_eq!(text, file().replace("env:", "# a\n# b\nenv:"));
        let text = edit(&masked, 2, &base, replace(7, "  value: zz")).unwrap();
        assert_eq!(text, file().replace("env:", "# a\n# b\nenv:").replace(": z\n", ": zz\n"));
        let insert = ModifyOperation::Insert {
            after_line: 5,
            new_content: "  # five".into(),
            was: Some("  value: y".into()),
        };
        assert!(edit(&masked, 3, &base, insert).unwrap().contains("  value: y\n  # five\n- name: Z"));
        // The control: the line of the name, by the same numbers, and lines that the numbers do not mean any more.
        let delete = |line| ModifyOperation::Delete { start_line: line, end_line: line, was: None };
        let error = edit(&masked, 4, &base, delete(2)).unwrap_err();
        assert_eq!(error.reason(), Reason::Protected, "{error:?}");
        assert!(error.message().contains("no longer be hidden"), "{error:?}");
        assert!(edit(&masked, 5, &base, delete(7)).is_err());
        assert!(!read(&masked, "k.yaml", None).contains("horse"));
    }
}

#[test]
fn an_edit_that_can_mean_the_name_is_refused_wherever_the_engine_would_make_it() {
    // The first line occurs twice, and one occurrence is the name of the value.
    let text = "- name: DB_PASSWORD\n  value: correct-horse-battery-7\n- name: A\n  value: b\n";
    let masked = over([("k.yaml", format!("- name: DB_PASSWORD\n- name: B\n{text}"))]);
    let base = version(&masked);
    edit(&masked, 1, &base, replace(6, "  value: c")).unwrap();
    let remove = |masked: &Masked, base: &FileVersion, line| {
        edit(masked, 2, base, ModifyOperation::Delete { start_line: line, end_line: line, was: None })
    };
    assert_eq!(remove(&masked, &base, 1).unwrap_err().reason(), Reason::Protected);
    // The control: by the numbers of the current version it can only refer to that line.
    let now = version(&masked);
    assert!(remove(&masked, &now, 1).unwrap().starts_with("- name: B\n- name: DB_PASSWORD\n"));
}

#[test]
fn numbers_of_a_version_that_is_unknown_mean_the_present_one_if_it_was_shown_since() {
    let edited = |base: SeenVersions, operation: ModifyOperation| {
        let masked = over([("k.yaml", file().replace("env:", "# a\nenv:"))]);
        let now = version(&over([("k.yaml", file().replace("env:", "# a\nenv:"))]));
        let last_answer = base.last_answer.map(|_| now);
        let seen_versions = Some(SeenVersions { last_answer, ..base });
        let operations = vec![operation];
        edit_by(
            &masked,
            1,
            ModifyFile { path: "k.yaml".into(), operations, seen_versions, ..ModifyFile::default() },
        )
    };
    let unknown = || FileVersion("unknown".into());
    let base = |last_answer: bool| SeenVersions {
        by_operation: vec![Some(unknown())],
        last_answer: last_answer.then(unknown),
        unknown: false,
    };
    // The engine does not know that version either, and refuses in its own words.
    let error = edited(base(true), replace(8, "  value: zz")).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict, "{error:?}");
    let with_was = ModifyOperation::Replace {
        start_line: 8,
        end_line: 8,
        new_content: "  value: zz".into(),
        was: Some("  value: z".into()),
    };
    assert!(edited(base(true), with_was.clone()).unwrap().ends_with("  value: zz\n"));
    // The control: the present version was not shown, and the line of the name.
    assert_eq!(edited(base(false), replace(8, "  value: zz")).unwrap_err().reason(), Reason::Protected);
    let of_name =
        ModifyOperation::Delete { start_line: 3, end_line: 3, was: Some("- name: DB_PASSWORD".into()) };
    assert_eq!(edited(base(true), of_name).unwrap_err().reason(), Reason::Protected);
}

#[test]
fn the_line_of_a_value_below_its_name_is_replaced_on_its_own() {
    let marker = "⟦secret:password-assignment:1⟧";
    let value = "correct-horse-battery-7";
    for line in ["  value: {}", "  value: \"{}\"", "  value: {} # main", "  value: {}\n- name: A\n  value: b"]
    {
        let masked = over([("k.yaml", file())]);
        let base = version(&masked);
        let text = edit(&masked, 1, &base, replace(3, &line.replace("{}", marker))).unwrap();
        assert_eq!(text, file().replace(&format!("  value: {value}"), &line.replace("{}", value)));
    }
    let masked = over([("k.yaml", file())]);
    let base = version(&masked);
    // The controls: below another name, and without its own one.
    let refused = edit(&masked, 1, &base, replace(5, &format!("  value: {marker}"))).unwrap_err();
    assert!(refused.message().contains("is hidden only on a line like its own"), "{refused:?}");
    let deleted = ModifyOperation::Delete { start_line: 2, end_line: 2, was: None };
    let refused = edit(&masked, 2, &base, deleted).unwrap_err();
    assert_eq!(refused.reason(), Reason::Protected);
    assert!(refused.message().contains("replace or delete both lines together"), "{refused:?}");
    assert_eq!(masked.inner().text("k.yaml").unwrap(), file());
}
