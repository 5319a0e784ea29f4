//! Differences in the middle of a private key, where no line says of what it is a part.

use std::fs;
use std::sync::Arc;

use test_support::Caller;
use wap_core::{CancelFlag, FileChange, Workspace, WriteFile};
use workspace_host::{
    HostOptions, NoNotices, RunViews, SecretRules, SecretUse, SharedNotices, SharedWorkspace, UndoRequest,
    WorkspacePaths, undo_text,
};

/// The part of a key's lines that must not leave.
const BODY: &str = "Ab3/";

/// Returns a key whose line with this number begins with other letters.
fn key(changed: usize, letters: &str) -> String {
    let line = |line: usize| format!("{}{}\n", if line == changed { letters } else { "aa" }, BODY.repeat(15));
    let boundary = |word| format!("-----{word} {}{}-----\n", "RSA PRIVATE ", "KEY");
    format!("{}{}{}", boundary("BEGIN"), (0..40).map(line).collect::<String>(), boundary("END"))
}

/// The views of a change of one line of a key, which was changed again since.
const VIEWS: [&str; 3] = ["undo", "run", "work"];

/// Returns a view in a workspace of its own: what one has recognised, the others would hide as well.
fn view(name: &str, secrets: SecretUse) -> String {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions { secrets, ..HostOptions::new(folder.path()) };
    let paths = WorkspacePaths::find(&options).unwrap();
    let rules = SecretRules::open(&options, &paths).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let workspace = SharedWorkspace::new(&options, &paths, &notices);
    workspace.open().unwrap();
    for content in [key(0, "aa"), key(20, "bb")] {
        let write = WriteFile { path: "deploy.txt".into(), content, ..WriteFile::default() };
        let caller = Caller::once();
        workspace.change_files(&caller.call(), &[FileChange::Write(write)]).unwrap().remove(0).unwrap();
    }
    if name == "undo" {
        fs::write(folder.path().join("deploy.txt"), key(20, "cc")).unwrap();
        let request = UndoRequest { change: Some(2), ..UndoRequest::default() };
        let refused = workspace.undo(&request, &Caller::once().call()).unwrap();
        return undo_text(refused, 100_000, &rules).unwrap_err();
    }
    workspace.leave(&CancelFlag::new());
    drop(workspace);
    let (runs, never) = (RunViews::new(&paths, &rules), CancelFlag::new());
    match name {
        "run" => runs.differences(2, &never),
        _ => runs.work("other", None, &never),
    }
    .unwrap()
    .unwrap()
}

#[test]
fn a_difference_within_a_key_shows_none_of_its_lines() {
    for name in VIEWS {
        let text = view(name, SecretUse::Mask);
        assert!(!text.contains(BODY), "{name}: {text}");
        assert!(text.contains("⟦secret:private-key:"), "{name}: {text}");
    }
}

#[test]
fn a_difference_within_a_key_is_shown_to_a_user_who_has_chosen_so() {
    for name in VIEWS {
        let text = view(name, SecretUse::Show);
        assert!(text.contains(BODY), "{name}: {text}");
        assert!(name == "work" || !text.contains("BEGIN"), "no line of it says what it is: {name}: {text}");
    }
}
