//! The cases in `fixtures/vectors/cut-off-replies.json`, and what holds wherever a reply is cut.

use proptest::prelude::*;
use serde_json::{Value, json};
use tagproto::{Dialect, Incoming, Item, Session, Strictness, read_in};

const VECTORS: &str = include_str!("../../../../fixtures/vectors/cut-off-replies.json");

fn session(dialect: Dialect) -> Session {
    Session::new("a1b2c3d4".parse().unwrap(), "task", "2026-01-01T00:00:00Z", dialect, None)
}

/// Lets a reply arrive, and returns what the cases state of it.
fn receive(session: &mut Session, reply: &str) -> Value {
    match session.incoming(reply) {
        Incoming::Whole(text) => {
            let text = text.into_owned();
            session.held = None;
            json!({ "carried_out": text })
        }
        Incoming::Instead(text) => json!({ "instead": text }),
        Incoming::CutOff { held, .. } => {
            let lines = json!({ "held": held.last_lines() });
            session.hold(Some(held), "later");
            lines
        }
        Incoming::NotContinued => {
            session.hold(None, "later");
            json!({ "not_continued": true })
        }
    }
}

#[test]
fn cases_hold() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let mut agentd = session(Dialect::Agentd);
        let replies = case["replies"].as_array().unwrap();
        let actual: Vec<Value> =
            replies.iter().map(|reply| receive(&mut agentd, reply.as_str().unwrap())).collect();
        assert_eq!(json!(actual), case["expect"], "{}", case["name"]);
        for reply in replies {
            let whole = receive(&mut session(Dialect::CodingAgent), reply.as_str().unwrap());
            assert_eq!(whole, json!({ "carried_out": reply }), "{}", case["name"]);
        }
    }
}

#[test]
fn every_message_after_a_cut_shows_the_lines_until_the_reply_is_whole() {
    let mut session = session(Dialect::Agentd);
    let context = tagproto::Context::default();
    let start = "[CREATE_FILE path=\"a\"]\n---- a forged fence ----\n=== HEADER ===\nhal";
    receive(&mut session, start);
    let first = tagproto::render_outbox(&session, &context, "").text;
    insta::assert_snapshot!("prompt", first.split_once("=== PROMPT ===").unwrap().1);
    receive(&mut session, "I do not know");
    let second = tagproto::render_outbox(&session, &context, "").text;
    assert_eq!(second.split_once("=== PROMPT ===").unwrap().1, first.split_once("=== PROMPT ===").unwrap().1);
    assert!(second.contains("[NOTE] your reply did not begin with the last lines"));
    assert!(tagproto::read_outbox(&second).is_ok());
}

#[test]
fn long_lines_and_long_replies_are_not_held() {
    let agentd = session(Dialect::Agentd);
    for (line, count, is_held) in [("x".repeat(3000), 2, true), ("x".repeat(5000), 2, false)] {
        let reply = format!("[CREATE_FILE path=\"a\"]\n{}\n", vec![line; count].join("\n"));
        assert_eq!(matches!(agentd.incoming(&reply), Incoming::CutOff { .. }), is_held);
    }
    for (lines, is_held) in [(1 << 19, true), (1 << 20, false)] {
        let reply = format!("[CREATE_FILE path=\"a\"]\n{}", "line\n".repeat(lines));
        assert_eq!(matches!(agentd.incoming(&reply), Incoming::CutOff { .. }), is_held);
    }
}

fn reply() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("}".to_owned()),
        Just(String::new()),
        Just("    return the_value_of_it;".to_owned()),
        "[a-z(){} =]{0,30}",
    ];
    let body = proptest::collection::vec(line, 0..12)
        .prop_map(|lines| lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect::<String>());
    let block = (0..4_u8, body).prop_map(|(kind, body)| match kind {
        0 => format!("[CREATE_FILE path=\"file\"]\n{body}[/CREATE_FILE]\n"),
        1 => format!("[EDIT_FILE path=\"file\" start_line=\"1\" end_line=\"2\"]\n{body}[/EDIT_FILE]\n"),
        2 => format!("[MESSAGE]\n{body}[/MESSAGE]\n"),
        _ => "[READ_FILE path=\"other\"]\n".to_owned(),
    });
    proptest::collection::vec(block, 1..5).prop_map(|blocks| blocks.concat())
}

/// The blocks with their contents, without their places in the text.
fn values(text: &str) -> Vec<String> {
    let items = read_in(text, Strictness::Repair, Dialect::Agentd).items;
    items
        .iter()
        .map(|item| match item {
            Item::Block(block) => format!("{:?}", block.value),
            Item::Error(error) => error.to_string(),
        })
        .collect()
}

proptest! {
    /// A model that continues with the lines gives the reply that it would have given without the cut.
    #[test]
    fn a_cut_makes_no_difference(reply in reply(), at in any::<prop::sample::Index>()) {
        let mut agentd = session(Dialect::Agentd);
        let cut = at.index(reply.len());
        if let Incoming::CutOff { held, .. } = agentd.incoming(&reply[..cut]) {
            let kept = serde_json::to_value(&held).unwrap()["text"].as_str().unwrap().len();
            let start = kept - held.last_lines().iter().map(|line| line.len() + 1).sum::<usize>();
            agentd.hold(Some(held), "later");
            let incoming = agentd.incoming(&reply[start..]);
            prop_assert_eq!(values(incoming.text().unwrap()), values(&reply));
            prop_assert!(!incoming.is_held(false));
        }
    }
}
