//! `kill -9` at every step of an adoption.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::{Fixture, Upper, image, look, open_store, save, set_mode};
use crate::tracer::{self, Ended};

/// Names the folder in which the worker adopts a layer.
const FOLDER: &str = "COW_LAYER_KILL_TEST";

type Image = BTreeMap<String, String>;

fn scene() -> Fixture {
    let files = [
        "edited",
        "removed",
        "dir/removed",
        "dir/sub/removed",
        "folder-to-file/x",
        "file-to-folder",
        "remade/a",
        "remade/b",
        "kept",
    ];
    let fixture = Fixture::with_files(&files);
    let (layer, upper) = fixture.layer();
    change(&upper);
    layer.seal(&look(&layer)).unwrap();
    fixture
}

fn change(upper: &Upper) {
    upper.write("edited", "ours\n");
    set_mode(&upper.path.join("edited"), 0o755);
    upper.write("new", "new\n");
    upper.remove("removed");
    upper.remove("dir");
    upper.write("folder-to-file", "a file now\n");
    upper.make_folder("file-to-folder");
    upper.write("file-to-folder/in", "in\n");
    upper.make_folder("remade");
    upper.write("remade/a", "again\n");
    upper.link("link", "new");
    upper.make_folder("closed");
    upper.write("closed/x", "x\n");
    set_mode(&upper.path.join("closed"), 0o555);
}

/// Adopts the rest of the layer, as after a crash; the other tests start this one as a program.
#[test]
fn worker() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let layer = open_store(&folder).reopen(&"1".parse().unwrap()).unwrap();
    let changes = layer.sealed().unwrap().unwrap();
    std::env::set_current_dir("/").unwrap();
    for change in changes.in_adoption_order() {
        // A refusal is a valid result here: the parent test checks the files.
        let _ = layer.adopt(change);
    }
    layer.finish_folders(&changes).unwrap();
}

fn adopt_until(folder: &Path, number: u32) -> Ended {
    let mut worker = Command::new(std::env::current_exe().unwrap());
    worker.args(["--exact", "kills::worker", "--test-threads", "1"]).env(FOLDER, folder);
    tracer::run(&worker, number)
}

/// Returns the images before and after an undisturbed adoption, and the number of its steps.
fn undisturbed() -> (Image, Image) {
    let fixture = scene();
    let before = image(&fixture.workspace());
    assert_eq!(adopt_until(fixture.path(), u32::MAX), Ended::Exited(0));
    (before, image(&fixture.workspace()))
}

/// Checks that every path is in one of its two states. A folder may still be widened for its owner.
fn check_states(now: &Image, before: &Image, after: &Image, number: u32) {
    let paths = before.keys().chain(after.keys());
    for path in paths.chain(now.keys()) {
        let (now, before, after) = (now.get(path), before.get(path), after.get(path));
        let is_open = path == "closed" && now.is_some_and(|now| now == "folder 755");
        assert!(now == before || now == after || is_open, "{path} at {number}: {now:?}");
    }
}

#[test]
fn every_path_is_in_one_of_its_two_states_and_the_adoption_resumes() {
    let (before, after) = undisturbed();
    assert_eq!(after["closed"], "folder 555");
    assert_eq!(after["file-to-folder/in"], "file 644 \"in\\n\"");
    let mut killed = 0;
    for number in 1.. {
        let fixture = scene();
        let ended = adopt_until(fixture.path(), number);
        check_states(&image(&fixture.workspace()), &before, &after, number);
        if ended == Ended::Killed {
            killed += 1;
            assert_eq!(adopt_until(fixture.path(), u32::MAX), Ended::Exited(0), "{number}");
        }
        assert_eq!(image(&fixture.workspace()), after, "{number}");
        if ended != Ended::Killed {
            break;
        }
    }
    // At least one step for each of the changes.
    assert!(killed >= 14, "{killed}");
}

#[test]
fn versions_saved_after_the_kill_stay_when_the_adoption_resumes() {
    let (_, after) = undisturbed();
    for number in 1.. {
        let fixture = scene();
        let ended = adopt_until(fixture.path(), number);
        for name in ["edited", "new", "removed", "kept"] {
            save(&fixture.workspace().join(name), "theirs\n");
        }
        let _ = adopt_until(fixture.path(), u32::MAX);
        let now = image(&fixture.workspace());
        for name in ["edited", "new", "removed", "kept"] {
            assert!(now[name].ends_with("\"theirs\\n\""), "{name} at {number}: {}", now[name]);
        }
        assert_eq!(now["closed/x"], after["closed/x"]);
        if ended != Ended::Killed {
            break;
        }
    }
}
