//! Whatever was done, undoing all of it gives the tree that was there, and undoing that gives the tree that was left.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use change_journal::{Journal, RunNumber};
use local_workspace::{Undo, Undone};
use proptest::prelude::*;
use wap_core::*;

use crate::fixture::tree::tree;
use crate::fixture::workspace::*;

/// Some are there from the beginning, some come into new folders, and some are folders of others.
const PATHS: [&str; 16] = [
    "a", "a/inside", "b.txt", "d/x", "d/y", "d/e/z", "d/e", "n/o/p/q", "n/o/r", "n", "tool.sh", "secret",
    "link", "dangling", "aux.txt", "empty",
];

#[derive(Clone, Debug)]
enum Step {
    Write { path: usize, lines: Vec<u8> },
    Append { path: usize },
    Edit { path: usize, line: u8 },
    Delete { path: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0..PATHS.len();
    prop_oneof![
        3 => (path.clone(), proptest::collection::vec(any::<u8>(), 0..4)).prop_map(|(path, lines)| Step::Write { path, lines }),
        1 => path.clone().prop_map(|path| Step::Append { path }),
        2 => (path.clone(), 1..4_u8).prop_map(|(path, line)| Step::Edit { path, line }),
        2 => path.prop_map(|path| Step::Delete { path }),
    ]
}

fn change(step: &Step) -> FileChange {
    match step {
        Step::Write { path, lines } => {
            write(PATHS[*path], &lines.iter().map(|line| format!("line {line}\n")).collect::<String>())
        }
        Step::Append { path } => FileChange::Write(WriteFile {
            path: PATHS[*path].into(),
            content: "appended\n".into(),
            mode: Some(WriteMode::Append),
            create_directories: Some(true),
            judged: None,
        }),
        Step::Edit { path, line } => {
            replace(PATHS[*path], (i64::from(*line), i64::from(*line)), "edited", None)
        }
        Step::Delete { path } => delete(PATHS[*path]),
    }
}

fn lay_out(fixture: &Fixture) {
    fixture.put("a", "1\n2\n3\n");
    fixture.put("b.txt", "windows\r\nlines\r\nand no end");
    fixture.put("d/x", b"binary \0 \xff");
    fixture.put("d/e/z", "deep\n");
    fixture.put("tool.sh", "#!/bin/sh\necho\n");
    fixture.put("secret", "hush\n");
    // No step gives a new file this name, and one that has it gets it back.
    fixture.put("aux.txt", "old\nname\n");
    fixture.put("empty", "");
    fs::create_dir(fixture.root().join("hollow")).unwrap();
    for (name, mode) in [("tool.sh", 0o755), ("secret", 0o600), ("a", 0o664)] {
        fs::set_permissions(fixture.root().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink("d/e/z", fixture.root().join("link")).unwrap();
    symlink("nowhere", fixture.root().join("dangling")).unwrap();
}

fn undo(workspace: &local_workspace::LocalWorkspace, what: &Undo) -> Undone {
    let mut caller = Caller::once();
    caller.origin.conversation = ConversationId("undo".into());
    workspace.undo(&caller.call(), what).unwrap()
}

fn check(batches: &[Vec<Step>]) {
    let fixture = Fixture::in_memory();
    lay_out(&fixture);
    let before = tree(&fixture);
    let workspace = fixture.open_with(Journal::in_memory().unwrap(), fixture.config()).0;
    let mut done = 0;
    for batch in batches {
        let changes: Vec<_> = batch.iter().map(change).collect();
        let outcomes = workspace.change_files(&Caller::once().call(), &changes).unwrap();
        done += outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    }
    let after = tree(&fixture);
    let all = Undo::Conversation(Caller::once().origin.conversation);
    if done == 0 {
        return;
    }
    let mut caller = Caller::once();
    caller.origin.conversation = ConversationId("undo".into());
    let undone = match workspace.undo(&caller.call(), &all) {
        Ok(undone) => undone,
        // Writing the existing content changes nothing.
        Err(local_workspace::UndoError::Nothing) => return assert_eq!(before, after),
        Err(error) => panic!("{error}: {error:?}"),
    };
    assert_eq!(tree(&fixture), before, "after undoing all");
    let redone = undo(&workspace, &Undo::Run(RunNumber(undone.run)));
    assert_eq!(tree(&fixture), after, "after undoing the undo");
    undo(&workspace, &Undo::Run(RunNumber(redone.run)));
    assert_eq!(tree(&fixture), before, "after undoing the undo of the undo");
    undo(&workspace, &Undo::Run(RunNumber(undone.run + 2)));
    assert_eq!(tree(&fixture), after, "and once more");
    undo(&workspace, &all);
    assert_eq!(tree(&fixture), before, "after undoing all for the second time");
}

/// The number of sequences that are tried; a longer run asks for more.
fn cases() -> u32 {
    ProptestConfig::default().cases / 10
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn undoing_all_of_200_changes_gives_the_tree_that_was_there(
        steps in proptest::collection::vec((step(), proptest::bool::weighted(0.4)), 200),
    ) {
        // Each step goes on with the batch before it, or begins one.
        let mut batches: Vec<Vec<Step>> = vec![Vec::new()];
        for (step, begins) in steps {
            if begins {
                batches.push(Vec::new());
            }
            batches.last_mut().unwrap().push(step);
        }
        check(&batches);
    }
}
