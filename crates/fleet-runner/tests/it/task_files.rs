//! The files of tasks.

use std::collections::BTreeSet;
use std::fs;

use cocode_fleet::TaskName;
use fleet_runner::TaskFiles;
use proptest::prelude::*;

use crate::fixture::task;

fn name(run: &str, agent: &str) -> TaskName {
    TaskName::new(run.parse().unwrap(), agent.parse().unwrap())
}

#[test]
fn the_file_of_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = TaskFiles::open(folder.path().join("tasks")).unwrap();
    tasks.put(&task(name("run-1", "a"), &"1".repeat(40), Vec::new())).unwrap();
    let text = fs::read_to_string(folder.path().join("tasks/run-1.a.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn other_files_do_not_count_and_broken_ones_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = TaskFiles::open(folder.path().to_owned()).unwrap();
    for other in [".tmpabc", "x.json", "a b.c.json", "run.a.retry", "run.a.b.json", "run.a.json~"] {
        fs::write(folder.path().join(other), "{}").unwrap();
    }
    assert_eq!(tasks.names().unwrap(), []);
    fs::write(folder.path().join("run.a.json"), "{ \"name\"").unwrap();
    assert_eq!(tasks.names().unwrap(), [name("run", "a")]);
    tasks.get(&name("run", "a")).unwrap_err();
    assert_eq!(tasks.get(&name("run", "b")).unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn tasks_are_kept_until_they_are_removed_and_retries_until_they_end(
        steps in proptest::collection::vec(("[a-zA-Z0-9_-]{1,40}", "[a-z]{1,2}", 0..7_u8), 1..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let tasks = TaskFiles::open(folder.path().to_owned()).unwrap();
        let (mut expected, mut requested, mut begun) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (run, agent, step) in steps {
            let name = name(&run, &agent);
            // Several steps with one name, so that each meets what another has left.
            for step in [0, step, (step + 3) % 7, step] {
                match step {
                    0 | 1 => {
                        tasks.put(&task(name.clone(), &"1".repeat(40), Vec::new())).unwrap();
                        expected.insert(name.clone());
                    }
                    2 | 3 => {
                        tasks.request_retry(&name).unwrap();
                        requested.insert(name.clone());
                    }
                    4 => {
                        if requested.remove(&name) {
                            begun.insert(name.clone());
                        }
                        prop_assert_eq!(tasks.begin_retry(&name).unwrap(), begun.contains(&name));
                    }
                    5 => {
                        tasks.end_retry(&name).unwrap();
                        begun.remove(&name);
                    }
                    _ => {
                        tasks.remove(&name).unwrap();
                        expected.remove(&name);
                    }
                }
                let is_retried = requested.contains(&name) || begun.contains(&name);
                prop_assert_eq!(tasks.is_retried(&name), is_retried);
                prop_assert_eq!(tasks.get(&name).unwrap().map(|task| task.name), expected.get(&name).cloned());
            }
        }
        prop_assert_eq!(tasks.names().unwrap(), Vec::from_iter(expected));
    }
}
