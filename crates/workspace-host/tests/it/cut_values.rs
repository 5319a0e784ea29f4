//! Values that a view of the history or of a proposal would cut.

use change_journal::{
    ChangeRecord, ContentHash, EntryRecord, Journal, JournalLimits, RunKey, RunState, StepKind, StepRecord,
};
use change_review::{Content, FileStep, Proposal, ProposalId, ProposedStep, State, StepEffect};
use local_workspace::Undone;
use serde_json::json;
use wap_core::CancelFlag;
use workspace_host::{
    HostOptions, LogPart, RunViews, SecretRules, SecretUse, ShownProposal, UndoAnswer, UndoRefusal,
    WorkspacePaths, log_page, proposal_text, undo_text,
};

/// A value that may stand in a path.
const VALUE: &str = "kX7qzW+m2Lr9-correct-Horse";

/// The shortest piece of it that must not leave.
const PIECE_BYTES: usize = 6;

/// The numbers of characters in front of the value. With one of them, each view cuts within it.
const PADDINGS: std::ops::Range<usize> = 20..230;

/// A workspace whose journal holds one run: a file was written, and a command about the same path has failed.
struct Recorded {
    _folder: tempfile::TempDir,
    paths: WorkspacePaths,
    rules: SecretRules,
}

impl Recorded {
    fn new(path: &str, secrets: SecretUse) -> Recorded {
        let folder = tempfile::tempdir().unwrap();
        let options = HostOptions { secrets, ..HostOptions::new(folder.path()) };
        let paths = WorkspacePaths::find(&options).unwrap();
        let rules = SecretRules::open(&options, &paths).unwrap();
        let _ = rules.mask_file_text(&format!("password = \"{VALUE}\"\n"));
        std::fs::create_dir_all(&paths.base).unwrap();
        let (journal, _) = Journal::open(&paths.base.join("journal"), JournalLimits::default()).unwrap();
        let key = RunKey { conversation: "client".into(), sequence: 0, content: ContentHash::of(b"") };
        let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("it is new") };
        let change = ChangeRecord::intended(path.as_bytes(), None, Some(EntryRecord::file(b"text\n")));
        let written = format!("write {path}");
        let failed = json!({ "Err": { "code": "EXECUTION_FAILED", "message": format!("no {path} there") } })
            .to_string();
        let steps = [
            StepRecord {
                kind: StepKind::FileChange,
                description: &written,
                outcome: b"",
                changes: vec![change],
            },
            StepRecord {
                kind: StepKind::ShellCommand,
                description: path,
                outcome: failed.as_bytes(),
                changes: Vec::new(),
            },
        ];
        journal.publish_changes(&journal.record_steps(run.number(), 0, &steps).unwrap()).unwrap();
        journal.finish_run(run.number(), b"", &[]).unwrap();
        Recorded { _folder: folder, paths, rules }
    }

    /// Returns each view, by its name.
    fn views(&self, path: &str) -> Vec<(&'static str, String)> {
        let runs = RunViews::new(&self.paths, &self.rules);
        let listed = runs.list(None).unwrap().runs.remove(0).description;
        let work = runs.work("other", None, &CancelFlag::new()).unwrap().unwrap();
        let part = LogPart { limit: 10, before: None, skip: 0, characters: 10_000 };
        let page = log_page(&self.paths, &part, &self.rules).unwrap();
        // A page ends within its first line if it must.
        let first_lines: Vec<String> = (0..4)
            .map(|skip| {
                log_page(&self.paths, &LogPart { skip, characters: 120, ..part }, &self.rules).unwrap()
            })
            .collect();
        let undone: Undone = serde_json::from_value(json!({
            "run": 1, "paths": [{ "path": path, "effect": "removed", "undoes": [1] }], "keptFolders": [path], "commands": [path],
            "notUndoable": [path],
        }))
        .unwrap();
        let answer = UndoAnswer { undone, taken_back_by: None, reply_is_open: false, bookkeeping: [].into() };
        let refusal: UndoRefusal = serde_json::from_value(json!({
            "exit": 1, "message": format!("`{path}` is in the way"), "advice": null,
            "obstacles": [{ "path": path, "why": "has changed", "diff": format!("-{path}\n"),
                "visible_diff": format!("-{path}\n") }],
        }))
        .unwrap();
        vec![
            ("list", listed),
            ("work", work),
            ("log", page),
            ("pages", first_lines.join("\n")),
            ("undo", undo_text(Ok(answer), 10_000, &self.rules).unwrap()),
            ("refused undo", undo_text(Err(refusal), 10_000, &self.rules).unwrap_err()),
            ("proposal", proposal_text(&proposal(path), &self.rules)),
        ]
    }
}

fn proposal(path: &str) -> ShownProposal {
    let file = FileStep {
        path: path.to_owned(),
        kind: Default::default(),
        mark: String::new(),
        before: None,
        after: Some("text\n".to_owned()),
        hunks: Vec::new(),
        note: None,
    };
    let title = format!("create {path}");
    let step = ProposedStep { step: 0, title, effect: StepEffect::File(file), problem: None };
    let proposal = Proposal {
        id: ProposalId(1),
        conversation: "client".to_owned(),
        front_end: "mcp".to_owned(),
        came_at: 0,
        subject: format!("change {path}"),
        content: Content::Reply(json!(null)),
        steps: vec![step],
        is_tried: false,
        state: State::Pending,
    };
    ShownProposal { proposal, draft: Default::default(), positions: Vec::new(), tried: None, since: None }
}

/// Returns the longest beginning of the value that a text holds, if it is long enough to matter.
fn leaked(text: &str) -> Option<&'static str> {
    (PIECE_BYTES..=VALUE.len()).rev().map(|end| &VALUE[..end]).find(|beginning| text.contains(beginning))
}

#[test]
fn no_view_shows_the_beginning_of_a_value_that_it_cuts() {
    for padding in PADDINGS.step_by(5) {
        let path = format!("{}-{VALUE}-long-name.txt", "p".repeat(padding));
        for (view, text) in Recorded::new(&path, SecretUse::Mask).views(&path) {
            assert_eq!(leaked(&text), None, "{view} after {padding} characters: {text}");
            assert!(text.contains("ppp"), "{view} is about the path: {text}");
        }
    }
}

#[test]
fn each_view_shows_the_value_to_a_user_who_has_chosen_so() {
    let path = format!("p-{VALUE}");
    for (view, text) in Recorded::new(&path, SecretUse::Show).views(&path) {
        assert_eq!(leaked(&text), Some(VALUE), "{view}: {text}");
    }
}

#[test]
fn blanks_that_a_line_loses_hide_no_value() {
    let recorded = Recorded::new("a", SecretUse::Mask);
    let value = "correct  horse\tbattery9";
    let masked = recorded.rules.mask_file_text(&format!("password = \"{value}\"\n"));
    assert!(!masked.contains("horse"), "the control: a rule finds it: {masked}");
    let line = recorded.rules.mask_line(&format!("echo {value}\n"), 100);
    assert!(!line.contains("horse"), "{line}");
}
