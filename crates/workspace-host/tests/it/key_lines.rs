//! Differences in the middle of a private key, where no line says of what it is a part.

use std::fs;
use std::sync::Arc;

use change_review::{Content, FileStep, Proposal, ProposalId, ProposedStep, State, StepEffect, hunks};
use test_support::Caller;
use wap_core::{CancelFlag, FileChange, Workspace, WriteFile};
use workspace_host::{
    HostOptions, NoNotices, RunViews, SecretRules, SecretUse, SharedNotices, SharedWorkspace, ShownProposal,
    UndoRefusal, UndoRequest, WorkspacePaths, proposal_text, undo_text,
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
const VIEWS: [&str; 4] = ["undo", "run", "work", "proposal"];

/// As many values as the map of placeholders has room for.
const MOST_VALUES: usize = 10_000;

/// Fills the map with values: each text takes at most half of the room that is left.
fn fill(rules: &SecretRules) {
    let mut values = (0..MOST_VALUES).map(|number| format!("ghp_{number:036}\n"));
    let mut masked = String::new();
    while values.len() > 0 {
        let half = values.len().div_ceil(2);
        let text: String = values.by_ref().take(half).collect();
        masked = rules.mask_file_text(&text);
    }
    assert!(masked.contains(&format!("⟦secret:github-pat:{MOST_VALUES}⟧")), "the map is full: {masked}");
}

/// Returns a view in a workspace of its own: what one has recognised, the others would hide as well. With `is_full`, the map of
/// placeholders has room for nothing.
fn view(name: &str, secrets: SecretUse, is_full: bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions { secrets, ..HostOptions::new(folder.path()) };
    let paths = WorkspacePaths::find(&options).unwrap();
    let rules = SecretRules::open(&options, &paths).unwrap();
    if is_full {
        fill(&rules);
    }
    if name == "proposal" {
        return proposal_text(&proposal(&key(20, "bb"), &key(20, "cc")), &rules);
    }
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

/// Returns a proposal that changes a file.
fn proposal(before: &str, after: &str) -> ShownProposal {
    let file = FileStep {
        path: "deploy.txt".to_owned(),
        before: Some(before.to_owned()),
        after: Some(after.to_owned()),
        hunks: hunks(before, after),
        ..FileStep::default()
    };
    let title = "change deploy.txt".to_owned();
    let step = ProposedStep { step: 0, title, effect: StepEffect::File(file), problem: None };
    let proposal = Proposal {
        id: ProposalId(1),
        conversation: "client".to_owned(),
        front_end: "mcp".to_owned(),
        came_at: 0,
        subject: "change deploy.txt".to_owned(),
        content: Content::Reply(serde_json::json!(null)),
        steps: vec![step],
        is_tried: false,
        state: State::Pending,
    };
    ShownProposal { proposal, draft: Default::default(), positions: Vec::new(), tried: None, since: None }
}

#[test]
fn a_difference_within_a_key_shows_none_of_its_lines() {
    for (name, is_full) in VIEWS.into_iter().flat_map(|name| [(name, false), (name, true)]) {
        let text = view(name, SecretUse::Mask, is_full);
        assert!(!text.contains(BODY), "{name}, {is_full}: {text}");
        // Its lines have no numbers where the map has no room for them.
        let is_hidden = text.contains("⟦secret:private-key:") || text.contains("only secrets have changed");
        assert!(is_hidden, "{name}, {is_full}: {text}");
    }
}

#[test]
fn a_hunk_whose_text_is_not_kept_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let rules = |secrets| {
        let options = HostOptions { secrets, ..HostOptions::new(folder.path()) };
        SecretRules::open(&options, &WorkspacePaths::find(&options).unwrap()).unwrap()
    };
    let mut view = proposal("a\nb\nc\n", "a\nB\nC\n");
    let StepEffect::File(file) = &mut view.proposal.steps[0].effect else { panic!("it is a file") };
    file.before = None;
    let text = proposal_text(&view, &rules(SecretUse::Mask));
    assert!(
        !text.contains("-b") && text.contains("-(lines that are not shown") && text.contains("+B\n+C\n"),
        "{text}"
    );
    // The control: they are shown to a user who has chosen so.
    assert!(proposal_text(&view, &rules(SecretUse::Show)).contains("-b\n-c\n+B\n"));
}

#[test]
fn a_difference_within_a_key_is_shown_to_a_user_who_has_chosen_so() {
    for name in VIEWS {
        let text = view(name, SecretUse::Show, false);
        assert!(text.contains(BODY), "{name}: {text}");
        assert!(name == "work" || !text.contains("BEGIN"), "no line of it says what it is: {name}: {text}");
    }
}

#[test]
fn a_refused_undo_of_a_process_that_shows_secrets_is_quoted_without_its_difference() {
    let refusal: UndoRefusal = serde_json::from_value(serde_json::json!({
        "exit": 1, "message": "nothing was undone", "advice": null,
        "obstacles": [{ "path": "deploy.txt", "why": "has changed since", "diff": format!("-{BODY}\n") }],
    }))
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = |secrets| {
        let options = HostOptions { secrets, ..HostOptions::new(folder.path()) };
        let rules = SecretRules::open(&options, &WorkspacePaths::find(&options).unwrap()).unwrap();
        undo_text(Err(refusal.clone()), 10_000, &rules).unwrap_err()
    };
    let masked = text(SecretUse::Mask);
    assert!(!masked.contains(BODY) && masked.contains("readFile"), "{masked}");
    assert!(text(SecretUse::Show).contains(BODY), "the control: it is shown to who has chosen so");
}

#[test]
fn a_difference_that_placeholders_make_too_long_is_only_counted() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let rules = SecretRules::open(&options, &paths).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let workspace = SharedWorkspace::new(&options, &paths, &notices);
    workspace.open().unwrap();
    let lines = "ab\n".repeat(320_000);
    let start = format!("-----BEGIN {}{}-----\n{}\n", "RSA PRIVATE ", "KEY", BODY.repeat(16));
    for content in [lines.clone(), start + &lines] {
        let write = WriteFile { path: "a.txt".into(), content, ..WriteFile::default() };
        let caller = Caller::once();
        workspace.change_files(&caller.call(), &[FileChange::Write(write)]).unwrap().remove(0).unwrap();
    }
    workspace.leave(&CancelFlag::new());
    drop(workspace);
    let runs = RunViews::new(&paths, &rules);
    let text = |run| runs.differences(run, &CancelFlag::new()).unwrap().unwrap();
    // The control: without placeholders the same lines are shown.
    assert!(text(1).contains("+ab\n+ab\n"));
    assert_eq!(text(2), "[the differences of 1 files are left out, since they are long]\n");
}
