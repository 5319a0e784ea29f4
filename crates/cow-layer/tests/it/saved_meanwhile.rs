//! Saves during a command are distinguished from earlier ones.

use std::fs;

use crate::fixture::{Fixture, Upper, listed, look, save, set_mode, write};

/// Makes a layer, changes it like a command, changes the workspace like another program, and lists the
/// changes.
fn list(
    files: &[&str],
    command: impl FnOnce(&Upper),
    meanwhile: impl FnOnce(&std::path::Path),
) -> Vec<String> {
    let fixture = Fixture::with_files(files);
    let (layer, upper) = fixture.layer();
    command(&upper);
    meanwhile(&fixture.workspace());
    listed(&look(&layer))
}

#[test]
fn an_edit_right_before_does_not_conflict_and_one_right_after_does() {
    for round in 0..20 {
        let fixture = Fixture::with_files(&["written", "saved", "later"]);
        fs::write(fixture.workspace().join("written"), format!("{round}\n")).unwrap();
        save(&fixture.workspace().join("saved"), &format!("{round}\n"));
        let (layer, upper) = fixture.layer();
        save(&fixture.workspace().join("later"), &format!("{round}\n"));
        for name in ["written", "saved", "later"] {
            upper.write(name, "by the command\n");
        }
        let expected = ["later changed, saved meanwhile", "saved changed", "written changed"];
        assert_eq!(listed(&look(&layer)), expected, "round {round}");
    }
}

#[test]
fn saves_in_place_by_renaming_and_of_permissions_are_detected() {
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
fn saves_at_other_paths_do_not_conflict() {
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
fn removals_from_a_folder_that_gained_an_entry_conflict() {
    // Entries moved into the folder keep their old times: only the folder's own time shows the move.
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
fn a_file_that_appeared_at_the_path_of_a_new_one_conflicts() {
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
fn the_same_content_on_both_sides_is_not_a_change() {
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
    // The control: the same in the layer is a rename by the command, whatever happened meanwhile.
    let renamed = |upper: &Upper| {
        upper.remove("b");
        upper.write_copied("c", "b\n");
    };
    let lines = list(&["a", "b"], renamed, gone);
    assert_eq!(lines, ["b removed", "c new"]);
    // Nor does it conflict where the folder is unchanged.
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
    let fixture = Fixture::with_files(&["dir/a"]);
    set_mode(&fixture.workspace().join("dir"), 0o000);
    let (layer, upper) = fixture.layer();
    upper.remove("dir");
    assert_eq!(listed(&look(&layer)), ["dir removed with 0, saved meanwhile"]);
}
