//! Requests that become large when their values are put back.

use wap_core::{
    ExecuteCommand, ExploreFiles, ModifyFile, QueryType, ReadFile, Reason, SearchFiles, Unobserved, WapError,
    Workspace, WorkspaceExt, WriteFile, WriteMode,
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
    // The control: with fewer, they are put back.
    with_call(8, |call| masked.write_file(call, &write(name(3)))).unwrap();
    assert_eq!(masked.inner().text("b.txt").unwrap().len(), 3 * VALUE_BYTES);
}
