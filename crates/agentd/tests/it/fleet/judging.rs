//! Home's judgement of deliveries: its check, and its end by a signal.

use std::fs;
use std::path::Path;

use super::parts::{Fleet, desk};
use super::states;
use crate::fixture::daemon::{Daemon, eventually};

const FIXER: &str = r#"
[agents.fixer]
command = "sh"
args = ["-c", "echo x > $(basename $PWD).txt; git add -A; git commit -q -m 'cocode ready for check'"]
"#;

#[test]
fn a_signal_ends_a_run_while_a_delivery_is_checked() {
    let Some(fleet) = Fleet::start("a_signal_ends_a_run_while_a_delivery_is_checked", &[]) else { return };
    let desk = desk(FIXER);
    let _north = fleet.host(&desk, "north", &[]);
    let check = "echo checking > begun; sleep 600";
    let url = fleet.url();
    let run = ["run", "--issue", "5", "--issue-body", "x", "--fleet", &url, "--sandbox", "allow=none"];
    let run = [&run[..], &["--agent", "fixer", "--check", check]].concat();
    let submitter = Daemon::start(desk.command(&run));
    let folder = desk.project.folder().to_owned();
    let has_begun = || listing_of(&folder).iter().any(|path| path.ends_with("5-fixer/begun"));
    eventually("the check runs", has_begun);
    // Once is enough, though the judgement that it stops could be repeated.
    submitter.interrupt().exits(130).prints("cancelled");
    assert_eq!(states(&desk), [("fixer".to_owned(), "cancelled".to_owned())]);
    let record = &desk.status()["agents"][0];
    assert_eq!(record["detail"], "its delivered work was not judged", "{record}");
    assert!(record["verdict"].is_null(), "{record}");
    // The work is there without a verdict: it is not ready, and only force removes it.
    desk.cocode(&["diff", "fixer"]).ok().prints("5-fixer.txt");
    desk.cocode(&["clean"]).ok().prints("kept: it holds files that are not committed: begun");
    // The control: given out again, and checked by a check that ends, it is ready.
    desk.cocode(&["clean", "--force", "fixer"]).ok().prints("removed");
    fleet.run(&desk, &["--agent", "fixer", "--check", "test -f 5-fixer.txt"]).ok();
    assert_eq!(states(&desk), [("fixer".to_owned(), "ready".to_owned())]);
}

#[test]
fn the_command_of_a_check_stays_at_home() {
    let Some(fleet) = Fleet::start("the_command_of_a_check_stays_at_home", &[]) else { return };
    let desk = desk(FIXER);
    let check = "API_TOKEN=s3cr3t; test $API_TOKEN = s3cr3t && test -f 5-fixer.txt";
    let options = ["--agent", "fixer", "--check", check, "--issue-body", "the text of the issue", "--detach"];
    let run = ["run", "--issue", "5", "--fleet", &fleet.url(), "--sandbox", "allow=none"];
    desk.cocode(&[&run[..], &options].concat()).ok();
    let tasks = desk.project.base().join("cocode/fleet/tasks");
    let store = fleet.folder().join("server");
    // The control is the text of the issue, which hosts get.
    for folder in [&tasks, &store] {
        eventually("the task is there", || holds(folder, b"the text of the issue"));
        assert!(!holds(folder, b"s3cr3t"), "{}", folder.display());
    }
    let _north = fleet.host(&desk, "north", &[]);
    fleet.command(&desk, &["collect"]).ok();
    let record = &desk.status()["agents"][0];
    assert_eq!((&record["state"], &record["check"]), (&"ready".into(), &check.into()), "{record}");
    assert!(!holds(&store, b"s3cr3t"));
}

/// Every path inside a folder, which may be missing.
fn listing_of(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut paths = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
            paths.push(entry.path());
        }
    }
    paths
}

/// Checks whether any file inside a folder has these bytes.
fn holds(folder: &Path, text: &[u8]) -> bool {
    let files = listing_of(folder).into_iter().filter_map(|path| fs::read(path).ok());
    files.into_iter().any(|bytes| bytes.windows(text.len()).any(|window| window == text))
}
