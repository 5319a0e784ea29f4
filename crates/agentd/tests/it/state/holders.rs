//! Two processes on one state folder.

use std::process::{Command, Stdio};

use crate::fixture::daemon::Daemon;
use crate::fixture::project::Project;

#[test]
fn while_one_waits_others_read_and_work_through_it() {
    let project = Project::new();
    project.write("file.txt", "to be read\n");
    let mut daemon = Daemon::start(project.command(&["new", "hold the folder"]));
    daemon.wait_until_it_waits();
    let reply = "[RUN_COMMAND]\necho twice >> ran.log\n[/RUN_COMMAND]\n";
    for arguments in [&["resume"][..], &[]] {
        let ran = project.run(arguments).exits(5).says("another agentd waits for replies to session");
        assert_eq!(ran.stdout, "", "{ran}");
    }
    assert!(!project.has("ran.log"));
    // A call is made through the one that waits.
    project.run(&["call", "writeFile", r#"{"path":"a","content":"b"}"#]).ok();
    assert_eq!(project.read("a"), "b");

    let sessions = project.run(&["sessions", "--json"]).ok().json();
    let id = sessions[0]["session"].as_str().unwrap();
    assert_eq!(sessions[0]["task"], "hold the folder");
    project.run(&["sessions"]).ok().prints(id);
    project.run(&["show", id]).ok().prints("waiting for a reply");
    let outbox = project.run(&["outbox"]).ok();
    assert_eq!(outbox.stdout, project.outbox(id, 1));
    project.run(&["log"]).ok();
    let read = project.run(&["call", "readFile", r#"{"path":"file.txt"}"#]).ok().json();
    assert_eq!(read["content"], "to be read\n");

    project.put_reply("reply.txt", reply);
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.run(&["outbox"]).ok().stdout, project.outbox(id, 2));
    daemon.interrupt().exits(130);
    project.run(&["new", "--no-wait", "another"]).ok();
    assert_eq!(project.read("ran.log"), "twice\n");
}

#[test]
fn a_process_whose_state_folder_is_removed_says_so() {
    let project = Project::new();
    let mut daemon = Daemon::start(project.command(&["new", "hold the folder"]));
    daemon.wait_until_it_waits();
    std::fs::remove_dir_all(project.base()).unwrap();
    daemon.wait_for("the state folder, or a folder in it, was removed while it was in use");
    daemon.wait_for("put it back where it was");
}

#[test]
fn a_holder_that_was_killed_holds_nothing() {
    let project = Project::new();
    let mut daemon = Daemon::start(project.command(&["new", "hold the folder"]));
    daemon.wait_until_it_waits();
    daemon.kill();
    project.run(&["new", "--no-wait", "another"]).ok();
}

#[test]
fn of_many_that_start_at_once_one_gets_the_reply_and_the_others_are_notified() {
    let project = Project::new();
    project.begin("run once");
    let file = project.reply_file("[RUN_COMMAND]\necho once >> ran.log; sleep 0.3\n[/RUN_COMMAND]\n");
    let start = || -> std::process::Child {
        let mut command: Command = project.command(&["apply".as_ref(), file.as_os_str()]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let started: Vec<_> = (0..6).map(|_| start()).collect();
    let codes: Vec<_> = started.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
    // One that comes late finds another message waiting and the text known.
    assert!(codes.contains(&0) && codes.iter().all(|code| [0, 4, 5].contains(code)), "{codes:?}");
    assert_eq!(project.read("ran.log"), "once\n");
}
