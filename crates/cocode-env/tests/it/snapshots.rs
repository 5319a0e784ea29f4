//! Texts that a user reads: every error and every reason for a failed part of a verdict.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use cocode_env::{
    AgentContext, AgentName, CheckResult, Evidence, ExitMeaning, HeadCommit, IssueUrl, ReadyMarker, Variable,
    Verdict,
};

const START: &str = "1111111111111111111111111111111111111111";
const BODY: &str = "Fix it.\n\nEnd with 'cocode ready for check'.";

fn ready_head() -> HeadCommit {
    HeadCommit {
        commit: "2".repeat(40),
        message: "fix\n\ncocode ready for check\n".to_owned(),
        is_message_whole: true,
        parents: 1,
        committed_at: 100,
        descends_from_start: true,
        was_made_here: true,
        changes_tree: true,
        unsound: None,
    }
}

/// Returns one line for each failed part, or `ready`.
fn render(head: Option<HeadCommit>, exit_code: Option<i32>, check_passed: bool, is_clean: bool) -> String {
    let marker = ReadyMarker::default();
    let check = CheckResult { passed: check_passed, detail: "exit code 2".to_owned() };
    let verdict = Verdict::of(&Evidence {
        exit_code,
        start_commit: START,
        launched_at: 100,
        marker: &marker,
        issue_body: BODY,
        head,
        is_clean: Some(is_clean),
        check: Some(check),
    });
    let failed = verdict.parts.iter().filter(|part| !part.holds);
    let lines: Vec<String> = failed.map(|part| format!("{}: {}", part.name.name(), part.why)).collect();
    if lines.is_empty() { "ready".to_owned() } else { lines.join("\n") }
}

fn with_message(message: &str) -> HeadCommit {
    HeadCommit { message: message.to_owned(), ..ready_head() }
}

#[test]
fn a_verdict_gives_the_reason_for_each_failed_part() {
    let head = ready_head;
    let cases = [
        ("ready", Some(head())),
        ("no commit", None),
        ("start commit", Some(HeadCommit { commit: START.to_owned(), ..head() })),
        ("other history", Some(HeadCommit { descends_from_start: false, ..head() })),
        ("older than the launch", Some(HeadCommit { committed_at: 99, ..head() })),
        ("made elsewhere", Some(HeadCommit { was_made_here: false, ..head() })),
        ("no change", Some(HeadCommit { changes_tree: false, ..head() })),
        ("rejected by git", Some(HeadCommit { unsound: Some("a/ contains '..'".to_owned()), ..head() })),
        ("message cut", Some(HeadCommit { is_message_whole: false, ..head() })),
        ("merge", Some(HeadCommit { parents: 2, ..head() })),
        ("no marker", Some(with_message("fix"))),
        ("reverted", Some(with_message("Revert \"fix: cocode ready for check\""))),
        ("quoted", Some(with_message("fix\n\n> cocode ready for check"))),
    ];
    let mut table = String::new();
    for (name, head) in cases {
        table += &format!("[{name}]\n{}\n", render(head, Some(0), true, true));
    }
    table += &format!("[failed check, dirty tree]\n{}\n", render(Some(head()), Some(0), false, false));
    table += &format!("[exit code 3]\n{}\n", render(Some(head()), Some(3), true, true));
    table += &format!("[no exit code]\n{}\n", render(Some(head()), None, true, true));
    insta::assert_snapshot!(table);
}

#[test]
fn each_invalid_variable_has_its_own_text() {
    let cases: [(Variable, &[u8]); 10] = [
        (Variable::RepoPath, b"relative"),
        (Variable::RepoPath, b"/a\0b"),
        (Variable::IssueNumber, b"0"),
        (Variable::IssueNumber, b"\xff"),
        (Variable::IssueUrl, b"ftp://example.org"),
        (Variable::IssueBodyFile, b"issue.txt"),
        (Variable::ReadyMarker, b" "),
        (Variable::ReadyMarker, b"a\nb"),
        (Variable::ReadyMarker, b" a"),
        (Variable::ReadyMarker, b"\xff"),
    ];
    let valid = |variable| match variable {
        Variable::RepoPath | Variable::IssueBodyFile => "/tmp/x",
        Variable::IssueNumber => "5",
        Variable::IssueUrl => "https://example.org/5",
        Variable::ReadyMarker => "done",
    };
    let mut texts = String::new();
    for (wrong, value) in cases {
        let error = AgentContext::from_variables(|variable| {
            let value = if variable == wrong { value.to_vec() } else { valid(variable).into() };
            Some(OsString::from_vec(value))
        });
        texts += &format!("{}\n", error.expect_err("the value is invalid"));
    }
    texts += &format!("{}\n", AgentContext::from_variables(|_| None).expect_err("nothing is set"));
    texts += &format!("{}\n", "-x".parse::<AgentName>().expect_err("a leading dash"));
    texts += &format!("{}\n", "x".parse::<IssueUrl>().expect_err("no scheme"));
    insta::assert_snapshot!(texts, @r"
    COCODE_REPO_PATH must be an absolute path
    COCODE_REPO_PATH must not hold a NUL byte
    COCODE_ISSUE_NUMBER must be a whole number, 1 or more
    COCODE_ISSUE_NUMBER is not valid UTF-8
    COCODE_ISSUE_URL must be an http or https address
    COCODE_ISSUE_BODY_FILE must be an absolute path
    COCODE_READY_MARKER must not be empty
    COCODE_READY_MARKER must be one line without control characters
    COCODE_READY_MARKER must not begin or end with a blank
    COCODE_READY_MARKER is not valid UTF-8
    COCODE_REPO_PATH is not set; COCODE_ISSUE_NUMBER is not set; COCODE_ISSUE_URL is not set; COCODE_ISSUE_BODY_FILE is not set; COCODE_READY_MARKER is not set
    an agent's name is 1 to 40 letters, digits, '-' and '_', and does not begin with '-'
    must be an http or https address
    ");
}

#[test]
fn exit_codes_have_a_name_and_advice() {
    let rows = [0, 1, 2, 3, 42, 124, 130, 137].map(|code| {
        let meaning = ExitMeaning::of(code);
        format!("{code} {} | {}", meaning.name(), meaning.advice().unwrap_or("-"))
    });
    insta::assert_snapshot!(rows.join("\n"), @r"
    0 success | -
    1 error | -
    2 invalid_config | check the agent's setup
    3 missing_deps | a dependency of the agent is missing; see `agentd cocode doctor`
    42 error | -
    124 timeout | give it more time with --timeout SECONDS
    130 interrupted | -
    137 signal | -
    ");
}
