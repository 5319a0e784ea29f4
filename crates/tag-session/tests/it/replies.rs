//! Replies in any number of pieces and orders, and the errors of refused replies.

use proptest::prelude::*;
use tag_session::{Applied, SessionError};

use crate::desk::{Desk, apply, begin, executed};

/// Replaces the ids of sessions, which are random.
fn without_ids(text: &str, ids: &[String]) -> String {
    ids.iter().enumerate().fold(text.to_owned(), |text, (index, id)| {
        text.replace(id, if index == 0 { "<one>" } else { "<other>" })
    })
}

#[test]
fn each_refusal_as_a_person_reads_it() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let (one, other) = (begin(&sessions).session_id, begin(&sessions).session_id);
    executed(apply(&sessions, one, "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n"));
    let replies = [
        ("an empty reply", String::new()),
        ("a reply to another session", format!("Reply-To: {other}-1\n[DONE]\n[/DONE]\n")),
        ("a reply to a later message", format!("Reply-To: {one}-9\n[DONE]\n[/DONE]\n")),
        ("the same text as before", "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n".to_owned()),
        ("a body that does not end", "[CREATE_FILE path=\"b\"]\ntext\n".to_owned()),
    ];
    let ids = [one.to_string(), other.to_string()];
    let lines = replies.map(|(name, reply)| match apply(&sessions, one, &reply) {
        Err(error) => format!("{name}: {}", without_ids(&error.to_string(), &ids)),
        Ok(Applied::AlreadyDone { sequence, .. }) => {
            format!("{name}: done before, as the answer to {sequence}")
        }
        Ok(Applied::Executed(executed)) if executed.session.held.is_some() => {
            format!("{name}: held until the model continues")
        }
        Ok(Applied::Executed(executed)) => {
            let results =
                executed.results.iter().map(|result| format!("{}: {}", result.command_type, result.summary));
            format!("{name}: {}", results.collect::<Vec<_>>().join("; "))
        }
    });
    executed(apply(&sessions, other, "[DONE]\nAll of it.\n[/DONE]\n"));
    let late = apply(&sessions, other, "[DONE]\nOnce more.\n[/DONE]\n").map(|_| ()).unwrap_err();
    insta::assert_snapshot!(format!(
        "{}\na reply after the end: {}",
        lines.join("\n"),
        without_ids(&late.to_string(), &ids)
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However often replies are repeated, in any order, and with a new process between any two of them: each block is carried
    /// out once.
    #[test]
    fn each_reply_is_carried_out_once(
        order in prop::collection::vec(0_u32..4, 1..14),
        restarts in prop::collection::vec(any::<bool>(), 14),
    ) {
        let desk = Desk::with_files([]);
        let (mut sessions, _) = desk.open();
        let id = begin(&sessions).session_id;
        let reply = |number: u32| {
            format!("Reply-To: {id}-{number}\n[CREATE_FILE path=\"{number}\"]\n{number}\n[/CREATE_FILE]\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n")
        };
        let mut done = 0;
        for (index, restarts) in order.into_iter().zip(restarts) {
            if restarts {
                drop(sessions);
                (sessions, _) = desk.open();
            }
            let number = index + 1;
            match apply(&sessions, id, &reply(number)) {
                Ok(Applied::Executed(_)) => {
                    prop_assert_eq!(number, done + 1, "only the pending message can be answered");
                    done = number;
                }
                Ok(Applied::AlreadyDone { sequence, .. }) => prop_assert_eq!((sequence, number <= done), (number, true)),
                Err(SessionError::OtherSequence { quoted, pending }) => {
                    prop_assert_eq!((quoted.sequence, pending), (number, done + 1));
                    prop_assert!(number > done);
                }
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
        prop_assert_eq!(desk.workspace.0.commands_run().len(), done as usize);
        for number in 1..=4 {
            prop_assert_eq!(desk.workspace.0.text(&number.to_string()).is_some(), number <= done);
        }
    }
}
