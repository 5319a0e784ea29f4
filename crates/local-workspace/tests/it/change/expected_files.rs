//! Changes that are carried out only on the files that they were planned on.

use local_workspace::{ExpectedFiles, ExpectingWorkspace};
use proptest::prelude::*;
use wap_core::*;

use crate::fixture::workspace::*;

fn expected(workspace: &impl Workspace, paths: &[&str]) -> ExpectedFiles {
    let is_there = |path: &str| read(workspace, path).is_ok();
    let version = |path: &str| is_there(path).then(|| current_version(workspace, path)).flatten();
    paths.iter().map(|path| ((*path).to_owned(), version(path))).collect()
}

fn reasons(answers: &[Result<FileChanged, WapError>]) -> Vec<Option<Reason>> {
    answers.iter().map(|answer| answer.as_ref().err().map(WapError::reason)).collect()
}

fn batch() -> Vec<FileChange> {
    vec![
        write("written", "by the model\n"),
        replace("edited", (1, 1), "by the model", None),
        delete("deleted"),
        write("created", "by the model\n"),
        write("free", "by the model\n"),
    ]
}

const PATHS: [&str; 4] = ["written", "edited", "deleted", "created"];

fn files(fixture: &Fixture) {
    for name in ["written", "edited", "deleted", "free"] {
        fixture.put(name, "as it was\n");
    }
}

#[test]
fn a_file_that_has_changed_since_the_plan_is_not_overwritten() {
    let fixture = Fixture::new();
    files(&fixture);
    let workspace = fixture.open();
    let expecting = ExpectingWorkspace::new(&workspace, expected(&workspace, &PATHS));
    for name in PATHS.iter().chain(&["free"]) {
        fixture.put(name, "by another program\n");
    }
    let answers = expecting.change_files(&Caller::once().call(), &batch()).unwrap();
    let refused = Some(Reason::Conflict);
    assert_eq!(reasons(&answers), [refused, refused, refused, refused, None], "{answers:?}");
    for name in PATHS {
        assert_eq!(fixture.text(name).as_deref(), Some("by another program\n"), "{name}");
    }
    assert_eq!(fixture.text("free").as_deref(), Some("by the model\n"), "nothing was expected of it");
}

#[test]
fn files_that_are_the_expected_ones_are_changed() {
    // The control of the test above: the same batch, and the workspace itself on the changed files.
    let fixture = Fixture::new();
    files(&fixture);
    let workspace = fixture.open();
    let expecting = ExpectingWorkspace::new(&workspace, expected(&workspace, &PATHS));
    let answers = expecting.change_files(&Caller::once().call(), &batch()).unwrap();
    assert_eq!(reasons(&answers), [None; 5], "{answers:?}");
    assert_eq!(fixture.text("edited").as_deref(), Some("by the model\n"));
    for name in ["written", "edited", "deleted", "free"] {
        fixture.put(name, "by another program\n");
    }
    let answers = workspace.change_files(&Caller::once().call(), &batch()).unwrap();
    assert_eq!(reasons(&answers), [None; 5], "{answers:?}");
    assert_eq!(fixture.text("written").as_deref(), Some("by the model\n"));
}

#[test]
fn a_file_that_goes_or_comes_is_another_one_too() {
    let fixture = Fixture::new();
    files(&fixture);
    let workspace = fixture.open();
    let expecting = ExpectingWorkspace::new(&workspace, expected(&workspace, &["written", "created"]));
    std::fs::remove_file(fixture.root().join("written")).unwrap();
    fixture.put("created", "by another program\n");
    let changes = [write("written", "x"), write("created", "x")];
    let answers = expecting.change_files(&Caller::once().call(), &changes).unwrap();
    assert_eq!(reasons(&answers), [Some(Reason::Conflict); 2], "{answers:?}");
    assert_eq!(
        (fixture.text("written"), fixture.text("created").as_deref()),
        (None, Some("by another program\n"))
    );
}

#[test]
fn another_name_of_the_file_is_the_same_file() {
    let fixture = Fixture::new();
    fixture.put("folder/a", "1\n");
    std::os::unix::fs::symlink("folder", fixture.root().join("link")).unwrap();
    let workspace = fixture.open();
    let expecting = ExpectingWorkspace::new(&workspace, expected(&workspace, &["folder/a"]));
    fixture.put("folder/a", "2\n");
    for name in ["link/a", "./folder/a", "folder/../folder/a"] {
        let answer = change(&expecting, write(name, "x"));
        // A name that the workspace refuses altogether is as good.
        assert!(answer.is_err(), "{name}: {answer:?}");
    }
    assert_eq!(fixture.text("folder/a").as_deref(), Some("2\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Own changes follow each other, in one batch or several; one by another program in between stops the rest.
    #[test]
    fn own_changes_become_the_expected_state(cuts in prop::collection::vec(any::<bool>(), 6), foreign in 0..8_usize) {
        let fixture = Fixture::new();
        fixture.put("a", "0\n");
        let workspace = fixture.open();
        let expecting = ExpectingWorkspace::new(&workspace, expected(&workspace, &["a"]));
        let mut batch = Vec::new();
        let mut is_foreign = false;
        for (index, is_cut) in cuts.iter().enumerate() {
            batch.push(match index % 3 {
                2 => delete("a"),
                _ => write("a", &format!("{index}\n")),
            });
            if !is_cut && index + 1 < cuts.len() {
                continue;
            }
            let answers = expecting.change_files(&Caller::once().call(), &std::mem::take(&mut batch)).unwrap();
            prop_assert!(answers.iter().all(|answer| answer.is_err() == is_foreign), "{answers:?}");
            if foreign == index {
                fixture.put("a", "by another program\n");
                is_foreign = true;
            }
        }
        if is_foreign {
            prop_assert_eq!(fixture.text("a"), Some("by another program\n".to_owned()));
        }
    }
}
