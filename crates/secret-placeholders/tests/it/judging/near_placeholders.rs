//! Texts that resemble a placeholder, and placeholders that were never issued.

use wap_core::{ExecuteCommand, FileChange, FileChanged, Reason, Unobserved, WapError, Workspace, WriteFile};

use crate::judging::edit;
use crate::over_workspace::{Masked, over, read, with_call};
use crate::uncovering::text;

fn value() -> String {
    ["kX7qzWm2", "Rt9xB4"].concat()
}

fn write(masked: &Masked, step: u32, path: &str, password: &str) -> Result<FileChanged, WapError> {
    let content = format!("x = 2\npassword = \"{password}\"\n");
    let change = FileChange::Write(WriteFile { path: path.into(), content, ..WriteFile::default() });
    with_call(step, |call| masked.change_files(call, &[change])).unwrap().remove(0)
}

fn file() -> Masked {
    let masked = over([("a.py", format!("x = 1\npassword = \"{}\"\n", value()))]);
    assert!(read(&masked, "a.py", None).contains("⟦secret:password-assignment:1⟧"));
    masked
}

#[test]
fn what_is_nearly_a_placeholder_is_not_written_instead_of_the_value() {
    for near in [
        "[secret:password-assignment:1]",
        "[[secret:password-assignment:1]]",
        "⟦ secret:password-assignment:1 ⟧",
        "⟦SECRET:password-assignment:1⟧",
        "⟦secret:password\u{2011}assignment:1⟧",
        "⟦secret:password_assignment:1⟧",
        "⟦secret:password-assignment:01⟧",
        "⟦secret:password-assignment:1\u{200b}⟧",
        "〚secret:password-assignment:1〛",
        "⟦secret:password-assignment:1",
        "⟦secret:password-assignment:7⟧",
        "⟦secret:password-assignment: 1⟧",
        "⟦secret: password-assignment:1⟧",
        "⟦secrets:password-assignment:1⟧",
        "⟦secret:password-assignment-1⟧",
        "⟦secret:password-assignment#1⟧",
        "⟦secret:password-assignment⟧",
        "⟦password-assignment:1⟧",
        "⟦secret:password assignment:1⟧",
        "⟦secret:password:1⟧",
        "⟦secret：password-assignment：1⟧",
        "%E2%9F%A6secret%3Apassword-assignment%3A1%E2%9F%A7",
        r"⟦secret\:password-assignment\:1⟧",
    ] {
        let masked = file();
        let before = masked.inner().text("a.py").unwrap();
        for outcome in [write(&masked, 1, "a.py", near), edit(&masked, 2, "a.py", vec![text("x = 1", near)])]
        {
            let error = outcome.unwrap_err();
            assert_eq!(error.reason(), Reason::InvalidField, "{near}: {error:?}");
            assert!(error.message().contains("exactly"), "{near}: {error:?}");
        }
        assert_eq!(masked.inner().text("a.py").unwrap(), before, "{near}");
    }
    // The control: the placeholder itself, and texts that do not resemble one.
    let masked = file();
    for (step, password) in
        ["⟦secret:password-assignment:1⟧", "arn:secret:name:x", "changeme"].iter().enumerate()
    {
        write(&masked, u32::try_from(step).unwrap() + 1, "a.py", password).unwrap();
        let written = masked.inner().text("a.py").unwrap();
        assert!(written.contains(password) != written.contains(&value()), "{written}");
    }
}

#[test]
fn a_file_that_has_such_a_text_stays_editable() {
    let line = "See [secret:password-assignment:1] and secret:npm-token:7.\n";
    let masked = over([("a.py", format!("password = \"{}\"\n{line}", value()))]);
    read(&masked, "a.py", None);
    let replacement = "Look at [secret:password-assignment:1]";
    edit(&masked, 1, "a.py", vec![text("See [secret:password-assignment:1]", replacement)]).unwrap();
    assert!(masked.inner().text("a.py").unwrap().contains(replacement));
    // A number that was never issued has no value.
    write(&masked, 2, "b.md", "secret:npm-token:7").unwrap();
}

#[test]
fn a_placeholder_that_was_never_issued_is_written_with_a_warning() {
    let masked = file();
    let warnings = |changed: FileChanged| match changed {
        FileChanged::Written(written) => written.warnings,
        other => panic!("{other:?}"),
    };
    let warned = warnings(write(&masked, 1, "b.md", "⟦secret:npm-token:7⟧").unwrap());
    assert!(
        warned.iter().any(|warning| warning.contains("⟦secret:npm-token:7⟧ was never issued")),
        "{warned:?}"
    );
    assert!(masked.inner().text("b.md").unwrap().contains("⟦secret:npm-token:7⟧"));
    // The control: a number that was issued.
    let warned = warnings(write(&masked, 2, "c.py", "⟦secret:password-assignment:1⟧").unwrap());
    assert!(!warned.iter().any(|warning| warning.contains("given out")), "{warned:?}");
}

#[test]
fn a_file_without_values_takes_a_text_about_placeholders() {
    let masked = file();
    let content = "The password (secret:password-assignment:1) is read by main: ⟦x⟧.\n";
    let change = || {
        FileChange::Write(WriteFile {
            path: "NOTES.md".into(),
            content: content.into(),
            ..WriteFile::default()
        })
    };
    with_call(1, |call| masked.change_files(call, &[change()])).unwrap().remove(0).unwrap();
    assert_eq!(masked.inner().text("NOTES.md").unwrap(), content);
    assert_eq!(read(&masked, "NOTES.md", None), content);
}

#[test]
fn what_is_nearly_a_placeholder_is_no_value_of_its_own() {
    let masked = over([
        ("a.py", format!("x = 1\npassword = \"{}\"\n", value())),
        ("b.yml", "db:\n  password: [secret:password-assignment:1]\n".to_owned()),
        ("c.py", "password = \"[secret:not-a-kind:1]\"\n".to_owned()),
    ]);
    read(&masked, "a.py", None);
    assert_eq!(read(&masked, "b.yml", None), masked.inner().text("b.yml").unwrap());
    // The control: other words between the same characters.
    assert_ne!(read(&masked, "c.py", None), masked.inner().text("c.py").unwrap());
}

#[test]
fn a_command_with_what_is_nearly_a_placeholder_is_refused() {
    let run = |text: &str| {
        let masked = file();
        let command = ExecuteCommand { command: text.to_owned(), ..ExecuteCommand::default() };
        with_call(1, |call| masked.execute_command(call, &command, &mut Unobserved)).unwrap_err().reason()
    };
    for near in
        ["[secret:password-assignment:1]", "⟦secret:password-assignment⟧", "secret%3Apassword-assignment%3A1"]
    {
        assert_eq!(run(&format!("printf 'password: {near}' > a.yml")), Reason::InvalidField, "{near}");
    }
    // The control: a placeholder, and words that do not resemble one. No command has an answer here.
    for text in [
        "echo ⟦secret:password-assignment:1⟧",
        "echo ⟦secret:npm-token:1⟧ ⟦x⟧",
        "grep -rn 'secret: password-assignment' .",
        "kubectl get secret password-assignment",
    ] {
        assert_eq!(run(text), Reason::SandboxUnavailable, "{text}");
    }
}

#[test]
fn a_refused_edit_keeps_no_value_that_is_in_no_file() {
    let masked = over([("a.yaml", "- name: DB_PASSWORD\n  value: correct-horse-battery-7\n".to_owned())]);
    read(&masked, "a.yaml", None);
    let placeholder = "⟦secret:password-assignment:1⟧";
    let next = |masked: &Masked| {
        let text = format!("password = \"{}\"\n", value());
        masked.secrets().unwrap().mask(&text).into_owned()
    };
    let operations = vec![text("- name: DB_PASSWORD\n", "password = \"aB7xQw9zKm2p\"\n")];
    let error = edit(&masked, 1, "a.yaml", operations).unwrap_err();
    assert_eq!(error.reason(), Reason::Protected, "{error:?}");
    assert_eq!(next(&masked), format!("password = \"{}\"\n", placeholder.replace('1', "2")));
    // The control: an edit that is carried out.
    let masked = over([("a.yaml", "password: correct-horse-battery-7\n".to_owned())]);
    read(&masked, "a.yaml", None);
    edit(&masked, 1, "a.yaml", vec![text("password: ", "pwd = \"aB7xQw9zKm2p\"\npassword: ")]).unwrap();
    read(&masked, "a.yaml", None);
    assert_eq!(next(&masked), format!("password = \"{}\"\n", placeholder.replace('1', "3")));
}
