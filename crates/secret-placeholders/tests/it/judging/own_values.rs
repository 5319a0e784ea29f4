//! Edits that name a value which the model itself has written.

use memory_workspace::MemoryWorkspace;
use secret_placeholders::{MemoryStore, PlaceholderWorkspace, Secrets, Withheld};
use std::sync::Arc;
use wap_core::{
    Call, CancelFlag, ConversationId, ModifyFile, ModifyOperation, Origin, Reason, Retention, RunKey,
    WapError, Workspace, WorkspaceExt, WriteFile, WriteMode,
};

use crate::judging::whole_lines;
use crate::over_workspace::{Masked, over, read};
use crate::uncovering::text;

/// Makes a call of a conversation.
fn of<T>(conversation: &str, step: u32, act: impl FnOnce(&Call<'_>) -> T) -> T {
    let origin = Origin {
        conversation: ConversationId(conversation.into()),
        run: RunKey::unnumbered("1"),
        step,
        retention: Retention::Process,
    };
    act(&Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}

fn write(masked: &Masked, conversation: &str, step: u32, path: &str, content: &str, mode: WriteMode) {
    let (path, content) = (path.to_owned(), content.to_owned());
    let request = WriteFile { path, content, mode: Some(mode), ..WriteFile::default() };
    of(conversation, step, |call| masked.write_file(call, &request)).unwrap();
}

fn edit(
    masked: &Masked,
    conversation: &str,
    step: u32,
    path: &str,
    operation: ModifyOperation,
) -> Result<(), WapError> {
    let request = ModifyFile { path: path.into(), operations: vec![operation], ..ModifyFile::default() };
    of(conversation, step, |call| masked.modify_file(call, &request)).map(drop)
}

fn regex(pattern: &str, replacement: &str) -> ModifyOperation {
    ModifyOperation::RegexReplace {
        pattern: pattern.into(),
        replacement: replacement.into(),
        flags: Some("g".into()),
    }
}

/// A file that a model writes, with a value that is hidden everywhere and one that is hidden in its field.
const FILE: &str = "[db]\nhost = \"here\"\npassword = \"s3cretHorse9\"\npwd = \"postgres\"\n";

#[test]
fn a_value_that_the_model_has_written_may_be_named_in_an_edit() {
    let marker = "⟦secret:password-assignment:1⟧";
    let edits = [
        (text("password = \"s3cretHorse9\"", "password = \"other7Horse\""), "s3cretHorse9", "other7Horse"),
        (text("= \"s3cretHorse9\"", "= \"\""), "s3cretHorse9", ""),
        (text("s3cretHorse9", "s3cretHorse10"), "s3cretHorse9", "s3cretHorse10"),
        (text("pwd = \"postgres\"", "pwd = os.environ[\"PWD\"]"), "\"postgres\"", "os.environ[\"PWD\"]"),
        (whole_lines("password = \"s3cretHorse9\"", "password = \"x\""), "s3cretHorse9", "x"),
        (regex("\"(s3cret)Horse9\"", "\"$1Horse8\""), "Horse9", "Horse8"),
        // Its placeholder still stands for it, and both may be in one edit.
        (text(&format!("password = \"{marker}\""), "password = \"y\""), "s3cretHorse9", "y"),
        (
            text(&format!("password = \"{marker}\"\npwd = \"postgres\""), "pwd = \"\""),
            "password = \"s3cretHorse9\"\npwd = \"postgres\"",
            "pwd = \"\"",
        ),
    ];
    for (operation, old, new) in edits {
        let masked = over([]);
        write(&masked, "one", 1, "a.toml", FILE, WriteMode::Create);
        assert!(read(&masked, "a.toml", None).contains(marker));
        // The control: to another conversation it is a guess, as it is in a file that this one has not written.
        masked.inner().set_file("b.toml", FILE);
        let is_named = !format!("{operation:?}").contains(marker);
        for (conversation, path) in [("other", "a.toml"), ("one", "b.toml")] {
            let answer = edit(&masked, conversation, 2, path, operation.clone());
            assert!(answer.is_err() || !is_named, "{operation:?}: {conversation} {path}");
        }
        if !is_named {
            masked.inner().set_file("a.toml", FILE);
        }
        edit(&masked, "one", 3, "a.toml", operation.clone())
            .unwrap_or_else(|error| panic!("{operation:?}: {error:?}"));
        assert_eq!(masked.inner().text("a.toml").unwrap(), FILE.replacen(old, new, 1), "{operation:?}");
        assert!(!read(&masked, "a.toml", None).contains("Horse9\""), "{operation:?}");
    }
}

#[test]
fn values_of_others_in_the_same_file_stay_guesses() {
    let masked = over([("a.toml", FILE.to_owned())]);
    write(&masked, "one", 1, "a.toml", "token_password = \"mine4Horse\"\n", WriteMode::Append);
    let user = text("password = \"s3cretHorse9\"", "password = \"\"");
    let error = edit(&masked, "one", 2, "a.toml", user.clone()).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert!(error.message().contains("write the placeholders"), "{error:?}");
    // A part of a value that begins like the model's own is not the model's either.
    assert!(edit(&masked, "one", 3, "a.toml", text("s3cret", "")).is_err());
    edit(&masked, "one", 4, "a.toml", text("token_password = \"mine4Horse\"", "token_password = \"a\""))
        .unwrap();
    assert_eq!(masked.inner().text("a.toml").unwrap(), format!("{FILE}token_password = \"a\"\n"));
    // The control: once the conversation is over, nothing is its own.
    write(&masked, "one", 5, "a.toml", FILE, WriteMode::Overwrite);
    of("one", 6, |call| masked.end_conversation(&call.origin.conversation));
    assert!(edit(&masked, "one", 7, "a.toml", user).is_err());
}

#[test]
fn what_the_model_has_written_is_known_over_another_workspace_with_the_same_rules() {
    let secrets = Arc::new(Secrets::open(MemoryStore::default()).unwrap());
    let masked = PlaceholderWorkspace::new(MemoryWorkspace::new(), Some(secrets), Withheld::default());
    write(&masked, "one", 1, "a.toml", FILE, WriteMode::Create);
    let other = masked.over(MemoryWorkspace::with_files([("a.toml", FILE)]));
    edit(&other, "one", 2, "a.toml", text("s3cretHorse9", "x")).unwrap();
    // The control: without what was written, it is a guess.
    let secrets = masked.secrets().cloned();
    let inner = MemoryWorkspace::with_files([("a.toml", FILE)]);
    let fresh = PlaceholderWorkspace::new(inner, secrets, Withheld::default());
    assert!(edit(&fresh, "one", 2, "a.toml", text("s3cretHorse9", "x")).is_err());
}

#[test]
fn a_line_after_a_private_key_is_compared_with_itself() {
    let key = format!(
        "-----BEGIN {0}-----\n{1}\n{1}\n-----END {0}-----\n",
        "PRIVATE KEY",
        "MIIEvQIBADANBgkq".repeat(4)
    );
    let file = format!("{key}host = \"here\"\nport = 1\n");
    let edited = |was: &str| {
        let masked = over([("a.conf", file.clone())]);
        let view = read(&masked, "a.conf", None);
        assert!(!view.contains("MIIEvQIBADANBgkq"), "{view}");
        let line = 1 + view.lines().position(|line| line.starts_with("host")).unwrap();
        let line = i64::try_from(line).unwrap();
        let operation = ModifyOperation::Replace {
            start_line: line,
            end_line: line,
            new_content: "host = \"there\"".into(),
            was: Some(was.into()),
        };
        edit(&masked, "one", 1, "a.conf", operation).map(|()| masked.inner().text("a.conf").unwrap())
    };
    assert_eq!(edited("host = \"here\"").unwrap(), file.replace("here", "there"));
    // The control: another line is none of the file.
    assert!(edited("host = \"hers\"").is_err());
}
