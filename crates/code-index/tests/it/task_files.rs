//! The files that are relevant for a task.

use std::fs;
use std::path::Path;

use code_index::LocalIndex;
use rel_path::RelPath;
use serde_json::Value;
use wap_core::TaskFile;

use crate::fixture::{Fixture, call, refresh, source};

fn files_for(index: &LocalIndex, task: &str, limit: usize) -> Vec<TaskFile> {
    call(|call| index.files_for_task(call, task, limit)).unwrap()
}

fn paths(files: &[TaskFile]) -> Vec<&str> {
    files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn a_file_that_the_task_names_comes_first_then_definitions_and_neighbours() {
    let fixture = Fixture::new([
        ("src/greet.py", "def greet(name):\n    return name\n\n\ndef part_of(name):\n    return name\n"),
        ("src/main.py", "from src.greet import greet\n\nprint(greet('you'))\n"),
        ("src/count_words.py", "import sys\n\n\ndef count_words(text):\n    return len(text.split())\n"),
        ("notes/plan.md", "Nothing about this.\n"),
    ]);
    let index = fixture.index();
    let files = files_for(&index, "Let src/greet.py use count_words", 10);
    let mut all = paths(&files);
    assert_eq!(all[0], "src/greet.py");
    all.sort_unstable();
    assert_eq!(all, ["src/count_words.py", "src/greet.py", "src/main.py"]);
    assert_eq!(files[0].outline, [1, 5]);
    let defining = files.iter().find(|file| file.path == "src/count_words.py").unwrap();
    assert!(defining.passages.iter().any(|lines| lines.first <= 4 && 4 <= lines.last), "{defining:?}");
    assert_eq!(files_for(&index, "Let src/greet.py use count_words", 1).len(), 1);
    assert_eq!(files_for(&index, "zebra", 10), []);
}

#[test]
fn a_file_whose_name_abbreviates_a_word_is_ranked_below_whole_matches() {
    let calc = ("src/calc.py", "def divide(a, b):\n    return a / b\n");
    let readme = ("README.md", "The calculator of this project.\n");
    let other = ("src/zero.py", "def on_zero():\n    raise ZeroDivisionError\n");
    let task = "Fix the calculator on zero";
    let ranked = |files: &[(&str, &str)]| {
        let fixture = Fixture::new(files.iter().copied());
        let files = files_for(&fixture.index(), task, 10);
        paths(&files).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    // Prose describes the project, and is not a whole match in code.
    let mut all = ranked(&[calc, readme, other]);
    assert_eq!(all[0], "src/zero.py");
    all.sort_unstable();
    assert_eq!(all, ["README.md", "src/calc.py", "src/zero.py"]);
    assert_eq!(ranked(&[calc, other]), ["src/zero.py", "src/calc.py"]);
    // If code has the word, its beginning does not matter.
    let whole = ("src/machine.py", "class Calculator:\n    pass\n");
    assert!(!ranked(&[calc, whole]).contains(&"src/calc.py".to_owned()));
}

#[test]
fn most_files_that_a_person_would_open_first_are_ranked_high() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let truth = fs::read(repository.join("fixtures/first-message/this-repository.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let state = tempfile::tempdir().unwrap();
    // The table contains the tasks themselves.
    let source = source(&repository).without(RelPath::parse("fixtures/first-message").unwrap());
    let (index, _) = LocalIndex::open(state.path(), source, Default::default()).unwrap();
    refresh(&index);
    let (mut ranked, mut all) = (0, 0);
    for task in truth["tasks"].as_array().unwrap() {
        let files = files_for(&index, task["task"].as_str().unwrap(), 30);
        for wanted in task["files"].as_array().unwrap() {
            let rank = files.iter().position(|file| file.path == *wanted);
            all += 1;
            ranked += usize::from(rank.is_some());
            if rank.is_none() {
                eprintln!("not ranked: {wanted}");
            }
        }
    }
    assert!(ranked * 10 >= all * 8, "{ranked} of {all}");
}
