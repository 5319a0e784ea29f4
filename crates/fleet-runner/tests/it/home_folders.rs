//! The folder of a repository's tasks in fleets.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cocode_fleet::{BaseFile, TaskName};
use fleet_runner::HomeFolder;

use crate::fixture::{Machine, task};

/// Returns the names in the folder of bundles.
fn names(folder: &Path) -> BTreeSet<String> {
    names_in(&folder.join("bases"))
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the names of these bundles, with that of the list.
fn listed(files: &[&BaseFile]) -> BTreeSet<String> {
    let names = files.iter().map(|file| file.path.file_name().unwrap().to_str().unwrap().to_owned());
    names.chain(["chain.json".to_owned()]).collect()
}

/// Makes a home folder with bundles of three histories, of which the chain names the last.
fn home_with_bundles() -> (Machine, PathBuf, HomeFolder, Vec<BaseFile>) {
    let machine = Machine::new();
    let folder = machine.root.join("fleet");
    let home = HomeFolder::open(&folder).unwrap();
    let mut files = Vec::new();
    for name in ["one", "two", "three"] {
        machine.git(&["checkout", "-q", "--orphan", name]);
        let commit = machine.commit(name);
        files.extend(home.chain.leading_to(&machine.bundle_source(), &commit).unwrap());
    }
    assert_eq!(names(&folder), listed(&files.iter().collect::<Vec<_>>()));
    (machine, folder, home, files)
}

#[test]
fn bundles_that_neither_the_chain_nor_a_task_names_are_removed() {
    let (machine, folder, home, files) = home_with_bundles();
    let [_, two, three] = &files[..] else { panic!("{files:?}") };
    let name = TaskName::new("run".parse().unwrap(), "a".parse().unwrap());
    home.tasks.put(&task(name.clone(), &two.base.tip, vec![two.base.clone()])).unwrap();
    let home = HomeFolder::open(&folder).unwrap();
    assert_eq!(names(&folder), listed(&[two, three]));
    home.tasks.remove(&name).unwrap();
    let home = HomeFolder::open(&folder).unwrap();
    assert_eq!(names(&folder), listed(&[three]));
    let same = home.chain.leading_to(&machine.bundle_source(), &three.base.tip).unwrap();
    assert_eq!(same[0].base, three.base);
}

#[test]
fn bundles_stay_while_a_task_cannot_be_read() {
    let (_machine, folder, _, files) = home_with_bundles();
    let all = names(&folder);
    let unreadable = folder.join("tasks/run.a.json");
    fs::write(&unreadable, "{").unwrap();
    HomeFolder::open(&folder).unwrap();
    assert_eq!(names(&folder), all);
    fs::remove_file(unreadable).unwrap();
    HomeFolder::open(&folder).unwrap();
    assert_eq!(names(&folder), listed(&[&files[2]]));
}

#[test]
fn half_written_bundles_are_removed_and_other_files_stay() {
    let (_machine, folder, _, files) = home_with_bundles();
    for name in [".tmpabc", "new.bundle", "notes.txt", "other.bundle"] {
        fs::write(folder.join("bases").join(name), "x").unwrap();
    }
    HomeFolder::open(&folder).unwrap();
    let mut left = listed(&[&files[2]]);
    left.extend(["notes.txt", "other.bundle"].map(str::to_owned));
    assert_eq!(names(&folder), left);
}

#[test]
fn deliveries_of_a_killed_process_are_removed_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    fs::create_dir(home.incoming.join("delivery-x")).unwrap();
    fs::write(home.incoming.join("delivery-x/bundle"), "x").unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    assert_eq!(fs::read_dir(&home.incoming).unwrap().count(), 0);
    // Not even root empties a file.
    fs::remove_dir(&home.incoming).unwrap();
    fs::write(&home.incoming, "x").unwrap();
    let error = HomeFolder::open(folder.path()).unwrap_err().to_string();
    let named = format!("{} cannot be emptied, remove it by hand: ", home.incoming.display());
    assert!(error.starts_with(&named), "{error}");
}

#[test]
fn files_of_tasks_that_are_not_here_any_more_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    let [here, gone] = ["here", "gone"].map(|run| TaskName::new(run.parse().unwrap(), "a".parse().unwrap()));
    home.tasks.put(&task(here.clone(), &"1".repeat(40), Vec::new())).unwrap();
    for name in [&here, &gone] {
        home.tasks.mark_unsent(&name.run).unwrap();
        home.tasks.request_retry(name).unwrap();
        home.tasks.begin_retry(name).unwrap();
        home.tasks.request_retry(name).unwrap();
    }
    let tasks = folder.path().join("tasks");
    for other in [".tmpabc", "notes.txt"] {
        fs::write(tasks.join(other), "x").unwrap();
    }
    HomeFolder::open(folder.path()).unwrap();
    let left = ["here.a.json", "here.a.retry", "here.a.retrying", "here.unsent", "notes.txt"];
    assert_eq!(names_in(&tasks), BTreeSet::from(left.map(str::to_owned)));
}
