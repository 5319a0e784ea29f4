//! The programs, as they are built.

use assert_cmd::Command;

/// Runs a program and returns what it printed.
fn printed(program: &str) -> String {
    let output = Command::new(program).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("the examples print text")
}

#[test]
fn embedded_sandbox_fs_writes_and_refuses() {
    let text = printed(env!("CARGO_BIN_EXE_embed-sandbox-fs"));
    let lines: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            r#"notes.txt holds "second\n""#,
            "refused: a write on top of an older version: `notes.txt` was changed by another program",
            "refused: ../outside: the path leaves the workspace",
            "refused: /etc/hostname: the path is absolute and does not begin with the workspace folder",
            "refused: elsewhere/hostname: `elsewhere` is a link that is absolute",
            "refused: .git/hooks/pre-commit: `.git/hooks/pre-commit` is protected by the entry `.git`: git runs hooks and programs that it names",
            "entry elsewhere (link)",
            "entry notes.txt (file)",
        ]
    );
}

#[test]
fn embedded_code_index_finds_and_outlines() {
    let text = printed(env!("CARGO_BIN_EXE_embed-code-index"));
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "2 files were read",
            "login.py:1 def check_password(name, word):",
            "form.py:1 from login import check_password",
            "function check_password: def check_password(name, word)",
        ]
    );
}

#[test]
fn one_reply_leads_to_the_next_message() {
    let text = printed(env!("CARGO_BIN_EXE_one-reply"));
    let header = text.lines().take(6).collect::<Vec<_>>();
    assert_eq!(
        header,
        [
            "=== HEADER ===",
            "Session: a1b2c3d4",
            "Sequence: 2",
            "Task: Greet politely.",
            "Sandbox: level=none; commands=scripted",
            "Reply-To: a1b2c3d4-2",
        ]
    );
    let (_, results) = text.split_once("## Previous Command Results\n").unwrap();
    let (results, files) = results.split_once("\n\n## Requested File Contents\n").unwrap();
    assert_eq!(
        results.lines().collect::<Vec<_>>(),
        [
            "[OK] EDIT_FILE: Edited 'greet.sh' lines 1-1",
            "  Output: (shown below)",
            "[OK] READ_FILE: Queued 'greet.sh' for next outbox",
            "[OK] RUN_COMMAND: Ran 'sh greet.sh world' (exit code 0)",
            "  Output: Hello, world!",
            "[FAILED] DELETE_FILE: REJECTED: Path '../elsewhere.txt' is outside workspace; use a path relative to the root \
             of the workspace",
        ]
    );
    assert!(files.starts_with("--- greet.sh ---\n1|echo \"Hello, $1!\"\n--- end greet.sh ---\n"), "{files}");
}
