//! The review before a reply is carried out.

use crate::fixture::daemon::eventually;
use crate::fixture::project::Project;
use crate::fixture::tmux::Tmux;
use crate::session::choices::on_a_terminal;
use test_support::skip;

const EDIT: &str = "[EDIT_FILE path=\"a\" start_line=\"2\" end_line=\"2\"]\nTWO\n[/EDIT_FILE]\n\
    [CREATE_FILE path=\"new\"]\nn\u{1b}[31mew\n[/CREATE_FILE]\n[DELETE_FILE path=\"missing\"]\n";

/// A project with a session that was shown `a`; then the user has put a line in front of it.
fn shown_and_moved() -> Project {
    let project = Project::new();
    project.write("a", "1\n2\n3\n");
    project.begin("a task");
    project.apply("[READ_FILE path=\"a\"]\n", &[]).ok();
    project.write("a", "0\n1\n2\n3\n");
    project
}

fn hunk_lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with(['+', '-', '@', ' '])).map(str::trim_end).collect()
}

#[test]
fn review_shows_the_differences_that_the_reply_then_makes() {
    let project = shown_and_moved();
    let reviewed = project.apply(EDIT, &["--review"]).exits(4);
    assert_eq!(project.read("a"), "0\n1\n2\n3\n", "nothing is done before it is accepted");
    let reviewed = reviewed.says("@@ -1,4 +1,4 @@").says("-2").says("+TWO").says("+n␛[31mew");
    let reviewed = reviewed.says("would fail: DELETE_FILE: File 'missing' not found");
    assert!(!reviewed.stderr.contains('\u{1b}'), "{reviewed:?}");
    // The same lines are in the differences of what is then done.
    project.apply(EDIT, &[]).ok();
    let done = project.run(&["diff"]).ok();
    let displayed = hunk_lines(&reviewed.stderr);
    for line in hunk_lines(&done.stdout).iter().filter(|line| line.contains("TWO") || line.starts_with("@@"))
    {
        assert!(displayed.contains(line), "'{line}' was not shown:\n{reviewed}");
    }
}

#[test]
fn a_long_difference_is_cut_and_says_where_all_of_it_is() {
    let project = Project::new();
    project.begin("a task");
    let body: String = (1..=1_000).map(|line| format!("line {line}\n")).collect();
    let reply = format!("[CREATE_FILE path=\"long\"]\n{body}[/CREATE_FILE]\n");
    let reviewed = project.apply(&reply, &["--review"]).exits(4);
    let reviewed =
        reviewed.says("more lines of this difference; `agentd apply --dry-run FILE` prints all of it");
    assert!(reviewed.stderr.lines().count() < 450 && reviewed.stderr.contains("+line 1\n"), "{reviewed}");
}

#[test]
fn edits_behind_a_command_are_pointed_out() {
    let project = shown_and_moved();
    let reply = format!("[RUN_COMMAND]\ntrue\n[/RUN_COMMAND]\n{EDIT}");
    project.apply(&reply, &["--review"]).exits(4).says("a command before an edit may change them");
    let other = project.apply(EDIT, &["--review"]).exits(4);
    assert!(!other.stderr.contains("a command before"), "{other}");
}

#[test]
fn differences_have_colours_on_a_terminal_only() {
    let project = shown_and_moved();
    let file = project.reply_file(EDIT);
    let command = project.command(&["apply", "--review", file.to_str().unwrap()]);
    let Some(displayed) = on_a_terminal(&command, false) else {
        skip("differences_have_colours_on_a_terminal_only", "there is no program `script`");
        return;
    };
    assert!(displayed.contains("\u{1b}[32m+TWO") && displayed.contains("\u{1b}[31m-2"), "{displayed:?}");
    assert!(!displayed.contains("n\u{1b}[31mew"), "{displayed:?}");
    let plain = on_a_terminal(&command, true).unwrap();
    assert!(plain.contains("+TWO") && !plain.contains("\u{1b}[32m+TWO"), "{plain:?}");
}

#[test]
fn keys_from_before_the_question_answer_nothing() {
    let test = "keys_from_before_the_question_answer_nothing";
    let project = Project::new();
    project.begin("make a file");
    let command = project.command(&["resume", "--review"]);
    let Some(tmux) = Tmux::start(&command, &project.folder().join("tmp"), (120, 40)) else {
        return skip(test, "there is no program `tmux`; `cargo xtask setup` installs it");
    };
    tmux.wait_for("save the reply");
    tmux.types("y").press("Enter");
    tmux.wait_until("the echo", |screen| screen.lines().any(|line| line.trim() == "y"));
    project.put_reply("reply.txt", "[CREATE_FILE path=\"new\"]\nx\n[/CREATE_FILE]\n");
    tmux.wait_for("execute this reply?");
    tmux.types("n").press("Enter");
    tmux.wait_for("the reply was not accepted");
    assert!(!project.has("new"));
    // The control: the same answer after the question counts.
    project.put_reply("again.txt", "[CREATE_FILE path=\"new\"]\nx\n[/CREATE_FILE]\n");
    tmux.wait_until("a second question", |screen| screen.matches("execute this reply?").count() == 2);
    tmux.types("y").press("Enter");
    eventually("the reply is executed", || project.has("new"));
}
