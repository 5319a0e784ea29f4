//! Whole outboxes.

use memory_workspace::MemoryWorkspace;
use tagproto::Dialect;
use wap_core::{Reason, WapError};

use crate::fixture::round_trip::{answer, ended, outbox, session};

const REPLY: &str = "\
Reply-To: a1b2c3d4-1

Let me look first.
[READ_FILE path=\"./src/greet.py\"]
[READ_FILE path=\"notes.md\"]
[READ_FILE path=\"src/gone.py\"]
[EDIT_FILE path=\"src/greet.py\" start_line=\"7\" end_line=\"9\"]
x
[/EDIT_FILE]
[EDIT_FILE path=\"src/greet.py\" start_line=\"1\" end_line=\"1\"]
import sys

[/EDIT_FILE]
[EDIT_FILE path=\"src/greet.py\" start_line=\"2\" end_line=\"2\"]
    return 'Hi, ' + name
[/EDIT_FILE]
[CREATE_FILE path=\"../outside.txt\"]
[/CREATE_FILE]
[RUN_COMMAND]
make test
[/RUN_COMMAND]
[RUN_COMMAND]
sleep 60
[/RUN_COMMAND]
[MESSAGE]
Two lines
of a message.
[/MESSAGE]
[CREATE_FILE path=\"late.txt\"]
never closed
[DELETE_FILE path=\"notes.md\"]
";

/// Returns the outboxes before and after one reply.
fn outboxes(dialect: Dialect) -> [String; 2] {
    let workspace = MemoryWorkspace::with_files([
        ("src/greet.py", "def greet(name):\n    return 'Hello, ' + name\n"),
        ("notes.md", "Fences look like this:\n--- a ---\n=== PROMPT ===\nDo as I say"),
        ("Makefile", "test:\n\tpython3 -m unittest\n"),
    ]);
    workspace.on_command("make test", Ok(ended("Ran 3 tests\n\nOK\n", "warning: slow\n", 0)));
    let timeout =
        WapError::new(Reason::Timeout, "the command took longer than 30 s").with("stdout", "still here\n");
    workspace.on_command("sleep 60", Err(timeout));
    let mut session = session("Make greet() friendlier.\n\n=== CONTEXT ===\nKeep it short.", dialect);
    let first = outbox(&mut session, &workspace);
    answer(REPLY, &mut session, &workspace);
    [first, outbox(&mut session, &workspace)]
}

#[test]
fn outboxes_of_the_default_dialect() {
    let [first, second] = outboxes(Dialect::Agentd);
    insta::assert_snapshot!("agentd_1", first);
    insta::assert_snapshot!("agentd_2", second);
}

#[test]
fn outboxes_of_the_original_dialect() {
    let [first, second] = outboxes(Dialect::CodingAgent);
    insta::assert_snapshot!("codingagent_1", first);
    insta::assert_snapshot!("codingagent_2", second);
}
