//! Answers of the user to a question of the model.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Instant;

use tagproto::read_outbox;
use test_support::skip;

use crate::fixture::daemon::{Daemon, PATIENCE};
use crate::fixture::project::Project;

const QUESTION: &str = "[MESSAGE]\nWhich database should the tests use?\n[/MESSAGE]\n";

/// A program on a separate terminal, of 80 columns.
struct OnTerminal {
    child: std::process::Child,
    pieces: std::sync::mpsc::Receiver<String>,
    text: String,
}

impl OnTerminal {
    /// Starts `agentd`; `None` where `script` is missing.
    fn start(command: &Command) -> Option<OnTerminal> {
        let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_str().unwrap());
        let words: Vec<_> =
            std::iter::once(command.get_program()).chain(command.get_args()).map(quoted).collect();
        let line = format!("stty rows 24 cols 80; exec {}", words.join(" "));
        let mut script = Command::new("script");
        script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.current_dir(command.get_current_dir().unwrap()).env("NO_COLOR", "1").env("TERM", "xterm");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut output = child.stdout.take().unwrap();
        let (sender, pieces) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4_096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                if sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                    return;
                }
            }
        });
        Some(OnTerminal { child, pieces, text: String::new() })
    }

    #[track_caller]
    fn wait_for(&mut self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.text.contains(wanted) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.text.push_str(&piece),
                Err(_) => panic!("'{wanted}' was not shown:\n{}", self.text),
            }
        }
    }

    fn type_line(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }
}

#[test]
fn an_answer_that_the_user_types_reaches_the_model() {
    let project = Project::new();
    let Some(mut terminal) = OnTerminal::start(&project.command(&["new", "write tests"])) else {
        skip("an_answer_that_the_user_types_reaches_the_model", "there is no program `script`");
        return;
    };
    terminal.wait_for("save the reply as a .txt file in:");
    project.put_reply("one.txt", QUESTION);
    terminal.wait_for("your answer");
    terminal.type_line("sqlite, please");
    terminal.wait_for("message 2 has your answer");
    let id = project.names("sessions")[0].trim_end_matches(".json").to_owned();
    let outbox = project.outbox(&id, 2);
    assert!(outbox.contains("\n## Answer from the user\nsqlite, please\n\n=== PROMPT ===\n"), "{outbox}");
    assert_eq!(read_outbox(&outbox).unwrap().answer, "sqlite, please");
    // No answer is one, too; and the answer was for that message only.
    project.put_reply("two.txt", "[MESSAGE]\nReally?\n[/MESSAGE]\n");
    terminal.wait_for("Really?");
    terminal.type_line("");
    terminal.wait_for("message 3 to copy into the chat:");
    assert!(!project.outbox(&id, 3).contains("## Answer"), "{}", project.outbox(&id, 3));
    project.put_reply("three.txt", "[DONE]\nTests.\n[/DONE]\n");
    assert!(terminal.child.wait().unwrap().success(), "{}", terminal.text);
}

#[test]
fn an_interrupt_ends_the_question() {
    let project = Project::new();
    let Some(mut terminal) = OnTerminal::start(&project.command(&["new", "write tests"])) else {
        skip("an_interrupt_ends_the_question", "there is no program `script`");
        return;
    };
    terminal.wait_for("save the reply as a .txt file in:");
    project.put_reply("one.txt", QUESTION);
    terminal.wait_for("your answer");
    // Ctrl-C, as the terminal makes a signal of it.
    terminal.child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130), "{}", terminal.text);
}

#[test]
fn without_a_terminal_the_user_learns_how_to_answer_and_can() {
    let project = Project::new();
    let mut daemon = Daemon::start(project.command(&["new", "write tests"]));
    daemon.wait_until_it_waits();
    project.put_reply("one.txt", QUESTION);
    let line = daemon.wait_for("the model asks something: `agentd resume");
    daemon.wait_until_it_waits();
    let id = line.split("resume ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    // The line is on the screen of the waiting process, so it is obeyed in another window.
    project.run(&["resume", &id, "--answer", "sqlite"]).ok().says("another agentd waits for its reply");
    assert_eq!(read_outbox(&project.outbox(&id, 2)).unwrap().answer, "sqlite");
    daemon.interrupt().exits(130);
    for (answer, lines) in [
        ("or memory", "sqlite\nor memory"),
        ("and a file\n=== PROMPT ===", "sqlite\nor memory\nand a file\n=== PROMPT ==="),
    ] {
        let mut daemon = Daemon::start(project.command(&["resume", &id, "--answer", answer]));
        daemon.wait_for("message 2 has your answer");
        daemon.wait_until_it_waits();
        daemon.interrupt().exits(130);
        assert_eq!(read_outbox(&project.outbox(&id, 2)).unwrap().answer, lines);
        assert_eq!(project.run(&["outbox"]).ok().stdout, project.outbox(&id, 2));
    }
    project.run(&["resume", &id, "--answer", " "]).exits(2).says("between 1 and 20000 characters");
    project
        .run(&["resume", &id, "--answer", &"x".repeat(20_001)])
        .exits(2)
        .says("put a longer text into a file");
    project.apply("[DONE]\nTests.\n[/DONE]\n", &[]).ok();
    project.run(&["resume", &id, "--answer", "late"]).exits(4).says("is complete");
}
