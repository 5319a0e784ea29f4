//! The conformance cases, and that they can fail.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use xtask::{CrateTests, Outcome, Registry, Tally, TaskError, conformance, root};

fn vectors() -> PathBuf {
    root().join("fixtures/vectors")
}

fn text(file: &str) -> String {
    fs::read_to_string(vectors().join(file)).unwrap()
}

/// Runs one case of a file with another expectation.
fn run_changed(file: &str, name: &str, change: impl FnOnce(&mut Value)) -> Tally {
    let mut vectors: Value = serde_json::from_str(&text(file)).unwrap();
    let cases = vectors["cases"].as_array_mut().unwrap();
    cases.retain(|case| case["name"] == name);
    assert_eq!(cases.len(), 1, "{name}");
    change(&mut cases[0]["expect"]);
    Registry::standard().run_file(file, &vectors.to_string()).unwrap()
}

#[test]
fn every_case_that_has_a_runner_passes() {
    let mut total = Tally::default();
    for entry in fs::read_dir(vectors()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        total.add(Registry::standard().run_file(&file, &text(&file)).unwrap());
    }
    assert_eq!(total.failed(), 0, "{:#?}", total.lines());
    assert!(total.passed() >= 195, "{total}");
}

#[test]
fn a_case_that_does_not_hold_fails() {
    type Change = fn(&mut Value);
    let changes: [(&str, &str, Change); 7] = [
        ("tagproto.json", "parse_edit_basic", |expect| expect[0]["start"] = json!(7)),
        ("tagproto.json", "parse_edit_basic", |expect| expect[0]["t"] = json!("CREATE_FILE")),
        ("tagproto.json", "parse_edit_nonint", |expect| expect[0]["error"] = json!("no such error")),
        ("tagproto.json", "parse_two_done", |expect| drop(expect.as_array_mut().unwrap().pop())),
        ("paste.json", "keep_clean_reply", |expect| expect["commands"][0]["body"] = json!("x")),
        ("paste.json", "keep_clean_reply", |expect| expect["repairs"] = json!(["fence"])),
        ("paste.json", "keep_clean_reply", |expect| expect["refused"] = json!("tabs_lost")),
    ];
    for (file, name, change) in changes {
        let held = run_changed(file, name, |_| ());
        assert_eq!((held.passed(), held.failed()), (1, 0), "{name}");
        let broken = run_changed(file, name, change);
        assert_eq!((broken.passed(), broken.failed()), (0, 1), "{name}");
        assert!(broken.lines()[0].starts_with(&format!("FAILED {file} {name}: ")), "{:?}", broken.lines());
    }
}

#[test]
fn a_case_that_changes_the_expected_fields_only_is_not_compared_further() {
    let passed = run_changed("tagproto.json", "parse_edit_basic", |expect| {
        expect[0].as_object_mut().unwrap().remove("body");
    });
    assert_eq!(passed.passed(), 1);
}

#[test]
fn what_is_not_run_is_named_and_counted() {
    let registry = Registry::of(&[
        ("a.json", Some("able"), |_| Outcome::Passed),
        ("a.json", Some("unable"), |_| Outcome::Unable("no namespaces here".to_owned())),
        ("a.json", Some("broken"), |_| panic!("out of cheese")),
    ]);
    let case = |name: &str, kind: &str| json!({ "name": name, "kind": kind });
    let cases =
        [case("1", "able"), case("2", "unable"), case("3", "broken"), case("4", "new"), case("5", "new")];
    let tally = registry.run_file("a.json", &json!({ "cases": cases }).to_string()).unwrap();
    let expected = [
        "FAILED a.json 3: panicked: out of cheese",
        "UNABLE a.json 2: no namespaces here",
        "no runner: a.json kind new (2 cases)",
    ];
    assert_eq!(tally.lines(), expected);
    assert_eq!(tally.to_string(), "5 cases: 1 passed, 1 failed, 1 cannot run here, 2 have no runner");

    let unknown = registry.run_file("b.json", &json!({ "cases": [{ "name": "x" }] }).to_string()).unwrap();
    assert_eq!(unknown.lines(), ["no runner: b.json (1 cases)"]);
}

#[test]
fn a_folder_with_a_failing_case_fails() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, value: Value| fs::write(folder.path().join(name), value.to_string()).unwrap();
    let case = |expect: Value| json!({ "name": "n", "kind": "parse", "input": { "inbox": "[DONE]\nx\n[/DONE]" }, "expect": expect });

    write("tagproto.json", json!({ "cases": [case(json!([{ "t": "DONE", "body": "x" }]))] }));
    conformance(folder.path()).unwrap();
    write("tagproto.json", json!({ "cases": [case(json!([{ "t": "DONE", "body": "y" }]))] }));
    assert!(matches!(conformance(folder.path()), Err(TaskError::CasesFailed { failed: 1 })));
}

#[test]
fn a_case_counts_for_what_the_tests_of_crates_say_everywhere() {
    let tests =
        CrateTests { file: "a.json", packages: &["a"], filter: "", circumstances: &["here", "there"] };
    let report = [
        "good\there\tpassed\t",
        "good\tthere\tpassed\t",
        "half\there\tpassed\t",
        "half\tthere\tnot meant\tno root",
        "none\there\tnot meant\tno Windows",
        "none\tthere\tnot meant\tno Windows",
        "bad\there\tpassed\t",
        "bad\tthere\tfailed\tit leaks",
        "unable\there\tpassed\t",
        "unable\tthere\tunable\tno mounts",
        "silent\there\tpassed\t",
        "twice\there\tpassed\t",
        "twice\there\tpassed\t",
        "twice\tthere\tpassed\t",
    ];
    let mut report: String = report.iter().map(|line| format!("a.json\t{line}\n")).collect();
    report += "b.json\tsilent\tthere\tpassed\t\n";
    let names = ["good", "half", "none", "bad", "unable", "silent", "twice"].map(str::to_owned);
    let tally = tests.tally(&names, &report);
    let expected = [
        "FAILED a.json bad: it leaks (there)",
        "FAILED a.json silent: there is no word about it (there)",
        "FAILED a.json twice: there are several words about it (here)",
        "UNABLE a.json none: no Windows (here, there)",
        "UNABLE a.json unable: no mounts (there)",
    ];
    assert_eq!(tally.lines(), expected);
    assert_eq!(tally.passed(), 2);
}

#[test]
fn a_folder_without_cases_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(conformance(folder.path()), Err(TaskError::NoVectors { .. })));
    assert!(matches!(conformance(&folder.path().join("nope")), Err(TaskError::Unreadable { .. })));
    fs::write(folder.path().join("a.json"), "{}").unwrap();
    assert!(matches!(conformance(folder.path()), Err(TaskError::NoCases { .. })));
    fs::write(folder.path().join("a.json"), "{").unwrap();
    assert!(matches!(conformance(folder.path()), Err(TaskError::NotJson { .. })));
}
