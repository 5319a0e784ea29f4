//! Texts of the model to the user are shown whole.

use std::fs;

use crate::fixture::daemon::Daemon;
use crate::fixture::project::Project;
use crate::session::choices::on_a_terminal;
use test_support::skip;

/// A message of several lines, each longer than a line of a terminal.
fn long_text(mark: &str) -> String {
    let line = |number: u32| {
        let words: Vec<_> = (0..30).map(|word| format!("{mark}{number}.{word}")).collect();
        words.join(" ")
    };
    (1..=5).map(line).collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Fails unless every word of a text occurs in another one, in order.
#[track_caller]
fn assert_holds_all_of(report: &str, text: &str) {
    let mut rest = report;
    for word in words(text) {
        let Some(at) = rest.find(word) else { panic!("'{word}' is not shown:\n{report}") };
        rest = &rest[at + word.len()..];
    }
}

fn reply() -> String {
    format!("[MESSAGE]\n{}\n[/MESSAGE]\n[DONE]\n{}\n[/DONE]\n", long_text("m"), long_text("d"))
}

#[test]
fn messages_and_summaries_are_shown_whole_wherever_they_are_shown() {
    let project = Project::new();
    let id = project.begin("say much");
    let planned = project.apply(&reply(), &["--dry-run"]).ok();
    assert_holds_all_of(&planned.stdout, &long_text("m"));
    assert_holds_all_of(&planned.stdout, &long_text("d"));
    let applied = project.apply(&reply(), &[]).ok();
    let report = project.run(&["show", &id]).ok();
    for text in [&applied.stdout, &applied.stderr, &report.stdout] {
        assert_holds_all_of(text, &long_text("m"));
        assert_holds_all_of(text, &long_text("d"));
    }
    // Twice would be as hard to read as not at all.
    assert_eq!(report.stdout.matches("d5.29").count(), 1, "{report}");
    let json = project.run(&["show", &id, "--json"]).ok().json();
    assert_eq!(json["steps"][0]["results"][0]["summary"], long_text("m"));
    assert_eq!(json["done"], long_text("d"));
}

#[test]
fn a_session_that_waits_shows_messages_whole() {
    let project = Project::new();
    let mut daemon = Daemon::start(project.command(&["new", "say much"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", reply());
    let ran = daemon.wait().ok();
    assert_holds_all_of(&ran.stderr, &long_text("m"));
    assert_holds_all_of(&ran.stderr, &long_text("d"));
}

#[test]
fn on_a_terminal_messages_are_wrapped_to_its_width() {
    let project = Project::new();
    let id = project.begin("say much");
    project.apply(&reply(), &[]).ok();
    let show = project.command(&["show", &id]);
    // A new terminal has no width until it is given one.
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", "stty rows 24 cols 64; exec \"$0\" \"$@\""])
        .arg(show.get_program())
        .args(show.get_args());
    command.current_dir(project.workspace());
    let Some(report) = on_a_terminal(&command, false) else {
        skip("on_a_terminal_messages_are_wrapped_to_its_width", "there is no program `script`");
        return;
    };
    assert_holds_all_of(&report, &long_text("m"));
    let of_texts = report.lines().filter(|line| line.contains("m1.") || line.contains("d3."));
    let widest = of_texts.map(|line| line.trim_end().chars().count()).max().unwrap();
    assert!((40..=64).contains(&widest), "{widest}:\n{report}");
}

#[test]
fn a_message_of_several_lines_is_whole_in_80_columns() {
    let project = Project::new();
    let id = project.begin("ask");
    let question = "The tests can run against either database, and the choice decides how long they take:\n\n\
                    - sqlite, in memory: a second for all of them, but without the locking that production has\n\
                    - postgres: a minute, and a server has to be there\n\nWhich one?";
    project.apply(&format!("[MESSAGE]\n{question}\n[/MESSAGE]\n"), &[]).ok();
    let show = project.command(&["show", &id]);
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", "stty rows 24 cols 80; exec \"$0\" \"$@\""])
        .arg(show.get_program())
        .args(show.get_args());
    command.current_dir(project.workspace());
    let Some(report) = on_a_terminal(&command, true) else {
        skip("a_message_of_several_lines_is_whole_in_80_columns", "there is no program `script`");
        return;
    };
    let lines = report.lines().map(str::trim_end);
    let message: Vec<&str> = lines.skip_while(|line| !line.contains("MESSAGE")).take(8).collect();
    insta::assert_snapshot!(message.join("\n"), @r"
    [OK] MESSAGE: The tests can run against either database, and the choice
                  decides how long they take:

                  - sqlite, in memory: a second for all of them, but without the
                  locking that production has
                  - postgres: a minute, and a server has to be there

                  Which one?
    ");
}

#[test]
fn a_message_in_json_is_as_the_model_wrote_it() {
    let project = Project::new();
    project.begin("say much");
    let file = project.folder().join("reply.txt");
    fs::write(&file, "[MESSAGE]\none \u{1b}[31mred\n\ttwo\n[/MESSAGE]\n").unwrap();
    let applied = project.run(&["apply", file.to_str().unwrap(), "--json"]).ok();
    assert_eq!(applied.json()["results"][0]["summary"], "one \u{1b}[31mred\n\ttwo");
    assert!(!applied.stderr.contains('\u{1b}'), "{applied:?}");
}
