//! Placeholders that a model writes where their values could be shown to it.

use std::sync::Arc;

use memory_workspace::MemoryIndex;
use secret_placeholders::{PlaceholderIndex, Withheld};
use wap_core::{
    CodeIndex, DiagnoseImpact, IndexError, ListSymbols, ReadAst, ReadFile, ReadImpact, ReadSnippet, Reason,
    WapError, Workspace, WorkspaceExt, WriteFile,
};

use crate::masking::{secrets, token};
use crate::over_workspace::{over, read, with_call};

#[test]
fn a_refused_path_is_quoted_as_the_model_wrote_it() {
    let masked = over([("a.txt", format!("{}\n", token()))]);
    read(&masked, "a.txt", None);
    for path in ["⟦secret:npm-token:1⟧.key", "⟦secret:npm-token:1⟧/.env"] {
        let request = ReadFile { path: path.into(), ..ReadFile::default() };
        let error = with_call(0, |call| masked.read_file(call, &request)).unwrap_err();
        assert_eq!(error.reason(), Reason::Protected);
        assert!(error.message().contains(path), "{error}");
        assert!(!format!("{error:?}").contains(&token()), "{error:?}");
    }
}

#[test]
fn an_index_does_not_say_which_value_it_was_asked_for() {
    let secrets = Arc::new(secrets());
    let _ = secrets.mask(&token());
    let index = PlaceholderIndex::new(
        Box::new(MemoryIndex::with_files([("a.rs", "fn a() {}\n")])),
        Some(Arc::clone(&secrets)),
        Withheld::default(),
    );
    let name = "⟦secret:npm-token:1⟧".to_owned();
    let errors: Vec<IndexError> = with_call(0, |call| {
        let snippet = ReadSnippet { doc_id: name.clone(), window_lines: 3 };
        let impact = ReadImpact { file: name.clone(), max_depth: 1 };
        let imports = DiagnoseImpact { file: Some(name.clone()), limit: 1, offset: 0 };
        vec![
            index.snippet(call, &snippet).unwrap_err(),
            index.symbols(call, &ListSymbols { file: name.clone() }).unwrap_err(),
            index.ast(call, &ReadAst { file: name.clone(), max_nodes: 3 }).unwrap_err(),
            index.impact(call, &impact).unwrap_err(),
            index.impact_diagnostics(call, &imports).unwrap_err(),
        ]
    });
    for error in errors {
        assert!(!format!("{error:?}").contains(&token()), "{error:?}");
        assert!(error.to_string().contains(&name), "{error}");
    }
    let failing = MemoryIndex::default();
    failing.set_failure(Some(IndexError::Failed { cause: format!("cannot read {}", token()) }));
    let failing = PlaceholderIndex::new(Box::new(failing), Some(secrets), Withheld::default());
    let request = ListSymbols { file: "a.rs".into() };
    let error = with_call(0, |call| failing.symbols(call, &request)).unwrap_err();
    assert_eq!(error, IndexError::Failed { cause: format!("cannot read {name}") });
}

#[test]
fn an_invented_placeholder_next_to_a_value_does_not_uncover_it() {
    let secrets = secrets();
    let password = ["hunter", "2hunter", "2"].concat();
    let _ = secrets.mask(&format!("password = \"{password}\"\n"));
    // A command as it waits for a review: the invented placeholder stays, the other one is the value by now.
    let command = "login --password=\"⟦secret:none:9⟧⟦secret:password-assignment:1⟧\"";
    let waiting = secrets.restore(command).unwrap().into_owned();
    assert!(waiting.contains(&password));
    assert_eq!(secrets.mask_rest(&waiting), command);
}

#[test]
fn a_value_that_reads_like_a_word_of_the_protocol_does_not_change_an_answer() {
    let words = ["INVALID_ARGUMENT", "PERMISSION_DENIED", "EXECUTION_FAILED", "ENVIRONMENT_NOT_ALLOWED"];
    let lines: String = words.iter().map(|word| format!("https://me:{word}@host\n")).collect();
    let masked = over([("a.txt", lines)]);
    let visible = read(&masked, "a.txt", None);
    assert!(words.iter().all(|word| !visible.contains(word)), "{visible}");
    let request = WriteFile { path: ".git/config".into(), content: "x".into(), ..WriteFile::default() };
    let error = with_call(1, |call| masked.write_file(call, &request)).unwrap_err();
    assert_eq!(error.reason(), Reason::Protected);
    for reason in [Reason::Conflict, Reason::EnvironmentNotAllowed, Reason::SandboxUnavailable] {
        let command = format!("x {}", reason.name());
        masked.inner().on_command(&command, Err(WapError::new(reason, format!("it was {}", words[0]))));
        let request = wap_core::ExecuteCommand { command, ..Default::default() };
        let step = 2 + reason.name().len() as u32;
        let error = with_call(step, |call| masked.execute_command(call, &request, &mut wap_core::Unobserved));
        let error = error.unwrap_err();
        assert_eq!(error.reason(), reason);
        assert_eq!(error.message(), "it was ⟦secret:address-password:1⟧");
    }
}
