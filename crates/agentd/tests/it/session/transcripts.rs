//! Whole sessions as a chat model writes them, replayed: `fixtures/transcripts/NAME/{task,reply-1,reply-2,…}.txt`.
//!
//! In a reply, `{reply-to}` stands for the token of the message that it answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::daemon::Daemon;
use crate::fixture::project::{Project, Ran};
use test_support::copy_folder;
use test_support::skip;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

struct Transcript {
    task: String,
    replies: Vec<String>,
}

impl Transcript {
    fn read(name: &str) -> Transcript {
        let folder = repository().join("fixtures/transcripts").join(name);
        let task = fs::read_to_string(folder.join("task.txt")).unwrap().trim().to_owned();
        let replies =
            (1..).map_while(|number| fs::read_to_string(folder.join(format!("reply-{number}.txt"))).ok());
        Transcript { task, replies: replies.collect() }
    }

    /// The reply to a message, 1-based.
    fn reply(&self, session: &str, sequence: usize) -> String {
        self.replies[sequence - 1].replace("{reply-to}", &format!("{session}-{sequence}"))
    }
}

/// The course of a replayed session.
struct Played {
    id: String,
    ran: Ran,
    /// The results of each reply as the next message shows them; `None` for the last, which has none.
    outboxes: Vec<String>,
}

/// Replays a session as a person does: the daemon waits, and each reply is saved into the inbox when its message is there.
fn watched(project: &Project, transcript: &Transcript, more: &[&str]) -> Played {
    let mut arguments = vec!["new"];
    arguments.extend(more);
    arguments.push(&transcript.task);
    let mut daemon = Daemon::start(project.command(&arguments));
    let line = daemon.wait_for("session ");
    let id = line.strip_prefix("session ").unwrap().split_once(':').unwrap().0.to_owned();
    for sequence in 1..=transcript.replies.len() {
        daemon.wait_until_it_waits();
        project.put_reply(&format!("answer {sequence}.txt"), transcript.reply(&id, sequence));
    }
    let ran = daemon.wait();
    let processed: Vec<_> =
        (1..=transcript.replies.len()).map(|sequence| format!("answer {sequence}.txt")).collect();
    assert_eq!(project.names("inbox/processed"), processed, "{ran}");
    played(project, transcript, id, ran)
}

/// Replays a session by `apply`, one reply at a time, each by a new process.
fn applied(project: &Project, transcript: &Transcript, more: &[&str]) -> Played {
    let id = project.begin(&transcript.task);
    let (mut short, mut full) = (Vec::new(), Vec::new());
    let mut last = None;
    for sequence in 1..=transcript.replies.len() {
        last = Some(project.apply(&transcript.reply(&id, sequence), more).ok());
        if (1..5).contains(&sequence) && sequence < transcript.replies.len() {
            short.push(project.run(&["outbox"]).ok().stdout.len());
            full.push(project.run(&["outbox", "--full"]).ok().stdout.len());
        }
    }
    // The second to fifth message, compared with the same with everything that a new chat needs.
    let (of_short, of_full): (usize, usize) = (short.iter().sum(), full.iter().sum());
    assert!(of_short * 3 <= of_full, "{short:?} of {full:?}: {} %", of_short * 100 / of_full);
    played(project, transcript, id, last.unwrap())
}

fn played(project: &Project, transcript: &Transcript, id: String, ran: Ran) -> Played {
    let outboxes =
        (2..=transcript.replies.len()).map(|sequence| project.outbox(&id, sequence as u32)).collect();
    Played { id, ran, outboxes }
}

impl Played {
    /// The message after a reply, 1-based.
    #[track_caller]
    fn after(&self, reply: usize) -> &str {
        &self.outboxes[reply - 1]
    }
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
}

fn roman() -> Project {
    let project = Project::new();
    copy_folder(&repository().join("crates/agentd/demo/roman"), &project.workspace());
    project
}

fn check_roman(project: &Project, played: &Played) {
    assert_has(
        played.after(1),
        &["[FAILED] RUN_COMMAND: Ran 'sh test.sh' (exit code 1)", "--- roman.sh ---"],
    );
    // The mistake of the second reply: everything up to the refused numbers is printed, and then nothing.
    let second = played.after(2);
    assert_has(second, &["[FAILED] RUN_COMMAND: Ran 'sh test.sh' (exit code 1)", "3999 is MMMCMXCIX"]);
    assert!(!second.contains("all passed") && !second.contains("refused\n"), "{second}");
    assert_has(played.after(3), &["[OK] RUN_COMMAND", "4000 is refused", "all passed", "MCMXCIV"]);
    assert!(!played.after(3).contains("\n[FAILED]"), "{}", played.after(3));
    let session = project.session_file(&played.id);
    assert_eq!(session["isComplete"], true, "{}", played.ran);
    let tests = project.run(&["call", "executeCommand", r#"{"command":"sh test.sh"}"#]).ok();
    assert_eq!(tests.json()["exitCode"], 0, "{tests}");
    let source = project.read("roman.sh");
    let start: Vec<_> = source.lines().take(10).collect();
    let expected = [
        "# to_roman NUMBER prints a number from 1 to 3999 in Roman numerals.",
        "# Any other number is an error: it says so and prints nothing.",
        "to_roman() {",
        "    if [ \"$1\" -lt 1 ] || [ \"$1\" -gt 3999 ]; then",
        "        echo \"to_roman: $1 is not between 1 and 3999\" >&2",
        "        return 1",
        "    fi",
        "    rest=$1",
        "    numeral=",
        "    for pair in 1000:M 900:CM 500:D 400:CD 100:C 90:XC 50:L 40:XL 10:X 9:IX 5:V 4:IV 1:I; do",
    ];
    assert_eq!(start, expected);
}

#[test]
fn roman_is_replayed_through_the_inbox() {
    let project = roman();
    let played = watched(&project, &Transcript::read("roman"), &[]);
    assert_eq!(played.ran.code, 0, "{}", played.ran);
    assert_eq!(played.ran.stdout, "", "standard output is for results");
    check_roman(&project, &played);
}

#[test]
fn roman_is_replayed_by_apply() {
    let project = roman();
    let played = applied(&project, &Transcript::read("roman"), &[]);
    assert_has(&played.ran.stdout, &["[OK] DONE: to_roman knows the pairs that subtract", "\ndone"]);
    check_roman(&project, &played);
}

#[test]
fn roman_by_text_is_replayed_through_the_inbox() {
    let project = roman();
    let played = watched(&project, &Transcript::read("roman-by-text"), &[]);
    assert_eq!(played.ran.code, 0, "{}", played.ran);
    check_roman(&project, &played);
}

#[test]
fn roman_by_text_is_replayed_by_apply() {
    let project = roman();
    let played = applied(&project, &Transcript::read("roman-by-text"), &[]);
    check_roman(&project, &played);
}

fn newcomer() -> Project {
    let project = Project::new();
    let notes: String = (1..=900).map(|line| format!("note {line}\n")).collect();
    project.write("greet.sh", "echo Hello!\n").write("notes.txt", &notes);
    project
}

/// Checks a first session with a model that does not know the protocol.
fn check_newcomer(project: &Project, played: &Played) {
    assert_has(
        played.after(1),
        &["[NOTE] nothing in your last reply was recognised as a block", "[READ_FILE path="],
    );
    let second = played.after(2);
    assert_has(
        second,
        &["[FAILED] PARSE_ERROR: READ_FILE is not recognised: '<read_file path=\"greet.sh\"/>'"],
    );
    assert_has(
        second,
        &["--- notes.txt --- (lines 400-402 of 900)\n400|note 400\n401|note 401\n402|note 402\n--- end"],
    );
    let third = played.after(3);
    assert_has(
        third,
        &["--- greet.sh ---\n1|echo Hello!\n", "Invalid line range 950- for file with 900 lines"],
    );
    let fourth = played.after(4);
    assert_has(
        fourth,
        &[
            "[NOTE] your [DONE] did not end the session, because 2 blocks of it failed",
            "[FAILED] PARSE_ERROR: EDIT_FILE is not recognised",
            "[FAILED] EDIT_FILE: Invalid line range 7-7 for file with 1 lines",
        ],
    );
    assert_has(played.after(5), &["[OK] EDIT_FILE", "Output: Hello, Ada"]);
    let session = project.session_file(&played.id);
    assert_eq!(session["isComplete"], true, "{}", played.ran);
    assert_eq!(project.read("greet.sh"), "echo \"Hello, $1\"\n");
    let report = project.run(&["show", &played.id]).ok();
    assert_has(
        &report.stdout,
        &["The notes say that a greeting", "and the exit code 2, as the other scripts"],
    );
}

#[test]
fn a_newcomers_session_is_replayed_through_the_inbox() {
    let project = newcomer();
    let played = watched(&project, &Transcript::read("newcomer"), &[]);
    assert_eq!(played.ran.code, 0, "{}", played.ran);
    assert_has(
        &played.ran.stderr,
        &[
            "no block was found in this reply, so nothing was done",
            "the model said DONE, but 2 blocks of the reply failed",
            "and the exit code 2, as the other scripts of this folder do it.",
        ],
    );
    check_newcomer(&project, &played);
}

#[test]
fn a_newcomers_session_is_replayed_by_apply() {
    let project = newcomer();
    let played = applied(&project, &Transcript::read("newcomer"), &[]);
    assert_has(&played.ran.stdout, &["done: greet.sh greets by name."]);
    check_newcomer(&project, &played);
}

/// A repository whose code is next to a large folder of data.
fn sums() -> Project {
    let project = Project::new();
    for number in 0..700 {
        project.write(&format!("aaa/data/{number}.txt"), "1\n");
    }
    let source = "def add(a, b):\n    return a + b\n\n\ndef total(numbers):\n    return sum(numbers)\n\n\n\
                  def mean(numbers):\n    return total(numbers) / len(numbers)\n";
    project.write("src/sums.py", source).write(".gitignore", ".cache/\n");
    for arguments in [
        &["init", "-q"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.org"],
        &["add", "-A"],
        &["commit", "-qm", "Sums"],
    ] {
        let git = Command::new("git").args(arguments).current_dir(project.workspace()).output().unwrap();
        assert!(git.status.success(), "{git:?}");
    }
    project
}

/// Line numbers that moved, commands that walk the whole folder, a listing among much data, an undo of a commit.
fn check_sums(project: &Project, played: &Played) {
    let first = project.outbox(&played.id, 1);
    assert_has(&first, &["  src/sums.py (", "  aaa/data/ (700 entries, *.txt)\n", "1|def add(a, b):\n"]);
    assert_has(
        played.after(1),
        &["[OK] RUN_COMMAND", "src/sums.py:5:def total(numbers):", "./src/sums.py", "copied"],
    );
    assert_has(
        played.after(2),
        &["[OK] EDIT_FILE", "9:    return sum(numbers)", "13:    return total(numbers)"],
    );
    // Line 9 as the file was shown, or as grep printed it: both are offered, and nothing is changed.
    assert_has(
        played.after(3),
        &["[FAILED] EDIT_FILE", "lines 9-9 can mean line 9 or line 12", "12|def mean(numbers):"],
    );
    assert_has(played.after(4), &["[OK] EDIT_FILE", "[OK] RUN_COMMAND", "13:def mean(numbers):"]);
    let source = project.read("src/sums.py");
    assert_has(
        &source,
        &["# Sums of lists", "    return sum(numbers)\n", "len(numbers) if numbers else 0\n"],
    );
    assert_eq!(project.session_file(&played.id)["isComplete"], true, "{}", played.ran);

    let log = project.run(&["log"]).ok().stdout;
    assert_has(
        &log,
        &["changed  src/sums.py", "files that git ignores or that git keeps for itself (--all shows them)"],
    );
    assert!(!log.contains(".git/") && !log.contains("created  .cache"), "{log}");
    let diff = project.run(&["diff"]).ok().stdout;
    assert!(
        diff.contains("+++ b/src/sums.py") && !diff.contains(".git/") && !diff.contains(".cache/run"),
        "{diff}"
    );
    let undone = project.run(&["undo", "--reply"]).ok().stdout;
    assert_has(&undone, &["src/sums.py"]);
    assert!(!undone.contains(".git/"), "{undone}");
    assert!(!project.read("src/sums.py").contains("if numbers else 0"));
    assert!(!project.workspace().join(".cache/run").exists());
    let commits =
        Command::new("git").args(["log", "--format=%s"]).current_dir(project.workspace()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&commits.stdout), "Sums\n");
}

#[test]
fn moved_lines_and_much_data_are_replayed_through_the_inbox() {
    let project = sums();
    let played = watched(&project, &Transcript::read("sums"), &[]);
    assert_eq!(played.ran.code, 0, "{}", played.ran);
    check_sums(&project, &played);
}

#[test]
fn moved_lines_and_much_data_are_replayed_by_apply() {
    let project = sums();
    let played = applied(&project, &Transcript::read("sums"), &[]);
    check_sums(&project, &played);
}

/// A small script with notes, next to some data.
fn forms() -> Project {
    let project = Project::new();
    let notes: String = (1..=900).map(|line| format!("note {line}\n")).collect();
    for number in 0..40 {
        project.write(&format!("data/sample-{number:02}.txt"), "one two\n");
    }
    let script = "import sys\n\n\ndef tally(text):\n    return len(text.splitlines())\n\n\ndef main(arguments):\n    \
                  if len(arguments) != 1:\n        print(\"usage: tally FILE\")\n        return 0\n    \
                  with open(arguments[0]) as file:\n        print(tally(file.read()))\n    return 0\n\n\n\
                  if __name__ == \"__main__\":\n    sys.exit(main(sys.argv[1:]))\n";
    let readme = "# tally\n\nCounts the lines of a file.\n\nRun it with `python3 src/tally.py`.\n";
    project.write("src/tally.py", script).write("README.md", readme).write("notes.txt", &notes);
    project
}

/// Numbered views and ranges, hunks with and without numbers, three formats of other programs, an error of syntax.
fn check_forms(project: &Project, played: &Played) {
    assert_has(
        played.after(1),
        &[
            "--- src/tally.py --- (as in message 1; ask again to see it)\n",
            "--- notes.txt --- (lines 400-402 of 900)\n400|note 400\n",
        ],
    );
    assert_has(
        played.after(2),
        &[
            "[OK] EDIT_FILE: Edited 'src/tally.py' (2 hunks, +4 -2 lines)",
            " 5|    \"\"\"Counts the lines and the words of a text.\"\"\"\n",
            "[OK] RUN_COMMAND",
        ],
    );
    // A diff whose line numbers differ from the file's.
    assert_has(played.after(3), &["[OK] EDIT_FILE: Edited 'src/tally.py'", "return 2\n"]);
    assert_has(
        played.after(4),
        &["[OK] EDIT_FILE: Edited 'README.md'", "[OK] CREATE_FILE: Created 'tests/usage.sh'"],
    );
    assert_has(played.after(5), &["[OK] EDIT_FILE: Edited 'README.md'", "tally.py FILE`."]);
    assert_has(played.after(6), &["[OK] EDIT_FILE", "[NOTE] effect: syntax error at line ", "usage ok"]);
    assert_has(played.after(7), &["[OK] EDIT_FILE", "usage ok"]);
    assert!(!played.after(7).contains("syntax error"), "{}", played.after(7));
    for outbox in &played.outboxes {
        assert!(!outbox.contains("\n[FAILED]"), "{outbox}");
    }
    let script = project.read("src/tally.py");
    assert_has(
        &script,
        &[
            "def tally(text):\n    \"\"\"Returns the numbers of lines and words of a text.\"\"\"\n",
            "        print(\"usage: tally FILE\", file=sys.stderr)\n        return 2\n",
            "        print(f\"{lines} lines, {words} words\")\n    return 0\n",
        ],
    );
    let readme = "# tally\n\nCounts the lines and words of a file. Without a file the exit code is 2.\n\n\
                  Run it with `python3 src/tally.py FILE`.\n";
    assert_eq!(project.read("README.md"), readme);
    assert_eq!(project.session_file(&played.id)["isComplete"], true, "{}", played.ran);
}

#[test]
fn new_forms_are_replayed_through_the_inbox() {
    let project = forms();
    let played = watched(&project, &Transcript::read("forms"), &[]);
    assert_eq!(played.ran.code, 0, "{}", played.ran);
    check_forms(&project, &played);
}

#[test]
fn new_forms_are_replayed_by_apply() {
    let project = forms();
    let played = applied(&project, &Transcript::read("forms"), &[]);
    check_forms(&project, &played);
}

/// A copy of this repository as it is committed, or of its sources where there is no git.
fn this_repository() -> Project {
    let project = Project::new();
    let target = project.workspace();
    let cloned = Command::new("git")
        .args(["clone", "--quiet", "--local", "--no-hardlinks"])
        .args([repository().as_os_str(), target.as_os_str()])
        .output();
    if !cloned.is_ok_and(|output| output.status.success()) {
        for entry in fs::read_dir(repository()).unwrap().map(Result::unwrap) {
            let (name, is_folder) = (entry.file_name(), entry.file_type().unwrap().is_dir());
            if is_folder && !["target", ".git", ".agentd"].iter().any(|left_out| name == *left_out) {
                copy_folder(&entry.path(), &target.join(name));
            } else if !is_folder && name != ".git" {
                fs::copy(entry.path(), target.join(name)).unwrap();
            }
        }
    }
    project
}

/// Checks whether `cargo` works where commands of this project run; if not, a test that needs it proves nothing, and CI
/// has to know.
fn cargo_runs(project: &Project, test: &str) -> bool {
    let probe = r#"{"command":"cargo tree --offline -p rel-path"}"#;
    let ran = project.run(&["call", "executeCommand", probe]);
    let runs = ran.code == 0 && ran.json()["exitCode"] == 0;
    if !runs {
        skip(test, &format!("cargo cannot run in the sandbox of this machine\n{ran}"));
    }
    runs
}

fn check_slug(project: &Project, played: &Played) {
    assert_has(played.after(1), &["members = [\"crates/*\"", "# roman", "rel-path\n"]);
    let second = played.after(2);
    assert_has(
        second,
        &["[OK] CREATE_FILE: Created 'crates/slug/src/lib.rs'", "[FAILED] RUN_COMMAND: Ran 'cargo test"],
    );
    assert_has(second, &["undo--and-redo", "(exit code 101)", "--- crates/slug/src/lib.rs ---"]);
    assert_has(played.after(3), &["[OK] RUN_COMMAND: Ran 'cargo test", "test result: ok. 2 passed"]);
    assert!(!played.after(3).contains("\n[FAILED]"), "{}", played.after(3));
    assert_eq!(project.session_file(&played.id)["isComplete"], true, "{}", played.ran);
    let source = project.read("crates/slug/src/lib.rs");
    assert_has(
        &source,
        &["'-');\n        }\n    }\n    slug.truncate(slug.trim_end_matches('-').len());\n    slug\n}\n"],
    );
    assert!(
        project
            .read("crates/agentd/demo/roman/README.md")
            .starts_with("<a id=\"roman\"></a>\n\n# roman\n\nRoman")
    );
}

#[test]
fn slug_is_added_to_this_repository_through_the_inbox() {
    let project = this_repository();
    if cargo_runs(&project, "slug_is_added_to_this_repository_through_the_inbox") {
        let played = watched(&project, &Transcript::read("slug"), &["--timeout", "300"]);
        assert_eq!(played.ran.code, 0, "{}", played.ran);
        check_slug(&project, &played);
    }
}

#[test]
fn slug_is_added_to_this_repository_by_apply() {
    let project = this_repository();
    if cargo_runs(&project, "slug_is_added_to_this_repository_by_apply") {
        let played = applied(&project, &Transcript::read("slug"), &["--timeout", "300"]);
        check_slug(&project, &played);
    }
}

#[test]
fn slug_by_text_is_added_to_this_repository_by_apply() {
    let project = this_repository();
    if cargo_runs(&project, "slug_by_text_is_added_to_this_repository_by_apply") {
        let played = applied(&project, &Transcript::read("slug-by-text"), &["--timeout", "300"]);
        check_slug(&project, &played);
    }
}
