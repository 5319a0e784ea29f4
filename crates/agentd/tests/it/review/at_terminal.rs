//! The view, by keys in a terminal.

use test_support::skip;

use super::waiting_reply::{REPLY, landed_without_the_second_hunk, with_a_proposal};
use crate::fixture::project::Project;
use crate::fixture::tmux::Tmux;

const NO_TMUX: &str = "there is no program `tmux`; `cargo xtask setup` installs it";

/// Starts `agentd review` in a terminal, and waits until the proposal is on it.
fn opened(project: &Project, arguments: &[&str], size: (u16, u16)) -> Option<Tmux> {
    let mut words = vec!["review"];
    words.extend(arguments);
    let tmux = Tmux::start(&project.command(&words), &project.folder().join("tmp"), size)?;
    tmux.wait_for("hunk 1 of 2");
    Some(tmux)
}

#[test]
fn a_proposal_is_reviewed_by_keys_alone() {
    let (project, mut daemon, id) = with_a_proposal();
    let Some(tmux) = opened(&project, &[], (110, 36)) else {
        return skip("a_proposal_is_reviewed_by_keys_alone", NO_TMUX);
    };
    tmux.types("jj ");
    tmux.wait_for("[ ] hunk 2 of 2");
    tmux.types("nkeep the old name").press("Enter");
    tmux.wait_for("» line 20: keep the old name");
    tmux.types("t");
    let screen = tmux.wait_for("tried: all 3 steps succeeded");
    assert!(screen.contains("exit code 0"), "{screen}");
    assert!(!project.read("lib.rs").contains("third"), "a trial does not reach the folder");
    tmux.types("l");
    tmux.wait_for("[y/N]");
    tmux.types("y");
    tmux.wait_for("no proposal waits for a review");
    tmux.types("q");
    let screen = tmux.ends_and_restores(0);
    assert!(screen.contains("proposal 1 landed: 3 done"), "{screen}");
    landed_without_the_second_hunk(&project, &mut daemon, &id, "keep the old name");
    assert_eq!(daemon.interrupt().code, 130);
}

#[test]
fn the_draft_is_kept_when_the_terminal_or_the_process_goes() {
    let (project, daemon, _) = with_a_proposal();
    let Some(tmux) = opened(&project, &["1"], (80, 24)) else {
        return skip("the_draft_is_kept_when_the_terminal_or_the_process_goes", NO_TMUX);
    };
    tmux.types("j ");
    tmux.wait_for("[ ] hunk 1 of 2");
    tmux.signal("TERM");
    tmux.ends_and_restores(130);
    drop(tmux);
    let tmux = opened(&project, &["1"], (80, 24)).unwrap();
    tmux.wait_for("[ ] hunk 1 of 2");
    tmux.press("C-c");
    tmux.ends_and_restores(0);
    let kept = project.run(&["review", "1", "--json"]).ok().json();
    assert_eq!(kept["draft"]["revision"], 1, "{kept}");
    drop(daemon);
}

#[test]
fn the_view_ends_with_its_terminal() {
    let (project, _daemon, _) = with_a_proposal();
    let Some(tmux) = opened(&project, &[], (80, 24)) else {
        return skip("the_view_ends_with_its_terminal", NO_TMUX);
    };
    tmux.types("j ");
    tmux.wait_for("[ ] hunk 1 of 2");
    tmux.goes();
    let kept = project.run(&["review", "1", "--json"]).ok().json();
    assert_eq!(kept["draft"]["revision"], 1, "{kept}");
}

#[test]
fn a_terminal_that_changes_its_size_is_drawn_anew() {
    let (project, _daemon, _) = with_a_proposal();
    let Some(tmux) = opened(&project, &[], (120, 30)) else {
        return skip("a_terminal_that_changes_its_size_is_drawn_anew", NO_TMUX);
    };
    assert!(tmux.screen().contains('│'));
    tmux.resize(70, 20);
    tmux.wait_until("the queue is on top", |screen| {
        !screen.contains('│') && screen.contains("────") && screen.contains("hunk 1 of 2")
    });
    tmux.types("q");
    tmux.ends_and_restores(0);
}

#[test]
fn what_happens_elsewhere_is_said() {
    let (project, mut daemon, _) = with_a_proposal();
    let Some(tmux) = opened(&project, &[], (110, 30)) else {
        return skip("what_happens_elsewhere_is_said", NO_TMUX);
    };
    let lines = project.read("lib.rs");
    project.write("lib.rs", &format!("// on top\n{lines}"));
    tmux.wait_for("the folder has changed: the proposal was planned again");
    project.run(&["review", "1", "--say", "from another window"]).ok();
    tmux.wait_for("» from another window");
    project.run(&["review", "1", "--send-back"]).ok();
    tmux.wait_for("proposal 1 was sent back elsewhere");
    daemon.wait_for("message 2 to copy");
    tmux.types("q");
    tmux.ends_and_restores(0);
}

#[test]
fn a_full_trial_by_another_window_is_said_before_anything_lands() {
    let (project, _, mut daemon) = super::sessions::waiting();
    let Some(tmux) = opened(&project, &[], (110, 36)) else {
        return skip("a_full_trial_by_another_window_is_said_before_anything_lands", NO_TMUX);
    };
    tmux.types("l");
    tmux.wait_for("[y/N]");
    // The control: what this window has tried itself is no news.
    assert!(!tmux.screen().contains("another window"), "{}", tmux.screen());
    tmux.types("N");
    project.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
    tmux.wait_for("the folder has changed: the proposal was planned again");
    project.run(&["review", "1", "--try"]).ok();
    tmux.wait_for("another window has tried all of it");
    assert!(!project.has("ran.log"));
    tmux.types("l");
    tmux.wait_for("[y/N]");
    tmux.types("y");
    tmux.wait_for("no proposal waits for a review");
    tmux.types("q");
    tmux.ends_and_restores(0);
    assert_eq!(project.read("ran.log"), "ran\n");
    daemon.wait_for("message 2 to copy");
    daemon.interrupt().exits(130);
}

#[test]
fn a_session_offers_the_view_for_its_reply() {
    let project = Project::new();
    let lines: String = (1..=30).map(|line| format!("let line_{line} = {line};\n")).collect();
    project.write("lib.rs", &lines);
    let id = project.begin("rename lines");
    let command = project.command(&["resume", "--review"]);
    let Some(tmux) = Tmux::start(&command, &project.folder().join("tmp"), (110, 40)) else {
        return skip("a_session_offers_the_view_for_its_reply", NO_TMUX);
    };
    tmux.wait_for("save the reply as a .txt file in:");
    project.put_reply("reply.txt", REPLY);
    tmux.wait_for("v: review it hunk by hunk]");
    tmux.types("v").press("Enter");
    tmux.wait_for("hunk 1 of 2");
    // Keys reach the view, and not the thread that read the answer.
    tmux.types("Snot like this").press("Enter");
    tmux.wait_for("» not like this");
    tmux.types("by");
    tmux.wait_for("message 2 to copy");
    assert!(!project.has("new.rs"));
    assert!(project.outbox(&id, 2).contains("not like this"));
    // The next question is answered at the same terminal.
    project.put_reply("next.txt", "[RUN_COMMAND]\necho again\n[/RUN_COMMAND]\n");
    tmux.wait_until("the second question", |screen| {
        screen.matches("v: review it").count() > 0 && screen.contains("echo again")
    });
    tmux.types("y").press("Enter");
    tmux.wait_for("message 3 to copy");
    tmux.press("C-c");
    tmux.ends_and_restores(130);
}
