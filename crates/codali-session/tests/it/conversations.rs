//! Conversations: the file always matches the returned prompt.

use codali_envelope::history::{BytesPerToken, ContextWindow, Message, Summarizer};
use codali_session::{Conversation, HistoryFile, NoSummarizer, SummarizerCommand, Turn};
use std::path::Path;
use std::time::Duration;
use wap_core::CancelFlag;

fn conversation<'a>(path: &Path, cancel: &'a CancelFlag) -> Conversation<'a> {
    let file = HistoryFile::read(path).unwrap();
    Conversation {
        file,
        window: ContextWindow::of(1_000),
        counter: &BytesPerToken,
        system: "You are the architect.",
        cancel,
    }
}

fn prompt(turn: Turn) -> String {
    match turn {
        Turn::Next(prompt) => prompt.text,
        Turn::Cancelled => panic!("it was not cancelled"),
    }
}

#[test]
fn a_conversation_over_three_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.json");
    let cancel = CancelFlag::new();
    let mut texts = Vec::new();
    texts.push(prompt(conversation(&path, &cancel).add_task("Rename it.", &mut NoSummarizer).unwrap()));
    let step = conversation(&path, &cancel).add_response("I ask.", "the response".into(), &mut NoSummarizer);
    texts.push(prompt(step.unwrap()));
    conversation(&path, &cancel).add_final_reply("It is renamed.").unwrap();
    texts.push(prompt(conversation(&path, &cancel).add_task("And now?", &mut NoSummarizer).unwrap()));
    insta::assert_snapshot!(texts.join("\n=== the next prompt\n"));
}

#[test]
fn a_cancelled_step_leaves_the_file_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.json");
    let cancel = CancelFlag::new();
    prompt(conversation(&path, &cancel).add_task("Rename it.", &mut NoSummarizer).unwrap());
    let before = std::fs::read(&path).unwrap();
    cancel.cancel();
    let step = conversation(&path, &cancel).add_response("I ask.", "the response".into(), &mut NoSummarizer);
    assert!(matches!(step.unwrap(), Turn::Cancelled));
    let step = conversation(&path, &cancel).add_task("Stop.", &mut NoSummarizer);
    assert!(matches!(step.unwrap(), Turn::Cancelled));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn summaries_of_a_command_or_the_reason_for_none() {
    let message =
        |text: &str| Message { speaker: codali_envelope::history::Speaker::User, text: text.into() };
    let messages = [message("first"), message("second")];
    let commands = [
        ("tr a-z A-Z", Duration::from_secs(60)),
        ("echo \"at most $SUMMARY_TOKENS tokens\"", Duration::from_secs(60)),
        ("exit 3", Duration::from_secs(60)),
        ("true", Duration::from_secs(60)),
        ("sleep 600", Duration::from_millis(1)),
        // The command ended while its child holds the pipe: the child is killed with its group.
        ("sleep 600 & echo no", Duration::from_millis(1)),
    ];
    let mut outcomes = String::new();
    for (command, timeout) in commands {
        let cancel = CancelFlag::new();
        let notices = std::cell::RefCell::new(Vec::new());
        let notice = |line: &str| notices.borrow_mut().push(line.to_owned());
        let mut summarizer = SummarizerCommand { command, timeout, cancel: &cancel, notice: &notice };
        let summary = summarizer.summarize(&messages, 50);
        let outcome = match &summary {
            Ok(summary) => summary.trim().to_owned(),
            Err(_) => notices.borrow().join("; "),
        };
        assert_eq!(summary.is_ok(), notices.borrow().is_empty());
        outcomes.push_str(&format!("$ {command}\n{outcome}\n"));
    }
    insta::assert_snapshot!(outcomes);
}
