//! Two commands at a time, and homes over other homes.

use std::fs;

use sandbox_exec::{KeptHome, Running, ShellCommand};

use crate::fixture::{Fixture, stdout};
use crate::home::{fingerprint, kept, output, said};

/// Starts a command that waits until the workspace has a file `go`, once it has made a file `ready` there.
fn start_waiting(fixture: &Fixture, before: &str, after: &str) -> Running {
    let text = format!("{before}; touch ready; until test -e go; do sleep 0.01; done; {after}");
    let running = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap()).unwrap();
    let ready = fixture.workspace().join("ready");
    while !ready.exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    running
}

#[test]
fn a_second_command_at_the_same_time_is_as_warm_and_leaves_nothing() {
    let fixture = kept();
    output(&fixture, "echo own > ~/.npm/_cacache/own; echo plain > ~/plain");
    let first = start_waiting(
        &fixture,
        "echo first > ~/first",
        "ls ~/.npm/_cacache ~ | sort; echo late > ~/.npm/_cacache/late",
    );
    let text = "cat ~/.npm/_cacache/own ~/.npm/_cacache/content/a ~/plain && git config user.name && \
                echo second | tee ~/second ~/.npm/_cacache/second ~/.npm/_cacache/own && rm ~/plain ~/.npm/_cacache/content/a";
    for _ in 0..2 {
        assert_eq!(output(&fixture, text), "own\npackage a\nplain\nagentd\nsecond\n");
    }
    fs::write(fixture.workspace().join("go"), "").unwrap();
    let outcome = first.wait().unwrap();
    let names = stdout(&outcome);
    assert!(names.contains("first\n") && names.contains("plain\n") && !names.contains("second"), "{names}");
    // The first command's changes are kept, and none of the second's.
    assert_eq!(
        output(&fixture, "cat ~/.npm/_cacache/own ~/.npm/_cacache/late ~/first ~/plain"),
        "own\nlate\nfirst\nplain\n"
    );
    assert_eq!(output(&fixture, "ls ~/.npm/_cacache"), "content\nlate\nown\n");
    assert!(!fixture.root().join("kept/passing").exists());
}

#[test]
fn a_command_whose_changes_are_discarded_leaves_the_home_to_others() {
    let mut fixture = kept();
    let whole = fixture.policy.kept_home.clone();
    fixture.policy.kept_home = whole.clone().map(KeptHome::discarded);
    // It may be the first command of all.
    let first = start_waiting(&fixture, "echo first > ~/first", "cat ~/first ~/.npm/_cacache/content/a");
    fixture.policy.kept_home = whole;
    output(&fixture, "echo kept > ~/kept");
    assert_eq!(output(&fixture, "cat ~/kept; test ! -e ~/first"), "kept\n");
    fs::write(fixture.workspace().join("go"), "").unwrap();
    assert_eq!(said(&first.wait().unwrap()), "first\npackage a\n");
    assert_eq!(output(&fixture, "cat ~/kept; test ! -e ~/first"), "kept\n");
}

#[test]
fn two_workspaces_share_the_users_caches_and_nothing_else() {
    let fixture = kept();
    let mut other = kept();
    other.policy.kept_home = Some(KeptHome::new(fixture.root().join("kept-too")));
    let first =
        start_waiting(&fixture, "echo first > ~/.npm/_cacache/content/a", "cat ~/.npm/_cacache/content/a");
    let config = sandbox_exec::LauncherConfig::new(
        crate::fixture::spawner(),
        crate::fixture::user(&fixture.root().join("home")),
        other.root().join("scratch"),
    );
    other.launcher = sandbox_exec::Launcher::start(config).unwrap();
    // The other user's home is this one's now.
    other.policy.workspace = other.root().join("workspace");
    assert_eq!(
        output(&other, "cat ~/.npm/_cacache/content/a; echo other > ~/.npm/_cacache/content/a"),
        "package a\n"
    );
    fs::write(fixture.workspace().join("go"), "").unwrap();
    assert_eq!(said(&first.wait().unwrap()), "first\n");
    assert_eq!(output(&other, "cat ~/.npm/_cacache/content/a"), "other\n");
}

#[test]
fn a_home_over_another_one_leaves_that_as_it_is() {
    let mut fixture = kept();
    output(&fixture, "echo own > ~/.npm/_cacache/own; mkdir ~/data; echo 1 > ~/data/a; echo 2 > ~/data/b");
    let kept_home = fixture.root().join("kept");
    let before = fingerprint(&kept_home);
    let over = KeptHome::new(fixture.root().join("trial")).layered_over(kept_home.clone());
    fixture.policy.kept_home = Some(over);
    let text = "cat ~/.npm/_cacache/own ~/data/a && rm ~/data/a ~/.npm/_cacache/content/a && echo 3 > ~/data/b && \
                echo trial > ~/.npm/_cacache/own && cat ~/.cache/pip/http/a";
    assert_eq!(output(&fixture, text), "own\n1\nwheel a\n");
    // Commands of one trial see what the earlier ones did.
    assert_eq!(
        output(&fixture, "ls ~/data ~/.npm/_cacache/content; cat ~/data/b ~/.npm/_cacache/own"),
        format!(
            "{0}/.npm/_cacache/content:\n\n{0}/data:\nb\n3\ntrial\n",
            fixture.root().join("home").display()
        )
    );
    assert_eq!(fingerprint(&kept_home), before);
    fixture.policy.kept_home = Some(KeptHome::new(kept_home));
    assert_eq!(
        output(&fixture, "cat ~/data/a ~/.npm/_cacache/own ~/.npm/_cacache/content/a"),
        "1\nown\npackage a\n"
    );
}

#[test]
fn a_home_is_usable_after_its_commands_were_killed() {
    let fixture = kept();
    for _ in 0..3 {
        let text = "mkdir -p ~/.npm/_cacache/x; while :; do echo x > ~/.npm/_cacache/x/$$; rm ~/.npm/_cacache/x/$$; done";
        let running = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(text).unwrap()).unwrap();
        running.killer().cancel();
        let _ = running.wait();
    }
    assert_eq!(output(&fixture, "cat ~/.npm/_cacache/content/a"), "package a\n");
}
