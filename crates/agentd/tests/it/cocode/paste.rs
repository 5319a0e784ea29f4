//! The agent `paste`: a person with a chat window takes part in a run, by files.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use crate::cocode::desk::{Desk, listing};

/// A run with the agent `paste`, and where it exchanges texts with a person.
struct Chat {
    child: Child,
    events: std::io::Lines<BufReader<ChildStdout>>,
    received: Vec<Value>,
    inbox: PathBuf,
    replies: u32,
}

impl Chat {
    /// Starts a run and waits for its first message.
    fn start(desk: &Desk, more: &[&str]) -> (Chat, String) {
        let issue = ["run", "--json", "--issue", "5", "--issue-body", "Write b.txt\n\nIt should say two."];
        let arguments = [&issue[..], &["--agent", "paste"], more].concat();
        let mut child =
            desk.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let events = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut chat = Chat { child, events, received: Vec::new(), inbox: PathBuf::new(), replies: 0 };
        let first = chat.message();
        (chat, first)
    }

    /// The next event of this name.
    #[track_caller]
    fn event(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        for line in self.events.by_ref() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            self.received.push(event.clone());
            if is_wanted(&event) {
                return event;
            }
        }
        panic!("the run ended before: {:#?}", self.received);
    }

    /// Waits for the next message and returns its text.
    #[track_caller]
    fn message(&mut self) -> String {
        let event = self.event(|event| event["fields"]["attention"] == true);
        self.inbox = event["fields"]["inbox"].as_str().unwrap().into();
        let outbox = event["fields"]["outbox"].as_str().unwrap();
        assert!(event["message"].as_str().unwrap().contains(outbox), "a person reads where it is: {event}");
        fs::read_to_string(outbox).unwrap()
    }

    /// Saves a reply as a person would.
    fn reply(&mut self, text: &str) {
        self.replies += 1;
        fs::write(self.inbox.join(format!("reply {}.txt", self.replies)), text).unwrap();
    }

    /// Waits for the end of the run and returns its exit code.
    #[track_caller]
    fn end(mut self) -> i32 {
        self.event(|event| event["event"] == "finished");
        self.child.wait().unwrap().code().unwrap()
    }
}

/// The parts of the verdict that do not hold.
fn failures(desk: &Desk) -> Vec<String> {
    let status = desk.status();
    let parts = status["agents"][0]["verdict"]["parts"].as_array().unwrap().clone();
    let failed = parts.into_iter().filter(|part| part["holds"] == false);
    failed.map(|part| part["name"].as_str().unwrap().to_owned()).collect()
}

const CREATE: &str = "[CREATE_FILE path=\"b.txt\"]\ntwo\n[/CREATE_FILE]\n";

#[test]
fn two_rounds_by_files_end_with_a_commit_that_is_ready() {
    let desk = Desk::new();
    let (mut chat, first) = Chat::start(&desk, &[]);
    assert!(first.contains("Issue #5: https://issues.invalid/5") && first.contains("It should say two."));
    let command = "[RUN_COMMAND]\ncat b.txt; git status --short\n[/RUN_COMMAND]\n";
    chat.reply(&format!("{CREATE}{command}{command}"));
    let second = chat.message();
    assert_eq!(second.matches("could not be protected").count(), 1, "it is said once: {second}");
    assert!(!second.contains("`.git`, `.git`"), "{second}");
    assert!(second.contains("[OK] CREATE_FILE") && second.contains("two\n    ?? b.txt"), "{second}");
    assert_eq!(desk.status()["agents"][0]["state"], "running");
    chat.reply("[DONE]\nAdd b\n\nIt says two.\n[/DONE]\n");
    let committed = chat.event(|event| event["event"] == "commit");
    assert_eq!(committed["subject"], "Add b");
    assert_eq!(chat.end(), 0);
    let agent = &desk.status()["agents"][0];
    assert_eq!((&agent["state"], &agent["commits"]), (&"ready".into(), &1.into()), "{agent}");
    let message = desk.git(&["log", "-1", "--format=%an|%B", "cocode/5-paste"]);
    let expected =
        "A|Add b\n\nIt says two.\n\nFor issue #5 (https://issues.invalid/5)\n\ncocode ready for check";
    assert_eq!(message, expected);
    // Nothing of the session is in the tree, and it goes with the worktree.
    let tree = desk.git(&["ls-tree", "-r", "--name-only", "cocode/5-paste"]);
    assert_eq!(tree.lines().collect::<Vec<_>>(), [".gitignore", "a.txt", "b.txt"]);
    let worktree = agent["worktree"].as_str().unwrap();
    assert!(listing(Path::new(worktree)).iter().all(|path| !path.to_string_lossy().contains("session")));
    assert!(desk.cocode(&["logs", "paste"]).stdout.contains("seq0001.txt"));
    assert_eq!(desk.cocode(&["pick", "paste"]).code, 0);
    assert_eq!(desk.cocode(&["clean"]).code, 0);
    assert!(listing(&desk.project.workspace().join(".git")).iter().all(|path| !path.ends_with("inbox")));
}

#[test]
fn caches_and_what_git_ignores_are_not_committed() {
    let desk = Desk::new();
    let (mut chat, _) = Chat::start(&desk, &[]);
    let command = "mkdir -p m/__pycache__ build/deep plain && echo x > m/__pycache__/m.pyc && echo x > m/m.py && \
        echo 'Signature: 8a477f597d28d172789f06886806bc55' > build/CACHEDIR.TAG && echo x > build/deep/o && \
        echo 'not one' > plain/CACHEDIR.TAG && echo x > 'plain/:(top) *' && echo '*.log' >> .gitignore && \
        echo x > x.log && echo two > a.txt";
    chat.reply(&format!("[RUN_COMMAND]\n{command}\n[/RUN_COMMAND]\n"));
    assert!(chat.message().contains("[OK] RUN_COMMAND"));
    chat.reply("[DONE]\nAdd m\n[/DONE]\n");
    assert_eq!(chat.end(), 0);
    let tree = desk.git(&["ls-tree", "-r", "--name-only", "cocode/5-paste"]);
    let expected = [".gitignore", "a.txt", "m/m.py", "plain/:(top) *", "plain/CACHEDIR.TAG"];
    assert_eq!(tree.lines().collect::<Vec<_>>(), expected);
    assert_eq!(desk.git(&["cat-file", "blob", "cocode/5-paste:a.txt"]), "two");
    let log = desk.cocode(&["logs", "paste"]).stdout;
    assert!(log.contains("not committed, as a cache: build/CACHEDIR.TAG and 2 more"), "{log}");
}

#[test]
fn done_without_a_change_is_not_ready() {
    let desk = Desk::new();
    let (mut chat, _) = Chat::start(&desk, &[]);
    chat.reply("[DONE]\nThere was nothing to do.\n[/DONE]\n");
    assert_eq!(chat.end(), 1);
    let agent = &desk.status()["agents"][0];
    assert_eq!((&agent["state"], &agent["exit_code"]), (&"completed".into(), &0.into()), "{agent}");
    assert_eq!(failures(&desk), ["descends", "new", "changes", "marker"]);
}

#[test]
fn done_beside_a_block_that_failed_goes_on_until_the_chat_has_seen_it() {
    let desk = Desk::new();
    let (mut chat, _) = Chat::start(&desk, &[]);
    let done = "[DONE]\ncocode ready for check\n[/DONE]\n";
    chat.reply(&format!("{CREATE}[RUN_COMMAND]\nexit 1\n[/RUN_COMMAND]\n{done}"));
    assert!(chat.message().contains("[FAILED] RUN_COMMAND") || chat.message().contains("exit code 1"));
    chat.reply(done);
    assert_eq!(chat.end(), 0);
    assert_eq!(desk.git(&["show", "cocode/5-paste:b.txt"]), "two");
}

#[test]
fn a_reply_cannot_reach_out_of_the_worktree() {
    let desk = Desk::new();
    let (mut chat, _) = Chat::start(&desk, &[]);
    let workspace = desk.project.workspace();
    let outside = workspace.join("a.txt").display().to_string();
    let session = chat.inbox.parent().unwrap().display().to_string();
    let git = workspace.join(".git").display().to_string();
    let edits: String = ["../evil", &outside, ".git"]
        .iter()
        .map(|path| format!("[CREATE_FILE path=\"{path}\"]\nevil\n[/CREATE_FILE]\n"))
        .collect();
    let script = format!(
        "for f in ../evil {outside} {session}/evil {git}/refs/heads/main {git}/config ~/evil; do \
         (echo evil > $f) 2>/dev/null && echo wrote $f; done; (echo fine > c.txt) && echo wrote c.txt"
    );
    chat.reply(&format!("{edits}{CREATE}[RUN_COMMAND]\n{script}\n[/RUN_COMMAND]\n"));
    let second = chat.message();
    let count = |text: &str| second.matches(text).count();
    assert_eq!((count("[FAILED] CREATE_FILE"), count("[OK] CREATE_FILE")), (3, 1), "{second}");
    // A command has its own home folder, which is gone afterwards.
    let wrote: Vec<&str> = second.lines().filter_map(|line| line.trim().strip_prefix("wrote ")).collect();
    let inside = |path: &str| path == "c.txt" || path.starts_with("/tmp/") && path.ends_with("/evil");
    assert!(wrote.contains(&"c.txt") && wrote.iter().all(|path| inside(path)), "{second}");
    assert_eq!(fs::read_to_string(workspace.join("a.txt")).unwrap(), "one\n");
    assert!(!desk.home().join("evil").exists() && !Path::new(&session).join("evil").exists());
    chat.reply("[DONE]\nAdd b and c\n[/DONE]\n");
    assert_eq!(chat.end(), 0);
}

#[test]
fn at_the_deadline_the_work_is_committed_without_the_marker() {
    let desk = Desk::new();
    let (mut chat, _) = Chat::start(&desk, &["--timeout", "6"]);
    chat.reply(CREATE);
    chat.message();
    assert_eq!(chat.end(), 1);
    let agent = &desk.status()["agents"][0];
    assert_eq!((&agent["state"], &agent["commits"]), (&"timed_out".into(), &1.into()), "{agent}");
    assert_eq!(agent["verdict"]["marker_present"], false);
    assert_eq!(desk.git(&["show", "cocode/5-paste:b.txt"]), "two");
}

#[test]
fn cancelling_ends_the_wait_for_a_reply() {
    let desk = Desk::new();
    let (chat, _) = Chat::start(&desk, &[]);
    assert_eq!(desk.cocode(&["cancel", "paste"]).code, 0);
    assert_eq!(chat.end(), 1);
    let agent = &desk.status()["agents"][0];
    assert_eq!((&agent["state"], &agent["commits"]), (&"cancelled".into(), &0.into()), "{agent}");
}

#[test]
fn without_the_five_variables_it_says_which_are_missing() {
    let ran = Desk::new().cocode(&["paste"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("COCODE_REPO_PATH is not set") && ran.stderr.contains("--agent paste"));
}
