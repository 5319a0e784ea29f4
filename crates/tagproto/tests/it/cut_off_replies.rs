//! The cases in `fixtures/vectors/cut-off-replies.json`, and what holds wherever a reply is cut.

use proptest::prelude::*;
use serde_json::{Value, json};
use tagproto::{Dialect, HeldReply, Incoming, Item, Session, Strictness, read_in};

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
        Incoming::Anew(text) => {
            session.held = None;
            json!({ "anew": text })
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
    assert!(second.contains("[NOTE] your reply could not be joined"));
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

#[test]
fn many_equal_blocks_are_compared_in_one_pass() {
    // Any way of comparing each with each takes minutes.
    let blocks = "[DELETE_FILE path=\"a\"]\n".repeat(9000);
    let (start, commands) = (format!("{blocks}[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n"), "[RUN_COMMAND]\nmak");
    let mut agentd = session(Dialect::Agentd);
    receive(&mut agentd, &format!("{start}{commands}"));
    for preface in ["", "<think>\n</think>\n"] {
        let again = format!("{}{start}{commands}e\n[/RUN_COMMAND]\n", preface.repeat(9000));
        assert!(matches!(agentd.incoming(&again), Incoming::Anew(_)), "{preface:?}");
    }
    // No lines tell such a block from those before it, so that the reply is not held.
    let equal = format!("{blocks}[DELETE_FILE path=\"");
    assert!(matches!(session(Dialect::Agentd).incoming(&equal), Incoming::Whole(_)));
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
    // Many blocks have the same tags, and some the same lines.
    let body =
        prop_oneof![body, Just("cargo test --workspace\n".to_owned()), Just("cargo test\n".to_owned())];
    let block = (0..6_u8, body).prop_map(|(kind, body)| match kind {
        0 => format!("[CREATE_FILE path=\"file\"]\n{body}[/CREATE_FILE]\n"),
        1 => format!("[EDIT_FILE path=\"file\" start_line=\"1\" end_line=\"2\"]\n{body}[/EDIT_FILE]\n"),
        2 => format!("[MESSAGE]\n{body}[/MESSAGE]\n"),
        3 => "[READ_FILE path=\"other\"]\n".to_owned(),
        4 => "\nThen the next step of the plan:\n\n".to_owned(),
        _ => format!("[RUN_COMMAND]\nmake\n{body}[/RUN_COMMAND]\n"),
    });
    // The same text twice is refused as a whole.
    let is_read = |reply: &String| read_in(reply, Strictness::Repair, Dialect::Agentd).refused.is_none();
    proptest::collection::vec(block, 1..6).prop_map(|blocks| blocks.concat()).prop_filter("refused", is_read)
}

/// Lines that models and chats put before a reply.
fn preface() -> impl Strategy<Value = &'static str> {
    let texts = [
        "",
        "Reply-To: a1b2c3d4-2\n\n",
        "Sure, here it is:\n\n",
        "```text\n",
        "<think>\nthe rest\n</think>\n",
    ];
    proptest::sample::select(texts.to_vec())
}

/// Holds the beginning of a reply, up to a byte; returns it if it is cut off there.
fn hold_beginning(session: &mut Session, reply: &str, cut: usize) -> Option<HeldReply> {
    match session.incoming(&reply[..cut]) {
        Incoming::CutOff { held, .. } => session.hold(Some(held), "later"),
        _ => return None,
    }
    session.held.clone()
}

/// The offset at which the last lines begin in the whole reply.
fn last_lines_at(held: &HeldReply) -> usize {
    text_of(held).len() - held.last_lines().iter().map(|line| line.len() + 1).sum::<usize>()
}

fn text_of(held: &HeldReply) -> String {
    serde_json::to_value(held).unwrap()["text"].as_str().unwrap().to_owned()
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
    fn a_cut_makes_no_difference(reply in reply(), at in any::<prop::sample::Index>(), preface in preface()) {
        let mut agentd = session(Dialect::Agentd);
        if let Some(held) = hold_beginning(&mut agentd, &reply, at.index(reply.len())) {
            let rest = format!("{preface}{}", &reply[last_lines_at(&held)..]);
            let incoming = agentd.incoming(&rest);
            prop_assert_eq!(incoming.text().map(values), Some(values(&reply)), "{:?}", incoming);
            prop_assert!(!incoming.is_held(false));
        }
    }

    /// A reply that comes again from its beginning is carried out once.
    #[test]
    fn a_whole_reply_again_is_carried_out_once(
        reply in reply(), at in any::<prop::sample::Index>(), preface in preface(),
    ) {
        let mut agentd = session(Dialect::Agentd);
        if hold_beginning(&mut agentd, &reply, at.index(reply.len())).is_some() {
            let again = format!("{preface}{reply}");
            let incoming = agentd.incoming(&again);
            prop_assert_eq!(incoming.text().map(values), Some(values(&reply)), "{:?}", incoming);
            prop_assert!(!incoming.is_held(false));
        }
    }

    /// A block that is written anew joins the blocks before it, or nothing is carried out where it could be another one.
    #[test]
    fn a_block_anew_is_carried_out_once_behind_those_before_it(
        reply in reply(), at in any::<prop::sample::Index>(), preface in preface(),
    ) {
        let mut agentd = session(Dialect::Agentd);
        if let Some(held) = hold_beginning(&mut agentd, &reply, at.index(reply.len())) {
            let open_line = serde_json::to_value(&held).unwrap()["openLine"].as_u64().unwrap();
            let lines = reply.split_inclusive('\n').take(usize::try_from(open_line).unwrap());
            let before: usize = lines.map(str::len).sum();
            let anew = format!("{preface}{}", &reply[before..]);
            // The requested lines, which are also a block in whose tag the reply ended.
            prop_assume!(!reply[before..].starts_with(&reply[last_lines_at(&held)..text_of(&held).len()])
                || before == last_lines_at(&held));
            match agentd.incoming(&anew) {
                Incoming::NotContinued => {}
                // A reply of the same blocks again and again: it stands alone, and the next message says so.
                Incoming::Anew(text) => {
                    let held = text_of(&held);
                    let from_first_block = &held[held.find('[').unwrap()..];
                    prop_assert!(reply[before..].starts_with(from_first_block) && text == anew);
                }
                incoming => {
                    prop_assert_eq!(incoming.text().map(values), Some(values(&reply)), "{:?}", incoming);
                    prop_assert!(!incoming.is_held(false));
                }
            }
        }
    }

    /// A reply that comes again and is cut at another byte is held once, whichever part is longer.
    #[test]
    fn a_reply_cut_twice_is_carried_out_once(
        reply in reply(), first in any::<prop::sample::Index>(), second in any::<prop::sample::Index>(),
        preface in preface(),
    ) {
        let mut agentd = session(Dialect::Agentd);
        let second = second.index(reply.len());
        let is_cut = matches!(session(Dialect::Agentd).incoming(&reply[..second]), Incoming::CutOff { .. });
        if is_cut && hold_beginning(&mut agentd, &reply, first.index(reply.len())).is_some() {
            let again = format!("{preface}{}", &reply[..second]);
            let incoming = agentd.incoming(&again);
            prop_assert!(matches!(incoming, Incoming::CutOff { .. }), "{:?} after {:?}", incoming, agentd.held);
            agentd.hold(incoming.into_held(), "later");
            let held = agentd.held.clone().unwrap();
            let kept = text_of(&held);
            let start = last_lines_at(&held) - if kept.starts_with(preface) { preface.len() } else { 0 };
            let incoming = agentd.incoming(&reply[start..]);
            prop_assert_eq!(incoming.text().map(values), Some(values(&reply)), "{:?}", incoming);
            prop_assert!(!incoming.is_held(false));
        }
    }
}
