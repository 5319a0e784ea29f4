//! `--model COMMAND`: a program gives the replies, and no person is needed.

mod bad_programs;
mod recipes;

use std::fs;
use std::path::PathBuf;

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::{Project, Ran};

/// A model that answers message N with the file N of a folder, and writes down which messages it was asked to answer.
struct Script {
    project: Project,
}

impl Script {
    fn new(replies: &[&str]) -> Script {
        let script = Script { project: Project::new() };
        fs::create_dir(script.folder()).unwrap();
        for (index, reply) in replies.iter().enumerate() {
            fs::write(script.folder().join((index + 1).to_string()), reply).unwrap();
        }
        script
    }

    fn folder(&self) -> PathBuf {
        self.project.folder().join("model")
    }

    fn command(&self) -> String {
        let folder = self.folder();
        format!(
            "cd '{}'; number=$(sed -n 's/^Sequence: //p' | head -n 1); echo $number >> requests; cat $number",
            folder.display()
        )
    }

    fn requests(&self) -> String {
        fs::read_to_string(self.folder().join("requests")).unwrap_or_default()
    }

    fn run(&self, more: &[&str]) -> Ran {
        self.run_with(&self.command(), more)
    }

    fn run_with(&self, command: &str, more: &[&str]) -> Ran {
        self.project.run(&[&["new", "fix it", "--model", command], more].concat())
    }
}

const EDIT: &str =
    "[CREATE_FILE path=\"a.txt\"]\none\n[/CREATE_FILE]\n[RUN_COMMAND]\ncat a.txt\n[/RUN_COMMAND]\n";
const DONE: &str = "[DONE]\nall is well\n[/DONE]\n";

#[test]
fn a_session_comes_to_its_end_without_a_person() {
    let script = Script::new(&[EDIT, DONE]);
    let ran = script.run(&[]).ok().says("round 1: message 1").says("all is well");
    let ran = ran.says("reply after ").says("2 rounds, 1 edit, 1 command, ").says("changed: a.txt");
    let ran = ran.says("the last command: Ran 'cat a.txt'").says("agentd undo --session");
    let id = ran.stderr.split("session ").nth(1).unwrap()[..8].to_owned();
    assert_eq!(script.project.read("a.txt"), "one\n");
    assert_eq!(script.requests(), "1\n2\n");
    // Replies are kept like pasted ones.
    let kept = fs::read_dir(script.project.inbox().join("processed")).unwrap().count();
    assert_eq!(kept, 2);
    script.project.run(&["undo", "--session", &id]).ok();
    assert!(!script.project.has("a.txt"));
}

#[test]
fn the_summary_has_the_last_test_and_the_files_as_they_differ_in_the_end() {
    let first = "[CREATE_FILE path=\"a.txt\"]\none\n[/CREATE_FILE]\n[CREATE_FILE path=\"b.txt\"]\ntwo\n[/CREATE_FILE]\n\
                 [RUN_COMMAND]\nsh test.sh\n[/RUN_COMMAND]\n[RUN_COMMAND]\ncat a.txt\n[/RUN_COMMAND]\n";
    let script = Script::new(&[first, "[DELETE_FILE path=\"b.txt\"]\n", DONE]);
    script.project.write("test.sh", "echo failing; exit 4\n");
    let ran = script.run(&[]).ok().says("3 rounds, 3 edits, 2 commands, ").says("changed: a.txt\n");
    ran.says("the last test: Ran 'sh test.sh'");
}

#[test]
fn each_end_without_done_is_a_failure_that_says_why() {
    let read = "[READ_FILE path=\"a.txt\"]\n";
    let lone = "[MESSAGE]\nwhat now?\n[/MESSAGE]\n";
    let messages: Vec<String> = (1..=4).map(|number| format!("{number}\n{lone}")).collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let other = "Reply-To: 00000000-1\n[DONE]\nx\n[/DONE]\n";
    let failing =
        "[EDIT_FILE path=\"none\" start_line=\"1\" end_line=\"1\"]\nx\n[/EDIT_FILE]\n[DONE]\nx\n[/DONE]\n";
    let cases: [(&[&str], &[&str], &str); 8] = [
        (&[EDIT, read], &["--rounds", "2"], "the model was not done after 2 rounds"),
        (&[EDIT], &["--rounds", "1"], "the model was not done after 1 round\n"),
        (&[EDIT, EDIT], &[], "the model gave the same reply twice"),
        (&messages, &[], "3 replies in a row had no effect"),
        (&[EDIT], &[], "the program has failed: exit status: 1"),
        (&["", ""], &[], "the program has printed nothing"),
        (&[other], &[], "the reply is for another session"),
        // A DONE next to a block that failed ends nothing.
        (&[failing, failing], &[], "the model gave the same reply twice"),
    ];
    for (replies, more, text) in cases {
        let script = Script::new(replies);
        let ran = script.run(more).exits(1).says(text).says("agentd resume");
        // Whatever happened, the same message is pending, and can be answered by hand.
        let id = ran.stderr.split("session ").nth(1).unwrap()[..8].to_owned();
        let pending = script.project.session_file(&id)["sequenceNumber"].as_u64();
        assert!(pending.is_some(), "{ran}");
    }
}

#[test]
fn a_reply_that_had_arrived_is_not_asked_for_again() {
    let wait = "[RUN_COMMAND]\ntouch begun; while [ ! -e go ]; do sleep 0.05; done\n[/RUN_COMMAND]\n";
    let script = Script::new(&[wait, DONE]);
    let project = &script.project;
    let command = script.command();
    let mut daemon = Daemon::start(project.command(&["--layer", "off", "new", "wait", "--model", &command]));
    eventually("the command of the first reply runs", || project.has("begun"));
    daemon.kill();
    drop(daemon);
    project.run(&["--layer", "off", "resume", "--model", &command]).ok().says("all is well");
    assert_eq!(script.requests(), "1\n2\n", "the first reply had arrived");
}

#[test]
fn the_message_reaches_the_program_whole_and_its_errors_the_user() {
    let script = Script::new(&[DONE]);
    let copy = format!("cd '{0}'; cat > prompt; printf 'on the way' >&2; cat 1", script.folder().display());
    let ran = script.project.run(&["new", "fix it", "--model", &copy]).ok().says("on the way\n");
    let id = ran.stderr.split("session ").nth(1).unwrap()[..8].to_owned();
    assert_eq!(fs::read_to_string(script.folder().join("prompt")).unwrap(), script.project.outbox(&id, 1));
}
