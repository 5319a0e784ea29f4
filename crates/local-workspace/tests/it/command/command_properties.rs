//! Whatever commands and edits did, undoing all of it gives the tree that was there, byte for byte and bit for bit.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use change_journal::{Entry, Journal, RecordedChange, RunNumber};
use local_workspace::{Undo, UndoError};
use proptest::prelude::*;
use wap_core::*;

use crate::fixture::tree::tree;
use crate::fixture::workspace::*;

/// Some are there from the beginning, some come into new folders, some are folders of others.
const PATHS: [&str; 13] =
    ["a", "b.txt", "d", "d/x", "d/e", "d/e/z", "n", "n/o", "n/o/p", "tool.sh", "link", "with blank", "r/é"];

/// `A` and `B` stand for two paths. A failing command changes nothing, or a part.
const COMMANDS: [&str; 26] = [
    "echo new > A",
    "echo more >> A",
    "mkdir -p A",
    "mkdir -p \"$(dirname A)\" && echo deep > A",
    "rm -rf A",
    "rm -f A",
    "rmdir A",
    "mv A B",
    "cp -r A B",
    "mv -T A B",
    "ln -s A B",
    "ln A B",
    "rm -rf A && echo again > A",
    "rm -rf A && mkdir A && echo inside > A/x",
    "rm -f A && ln -s B A",
    "chmod 755 A",
    "test -f A && chmod 400 A",
    "test -f A && chmod 640 A",
    "test -d A && chmod 500 A",
    "test -d A && chmod 750 A && touch A/y",
    "sed -i s/e/E/g A",
    "printf '\\0\\377binary' > A",
    ": > A",
    "touch A; cp A A.tmp && mv A.tmp A",
    "git init -q . && git add -A . && git commit -q --allow-empty -m x",
    "git checkout -q -- . ; git stash -q; tar cf - A | tar xf - -C d",
];

#[derive(Clone, Debug)]
enum Step {
    Command { script: String },
    Write { path: usize, line: u8 },
    Edit { path: usize },
    Delete { path: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0..PATHS.len();
    let quoted = |path: usize| format!("'{}'", PATHS[path]);
    let script = move |(command, one, other): (usize, usize, usize)| Step::Command {
        script: COMMANDS[command].replace('A', &quoted(one)).replace('B', &quoted(other)),
    };
    prop_oneof![
        5 => (0..COMMANDS.len(), path.clone(), path.clone()).prop_map(script),
        1 => (path.clone(), any::<u8>()).prop_map(|(path, line)| Step::Write { path, line }),
        1 => path.clone().prop_map(|path| Step::Edit { path }),
        1 => path.prop_map(|path| Step::Delete { path }),
    ]
}

fn lay_out(fixture: &Fixture) {
    fixture.put("a", "1\n2\n3\n");
    fixture.put("b.txt", "windows\r\nlines\r\nand no end");
    fixture.put("d/x", b"binary \0 \xff");
    fixture.put("d/e/z", "deep\n");
    fixture.put("tool.sh", "#!/bin/sh\necho\n");
    fixture.put("r/é", "one\n");
    fs::create_dir(fixture.root().join("hollow")).unwrap();
    for (name, mode) in [("tool.sh", 0o755), ("a", 0o664), ("hollow", 0o710)] {
        fs::set_permissions(fixture.root().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink("d/e/z", fixture.root().join("link")).unwrap();
}

fn carry_out(workspace: &local_workspace::LocalWorkspace, step: &Step) {
    let change_of = match step {
        Step::Command { script } => {
            run(workspace, script).unwrap();
            return;
        }
        Step::Write { path, line } => write(PATHS[*path], &format!("line {line}\n")),
        Step::Edit { path } => replace(PATHS[*path], (1, 1), "edited", None),
        Step::Delete { path } => delete(PATHS[*path]),
    };
    // What is refused changes nothing.
    let _ = change(workspace, change_of);
}

fn check(layered: Layered, steps: &[Step]) {
    let fixture = Fixture::new();
    lay_out(&fixture);
    let before = tree(&fixture);
    let config = fixture.layered_config(layered);
    let journal = Journal::in_memory().unwrap();
    let workspace = fixture.open_with(journal.clone(), config).0;
    for step in steps {
        carry_out(&workspace, step);
    }
    let after = tree(&fixture);
    let all = Undo::Conversation(Caller::once().origin.conversation);
    let undo = |what: &Undo| {
        let mut caller = Caller::once();
        caller.origin.conversation = ConversationId("undo".into());
        workspace.undo(&caller.call(), what)
    };
    let undone = match undo(&all) {
        Ok(undone) => undone,
        Err(UndoError::Nothing) => return assert_eq!(before, after),
        Err(UndoError::Obstacles(obstacles)) => {
            let changes = |path: &str| {
                let changes = journal.reader().changes_of_path(path.as_bytes(), u32::MAX).unwrap();
                changes.iter().rev().map(rendered).collect::<String>()
            };
            let reported: String =
                obstacles.iter().map(|one| format!("{one}\n{}", changes(&one.path))).collect();
            panic!("{reported}");
        }
        Err(error) => panic!("{error}: {error:?}"),
    };
    assert!(undone.not_undoable.is_empty() && undone.commands.is_empty(), "{undone:?}");
    assert_eq!(tree(&fixture), before, "after undoing all");
    undo(&Undo::Run(RunNumber(undone.run))).unwrap();
    assert_eq!(tree(&fixture), after, "after undoing the undo");
}

/// A line about one side after the other.
fn rendered(change: &RecordedChange) -> String {
    let side = |entry: Option<Entry>| {
        entry.map(|entry| format!("{:?} {:?} {:?}", entry.kind, entry.content, entry.mode))
    };
    format!("{} {:?}: {:?} -> {:?}\n", change.number, change.state, side(change.before), side(change.after))
}

/// The number of sequences that are tried; a longer run asks for more.
fn cases() -> u32 {
    ProptestConfig::default().cases / 50
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn undoing_50_commands_and_edits_on_layers_gives_the_tree_that_was_there(
        steps in proptest::collection::vec(step(), 50),
    ) {
        check(Layered::Yes, &steps);
    }

    #[test]
    fn undoing_50_commands_and_edits_without_layers_gives_the_tree_that_was_there(
        steps in proptest::collection::vec(step(), 50),
    ) {
        check(Layered::No, &steps);
    }
}
