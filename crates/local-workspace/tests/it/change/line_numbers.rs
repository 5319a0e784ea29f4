//! Line numbers mean the shown version, after any change of the file since.

use local_workspace::LocalWorkspace;
use proptest::prelude::*;
use wap_core::*;

use crate::fixture::workspace::*;

/// Twelve lines that are all the same, so that no comparison can tell them apart.
const SAME: &str = "same\nsame\nsame\nsame\nsame\nsame\nsame\nsame\nsame\nsame\nsame\nsame\n";

fn insert(path: &str, after_line: i64, content: &str, version: Option<FileVersion>) -> FileChange {
    modify(path, ModifyOperation::Insert { after_line, new_content: content.into(), was: None }, version)
}

fn delete_lines(path: &str, lines: (i64, i64), version: Option<FileVersion>) -> FileChange {
    modify(path, ModifyOperation::Delete { start_line: lines.0, end_line: lines.1, was: None }, version)
}

/// The text with some lines exchanged (1-based).
fn with(text: &str, lines: &[(usize, &str)]) -> String {
    let mut all: Vec<&str> = text.lines().collect();
    for (line, content) in lines {
        all[line - 1] = content;
    }
    all.join("\n") + "\n"
}

fn all_ok(outcomes: Vec<Result<FileChanged, WapError>>) {
    for outcome in outcomes {
        outcome.unwrap();
    }
}

#[test]
fn edits_of_one_batch_all_mean_the_version_that_was_shown() {
    let fixture = Fixture::new();
    fixture.put("a", SAME);
    let workspace = fixture.open();
    let version = current_version(&workspace, "a");
    let batch = [
        replace("a", (2, 2), "two\nand more\nand more", version.clone()),
        delete_lines("a", (4, 5), version.clone()),
        insert("a", 7, "after seven", version.clone()),
        replace("a", (12, 12), "twelve", version.clone()),
        replace("a", (1, 1), "one", version),
    ];
    all_ok(workspace.change_files(&Caller::once().call(), &batch).unwrap());
    let expected =
        "one\ntwo\nand more\nand more\nsame\nsame\nsame\nafter seven\nsame\nsame\nsame\nsame\ntwelve\n";
    assert_eq!(fixture.text("a").unwrap(), expected);
}

#[test]
fn a_line_that_a_user_changed_is_not_one_that_the_batch_has_just_written() {
    for is_changed in [true, false] {
        let fixture = Fixture::new();
        fixture.put("a", "mod tests {\n    use super::*;\n    use a::{B, C};\n\n    // Test.\n");
        let workspace = fixture.open();
        let version = current_version(&workspace, "a");
        let now = if is_changed {
            "    use a::B;\n\n    use super::*;\n"
        } else {
            "    use super::*;\n    use a::{B, C};\n"
        };
        fixture.put("a", format!("// New.\nmod tests {{\n{now}\n    // Test.\n"));
        let batch = [
            replace("a", (1, 1), "mod tests {\n    use a::{B, C};\n", version.clone()),
            delete_lines("a", (3, 3), version),
        ];
        let outcomes = workspace.change_files(&Caller::once().call(), &batch).unwrap();
        assert!(outcomes[0].is_ok(), "{outcomes:?}");
        let error = outcomes[1].as_ref().err().map(WapError::reason);
        assert_eq!(error, is_changed.then_some(Reason::Conflict));
        let written = "// New.\nmod tests {\n    use a::{B, C};\n";
        assert!(fixture.text("a").unwrap().starts_with(written), "{:?}", fixture.text("a"));
    }
}

#[test]
fn one_batch_may_add_the_same_lines_at_two_places() {
    let (first, both) = ("one\nthree\nfour\n", "begin_transaction();\ncommit_transaction();\n");
    let fixture = Fixture::new();
    fixture.put("a", first);
    let workspace = fixture.open();
    let version = current_version(&workspace, "a");
    let batch = [
        replace("a", (1, 1), &format!("one\n{both}"), version.clone()),
        replace("a", (3, 3), &format!("four\n{both}"), version.clone()),
    ];
    all_ok(workspace.change_files(&Caller::once().call(), &batch).unwrap());
    assert_eq!(fixture.text("a").unwrap(), format!("one\n{both}three\nfour\n{both}"));
    // The control: there, another program has added them since.
    fixture.put("a", format!("{both}one\nthree\nfour\n"));
    let batch = [
        replace("a", (2, 2), "THREE", version.clone()),
        replace("a", (3, 3), &format!("four\n{both}"), version),
    ];
    let outcomes = workspace.change_files(&Caller::once().call(), &batch).unwrap();
    assert!(outcomes[0].is_ok(), "{outcomes:?}");
    assert_eq!(outcomes[1].as_ref().unwrap_err().detail("alreadyApplied"), Some(&true.into()));
    assert_eq!(fixture.text("a").unwrap(), format!("{both}one\nTHREE\nfour\n"));
}

#[test]
fn calls_of_one_run_may_add_the_same_lines_at_two_places() {
    let (first, both) = ("one\nthree\nfour\n", "begin_transaction();\ncommit_transaction();\n");
    // The control: another program, or another run, has made the first change.
    for is_own in [true, false] {
        let fixture = Fixture::new();
        fixture.put("a", first);
        let workspace = fixture.open();
        let version = current_version(&workspace, "a");
        let caller = Caller::numbered(1);
        let earlier = if is_own { caller.clone() } else { Caller::once() };
        let one = replace("a", (1, 1), &format!("one\n{both}"), version.clone());
        all_ok(workspace.change_files(&earlier.call(), &[one]).unwrap());
        let four = replace("a", (3, 3), &format!("four\n{both}"), version);
        let outcomes = workspace.change_files(&caller.at(1).call(), &[four]).unwrap();
        let expected = match &outcomes[0] {
            Ok(_) => format!("one\n{both}three\nfour\n{both}"),
            Err(error) => {
                assert_eq!(error.detail("alreadyApplied"), Some(&true.into()));
                format!("one\n{both}three\nfour\n")
            }
        };
        assert_eq!((outcomes[0].is_ok(), fixture.text("a").unwrap()), (is_own, expected));
    }
}

/// Two replacements, the first of which moves the target of the second.
fn in_turn(version: Option<FileVersion>) -> FileChange {
    let replace = |line, content: &str| ModifyOperation::Replace {
        start_line: line,
        end_line: line,
        new_content: content.into(),
        was: None,
    };
    FileChange::Modify(ModifyFile {
        path: "a".into(),
        operations: vec![replace(1, "A\nB\nC"), replace(3, "X")],
        expected_version: version,
        line_numbers: Some(LineNumbers::InTurn),
        seen_versions: None,
        judged: None,
        view_numbers: None,
    })
}

#[test]
fn operations_in_turn_mean_what_the_ones_before_left() {
    let fixture = Fixture::new();
    fixture.put("a", "l1\nl2\nl3\n");
    let workspace = fixture.open();
    let version = current_version(&workspace, "a");
    change(&workspace, in_turn(version)).unwrap();
    assert_eq!(fixture.text("a").unwrap(), "A\nB\nX\nl2\nl3\n");
}

#[test]
fn operations_in_turn_are_not_carried_over_to_a_file_that_has_changed() {
    let fixture = Fixture::new();
    fixture.put("a", "l1\nl2\nl3\n");
    let workspace = fixture.open();
    let version = current_version(&workspace, "a");
    fixture.put("a", "l0\nl1\nl2\nl3\n");
    let error = change(&workspace, in_turn(version)).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert_eq!(fixture.text("a").unwrap(), "l0\nl1\nl2\nl3\n");
}

/// Makes edits, each in a run of its own, lets `between` happen, and then edits lines of the version shown first.
fn edit_across(between: impl Fn(&Fixture, LocalWorkspace) -> LocalWorkspace) -> (String, Option<WapError>) {
    let fixture = Fixture::new();
    fixture.put("a", SAME);
    let workspace = fixture.open();
    let caller = Caller::once().durable();
    let request = ReadFile { path: "a".into(), ..ReadFile::default() };
    let version = workspace.read_file(&caller.call(), &request).unwrap().version;
    all_ok(workspace.change_files(&caller.call(), &[delete_lines("a", (1, 3), version.clone())]).unwrap());
    let workspace = between(&fixture, workspace);
    change(&workspace, insert("a", 6, "after six\nafter six", version.clone())).unwrap();
    let workspace = between(&fixture, workspace);
    change(&workspace, replace("a", (8, 8), "eight", version.clone())).unwrap();
    let workspace = between(&fixture, workspace);
    // Removed lines are refused, adjacent ones are not.
    let refused = change(&workspace, replace("a", (3, 4), "x", version.clone())).err();
    change(&workspace, replace("a", (4, 4), "four", version)).unwrap();
    (fixture.text("a").unwrap(), refused)
}

const EDITED_ACROSS: &str = "four\nsame\nsame\nafter six\nafter six\nsame\neight\nsame\nsame\nsame\nsame\n";

#[test]
fn edits_of_earlier_runs_are_followed_exactly() {
    let (text, refused) = edit_across(|_, workspace| workspace);
    assert_eq!(text, EDITED_ACROSS);
    assert_eq!(refused.unwrap().reason(), Reason::Conflict);
}

#[test]
fn edits_of_another_process_are_followed_exactly() {
    let (text, refused) = edit_across(|fixture, workspace| {
        drop(workspace);
        fixture.open()
    });
    assert_eq!(text, EDITED_ACROSS);
    assert_eq!(refused.unwrap().reason(), Reason::Conflict);
}

#[test]
fn edits_on_both_sides_of_a_users_edit_are_followed_exactly() {
    let fixture = Fixture::new();
    fixture.put("a", SAME);
    let workspace = fixture.open();
    let version = current_version(&workspace, "a");
    change(&workspace, delete_lines("a", (1, 2), version.clone())).unwrap();
    // A line of the user's before it, which a comparison finds with certainty.
    fixture.put("a", format!("the user's\n{}", fixture.text("a").unwrap()));
    change(&workspace, delete_lines("a", (5, 5), version.clone())).unwrap();
    change(&workspace, delete_lines("a", (11, 12), version.clone())).unwrap();
    change(&workspace, replace("a", (7, 7), "seven", version)).unwrap();
    assert_eq!(fixture.text("a").unwrap(), "the user's\nsame\nsame\nsame\nseven\nsame\nsame\nsame\n");
}

#[test]
fn version_that_only_a_user_made_is_followed_into_our_later_edits() {
    let fixture = Fixture::new();
    fixture.put("a", SAME);
    let workspace = fixture.open();
    // Our history begins before the shown version, and continues after the user has changed that.
    let first = current_version(&workspace, "a");
    change(&workspace, replace("a", (1, 1), "one", first)).unwrap();
    fixture.put("a", with(SAME, &[(12, "the user's")]));
    let version = current_version(&workspace, "a");
    fixture.put("a", with(SAME, &[(12, "the user's, again")]));
    let last = current_version(&workspace, "a");
    change(&workspace, delete_lines("a", (1, 4), last)).unwrap();
    change(&workspace, replace("a", (6, 6), "six", version.clone())).unwrap();
    let expected = "same\nsix\nsame\nsame\nsame\nsame\nsame\nthe user's, again\n";
    assert_eq!(fixture.text("a").unwrap(), expected);
    let refused = change(&workspace, replace("a", (12, 12), "twelve", version)).unwrap_err();
    assert_eq!(refused.reason(), Reason::Conflict);
}

#[test]
fn edit_that_was_taken_back_is_forgotten() {
    let fixture = Fixture::new();
    fixture.put("a", SAME);
    let workspace = fixture.open();
    let version = current_version(&workspace, "a");
    change(&workspace, replace("a", (5, 5), "five", version.clone())).unwrap();
    let changed = current_version(&workspace, "a");
    change(&workspace, replace("a", (5, 5), "same", changed)).unwrap();
    change(&workspace, insert("a", 0, "top", version.clone())).unwrap();
    change(&workspace, replace("a", (5, 5), "five again", version)).unwrap();
    assert_eq!(fixture.text("a").unwrap(), format!("top\n{}", with(SAME, &[(5, "five again")])));
}

#[test]
fn addressed_lines_that_another_program_changed_are_a_conflict_with_both_texts() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n2\n3\n4\n5\n");
    let workspace = fixture.open();
    let version = current_version(&workspace, "a");
    fixture.put("a", "0\n1\n2\nthree\n4\n5\n");
    let error = change(&workspace, replace("a", (3, 3), "x", version.clone())).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert_eq!(error.detail("expectedText").unwrap(), "3");
    let current = error.detail("currentText").unwrap().as_str().unwrap();
    assert!(current.contains("three"), "{current}");
    assert_eq!(error.detail("totalLines").unwrap(), 6);
    assert_eq!(error.detail("currentVersion").unwrap(), &current_version(&workspace, "a").unwrap().0);
    assert_eq!(fixture.text("a").unwrap(), "0\n1\n2\nthree\n4\n5\n");
    // The adjacent lines are found, whatever their numbers are now.
    change(&workspace, replace("a", (4, 5), "four", version)).unwrap();
    assert_eq!(fixture.text("a").unwrap(), "0\n1\n2\nthree\nfour\n");
}

#[test]
fn whole_file_that_was_written_anew_is_compared() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n2\n3\n4\n");
    let workspace = fixture.open();
    let version = current_version(&workspace, "a");
    change(&workspace, replace("a", (1, 1), "one", version.clone())).unwrap();
    change(&workspace, write("a", "zero\none\n2\n3\nfour\n")).unwrap();
    change(&workspace, replace("a", (3, 3), "three", version.clone())).unwrap();
    assert_eq!(fixture.text("a").unwrap(), "zero\none\n2\nthree\nfour\n");
    let refused = change(&workspace, replace("a", (4, 4), "x", version)).unwrap_err();
    assert_eq!(refused.reason(), Reason::Conflict);
}

#[test]
fn version_that_is_not_held_is_a_conflict() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n2\n");
    let workspace = fixture.open();
    for version in ["", "nonsense", &"0".repeat(64)] {
        let error =
            change(&workspace, replace("a", (1, 1), "x", Some(FileVersion(version.into())))).unwrap_err();
        assert_eq!(error.reason(), Reason::Conflict, "{error}");
    }
    assert_eq!(fixture.text("a").unwrap(), "1\n2\n");
}

#[test]
fn version_of_a_process_that_ended_is_held_only_if_it_was_shown_to_stay() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n2\n3\n");
    fixture.put("b", "1\n2\n3\n4\n");
    let workspace = fixture.open();
    let version = |path: &str, caller: Caller| {
        let request = ReadFile { path: path.into(), ..ReadFile::default() };
        workspace.read_file(&caller.call(), &request).unwrap().version
    };
    let (passing, lasting) = (version("a", Caller::once()), version("b", Caller::once().durable()));
    drop(workspace);
    fixture.put("a", "0\n1\n2\n3\n");
    fixture.put("b", "0\n1\n2\n3\n4\n");
    let workspace = fixture.open();
    let error = change(&workspace, replace("a", (2, 2), "x", passing)).unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    change(&workspace, replace("b", (2, 2), "two", lasting)).unwrap();
    assert_eq!(fixture.text("b").unwrap(), "0\n1\ntwo\n3\n4\n");
}

/// An edit of some lines of the file as it is: delete `count` lines at `at`, insert `added` ones there.
#[derive(Clone, Debug)]
struct RandomEdit {
    at: usize,
    count: usize,
    added: usize,
    same_batch: bool,
}

fn random_edit() -> impl Strategy<Value = RandomEdit> {
    (0..12_usize, 0..3_usize, 0..3_usize, any::<bool>())
        .prop_map(|(at, count, added, same_batch)| RandomEdit { at, count, added, same_batch })
}

/// A line of the file: one of the first version, by its number there, or one that came later.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    First(usize),
    Later(usize),
}

/// The file as it should be, and how many lines ever came.
struct Model {
    lines: Vec<Line>,
    came: usize,
}

impl Model {
    fn text(&self) -> String {
        let text = |line: &Line| match line {
            Line::First(_) => "same\n".to_owned(),
            Line::Later(number) => format!("later {number}\n"),
        };
        self.lines.iter().map(text).collect()
    }

    /// Makes an edit and returns it as a request.
    fn edit(&mut self, edit: &RandomEdit) -> Option<FileChange> {
        let version = FileVersion(change_journal::ContentHash::of(self.text().as_bytes()).to_string());
        let at = edit.at.min(self.lines.len());
        let count = edit.count.min(self.lines.len() - at);
        let added: Vec<_> = (self.came..self.came + edit.added).map(Line::Later).collect();
        self.came += edit.added;
        let new_content = Model { lines: added.clone(), came: 0 }.text();
        let (start_line, end_line) = (at as i64 + 1, (at + count) as i64);
        let operation = match (count, edit.added) {
            (0, 0) => return None,
            (0, _) => ModifyOperation::Insert { after_line: at as i64, new_content, was: None },
            (_, 0) => ModifyOperation::Delete { start_line, end_line, was: None },
            _ => ModifyOperation::Replace { start_line, end_line, new_content, was: None },
        };
        self.lines.splice(at..at + count, added);
        Some(modify("a", operation, Some(version)))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// All lines of the first version are the same, so a comparison of texts would be wrong.
    #[test]
    fn lines_are_where_our_own_edits_have_left_them(
        edits in proptest::collection::vec(random_edit(), 1..7),
        line in 1..=12_usize,
    ) {
        let fixture = Fixture::new();
        fixture.put("a", SAME);
        let journal = change_journal::Journal::in_memory().unwrap();
        let workspace = fixture.open_with(journal, fixture.config()).0;
        let version = current_version(&workspace, "a").unwrap();
        let mut model = Model { lines: (1..=12).map(Line::First).collect(), came: 0 };
        let mut batch = Vec::new();
        for edit in &edits {
            if !edit.same_batch {
                all_ok(workspace.change_files(&Caller::once().call(), &std::mem::take(&mut batch)).unwrap());
            }
            batch.extend(model.edit(edit));
        }
        batch.push(replace("a", (line as i64, line as i64), "marked", Some(version)));
        let last = workspace.change_files(&Caller::once().call(), &batch).unwrap().pop().unwrap();
        let text = fixture.text("a").unwrap();
        let marked: Vec<_> = text.lines().enumerate().filter(|(_, text)| *text == "marked").collect();
        match model.lines.iter().position(|there| *there == Line::First(line)) {
            Some(index) => {
                prop_assert!(last.is_ok(), "{last:?}");
                prop_assert_eq!(marked, [(index, "marked")]);
            }
            None => {
                prop_assert_eq!(last.unwrap_err().reason(), Reason::Conflict);
                prop_assert_eq!(text, model.text());
            }
        }
    }
}
