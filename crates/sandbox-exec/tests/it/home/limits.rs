//! The limit of a home, and the removal of old ones.

use std::fs;
use std::time::{Duration, Instant, SystemTime};

use sandbox_exec::{KeptHome, KeptHomes, ShellCommand};

use crate::fixture::{Fixture, stdout};
use crate::home::{kept, output};

fn with_limit(limit_bytes: u64) -> Fixture {
    let mut fixture = kept();
    fixture.policy.kept_home = Some(KeptHome::new(fixture.root().join("kept")).with_limit(limit_bytes));
    fixture
}

/// Waits until the thread that measures a home has found it too large.
fn wait_until_over_limit(fixture: &Fixture) {
    let begun = Instant::now();
    while !fixture.root().join("kept/over-limit").exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "the home was never found to be too large");
        // A process measures one home at a time: another test's may have been in the way.
        if !fixture.root().join("kept/measured").exists() {
            output(fixture, "true");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_largest_parts_beyond_the_limit_are_removed_and_the_others_stay() {
    let fixture = with_limit(1 << 20);
    output(&fixture, "echo small > ~/small; head -c 600000 /dev/zero > ~/.cache/pip/a");
    assert_eq!(output(&fixture, "wc -c < ~/.cache/pip/a"), "600000\n");
    // A home is not measured again within a minute unless the disk has become fuller, which other programs affect.
    fs::remove_file(fixture.root().join("kept/measured")).unwrap();
    output(&fixture, "head -c 900000 /dev/zero > ~/.npm/_cacache/b");
    assert_eq!(
        output(&fixture, "cat ~/small ~/.npm/_cacache/content/a; ls ~/.npm/_cacache ~/.cache/pip"),
        format!(
            "small\npackage a\n{0}/.cache/pip:\na\nhttp\n\n{0}/.npm/_cacache:\ncontent\n",
            fixture.root().join("home").display()
        )
    );
    // The control: within the limit all of it stays.
    let fixture = with_limit(1 << 30);
    output(
        &fixture,
        "head -c 900000 /dev/zero > ~/.npm/_cacache/b; head -c 600000 /dev/zero > ~/.cache/pip/a",
    );
    assert_eq!(output(&fixture, "cat ~/.npm/_cacache/b ~/.cache/pip/a | wc -c"), "1500000\n");
}

#[test]
fn a_home_of_many_files_is_measured_in_the_background_and_shrunk_before_a_later_command() {
    let fixture = with_limit(8 << 20);
    output(&fixture, "mkdir ~/many; cd ~/many; seq 5000 | xargs touch; head -c 20000000 /dev/zero > ~/large");
    wait_until_over_limit(&fixture);
    assert_eq!(output(&fixture, "ls ~; cat ~/.npm/_cacache/content/a"), "go\npackage a\n");
}

#[test]
fn what_cannot_be_measured_is_not_kept() {
    let fixture = with_limit(8 << 20);
    // Deeper than the longest path.
    output(
        &fixture,
        "cd; for i in $(seq 50); do d=$(printf 'd%.0s' $(seq 200)); mkdir $d; cd -P ./$d; done; head -c 100000 /dev/zero > a",
    );
    wait_until_over_limit(&fixture);
    assert_eq!(output(&fixture, "ls ~"), "go\n");
}

#[test]
fn a_home_that_cannot_be_made_is_replaced_by_a_fresh_one() {
    let mut fixture = kept();
    fs::write(fixture.root().join("file"), "").unwrap();
    fixture.policy.kept_home = Some(KeptHome::new(fixture.root().join("file/kept")));
    let command = ShellCommand::new("echo 1 > ~/a && cat ~/a ~/go/pkg/mod/a@v1/a.go").unwrap();
    let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
    assert!(
        running.home_fault().is_some_and(|why| why.contains("Not a directory")),
        "{:?}",
        running.home_fault()
    );
    assert_eq!(stdout(&running.wait().unwrap()), "1\npackage a\n");
}

#[test]
fn old_homes_and_those_of_lost_workspaces_are_collected() {
    let mut fixture = kept();
    let homes = fixture.root().join("homes");
    let collect =
        |limit| KeptHomes::in_folder(homes.clone()).collect(limit, Duration::from_secs(1000)).unwrap();
    assert_eq!(collect(0).homes, 0);
    for name in ["used", "old", "lost"] {
        let workspace = fixture.root().join(format!("workspace-{name}"));
        fs::create_dir(&workspace).unwrap();
        fixture.policy.workspace = workspace;
        fixture.policy.kept_home = Some(KeptHome::new(homes.join(name)));
        output(&fixture, "head -c 500000 /dev/zero > ~/a; mkdir ~/closed; chmod 0 ~/closed");
    }
    fs::remove_dir(fixture.root().join("workspace-lost")).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(2000);
    let file = fs::File::options().append(true).open(homes.join("old/workspace")).unwrap();
    file.set_modified(long_ago).unwrap();
    let collected = collect(1 << 30);
    assert_eq!((collected.homes, collected.homes_removed), (1, 2));
    assert!(collected.bytes >= 500_000 && collected.bytes_removed >= 1_000_000, "{collected:?}");
    let left: Vec<_> = fs::read_dir(&homes).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["used"]);
    let collected = collect(100_000);
    assert!(collected.homes == 1 && collected.bytes < 100_000, "{collected:?}");
    // A home in use is left alone.
    fixture.policy.workspace = fixture.root().join("workspace-used");
    fixture.policy.kept_home = Some(KeptHome::new(homes.join("used")));
    let text = "touch ready; until test -e go; do sleep 0.01; done; ls ~/a";
    let running = fixture
        .launcher
        .spawn(
            &fixture.policy,
            &ShellCommand::new(&format!("head -c 500000 /dev/zero > ~/a; {text}")).unwrap(),
        )
        .unwrap();
    while !fixture.policy.workspace.join("ready").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let collected = collect(0);
    assert_eq!((collected.in_use, collected.homes, collected.homes_removed), (1, 0, 0));
    fs::write(fixture.policy.workspace.join("go"), "").unwrap();
    assert!(running.wait().unwrap().ending.is_success());
}
