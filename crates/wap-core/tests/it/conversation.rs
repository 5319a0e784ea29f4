//! The meaning of a client's line numbers while others edit the same files.

use memory_workspace::MemoryWorkspace;
use serde_json::{Value, json};
use wap_core::*;

use test_support::Caller;

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

/// A workspace with one file that two clients work on.
struct Desk {
    workspace: MemoryWorkspace,
    caller: Caller,
    step: std::cell::Cell<u32>,
}

impl Desk {
    fn new() -> Desk {
        let workspace = MemoryWorkspace::with_files([("src/a.txt", LINES)]);
        Desk { workspace, caller: Caller::once(), step: std::cell::Cell::new(0) }
    }

    fn ask(&self, who: &Conversation, tool: &str, arguments: Value) -> Result<Value, WapError> {
        self.step.set(self.step.get() + 1);
        let request = Request::parse(tool, arguments)?;
        let call = self.caller.at(self.step.get());
        let call = call.call();
        let response = who.answer(&self.workspace, request, &call, &mut Unobserved)?;
        Ok(serde_json::to_value(response).unwrap())
    }

    fn does(&self, who: &Conversation, tool: &str, arguments: Value) -> Value {
        self.ask(who, tool, arguments.clone()).unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"))
    }

    fn replace(&self, who: &Conversation, line: u64, text: &str) -> Result<Value, WapError> {
        let operation = json!({ "type": "replace", "startLine": line, "endLine": line, "newContent": text });
        self.ask(who, "modifyFile", json!({ "path": "src/a.txt", "operations": [operation] }))
    }

    fn insert_on_top(&self, who: &Conversation, text: &str) {
        let operation = json!({ "type": "insert", "afterLine": 0, "newContent": text });
        self.does(who, "modifyFile", json!({ "path": "src/a.txt", "operations": [operation] }));
    }

    fn text(&self) -> String {
        let read = self.does(&client("reader"), "readFile", json!({ "path": "src/a.txt" }));
        read["content"].as_str().unwrap().to_owned()
    }
}

fn client(name: &str) -> Conversation {
    Conversation::new(ConversationId(name.into()))
}

fn read(lines: Option<(u64, u64)>) -> Value {
    match lines {
        Some((first, last)) => json!({ "path": "src/a.txt", "startLine": first, "endLine": last }),
        None => json!({ "path": "src/a.txt" }),
    }
}

#[test]
fn numbers_mean_the_lines_that_were_read_despite_insertions_by_others() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&other, "zero");
    desk.replace(&one, 3, "THREE").unwrap();
    assert_eq!(desk.text(), "zero\none\ntwo\nTHREE\nfour\nfive\nsix\n");
}

#[test]
fn without_a_read_numbers_mean_the_present_file() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.insert_on_top(&other, "zero");
    desk.replace(&one, 3, "TWO").unwrap();
    assert_eq!(desk.text(), "zero\none\nTWO\nthree\nfour\nfive\nsix\n");
}

#[test]
fn after_its_own_edit_an_ambiguous_number_is_refused_with_both_lines() {
    let (desk, one) = (Desk::new(), client("one"));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&one, "zero");
    // The client may count from its edit, or still use the numbers that it read.
    let error = desk.replace(&one, 3, "TWO").unwrap_err();
    let conflict = LineConflict::of(&error).unwrap();
    assert_eq!((error.reason(), conflict.doubt), (Reason::Conflict, LineDoubt::TwoPlaces));
    let at = |line| LineSpan { first: line, last: line };
    assert_eq!(conflict.candidates, [at(3), at(4)]);
    desk.replace(&one, 3, "TWO").unwrap();
    assert_eq!(desk.text(), "zero\none\nTWO\nthree\nfour\nfive\nsix\n");
    // Lines around both are quoted once.
    let quoted = |error: &WapError| error.detail("currentText").unwrap().as_str().unwrap().to_owned();
    assert_eq!(quoted(&error), "1|zero\n2|one\n3|two\n4|three\n5|four\n6|five\n7|six\n");
    assert_eq!(conflict.excerpts, [LineSpan { first: 1, last: 7 }]);
    // Those that are far apart are quoted in two pieces.
    let (desk, one) = (Desk::new(), client("one"));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&one, &"top\n".repeat(10));
    let error = desk.replace(&one, 3, "TWO").unwrap_err();
    let pieces = LineConflict::of(&error).unwrap().excerpts;
    assert_eq!(pieces, [LineSpan { first: 1, last: 6 }, LineSpan { first: 10, last: 16 }]);
    assert_eq!(quoted(&error).matches("--\n").count(), 1);
}

#[test]
fn lines_replaced_by_the_same_are_not_counted() {
    let (desk, one) = (Desk::new(), client("one"));
    desk.does(&one, "readFile", read(None));
    let counts = |text: &str| {
        let changed = desk.replace(&one, 3, text).unwrap();
        (changed["linesAdded"].as_u64(), changed["linesRemoved"].as_u64())
    };
    assert_eq!(counts("three"), (Some(0), Some(0)));
    assert_eq!(counts("THREE"), (Some(1), Some(1)), "the control");
}

#[test]
fn after_an_edit_that_moves_no_line_numbers_stay_valid() {
    let (desk, one) = (Desk::new(), client("one"));
    desk.does(&one, "readFile", read(None));
    desk.replace(&one, 3, "THREE").unwrap();
    desk.replace(&one, 3, "three again").unwrap();
    desk.replace(&one, 5, "FIVE\nand more").unwrap();
    desk.replace(&one, 2, "TWO").unwrap();
    assert_eq!(desk.text(), "one\nTWO\nthree again\nfour\nFIVE\nand more\nsix\n");
}

#[test]
fn the_first_line_decides_and_has_to_match() {
    let (desk, one) = (Desk::new(), client("one"));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&one, "zero");
    let operation = |kind: &str, line: u64, was: &str| {
        let operation = match kind {
            "insert" => json!({ "type": kind, "afterLine": line, "newContent": "+", "was": was }),
            "delete" => json!({ "type": kind, "startLine": line, "endLine": line, "was": was }),
            _ => json!({ "type": kind, "startLine": line, "endLine": line, "newContent": "X", "was": was }),
        };
        desk.ask(&one, "modifyFile", json!({ "path": "src/a.txt", "operations": [operation] }))
    };
    for (kind, line, was) in [("replace", 3, "four"), ("insert", 3, ""), ("delete", 1, "two")] {
        let error = operation(kind, line, was).unwrap_err();
        assert_eq!(LineConflict::of(&error).unwrap().doubt, LineDoubt::WasDiffers, "{kind}");
    }
    assert_eq!(desk.text(), format!("zero\n{LINES}"));
    let (desk, one) = (Desk::new(), client("one"));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&one, "zero");
    let operation = |operation: Value| {
        desk.does(&one, "modifyFile", json!({ "path": "src/a.txt", "operations": [operation] }))
    };
    let done = operation(json!({ "type": "delete", "startLine": 5, "endLine": 6, "was": "\tfive " }));
    assert_eq!(done["carried"], json!([{ "operation": 1, "firstLine": 6, "lastLine": 7 }]));
    operation(json!({ "type": "insert", "afterLine": 2, "newContent": "+", "was": "one" }));
    assert_eq!(desk.text(), "zero\none\n+\ntwo\nthree\nfour\n");
}

#[test]
fn a_telling_line_of_the_new_content_decides() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    let text = "fn first() {\nfn second() {\nfn third() {\nfn fourth() {\n";
    desk.does(&other, "writeFile", json!({ "path": "src/a.txt", "content": text }));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&one, "//");
    // Short lines, and lines that occur elsewhere, do not decide.
    assert!(desk.replace(&one, 3, "}\nfn fourth() {").is_err());
    let (desk, one) = (Desk::new(), client("one"));
    desk.does(&one, "writeFile", json!({ "path": "src/a.txt", "content": text }));
    desk.insert_on_top(&one, "//");
    desk.replace(&one, 3, "  fn third() {\n}").unwrap();
    assert_eq!(desk.text(), "//\nfn first() {\nfn second() {\n  fn third() {\n}\nfn fourth() {\n");
}

#[test]
fn a_file_that_was_never_shown_and_has_changed_since_the_last_answer_is_refused() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.does(&one, "exploreFiles", json!({ "path": "" }));
    desk.insert_on_top(&other, "zero");
    let error = desk.replace(&one, 3, "?").unwrap_err();
    assert_eq!(LineConflict::of(&error).unwrap().doubt, LineDoubt::Unseen);
    assert!(error.detail("currentText").unwrap().as_str().unwrap().contains("two"), "{error:?}");
    desk.replace(&one, 3, "TWO").unwrap();
    assert_eq!(desk.text(), "zero\none\nTWO\nthree\nfour\nfive\nsix\n");
}

#[test]
fn more_files_than_are_remembered_are_refused_until_they_are_shown_again() {
    let (desk, one) = (Desk::new(), client("one"));
    desk.does(&one, "readFile", read(None));
    for number in 0..LastAnswer::FILES {
        let path = format!("f{number}");
        desk.does(&one, "writeFile", json!({ "path": path, "content": "text\n" }));
    }
    let error = desk.replace(&one, 3, "?").unwrap_err();
    assert_eq!(LineConflict::of(&error).unwrap().doubt, LineDoubt::Unseen);
    desk.replace(&one, 3, "THREE").unwrap();
}

#[test]
fn the_same_line_changed_by_another_is_a_conflict_that_shows_it() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.does(&one, "readFile", read(None));
    desk.replace(&other, 3, "drei").unwrap();
    let error = desk.replace(&one, 3, "THREE").unwrap_err();
    assert_eq!(error.reason(), Reason::Conflict);
    assert!(error.detail("currentText").is_some(), "{error:?}");
    // The refusal showed the line, so its number means that version.
    desk.replace(&one, 3, "THREE").unwrap();
    assert_eq!(desk.text(), "one\ntwo\nTHREE\nfour\nfive\nsix\n");
}

#[test]
fn after_an_edit_across_a_foreign_one_ambiguous_numbers_are_refused() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&other, "zero");
    desk.replace(&one, 3, "THREE\nand a half").unwrap();
    let error = desk.replace(&one, 5, "FIVE").unwrap_err();
    assert_eq!(LineConflict::of(&error).unwrap().doubt, LineDoubt::TwoPlaces);
    // Lines that the refusal shows, or that are read again, can be edited.
    desk.replace(&one, 7, "FIVE").unwrap();
    desk.does(&one, "readFile", read(None));
    desk.replace(&one, 2, "ONE").unwrap();
    assert_eq!(desk.text(), "zero\nONE\ntwo\nTHREE\nand a half\nfour\nFIVE\nsix\n");
}

#[test]
fn lines_of_different_versions_are_not_edited_in_one_call() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.does(&one, "readFile", read(Some((1, 3))));
    desk.insert_on_top(&other, "zero");
    desk.does(&one, "readFile", read(Some((6, 7))));
    let delete = |line: u64| json!({ "type": "delete", "startLine": line, "endLine": line });
    let both = json!({ "path": "src/a.txt", "operations": [delete(1), delete(7)] });
    assert_eq!(desk.ask(&one, "modifyFile", both).unwrap_err().reason(), Reason::Conflict);
    // In separate calls they mean the shown versions.
    desk.does(&one, "modifyFile", json!({ "path": "src/a.txt", "operations": [delete(7)] }));
    assert_eq!(desk.text(), "zero\none\ntwo\nthree\nfour\nfive\n");
}

#[test]
fn numbers_of_a_search_are_those_of_the_file_as_it_was_searched() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&other, "zero");
    let response = desk.does(
        &one,
        "searchFiles",
        json!({ "paths": ["src"], "query": "four", "type": "literal", "contextLines": 0 }),
    );
    assert_eq!(response["matches"][0]["line"], 5);
    desk.replace(&one, 5, "FOUR").unwrap();
    assert_eq!(desk.text(), "zero\none\ntwo\nthree\nFOUR\nfive\nsix\n");
}

#[test]
fn a_file_is_recognised_under_any_name_it_was_read_by() {
    for name in ["./src//a.txt", "src/./a.txt", "/workspace/src/a.txt"] {
        let (desk, one, other) = (Desk::new(), client("one"), client("other"));
        desk.does(&one, "readFile", json!({ "path": name }));
        desk.insert_on_top(&other, "zero");
        desk.replace(&one, 1, "ONE").unwrap();
        assert_eq!(desk.text(), "zero\nONE\ntwo\nthree\nfour\nfive\nsix\n", "{name}");
    }
    // And the other way round.
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&other, "zero");
    let operation = json!({ "type": "delete", "startLine": 1, "endLine": 1 });
    desk.does(&one, "modifyFile", json!({ "path": "/workspace/src/a.txt", "operations": [operation] }));
    assert_eq!(desk.text(), "zero\ntwo\nthree\nfour\nfive\nsix\n");
}

#[test]
fn content_that_a_client_wrote_counts_as_shown() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    desk.does(&one, "writeFile", json!({ "path": "src/a.txt", "content": "a\nb\nc\n" }));
    desk.insert_on_top(&other, "0");
    desk.replace(&one, 2, "B").unwrap();
    assert_eq!(desk.text(), "0\na\nB\nc\n");
}

#[test]
fn an_expected_version_of_the_client_is_unchanged() {
    let (desk, one, other) = (Desk::new(), client("one"), client("other"));
    let old = desk.does(&one, "readFile", read(None));
    desk.insert_on_top(&other, "zero");
    let new = desk.does(&one, "readFile", read(None));
    for (version, gone) in [(&new, "zero"), (&old, "one")] {
        let operation = json!({ "type": "delete", "startLine": 1, "endLine": 1 });
        let request =
            json!({ "path": "src/a.txt", "operations": [operation], "expectedVersion": version["version"] });
        desk.does(&one, "modifyFile", request);
        assert!(!desk.text().contains(gone), "{gone}");
    }
}

#[test]
fn a_search_that_hits_a_long_line_leaves_the_numbers_of_the_file_certain() {
    let desk = Desk::new();
    let long = "long ".repeat(400);
    desk.workspace.set_file("src/a.txt", format!("one\n{long}\nthree\n"));
    let one = client("one");
    desk.does(&one, "readFile", read(None));
    let hits =
        desk.does(&one, "searchFiles", json!({ "paths": ["src"], "query": "long long", "type": "literal" }));
    assert_eq!(hits["totalMatches"], 1);
    desk.replace(&one, 1, "ONE").unwrap();
    assert!(desk.text().starts_with("ONE\nlong "));
}
