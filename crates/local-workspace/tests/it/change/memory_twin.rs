//! The workspace in memory answers every edit as the engine does.

use memory_workspace::MemoryWorkspace;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use wap_core::*;

use crate::fixture::workspace::*;

const VECTORS: &str = include_str!("../../../../../fixtures/vectors/wap.json");

/// Cases in which the file is not on a disk, or is one that only a disk has.
fn is_of_both(case: &Value) -> bool {
    let files = case["input"]["files"].as_object();
    case["kind"] == "modify" && files.is_none_or(|files| !files.contains_key("_generate"))
}

/// Returns the answer as JSON, and the file afterwards.
fn outcome(workspace: &impl Workspace, request: &ModifyFile) -> (Value, Option<String>) {
    let answer = change(workspace, FileChange::Modify(request.clone()));
    let answer = match answer {
        Ok(FileChanged::Modified(response)) => serde_json::to_value(response).unwrap(),
        Ok(other) => panic!("{other:?}"),
        Err(error) => serde_json::to_value(error).unwrap(),
    };
    (answer, read(workspace, &request.path).ok().map(|read| read.content))
}

#[test]
fn every_modify_case_gives_the_same_answer_and_the_same_file() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let mut compared = 0;
    for case in vectors["cases"].as_array().unwrap().iter().filter(|case| is_of_both(case)) {
        let name = &case["name"];
        let fixture = Fixture::new();
        let memory = MemoryWorkspace::new();
        for (path, content) in case["input"]["files"].as_object().into_iter().flatten() {
            fixture.put(path, content.as_str().unwrap());
            memory.set_file(path, content.as_str().unwrap());
        }
        let Ok(Request::ModifyFile(request)) = Request::parse("modifyFile", case["input"]["request"].clone())
        else {
            continue;
        };
        let (on_disk, file_on_disk) = outcome(&fixture.open(), &request);
        let (in_memory, file_in_memory) = outcome(&memory, &request);
        assert_eq!(file_on_disk, file_in_memory, "{name}");
        let is_about_the_path = |answer: &Value| answer["details"]["field"] == "path";
        if is_about_the_path(&on_disk) || is_about_the_path(&in_memory) || file_on_disk.is_none() {
            // The engine words refused paths with what it sees on the disk.
            assert_eq!(on_disk["details"]["reason"], in_memory["details"]["reason"], "{name}");
        } else {
            assert_eq!(on_disk, in_memory, "{name}");
        }
        compared += 1;
    }
    assert_eq!(compared, 25, "a case was added or is not run any more");
}

/// The cases of edits by text whose file is UTF-8 text.
fn edits_by_text() -> Vec<(String, String, Vec<ModifyOperation>)> {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../../fixtures/vectors/text-edits.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap().iter();
    let edits = cases.filter(|case| case["kind"] == "edit" && case["file"].is_string());
    edits
        .map(|case| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let hunks = case["hunks"].as_array().unwrap().iter().map(|hunk| ModifyOperation::ReplaceText {
                old_text: text(&hunk["search"]),
                new_text: text(&hunk["replace"]),
                expected_matches: case["expected"].as_u64().map(|count| u32::try_from(count).unwrap()),
                whole_lines: (case["anywhere"] != true).then(|| WholeLines {
                    within: hunk["within"][0].as_i64().zip(hunk["within"][1].as_i64()),
                    ..WholeLines::default()
                }),
            });
            (text(&case["name"]), text(&case["file"]), hunks.collect())
        })
        .collect()
}

#[test]
fn every_edit_by_text_gives_the_same_answer_and_the_file_of_the_vectors() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../../fixtures/vectors/text-edits.json")).unwrap();
    let expected = |name: &str| {
        let mut cases = vectors["cases"].as_array().unwrap().iter();
        cases.find(|case| case["name"] == name).unwrap()["expect"].clone()
    };
    let fixture = Fixture::in_memory();
    let on_disk = fixture.open();
    let memory = MemoryWorkspace::new();
    let edits = edits_by_text();
    assert!(edits.len() > 100);
    for (index, (name, text, operations)) in edits.into_iter().enumerate() {
        let path = format!("f{index}");
        fixture.put(&path, &text);
        memory.set_file(&path, &text);
        let request = ModifyFile { path: path.clone(), operations, ..ModifyFile::default() };
        let answer = outcome(&on_disk, &request);
        assert_eq!(answer, outcome(&memory, &request), "{name}");
        let expected = expected(&name);
        let file = expected["file"].as_str().unwrap_or(&text);
        assert_eq!(fixture.text(&path).as_deref(), Some(file), "{name}");
        assert_eq!(answer.0["success"] == true, expected["refused"].is_null(), "{name}: {}", answer.0);
    }
}

fn operation() -> impl Strategy<Value = ModifyOperation> {
    let line = 0..9_i64;
    let text = "[a-c\n]{0,4}";
    let was = prop::option::weighted(0.2, "[a-c]");
    prop_oneof![
        (line.clone(), line.clone(), text, was.clone()).prop_map(
            |(start_line, end_line, new_content, was)| {
                ModifyOperation::Replace { start_line, end_line, new_content, was }
            }
        ),
        (line.clone(), text, was.clone()).prop_map(|(after_line, new_content, was)| {
            ModifyOperation::Insert { after_line, new_content, was }
        }),
        (line.clone(), line, was).prop_map(|(start_line, end_line, was)| ModifyOperation::Delete {
            start_line,
            end_line,
            was
        }),
        ("[a-c\n ]{1,3}", "[a-cx\n]{0,3}", prop::option::of(0..3_u32), any::<bool>()).prop_map(
            |(old_text, new_text, expected_matches, is_whole_lines)| ModifyOperation::ReplaceText {
                old_text,
                new_text,
                expected_matches: expected_matches.filter(|_| !is_whole_lines),
                whole_lines: is_whole_lines.then(WholeLines::default),
            }
        ),
        ("[a-c(.]{1,2}", "[x$1]{0,2}", prop::option::of("[gi]")).prop_map(|(pattern, replacement, flags)| {
            ModifyOperation::RegexReplace { pattern, replacement, flags }
        }),
    ]
}

#[test]
fn drawn_edits_give_the_same_answers_and_the_same_file() {
    let fixture = Fixture::in_memory();
    let on_disk = fixture.open();
    let edits =
        prop::collection::vec((prop::collection::vec(operation(), 1..4), any::<bool>(), 0..3_usize), 1..5);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(100));
    let file = std::cell::Cell::new(0);
    let drawn = ("[a-c]?(\r?\n[a-c]?){0,6}", edits);
    let drawn_stories = runner.run(&drawn, |(text, edits)| {
        // A file of its own for each story: versions of earlier ones are not to be known.
        let path = format!("f{}", file.replace(file.get() + 1));
        let memory = MemoryWorkspace::new();
        fixture.put(&path, &text);
        memory.set_file(&path, &text);
        let mut versions = vec![current_version(&on_disk, &path)];
        prop_assert_eq!(&versions[0], &current_version(&memory, &path));
        for (operations, in_turn, version) in edits {
            let line_numbers = in_turn.then_some(LineNumbers::InTurn);
            let expected_version = versions.get(version).cloned().flatten();
            let request = ModifyFile {
                path: path.clone(),
                operations,
                expected_version,
                line_numbers,
                seen_versions: None,
                judged: None,
                view_numbers: None,
            };
            prop_assert_eq!(outcome(&on_disk, &request), outcome(&memory, &request));
            versions.push(current_version(&on_disk, &path));
        }
        Ok(())
    });
    drawn_stories.unwrap();
}
