//! `agentd apply --try`: all of it or nothing, and no other process sees anything before.

use std::fs;

use serde_json::json;

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::Project;
use crate::session::interrupts::runs_anywhere;
use crate::tricks::{left_in, tricks};

/// Files and commands that build on each other, in a folder that has a build folder.
const REPLY: &str = "[CREATE_FILE path=\"src/new.txt\"]\none\ntwo\n[/CREATE_FILE]\n\
    [RUN_COMMAND]\nsed -i s/one/ONE/ src/new.txt; rm old.txt; mkdir -p made/deep; ln -s ../old made/deep/link; chmod 755 run.sh; \
    echo built > target/out; cat src/new.txt\n[/RUN_COMMAND]\n\
    [EDIT_FILE path=\"src/new.txt\" start_line=\"2\" end_line=\"2\"]\nTWO\n[/EDIT_FILE]\n\
    [READ_FILE path=\"src/new.txt\"]\n[/READ_FILE]\n";

fn project() -> (Project, String) {
    let project = Project::new();
    for (name, text) in [("old.txt", "old\n"), ("run.sh", "true\n"), (".gitignore", "target/\n")] {
        fs::write(project.workspace().join(name), text).unwrap();
    }
    fs::create_dir(project.workspace().join("target")).unwrap();
    fs::write(project.workspace().join("Cargo.toml"), "[package]\n").unwrap();
    fs::write(
        project.workspace().join("target/CACHEDIR.TAG"),
        "Signature: 8a477f597d28d172789f06886806bc55\n",
    )
    .unwrap();
    let id = project.begin("try something out");
    (project, id)
}

#[test]
fn what_is_not_kept_leaves_nothing_behind() {
    let (project, id) = project();
    let (before, session) = (project.tree(), project.session_file(&id));
    let tried = project.apply(REPLY, &["--try", "--json"]).ok().says("not kept").json();
    assert_eq!(tried["kept"], false);
    let successes: Vec<_> =
        tried["results"].as_array().unwrap().iter().map(|result| &result["success"]).collect();
    assert_eq!(successes, [&json!(true); 4], "{tried}");
    assert!(tried["results"][1]["output"].as_str().unwrap().contains("ONE\ntwo"), "{tried}");
    let changes: Vec<_> =
        tried["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert_eq!(changes, ["made", "made/deep", "made/deep/link", "old.txt", "run.sh", "src", "src/new.txt"]);
    assert!(tried["changes"][6]["diff"].as_str().unwrap().contains("+ONE\n+TWO\n"), "{tried}");
    assert_eq!(project.tree(), before);
    assert_eq!(project.session_file(&id), session);
    assert!(!project.has("target/out"));
    let left: Vec<_> = fs::read_dir(project.workspace().join(".agentd"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("trial"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(fs::read_dir(project.workspace().join(".agentd/layers")).unwrap().count(), 0);
    // It can still be applied.
    project.apply(REPLY, &[]).ok();
    assert_eq!(project.read("src/new.txt"), "ONE\nTWO\n");
}

#[test]
fn what_is_kept_is_what_was_shown_and_is_undone_as_one() {
    let (project, id) = project();
    let before = project.tree();
    let text = format!(
        "Reply-To: {id}-1\n[RUN_COMMAND]\ndate +%s%N > moment.txt; cat moment.txt\n[/RUN_COMMAND]\n{REPLY}"
    );
    let kept = project.apply(&text, &["--try", "--keep", "--json"]).ok().says("kept").json();
    assert_eq!(kept["sequence"], 1);
    // Nothing ran a second time.
    assert_eq!(kept["results"][0]["output"].as_str().unwrap().trim(), project.read("moment.txt").trim());
    assert_eq!(project.read("src/new.txt"), "ONE\nTWO\n");
    assert!(!project.has("old.txt") && !project.has("target/out"));
    assert!(fs::symlink_metadata(project.workspace().join("made/deep/link")).unwrap().is_symlink());
    assert!(project.outbox(&id, 2).contains("ONE"));
    assert_eq!(project.session_file(&id)["sequenceNumber"], 2);
    project.apply(&text, &[]).ok().says("executed before");
    // Line numbers of what was shown mean what they meant.
    project
        .apply("[EDIT_FILE path=\"src/new.txt\" start_line=\"1\" end_line=\"1\"]\n1\n[/EDIT_FILE]\n", &[])
        .ok();
    assert_eq!(project.read("src/new.txt"), "1\nTWO\n");
    project.run(&["undo", "--reply"]).ok();
    project.run(&["undo", "--session", &id]).ok();
    assert_eq!(project.tree(), before);
}

#[test]
fn results_of_what_is_kept_are_shown_once() {
    let (project, _) = project();
    let kept = project.apply(REPLY, &["--try", "--keep"]).ok().says("kept");
    let output = format!("{}{}", kept.stdout, kept.stderr);
    assert_eq!(output.matches("RUN_COMMAND: ").count(), 1, "{output}");
    assert!(kept.stdout.contains("next message: "), "{output}");
    assert_eq!(project.read("src/new.txt"), "ONE\nTWO\n");
    // Without a trial, the results are on standard output as well.
    let applied = project.apply("[RUN_COMMAND]\ntrue\n[/RUN_COMMAND]\n", &[]).ok();
    assert_eq!(applied.stdout.matches("RUN_COMMAND: ").count(), 1, "{}", applied.stdout);
}

#[test]
fn no_trick_leaves_a_mode_a_device_or_an_owner_when_a_trial_is_kept() {
    let (project, _) = project();
    let mut reply = String::new();
    for trick in tricks().iter().filter(|trick| trick.is_possible()) {
        // What it says is there where nothing refuses it.
        let outside = tempfile::tempdir().unwrap();
        trick.bites(outside.path());
        trick.set_up(&project.workspace());
        // In the build folder there is nothing of the user's.
        let folders = if trick.is_own { &["."][..] } else { &[".", "target"] };
        for folder in folders {
            reply
                .push_str(&format!("[RUN_COMMAND]\n( {} ); true\n[/RUN_COMMAND]\n", trick.in_folder(folder)));
        }
    }
    project.apply(&reply, &["--try", "--keep"]).ok().says("kept");
    let look = || {
        let left = left_in(&project.workspace());
        assert!(left.is_empty(), "{left:?}");
    };
    look();
    project.run(&["undo", "--reply"]);
    look();
}

#[test]
fn an_ordinary_user_tries_out_and_keeps() {
    let project = Project::new().of_an_ordinary_user();
    project.begin("try something out");
    let text = "[CREATE_FILE path=\"a.txt\"]\na\n[/CREATE_FILE]\n[RUN_COMMAND]\nid -u > user.txt; mkdir d; mv a.txt d/\n[/RUN_COMMAND]\n";
    project
        .apply(text, &["--try"])
        .ok()
        .says("not kept: there is no terminal to ask at, and --keep keeps it");
    assert_eq!(project.tree(), []);
    project.apply(text, &["--try", "--keep"]).ok().says("kept");
    assert_eq!((project.read("d/a.txt").as_str(), project.has("a.txt")), ("a\n", false));
    assert_ne!(project.read("user.txt"), "0\n");
    project.run(&["undo", "--reply"]).ok();
    assert_eq!(project.tree(), []);
}

#[test]
fn a_reply_that_fails_is_not_kept_unasked() {
    let (project, _) = project();
    let before = project.tree();
    let text = format!("{REPLY}[RUN_COMMAND]\nexit 3\n[/RUN_COMMAND]\n");
    project.apply(&text, &["--try", "--keep"]).ok().says("not kept: a block has failed");
    assert_eq!(project.tree(), before);
}

#[test]
fn a_file_saved_meanwhile_stops_the_keeping_and_stays() {
    let (project, id) = project();
    let session = project.session_file(&id);
    let word = format!("32{}", std::process::id());
    let text = format!(
        "[RUN_COMMAND]\necho theirs > old.txt; echo more > other.txt; sleep {word} & sleep 3; kill $!\n[/RUN_COMMAND]\n"
    );
    let file = project.reply_file(text);
    let arguments = [
        "--sandbox=allow=none".as_ref(),
        "apply".as_ref(),
        "--try".as_ref(),
        "--keep".as_ref(),
        file.as_os_str(),
    ];
    let daemon = Daemon::start(project.command(&arguments));
    eventually("the command runs", || runs_anywhere(&word));
    fs::write(project.workspace().join("old.txt"), "mine\n").unwrap();
    daemon.wait().exits(1).says("not kept: saved by another program meanwhile: old.txt");
    assert_eq!((project.read("old.txt").as_str(), project.has("other.txt")), ("mine\n", false));
    assert_eq!(project.session_file(&id), session);
}

#[test]
fn stopping_it_stops_everything_and_keeps_nothing() {
    let (project, id) = project();
    let session = project.session_file(&id);
    let word = format!("33{}", std::process::id());
    let file = project.reply_file(format!("[RUN_COMMAND]\necho x > x; sleep {word}\n[/RUN_COMMAND]\n"));
    for signal in ["INT", "KILL"] {
        let arguments =
            ["--sandbox=allow=none".as_ref(), "apply".as_ref(), "--try".as_ref(), file.as_os_str()];
        let daemon = Daemon::start(project.command(&arguments));
        eventually("the command runs", || runs_anywhere(&word));
        daemon.signal(signal);
        let ran = daemon.wait();
        assert!(signal == "KILL" || ran.code == 130, "{ran}");
        eventually("everything ends", || !runs_anywhere(&word));
        assert!(!project.has("x"));
    }
    project.run(&["sessions"]).ok();
    assert_eq!(project.session_file(&id), session);
    // What the killed one has left goes with the next one.
    project.apply(REPLY, &["--try", "--keep"]).ok();
    let left = fs::read_dir(project.workspace().join(".agentd"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().into_string().unwrap().starts_with("trial"));
    assert_eq!(left.count(), 0);
}

#[test]
fn without_a_layer_it_is_refused() {
    let (project, _) = project();
    project.apply(REPLY, &["--try", "--layer", "off"]).exits(2).says("leave --layer off out");
    project.apply(REPLY, &["--try", "--read-only"]).exits(4).says("read-only");
    assert!(!project.has("src"));
}
