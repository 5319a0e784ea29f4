//! What somebody saves while a command runs is told from what was there before.

use std::fs;

use crate::ground::{Ground, Upper, listed, look, save, set_mode, write};

/// Makes a layer, changes it as a command would, changes the workspace as somebody would, and lists the changes.
fn list(
    files: &[&str],
    command: impl FnOnce(&Upper),
    meanwhile: impl FnOnce(&std::path::Path),
) -> Vec<String> {
    let ground = Ground::with_files(files);
    let (layer, upper) = ground.layer();
    command(&upper);
    meanwhile(&ground.workspace());
    listed(&look(&layer))
}

#[test]
fn edits_right_before_are_no_conflict_and_edits_right_after_are_one() {
    for round in 0..20 {
        let ground = Ground::with_files(&["written", "saved", "later"]);
        fs::write(ground.workspace().join("written"), format!("{round}\n")).unwrap();
        save(&ground.workspace().join("saved"), &format!("{round}\n"));
        let (layer, upper) = ground.layer();
        save(&ground.workspace().join("later"), &format!("{round}\n"));
        for name in ["written", "saved", "later"] {
            upper.write(name, "by the command\n");
        }
        let expected = ["later changed, saved meanwhile", "saved changed", "written changed"];
        assert_eq!(listed(&look(&layer)), expected, "round {round}");
    }
}

#[test]
fn a_save_in_place_a_save_by_renaming_and_new_permissions_are_seen() {
    let lines = list(
        &["a", "b", "c", "d"],
        |upper| ["a", "b", "c", "d"].iter().for_each(|name| upper.write(name, "ours\n")),
        |workspace| {
            fs::write(workspace.join("a"), "theirs\n").unwrap();
            save(&workspace.join("b"), "theirs\n");
            set_mode(&workspace.join("c"), 0o600);
        },
    );
    let meanwhile = ["a", "b", "c"].map(|name| format!("{name} changed, saved meanwhile"));
    assert_eq!(lines[..3], meanwhile);
    assert_eq!(lines[3..], ["d changed"]);
}

#[test]
fn what_was_saved_elsewhere_is_no_conflict() {
    let lines = list(
        &["dir/a", "dir/b", "c"],
        |upper| upper.write("dir/a", "ours\n"),
        |workspace| {
            save(&workspace.join("dir/b"), "theirs\n");
            write(&workspace.join("dir/new/x"), "theirs\n");
            fs::remove_file(workspace.join("c")).unwrap();
        },
    );
    assert_eq!(lines, ["dir/a changed"]);
}

#[test]
fn a_removed_file_that_was_saved_is_a_conflict_and_so_is_its_folder() {
    let lines = list(
        &["dir/a", "dir/b", "c"],
        |upper| ["dir", "c"].iter().for_each(|name| upper.remove(name)),
        |workspace| fs::write(workspace.join("dir/a"), "theirs\n").unwrap(),
    );
    assert_eq!(
        lines,
        ["c removed", "dir removed, saved meanwhile", "dir/a removed, saved meanwhile", "dir/b removed"]
    );
}

#[test]
fn nothing_is_removed_from_a_folder_that_got_something_new() {
    // What is moved into the folder has its old times: only the folder itself shows that it came.
    let command: [fn(&Upper); 2] = [|upper| upper.remove("dir"), |upper| upper.make_folder("dir")];
    for command in command {
        let lines = list(&["dir/a", "old/x"], command, |workspace| {
            fs::rename(workspace.join("old"), workspace.join("dir/moved")).unwrap();
        });
        let conflicts = lines.iter().filter(|line| line.ends_with("removed, saved meanwhile")).count();
        assert!(lines.iter().all(|line| !line.ends_with("removed")), "{lines:?}");
        assert!(conflicts >= 3, "{lines:?}");
    }
}

#[test]
fn a_file_that_appeared_at_the_place_of_a_new_one_is_a_conflict() {
    let lines = list(
        &[],
        |upper| {
            upper.write("new", "ours\n");
            upper.write("free", "ours\n");
        },
        |workspace| fs::write(workspace.join("new"), "theirs\n").unwrap(),
    );
    assert_eq!(lines, ["free new", "new changed, saved meanwhile"]);
}

#[test]
fn the_same_content_saved_on_both_sides_is_no_change() {
    let lines = list(
        &["a"],
        |upper| upper.write("a", "same\n"),
        |workspace| {
            save(&workspace.join("a"), "same\n");
        },
    );
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn a_file_that_is_gone_is_a_conflict_where_it_cannot_have_been_renamed() {
    let gone = |workspace: &std::path::Path| fs::remove_file(workspace.join("a")).unwrap();
    let lines = list(&["a", "b"], |upper| upper.write("a", "ours\n"), gone);
    assert_eq!(lines, ["a new, saved meanwhile"]);
    // The control: the same in the layer is a renaming by the command, whatever happened beside it.
    let renamed = |upper: &Upper| {
        upper.remove("b");
        upper.write_copied("c", "b\n");
    };
    let lines = list(&["a", "b"], renamed, gone);
    assert_eq!(lines, ["b removed", "c new"]);
    // Nor is it one where nothing in the folder changed.
    let lines = list(&["a", "b"], |upper| upper.write_copied("c", "b\n"), |_| {});
    assert_eq!(lines, ["c new"]);
}

#[test]
fn a_folder_that_is_gone_is_a_conflict_with_all_that_is_in_it() {
    let lines = list(
        &["dir/a", "dir/sub/b"],
        |upper| upper.write("dir/sub/b", "ours\n"),
        |workspace| {
            fs::remove_dir_all(workspace.join("dir")).unwrap();
        },
    );
    let expected = ["dir new", "dir/sub new", "dir/sub/b new"].map(|line| format!("{line}, saved meanwhile"));
    assert_eq!(lines, expected);
}

#[test]
fn a_folder_that_became_a_file_is_a_conflict() {
    let lines = list(
        &["dir/a"],
        |upper| upper.write("dir/a", "ours\n"),
        |workspace| {
            fs::remove_dir_all(workspace.join("dir")).unwrap();
            fs::write(workspace.join("dir"), "theirs\n").unwrap();
        },
    );
    assert_eq!(lines, ["dir changed, saved meanwhile", "dir/a new, saved meanwhile"]);
}

#[test]
fn a_removed_folder_that_may_not_be_read_is_a_conflict() {
    if rustix::process::geteuid().is_root() {
        // Root reads everything, so nothing is unknown.
        return;
    }
    let ground = Ground::with_files(&["dir/a"]);
    set_mode(&ground.workspace().join("dir"), 0o000);
    let (layer, upper) = ground.layer();
    upper.remove("dir");
    assert_eq!(listed(&look(&layer)), ["dir removed with 0, saved meanwhile"]);
}
