//! Requests with restored values: those that become large, and commands that print them.

mod escaped_values;
mod given_values;

use wap_core::{
    ExecuteCommand, ExploreFiles, ModifyFile, ModifyOperation, QueryType, ReadFile, Reason, SearchFiles,
    Unobserved, WapError, Workspace, WorkspaceExt, WriteFile, WriteMode,
};

use crate::over_workspace::{Masked, over, read, search, with_call};
use crate::uncovering::text;

/// The bytes of the secret.
const VALUE_BYTES: usize = 5 * 3_200;

fn masked() -> (Masked, String) {
    let value: String = (0..VALUE_BYTES / 5).map(|number| format!("{number:04}x")).collect();
    let masked = over([("a.txt", format!("password = \"{value}\"\n"))]);
    let view = read(&masked, "a.txt", None);
    let placeholder = view.split('"').nth(1).unwrap().to_owned();
    assert!(placeholder.starts_with("⟦secret:"), "{view}");
    (masked, placeholder)
}

fn write(content: String) -> WriteFile {
    WriteFile { path: "b.txt".into(), content, mode: Some(WriteMode::Overwrite), ..WriteFile::default() }
}

#[test]
fn a_request_that_its_values_make_too_large_is_refused() {
    let (masked, placeholder) = masked();
    let name = |count: usize| placeholder.repeat(count);
    type Attempt<'a> = Box<dyn Fn(usize) -> Result<(), WapError> + 'a>;
    let attempts: Vec<(usize, Attempt<'_>)> = vec![
        (
            1,
            Box::new(|count| {
                let request = ReadFile { path: name(count), ..ReadFile::default() };
                with_call(1, |call| masked.read_file(call, &request)).map(drop)
            }),
        ),
        (
            1,
            Box::new(|count| {
                let request = ExploreFiles { path: name(count), ..ExploreFiles::default() };
                with_call(2, |call| masked.explore_files(call, &request)).map(drop)
            }),
        ),
        (
            5,
            Box::new(|count| {
                let request = search(&name(count), QueryType::Literal);
                with_call(3, |call| masked.search_files(call, &request)).map(drop)
            }),
        ),
        (
            1,
            Box::new(|count| {
                let request = SearchFiles { paths: vec![name(count)], ..search("x", QueryType::Literal) };
                with_call(4, |call| masked.search_files(call, &request)).map(drop)
            }),
        ),
        (
            9,
            Box::new(|count| {
                let request =
                    ExecuteCommand { command: format!("true {}", name(count)), ..ExecuteCommand::default() };
                with_call(5, |call| masked.execute_command(call, &request, &mut Unobserved)).map(drop)
            }),
        ),
        (
            1_100,
            Box::new(|count| with_call(6, |call| masked.write_file(call, &write(name(count)))).map(drop)),
        ),
        (
            1_100,
            Box::new(|count| {
                let operations = vec![text(&name(count), "x")];
                let request = ModifyFile { path: "a.txt".into(), operations, ..ModifyFile::default() };
                with_call(7, |call| masked.modify_file(call, &request)).map(drop)
            }),
        ),
    ];
    for (index, (count, attempt)) in attempts.iter().enumerate() {
        let error = attempt(*count).unwrap_err();
        assert_eq!(error.reason(), Reason::RequestTooLarge, "{index}: {error:?}");
        assert!(error.message().contains("with the values of its placeholders"), "{index}: {error:?}");
    }
    assert!(masked.inner().commands_run().is_empty());
    // The control: with fewer, they are restored.
    with_call(8, |call| masked.write_file(call, &write(name(3)))).unwrap();
    assert_eq!(masked.inner().text("b.txt").unwrap().len(), 3 * VALUE_BYTES);
}

/// A file in an unknown encoding, with a password that is not ASCII.
const EIGHT_BIT: &[u8] = b"a = 1\npassword = \"p\xe4ssw\xf6rd-99xyz\"\nb = 2\n";

fn over_eight_bit() -> (Masked, String) {
    let masked = over([("c.txt", "one\n".to_owned())]);
    masked.inner().set_file("a.txt", EIGHT_BIT);
    let view = read(&masked, "a.txt", None);
    assert!(view.contains("password = \"⟦secret:password-assignment:1⟧\"\n"), "{view}");
    (masked, view)
}

#[test]
fn a_value_with_bytes_that_cannot_be_decoded_is_not_written() {
    let (masked, view) = over_eight_bit();
    let line = view.lines().nth(1).unwrap();
    let edit_of = |path: &str, operation| {
        let request = ModifyFile { path: path.into(), operations: vec![operation], ..ModifyFile::default() };
        with_call(11, |call| masked.modify_file(call, &request)).map(drop)
    };
    let overwrite = |step, path: &str| {
        let request = WriteFile { path: path.into(), ..write(view.clone()) };
        with_call(step, |call| masked.write_file(call, &request)).map(drop)
    };
    let command = ExecuteCommand { command: format!("echo '{line}'"), ..ExecuteCommand::default() };
    for refused in [
        overwrite(1, "a.txt"),
        overwrite(2, "b.txt"),
        with_call(3, |call| masked.execute_command(call, &command, &mut Unobserved)).map(drop),
        edit_of("c.txt", text("one", line)),
        edit_of("c.txt", ModifyOperation::Insert { after_line: 0, new_content: line.into(), was: None }),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidField, "{error:?}");
        assert!(error.message().contains("cannot be decoded"), "{error:?}");
        assert!(!format!("{error:?}").contains("99xyz"), "{error:?}");
    }
    let files = masked.inner().files();
    assert_eq!((files.len(), &*files["a.txt"], &*files["c.txt"]), (2, EIGHT_BIT, &b"one\n"[..]));
    assert!(masked.inner().commands_run().is_empty());
    // The control: the inner engine's text, written back, has other bytes.
    let raw = with_call(4, |call| {
        masked.inner().read_file(call, &ReadFile { path: "a.txt".into(), ..ReadFile::default() })
    });
    let request = WriteFile { path: "a.txt".into(), ..write(raw.unwrap().content) };
    with_call(5, |call| masked.inner().write_file(call, &request)).unwrap();
    assert_ne!(masked.inner().files()["a.txt"], EIGHT_BIT);
}

#[test]
fn an_edit_by_lines_keeps_the_bytes_of_a_value_that_cannot_be_decoded() {
    let (masked, view) = over_eight_bit();
    let line = view.lines().nth(1).unwrap();
    let edit = |step, operations| {
        let request = ModifyFile { path: "a.txt".into(), operations, ..ModifyFile::default() };
        with_call(step, |call| masked.modify_file(call, &request)).map(drop)
    };
    let insertion = |after_line, new_content: &str| ModifyOperation::Insert {
        after_line,
        new_content: new_content.into(),
        was: None,
    };
    edit(1, vec![insertion(0, "one\n"), insertion(3, "two\n"), text("b = 2", "b = 3")]).unwrap();
    let mut expected = b"one\n".to_vec();
    expected.extend_from_slice(&EIGHT_BIT[..EIGHT_BIT.len() - 6]);
    expected.extend_from_slice(b"b = 3\ntwo\n");
    let bytes = masked.inner().files()["a.txt"].clone();
    assert_eq!(bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
    // The line itself is compared as it is shown, and removed.
    let deletion = |was: &str| ModifyOperation::Delete { start_line: 3, end_line: 3, was: Some(was.into()) };
    edit(2, vec![deletion("password = \"other\"")]).unwrap_err();
    edit(3, vec![deletion(line)]).unwrap();
    assert!(!masked.inner().text("a.txt").unwrap().contains("password"));
}
