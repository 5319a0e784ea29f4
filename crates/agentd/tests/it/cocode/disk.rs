//! A disk that is full while agents run: it is said, nothing that was committed is lost, and there is a way on.

use std::fs;

use serde_json::Value;

use crate::cocode::desk::{Desk, MARKED};
use crate::fixture::project::Project;
use crate::state::full_disk::small_disk;

fn status(ran: &crate::fixture::project::Ran) -> Value {
    serde_json::from_str::<Value>(&ran.stdout).unwrap()["agents"].clone()
}

#[test]
fn with_a_full_disk_for_records_nothing_is_started() {
    let outer = Project::new();
    let mount_point = outer.folder().join("disk");
    fs::create_dir(&mount_point).unwrap();
    let test = "with_a_full_disk_for_records_nothing_is_started";
    let Some(disk) = small_disk(test, &mount_point, "4m") else { return };
    let desk = Desk::of(Project::with_base(&mount_point.join("state")));
    let run = |name: &str| {
        let agent = format!("{name}={MARKED}");
        disk.run(&desk.command(&["run", "--issue", "5", "--issue-body", "x", "--agent-cmd", &agent]))
    };
    run("a").ok();
    let ballast = disk.fill(&mount_point);
    let before = desk.digests();
    let ran = run("b").exits(1);
    assert!(ran.stderr.contains("space") || ran.stderr.contains("full"), "{ran}");
    assert_eq!(desk.git(&["branch", "--list", "cocode/*"]), "+ cocode/5-a");
    desk.assert_untouched(&before);
    fs::remove_file(ballast).unwrap();
    run("b").ok();
}

#[test]
fn with_a_full_disk_for_worktrees_the_agent_fails_and_leaves_nothing() {
    let outer = Project::new();
    let mount_point = outer.folder().join("disk");
    fs::create_dir(&mount_point).unwrap();
    let test = "with_a_full_disk_for_worktrees_the_agent_fails_and_leaves_nothing";
    let Some(disk) = small_disk(test, &mount_point, "2m") else { return };
    let desk = Desk::new();
    desk.project.write("large.txt", &"larger than what is left\n".repeat(20_000));
    desk.git(&["add", "."]);
    desk.git(&["commit", "-q", "-m", "large"]);
    let worktrees = mount_point.join("worktrees").display().to_string();
    let cocode =
        |arguments: &[&str]| disk.run(&desk.command(&[arguments, &["--worktrees", &worktrees]].concat()));
    let run = |name: &str| {
        cocode(&["run", "--issue", "5", "--issue-body", "x", "--agent-cmd", &format!("{name}={MARKED}")])
    };
    let ballast = disk.fill(&mount_point);
    let ran = run("a").exits(1);
    assert!(ran.stdout.contains("failed") && ran.stdout.contains("worktree"), "{ran}");
    cocode(&["clean"]).ok().prints("a #5: removed");
    assert_eq!(desk.git(&["branch", "--list", "cocode/*"]), "");
    assert_eq!(desk.git(&["worktree", "list"]).lines().count(), 1);
    fs::remove_file(ballast).unwrap();
    run("a").ok();
}

#[test]
fn a_disk_that_fills_up_under_an_agent_loses_none_of_its_commits() {
    let outer = Project::new();
    let mount_point = outer.folder().join("disk");
    fs::create_dir(&mount_point).unwrap();
    let test = "a_disk_that_fills_up_under_an_agent_loses_none_of_its_commits";
    let Some(disk) = small_disk(test, &mount_point, "3m") else { return };
    let desk = Desk::of(Project::with_base(&mount_point.join("state")));
    let agent = format!("a=echo x > b; git add .; {MARKED}; yes \"$(printf %2000d 1)\" | head -c 8M");
    let ran = disk.run(&desk.command(&["run", "--issue", "5", "--issue-body", "x", "--agent-cmd", &agent]));
    // Its log has taken all there was, and the disk may be too full for its record.
    assert!(ran.code == 0 || ran.stderr.contains("records of agents cannot be"), "{ran}");
    assert_eq!(desk.git(&["show", "cocode/5-a:b"]), "x");
    for log in fs::read_dir(disk.path(&mount_point).join("state/cocode/logs")).unwrap() {
        fs::write(log.unwrap().path(), "").unwrap();
    }
    let agents = status(&disk.run(&desk.command(&["status", "--json"])).ok());
    let expected = if ran.code == 0 { "ready" } else { "lost" };
    assert_eq!(
        (&agents[0]["state"], &agents[0]["commits"]),
        (&expected.into(), &1.into()),
        "{agents:#} {ran}"
    );
    if ran.code == 0 {
        assert!(agents[0]["warnings"].to_string().contains("lines of its log are missing"), "{agents:#}");
    }
}
