//! Edits of files with private keys, whether or not the map of placeholders has room for their lines.

use std::sync::Arc;

use memory_workspace::MemoryWorkspace;
use proptest::prelude::*;
use secret_placeholders::{MemoryStore, PlaceholderStore, PlaceholderWorkspace, Secrets, Withheld};
use wap_core::{ModifyFile, ModifyOperation, Reason, WapError, WholeLines, Workspace, WorkspaceExt};

use crate::masking::token;
use crate::over_workspace::{Masked, over, read, with_call};
use crate::uncovering::text;

/// The lines of a key, of which the last is short, between two others.
fn file() -> String {
    let body: String = (0..8).map(|line| format!("{line:02}{}\n", "Ab3/".repeat(15))).collect();
    format!("# one\n{}\n{body}abCdQ==\n{}\n# two\n", boundary("BEGIN"), boundary("END"))
}

fn boundary(word: &str) -> String {
    format!("-----{word} {}{}-----", "PRIVATE ", "KEY")
}

/// The line of the file with the first line of the key, and the one with its last.
const BEGIN: i64 = 2;
const END: i64 = 12;

/// A map without room for another value.
fn full() -> MemoryStore {
    let value = |number: usize| format!("{number:02}{}", "x9".repeat(32 * 1_024 - 1));
    let entry =
        |number: usize| format!(r#"{{"kind":"filler","number":{},"value":"{}"}}"#, number + 1, value(number));
    let entries: Vec<String> = (0..64).map(entry).collect();
    let map = format!(r#"{{"version":1,"secrets":[{}]}}"#, entries.join(","));
    let store = MemoryStore::default();
    store.update(&mut |_| Some(map.clone().into_bytes())).unwrap();
    store
}

fn over_full(content: String) -> Masked {
    PlaceholderWorkspace::new(
        MemoryWorkspace::with_files([("a.txt", content)]),
        Some(Arc::new(Secrets::open(full()).unwrap())),
        Withheld::default(),
    )
}

fn edit(workspace: &dyn Workspace, step: u32, operations: Vec<ModifyOperation>) -> Result<String, WapError> {
    let request = ModifyFile { path: "a.txt".into(), operations, ..ModifyFile::default() };
    with_call(step, |call| workspace.modify_file(call, &request)).map(|answer| format!("{answer:?}"))
}

fn deletion(line: i64) -> ModifyOperation {
    ModifyOperation::Delete { start_line: line, end_line: line, was: None }
}

fn insertion(line: i64) -> ModifyOperation {
    ModifyOperation::Insert { after_line: line, new_content: "# - #\n".into(), was: None }
}

/// More lines than the search for a key skips.
fn long_insertion(line: i64) -> ModifyOperation {
    ModifyOperation::Insert { after_line: line, new_content: "# - #\n".repeat(20), was: None }
}

fn replacement(line: i64) -> ModifyOperation {
    ModifyOperation::Replace { start_line: line, end_line: line, new_content: "# - #\n".into(), was: None }
}

fn whole_line(line: String) -> ModifyOperation {
    ModifyOperation::ReplaceText {
        old_text: line,
        new_text: String::new(),
        expected_matches: None,
        whole_lines: Some(WholeLines::default()),
    }
}

fn shows_key(visible: &str) -> bool {
    visible.contains("Ab3/") || visible.contains("abCdQ")
}

#[test]
fn lines_of_a_key_stay_hidden_although_the_map_is_full() {
    let uncovering = [
        vec![deletion(BEGIN), deletion(END)],
        vec![replacement(BEGIN), replacement(END)],
        vec![long_insertion(BEGIN), long_insertion(END - 1)],
        vec![long_insertion(BEGIN + 3), long_insertion(BEGIN + 5)],
        vec![whole_line(boundary("BEGIN")), whole_line(boundary("END"))],
        vec![deletion(BEGIN), text(&boundary("END"), "")],
        vec![text("BEGIN", "begin"), text("END", "end")],
    ];
    for operations in uncovering {
        let masked = over_full(file());
        let error = edit(&masked, 1, operations.clone()).unwrap_err();
        assert_eq!(error.reason(), Reason::Protected, "{operations:?}: {error:?}");
        assert!(!shows_key(&format!("{error:?}")), "{error:?}");
        assert_eq!(masked.inner().text("a.txt").unwrap(), file());
        assert!(!shows_key(&read(&masked, "a.txt", None)));
        // The control: the engine below carries it out, and lines of the key are shown.
        let masked = over_full(file());
        edit(masked.inner(), 1, operations.clone()).unwrap();
        assert!(shows_key(&read(&masked, "a.txt", None)), "{operations:?}");
    }
}

#[test]
fn the_short_last_line_of_a_key_stays_hidden() {
    let operations = vec![deletion(BEGIN), deletion(END)];
    let masked = over([("a.txt", file())]);
    assert_eq!(edit(&masked, 1, operations.clone()).unwrap_err().reason(), Reason::Protected);
    assert!(!shows_key(&read(&masked, "a.txt", None)));
    // The control: without it, every line of the key is recognised everywhere, if the map has room.
    let masked = over([("a.txt", file().replace("abCdQ==\n", ""))]);
    edit(&masked, 1, vec![deletion(BEGIN), deletion(END - 1)]).unwrap();
    assert!(!shows_key(&read(&masked, "a.txt", None)));
}

#[test]
fn other_edits_by_lines_of_a_file_with_a_key_work_and_show_nothing() {
    let key = (BEGIN..=END).map(deletion).collect();
    let body = (BEGIN + 1..END).map(deletion).collect();
    let edits: [Vec<ModifyOperation>; 10] = [
        key,
        vec![insertion(BEGIN), insertion(END - 1)],
        vec![insertion(BEGIN + 3), insertion(BEGIN + 5)],
        body,
        vec![deletion(1), insertion(END)],
        vec![insertion(0), replacement(END + 1)],
        vec![insertion(BEGIN + 4)],
        vec![deletion(BEGIN)],
        vec![replacement(BEGIN + 4)],
        vec![whole_line("# one".into())],
    ];
    for make in [over_full, |content| over([("a.txt", content)])] {
        for (step, operations) in (1..).zip(&edits) {
            let masked = make(file());
            let answer = edit(&masked, step, operations.clone()).unwrap();
            assert!(!shows_key(&answer), "{operations:?}: {answer}");
            assert_ne!(masked.inner().text("a.txt").unwrap(), file());
            assert!(!shows_key(&read(&masked, "a.txt", None)));
        }
    }
    // The control: the engine's own answer quotes lines of the key.
    let answer = edit(over_full(file()).inner(), 1, vec![insertion(BEGIN + 4)]).unwrap();
    assert!(shows_key(&answer), "{answer}");
}

#[test]
fn a_window_of_a_key_is_hidden_although_the_map_is_full() {
    for (first, last) in [(BEGIN + 1, END - 1), (BEGIN + 3, BEGIN + 4), (END - 1, END - 1)] {
        assert!(!shows_key(&read(&over_full(file()), "a.txt", Some((first, last)))), "{first}-{last}");
    }
    // The control: without its boundaries it is not recognised.
    let lines: String = file().split_inclusive('\n').filter(|line| !line.contains("KEY")).collect();
    assert!(shows_key(&read(&over_full(lines), "a.txt", Some((2, 4)))));
}

#[test]
fn a_file_too_large_to_be_judged_with_a_key_is_not_edited_by_lines() {
    let large = |before: String| format!("{before}{}\n", "- ".repeat(600_000));
    let masked = over([("a.txt", large(file()))]);
    let error = edit(&masked, 1, vec![deletion(BEGIN), deletion(END)]).unwrap_err();
    assert_eq!(error.reason(), Reason::FileTooLarge, "{error:?}");
    assert!(error.message().contains("a command such as sed"), "{error:?}");
    assert!(!shows_key(&read(&masked, "a.txt", Some((1, END)))));
    // The controls: the engine below would show the key, and a file without one is edited.
    let masked = over_full(large(file()));
    edit(masked.inner(), 1, vec![deletion(BEGIN), deletion(END)]).unwrap();
    assert!(shows_key(&read(&masked, "a.txt", Some((1, END - 2)))));
    let masked = over([("a.txt", large("# one\n# two\n".into()))]);
    edit(&masked, 1, vec![deletion(1)]).unwrap();
}

/// An edit of a line of the file, whole or within.
fn any_operation() -> impl Strategy<Value = ModifyOperation> {
    let line = 1..=END + 1;
    prop_oneof![
        line.clone().prop_map(deletion),
        line.clone().prop_map(insertion),
        line.clone().prop_map(replacement),
        (line, 0..4_i64).prop_map(|(line, more)| ModifyOperation::Delete {
            start_line: line,
            end_line: (line + more).min(END + 1),
            was: None,
        }),
        prop::sample::select(vec![
            "Ab3/", "BEGIN", "END", "-----", "KEY", "03", "\n", "# two", "Q==", "token"
        ])
        .prop_map(|part| text(part, "- ")),
        Just(whole_line(boundary("END"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn edits_of_any_kind_show_nothing_or_are_refused(
        calls in prop::collection::vec(prop::collection::vec(any_operation(), 1..4), 1..4),
        is_full in any::<bool>(),
    ) {
        // A secret that a rule finds, and one that overlaps a line of the key.
        let content = format!("{}token: {}\npassword = \"Ab3/Ab3/x\"\n", file(), token());
        let masked = if is_full { over_full(content) } else { over([("a.txt", content)]) };
        for (step, operations) in (1..).zip(calls) {
            let before = masked.inner().text("a.txt").unwrap();
            let answer = edit(&masked, step, operations);
            // An error may quote what the edit looked for.
            prop_assert!(answer.as_ref().is_err() || !shows_key(answer.as_ref().unwrap()), "{answer:?}");
            let after = masked.inner().text("a.txt").unwrap();
            prop_assert!(answer.is_ok() || before == after);
            let visible = read(&masked, "a.txt", None);
            prop_assert!(!shows_key(&visible) && !visible.contains("a1B2"), "{visible}");
        }
    }
}
