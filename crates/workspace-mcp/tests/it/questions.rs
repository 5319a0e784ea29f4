//! Questions to a person about waiting proposals.

use std::sync::Arc;

use proptest::prelude::*;
use test_support::Caller;
use wap_core::{Call, ConversationId, FileChange, Reason, Request, WriteFile};
use wap_mcp::{Question, ReviewQuestions, Verdict, Wanted};
use workspace_host::ReviewPolicy;
use workspace_mcp::ServedQuestions;

use crate::{SECRET, Site, write};

fn questions(site: &Site) -> ServedQuestions {
    ServedQuestions::new(Arc::clone(&site.workspace), site.rules.clone(), ReviewPolicy::All, None)
}

fn request(path: &str) -> Request {
    Request::WriteFile(WriteFile { path: path.into(), ..WriteFile::default() })
}

/// Proposes changes and returns the question about them.
fn question_about(site: &Site, caller: &Caller, changes: &[FileChange]) -> Question {
    site.propose(caller, changes);
    questions(site).question(&caller.call(), &request(changes[0].path())).unwrap().unwrap()
}

#[test]
fn a_question_shows_the_change_without_secrets() {
    let site = Site::new();
    site.write("a.txt", "one\ntwo\nthree\n");
    let caller = Caller::once();
    let question =
        question_about(&site, &caller, &[write("a.txt", &format!("one\nTWO {SECRET}\nthree\u{202e}\n"))]);
    assert!(!question.text.contains(SECRET), "{}", question.text);
    insta::assert_snapshot!(question.text);
    let wanted = Wanted::About { request: Box::new(request("a.txt")), is_own: true };
    let drawn = questions(&site).review(&caller.call(), &wanted).unwrap().unwrap();
    assert!(!format!("{drawn:?}").contains(SECRET), "{drawn:?}");
    assert_eq!((drawn.question.digest, drawn.is_cut), (question.digest, false));
}

#[test]
fn a_question_about_lines_within_a_key_shows_none_of_it_when_no_value_is_kept_any_more() {
    let site = Site::new();
    // As many values as are kept: each text takes at most half of the remaining room.
    let mut values = (0..10_000).map(|number| format!("ghp_{number:036}\n"));
    let mut masked = String::new();
    while values.len() > 0 {
        let half = values.len().div_ceil(2);
        let text: String = values.by_ref().take(half).collect();
        masked = site.rules.mask_file_text(&text);
    }
    assert!(masked.contains(":10000⟧"), "{masked}");
    let boundary = |word| format!("-----{word} {}{}-----\n", "RSA PRIVATE ", "KEY");
    let key = |line: &str| {
        format!("{}{line}\n{}{}", boundary("BEGIN"), "Ab3/Ab3/Ab3/\n".repeat(9), boundary("END"))
    };
    site.write("a.txt", &key("Cd4/Cd4/"));
    let caller = Caller::once();
    let question = question_about(&site, &caller, &[write("a.txt", &key("Ef5/Ef5/"))]);
    let wanted = Wanted::About { request: Box::new(request("a.txt")), is_own: true };
    let drawn = questions(&site).review(&caller.call(), &wanted).unwrap().unwrap();
    for text in [question.text, format!("{drawn:?}")] {
        assert!(!text.contains("4/Cd4") && !text.contains("5/Ef5"), "{text}");
        assert!(text.contains("⟦secret:private-key:0⟧"), "{text}");
    }
}

#[test]
fn an_answer_counts_once_and_for_what_was_asked_about() {
    let site = Site::new();
    let caller = Caller::once();
    let question = question_about(&site, &caller, &[write("a.txt", "one\n")]);
    let served = questions(&site);
    let other = Question { digest: "0".repeat(64), ..question.clone() };
    let error = served.decide(&caller.call(), &other, &Verdict::CarryOut).unwrap_err();
    assert_eq!((error.reason(), site.read("a.txt")), (Reason::Conflict, None));
    served.decide(&caller.call(), &question, &Verdict::CarryOut).unwrap();
    assert_eq!(site.read("a.txt").as_deref(), Some("one\n"));
    let again = served.decide(&caller.call(), &question, &Verdict::CarryOut).unwrap_err();
    assert_eq!(again.reason(), Reason::LeftOut, "{again}");
    assert_eq!(served.question(&caller.call(), &request("a.txt")).unwrap(), None);
}

#[test]
fn what_is_sent_back_changes_nothing() {
    let site = Site::new();
    let caller = Caller::once();
    let question = question_about(&site, &caller, &[write("a.txt", "one\n")]);
    let verdict = Verdict::SendBack { comment: "not this file".to_owned() };
    questions(&site).decide(&caller.call(), &question, &verdict).unwrap();
    assert_eq!(site.read("a.txt"), None);
}

#[test]
fn another_conversation_is_not_asked_about_what_it_did_not_propose() {
    let site = Site::new();
    question_about(&site, &Caller::once(), &[write("a.txt", "one\n")]);
    let caller = Caller::once();
    let mut origin = caller.call().origin.clone();
    origin.conversation = ConversationId("another".to_owned());
    let other = Call { origin: &origin, ..caller.call() };
    let served = questions(&site);
    assert_eq!(served.question(&other, &request("a.txt")).unwrap(), None);
    let wanted = |is_own| Wanted::About { request: Box::new(request("a.txt")), is_own };
    assert!(served.review(&other, &wanted(true)).unwrap().is_none());
    assert!(served.review(&other, &wanted(false)).unwrap().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_question_is_long_or_controls_a_terminal(lines in proptest::collection::vec("\\PC{0,30}|.{0,600}", 1..120)) {
        let site = Site::new();
        let question = question_about(&site, &Caller::once(), &[write("a.txt", &lines.join("\n"))]);
        let controls = question.text.chars().filter(|one| one.is_control() && !"\n\t".contains(*one)).count();
        prop_assert_eq!(controls, 0, "{:?}", question.text);
        prop_assert!(question.text.lines().count() <= 62);
        prop_assert!(question.text.lines().all(|line| line.chars().count() <= 401));
    }
}
