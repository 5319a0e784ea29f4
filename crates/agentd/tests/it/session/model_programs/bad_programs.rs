//! Programs that are not as a model should be.

use std::fs;

use super::{DONE, Script};
use crate::fixture::at_once::at_once;
use crate::fixture::daemon::{Daemon, eventually, has_ended};
use crate::fixture::project::{Project, Ran};

/// A program, with the end that it leads to.
struct Bad {
    command: &'static str,
    says: &'static str,
}

const FAILED_LATE: &str =
    "the program has failed: exit status: 1; its standard error ends with: the quota is used up";

#[test]
fn each_bad_program_ends_the_loop_with_its_reason_and_no_effect() {
    let good = "printf '[CREATE_FILE path=\"a.txt\"]\\none\\n[/CREATE_FILE]\\n[DONE]\\nx\\n[/DONE]\\n'";
    let fails_late: &'static str = format!("{good}; echo 'the quota is used up' >&2; exit 1").leak();
    let cases = [
        Bad { command: "no-such-program --of model", says: "the program was not found (exit code 127)" },
        Bad { command: "/dev/null", says: "the program cannot be executed (exit code 126)" },
        Bad {
            command: "echo 'no key'; exit 3",
            says: "the program has failed: exit status: 3; it printed nothing on standard error",
        },
        Bad { command: "kill -9 $$", says: "the program has failed: signal: 9" },
        Bad { command: "cat > /dev/null", says: "the program has printed nothing" },
        Bad { command: "head -c 1000000000 /dev/zero", says: "bytes: that cannot be a reply" },
        Bad { command: "yes 'no end of it'", says: "bytes: that cannot be a reply" },
        Bad { command: "printf '\\377\\376\\000\\001'", says: "something that is not UTF-8 text" },
        Bad { command: "sleep 600", says: "the program takes longer than 5 s" },
        Bad { command: fails_late, says: FAILED_LATE },
    ];
    at_once(&cases, |Bad { command, says }| {
        let script = Script::new(&[DONE]);
        let ran = script.run_with(command, &["--model-timeout", "5"]).exits(1).says(says);
        let ran = ran.says("asks for this reply again");
        assert_eq!(ran.stderr.contains("--model-timeout SECONDS"), *command == "sleep 600", "{ran}");
        assert!(!script.project.has("a.txt"), "{command}: nothing of it is used\n{ran}");
        // What the program says of itself is shown.
        assert!(*command != fails_late || ran.stderr.contains("the quota is used up"), "{ran}");
        // The control: a working program completes the same session.
        script.project.run(&["resume", &id(&ran), "--model", &script.command()]).ok().says("all is well");
    });
}

#[test]
fn an_empty_command_is_bad_usage_and_begins_no_session() {
    let project = Project::new();
    project.run(&["new", "a task", "--model", ""]).exits(2).says("--model");
    assert!(!project.base().exists());
}

#[test]
fn programs_that_are_merely_odd_are_heard() {
    let done = "printf '[DONE]\\nall is well\\n[/DONE]\\n'";
    let cases = [
        done.to_owned(),
        // It leaves a running process that holds its output open.
        format!("sleep 600 & echo $! > ../left-behind; {done}"),
        // The reply arrives late and in pieces.
        format!(
            "printf '[DO'; sleep 0.2; printf 'NE]\\nall'; sleep 0.2; printf ' is well\\n[/DONE]\\n'; {done} > /dev/null"
        ),
        format!("exec 2>&-; {done}"),
    ];
    at_once(&cases, |command| {
        let script = Script::new(&[]);
        script.run_with(command, &[]).ok().says("all is well").says("1 round, 0 edits, 0 commands");
        if let Ok(left) = fs::read_to_string(script.project.folder().join("left-behind")) {
            eventually("the process that was left behind is gone", || has_ended(left.trim()));
        }
    });
}

#[test]
fn a_program_that_asks_for_the_same_file_for_ever_is_stopped() {
    let read = "[READ_FILE path=\"a.txt\"]\n";
    for (program, rounds, reason) in [
        ("cat read", 2, "the model gave the same reply twice"),
        ("echo \"once more, $(wc -l < calls)\"; cat read", 4, "3 replies in a row had no effect"),
    ] {
        let script = Script::new(&[]);
        script.project.write("a.txt", "one\n");
        fs::write(script.folder().join("read"), read).unwrap();
        let command =
            format!("cd '{}'; cat > /dev/null; echo >> calls; {program}", script.folder().display());
        script.run_with(&command, &[]).exits(1).says(reason).says(&format!("{rounds} rounds, 0 edits"));
        assert_eq!(fs::read_to_string(script.folder().join("calls")).unwrap().len(), rounds, "{program}");
    }
}

#[test]
fn ctrl_c_during_a_reply_ends_the_program_and_the_message_stays_pending() {
    for signal in ["INT", "TERM"] {
        let script = Script::new(&[DONE]);
        let command =
            format!("cd '{}'; cat > /dev/null; echo $$ > pid; sleep 600; cat 1", script.folder().display());
        let mut daemon = Daemon::start(script.project.command(&["new", "wait", "--model", &command]));
        daemon.wait_for("round 1: message 1");
        let process = || fs::read_to_string(script.folder().join("pid")).unwrap_or_default();
        eventually("the program runs", || process().ends_with('\n'));
        assert!(!has_ended(process().trim()));
        daemon.signal(signal);
        let ran =
            daemon.wait().exits(130).says("stopped; `agentd resume` continues").says("1 round, 0 edits");
        eventually("the program has ended", || has_ended(process().trim()));
        script.project.run(&["resume", &id(&ran), "--model", &script.command()]).ok().says("all is well");
        assert_eq!(script.requests(), "1\n");
    }
}

/// The id of the session that was begun.
fn id(ran: &Ran) -> String {
    ran.stderr.split("session ").nth(1).unwrap()[..8].to_owned()
}
