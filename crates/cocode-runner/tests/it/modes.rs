//! No agent leaves a set-user-ID program, a capability, a device or a file of another owner, and no other user can enter
//! its git folders. The tricks are those of `fixtures/modes/tricks.json`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::fixture::{Fixture, MARKED};
use crate::tricks::{Trick, left_in, tricks};

/// The folders in which a confined agent may write, as its script names them.
const FOLDERS: [&str; 4] = ["$R/tricks", "$W/tricks", "$W/cocode/objects/tricks", "$O/tricks"];

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn git_folder(fixture: &Fixture) -> PathBuf {
    fixture.repository().join(".git/worktrees/7-a")
}

#[test]
fn no_trick_of_an_agent_leaves_anything_anywhere() {
    for fixture in [Fixture::new(), Fixture::shared()] {
        let mut script = "R=$(pwd); W=$(git rev-parse --absolute-git-dir); \
            O=$(git rev-parse --path-format=absolute --git-common-dir)/objects; "
            .to_owned();
        let meant: Vec<Trick> =
            tricks().into_iter().filter(|trick| trick.is_possible() && !trick.is_own).collect();
        for trick in &meant {
            for folder in FOLDERS {
                let command = format!("{} && {}", trick.setup, trick.command);
                let text = Trick { command, ..trick.clone() }.in_folder(folder);
                script.push_str(&format!("( {text} ) >> $R/said 2>&1; "));
            }
        }
        script.push_str(&format!("cd $R; ls $W/tricks | wc -l > count; git add -A; {MARKED}"));
        let record = fixture.run(&script);
        assert_eq!(record.exit_code, Some(0), "{record:?}");
        let written: usize =
            fs::read_to_string(fixture.worktree().join("count")).unwrap().trim().parse().unwrap();
        assert_eq!(written, meant.len(), "the agent wrote in its git folder");
        for folder in [fixture.worktree(), fixture.repository()] {
            let left = left_in(&folder);
            assert!(left.is_empty(), "{left:?}\n{:?}", fs::read_to_string(fixture.worktree().join("said")));
        }
        assert_eq!(mode(&git_folder(&fixture)), 0o700);
    }
}

#[test]
fn every_trick_bites_where_nothing_refuses_it() {
    let folder = tempfile::tempdir().unwrap();
    for trick in tricks().iter().filter(|trick| trick.is_possible()) {
        trick.bites(folder.path());
    }
}

#[test]
fn an_agents_git_folders_are_closed_from_the_start_and_again_at_the_end() {
    let fixture = Fixture::new();
    let script = format!(
        "W=$(git rev-parse --absolute-git-dir); stat -c %a $W $W/cocode > modes; chmod 777 $W; git add -A; {MARKED}"
    );
    let record = fixture.run(&script);
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    assert_eq!(fs::read_to_string(fixture.worktree().join("modes")).unwrap(), "700\n700\n");
    let folder = git_folder(&fixture);
    assert_eq!((mode(&folder), mode(&folder.join("cocode"))), (0o700, 0o700));
}

#[test]
fn an_open_git_folder_is_closed_when_a_runner_is_opened() {
    let fixture = Fixture::new();
    let record = fixture.run(MARKED);
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    let folder = git_folder(&fixture);
    for folder in [folder.clone(), folder.join("cocode")] {
        fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    }
    drop(fixture.runner());
    assert_eq!((mode(&folder), mode(&folder.join("cocode"))), (0o700, 0o700));
    // A symlink at its path is not followed.
    let elsewhere = fixture.root.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(folder.join("cocode")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder.join("cocode")).unwrap();
    drop(fixture.runner());
    assert_eq!(mode(&elsewhere), 0o755);
}
