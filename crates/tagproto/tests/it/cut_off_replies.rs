//! The cases in `fixtures/vectors/cut-off-replies.json`, and properties for any cut of a reply.

use proptest::prelude::*;
use serde_json::{Value, json};
use tagproto::{Dialect, HeldReply, Incoming, Item, Session, Strictness, read_in};

const VECTORS: &str = include_str!("../../../../fixtures/vectors/cut-off-replies.json");

fn session(dialect: Dialect) -> Session {
    Session::new("a1b2c3d4".parse().unwrap(), "task", "2026-01-01T00:00:00Z", dialect, None)
}

/// Receives a reply, and returns its outcome in the form of the cases.
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
    let mut failures = Vec::new();
    for case in vectors["cases"].as_array().unwrap() {
        let mut agentd = session(Dialect::Agentd);
        let replies = case["replies"].as_array().unwrap();
        let actual: Vec<Value> =
            replies.iter().map(|reply| receive(&mut agentd, reply.as_str().unwrap())).collect();
        if json!(actual) != case["expect"] {
            failures.push(format!("{}: {}\n    expected {}", case["name"], json!(actual), case["expect"]));
        }
        for reply in replies {
            let whole = receive(&mut session(Dialect::CodingAgent), reply.as_str().unwrap());
            assert_eq!(whole, json!({ "carried_out": reply }), "{}", case["name"]);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
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
    let note = second.lines().find(|line| line.starts_with("[NOTE] your reply could not be joined")).unwrap();
    assert!(note.ends_with("send a whole reply that begins with a [MESSAGE]"), "{note}");
    assert!(
        note.contains(" (not with the line after them, which was cut off)") && !note.contains("left out")
    );
    assert!(tagproto::read_outbox(&second).is_ok());
}

#[test]
fn long_lines_and_long_replies_are_not_held() {
    let agentd = session(Dialect::Agentd);
    for (line, count, is_held) in [("x".repeat(3000), 2, true), ("x".repeat(5000), 2, false)] {
        let reply = format!("[CREATE_FILE path=\"a\"]\n{}\n", vec![line; count].join("\n"));
        assert_eq!(matches!(agentd.incoming(&reply), Incoming::CutOff { .. }), is_held);
    }
    let line = format!("{}\n", "x".repeat(63));
    for (lines, is_held) in [(40_960, true), (81_920, false)] {
        let reply = format!("[CREATE_FILE path=\"a\"]\n{}", line.repeat(lines));
        assert_eq!(matches!(agentd.incoming(&reply), Incoming::CutOff { .. }), is_held);
    }
}

#[test]
fn many_equal_blocks_are_compared_in_one_pass() {
    // Comparing all pairs would take minutes.
    let blocks = "[DELETE_FILE path=\"a\"]\n".repeat(9000);
    let (start, commands) = (format!("{blocks}[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n"), "[RUN_COMMAND]\nmak");
    let mut agentd = session(Dialect::Agentd);
    receive(&mut agentd, &format!("{start}{commands}"));
    for preface in ["", "<think>\n</think>\n"] {
        let again = format!("{}{start}{commands}e\n[/RUN_COMMAND]\n", preface.repeat(9000));
        assert!(matches!(agentd.incoming(&again), Incoming::Anew(_)), "{preface:?}");
    }
    // No lines distinguish such a block from earlier blocks, so the reply is not held.
    let equal = format!("{blocks}[DELETE_FILE path=\"");
    assert!(matches!(session(Dialect::Agentd).incoming(&equal), Incoming::Whole(_)));
}

#[test]
fn a_cut_off_line_is_not_read_again_with_each_line_of_the_next_reply() {
    // Trying each line as the rest of the tag would take minutes.
    for (tag, count) in [("[", 1_000_000), ("[RUN_COMMAND ", 1_000_000), ("[RUN_COMMAND ", 4000)] {
        let mut agentd = session(Dialect::Agentd);
        let cut = "y".repeat(count);
        let start =
            format!("{EXAMPLE}[CREATE_FILE path=\"y\"]\nthe first line of the file is here\n{tag}{cut}");
        receive(&mut agentd, &start);
        assert!(agentd.held.is_some());
        assert_eq!(agentd.incoming(&"a]\n".repeat(20_000)), Incoming::NotContinued);
    }
}

const EXAMPLE: &str = "[RUN_COMMAND]\necho an example of a command\n[/RUN_COMMAND]\n";
const FILE_EXAMPLE: &str = "[CREATE_FILE path=\"example\"]\nx\n[/CREATE_FILE]\n";

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
    let block = (0..9_u8, body).prop_map(|(kind, body)| match kind {
        0 => format!("[CREATE_FILE path=\"file\"]\n{body}[/CREATE_FILE]\n"),
        1 => format!("[EDIT_FILE path=\"file\" start_line=\"1\" end_line=\"2\"]\n{body}[/EDIT_FILE]\n"),
        2 => format!("[MESSAGE]\n{body}[/MESSAGE]\n"),
        3 => "[READ_FILE path=\"other\"]\n".to_owned(),
        4 => "\nThen the next step of the plan:\n\n".to_owned(),
        // Files and commands whose text shows blocks.
        5 => format!("[CREATE_FILE path=\"doc\"]\n{body}{EXAMPLE}[/CREATE_FILE]\n"),
        6 => format!("[RUN_COMMAND]\ncat > doc <<'END'\n{body}{FILE_EXAMPLE}END\n[/RUN_COMMAND]\n"),
        7 => format!("[CREATE_FILE path=\"doc\"]\n{FILE_EXAMPLE}{body}{EXAMPLE}{body}[/CREATE_FILE]\n"),
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

/// The blocks with their contents, without their positions in the text.
fn values(text: &str) -> Vec<String> {
    let items = read_in(text, Strictness::Repair, Dialect::Agentd).items;
    items
        .iter()
        .map(|item| match item {
            Item::Block(block) => format!("{:?}", block.value),
            // The lines in front of a continuation are not joined.
            Item::Error(error) => error.to_string().replace(|c: char| c.is_ascii_digit(), ""),
        })
        .collect()
}

proptest! {
    /// A model that continues with the lines yields the same reply as without the cut.
    #[test]
    fn a_cut_makes_no_difference(reply in reply(), at in any::<prop::sample::Index>(), preface in preface()) {
        let mut agentd = session(Dialect::Agentd);
        if let Some(held) = hold_beginning(&mut agentd, &reply, at.index(reply.len())) {
            let rest = format!("{preface}{}", &reply[last_lines_at(&held)..]);
            let incoming = agentd.incoming(&rest);
            prop_assume!(incoming != Incoming::NotContinued
                || !has_unclear_end(&reply) && !has_pair_twice(&values(&reply)) && !has_pair_twice(&acting(&reply)));
            prop_assert_eq!(incoming.text().map(values), Some(values(&reply)), "{:?}", incoming);
            prop_assert!(!incoming.is_held(false));
        }
    }

    /// A reply that is repeated from its beginning is carried out once.
    #[test]
    fn a_whole_reply_again_is_carried_out_once(
        reply in reply(), at in any::<prop::sample::Index>(), preface in preface(),
    ) {
        let mut agentd = session(Dialect::Agentd);
        if hold_beginning(&mut agentd, &reply, at.index(reply.len())).is_some() {
            let again = format!("{preface}{reply}");
            let incoming = agentd.incoming(&again);
            prop_assume!(incoming != Incoming::NotContinued
                || !has_unclear_end(&reply) && !has_pair_twice(&values(&reply)) && !has_pair_twice(&acting(&reply)));
            prop_assert_eq!(incoming.text().map(values), Some(values(&reply)), "{:?}", incoming);
            prop_assert!(!incoming.is_held(false));
        }
    }

    /// A block that is written anew joins the blocks before it, or nothing is carried out if it could be another block.
    #[test]
    fn a_block_written_anew_is_carried_out_once_after_earlier_blocks(
        reply in reply(), at in any::<prop::sample::Index>(), preface in preface(),
    ) {
        let mut agentd = session(Dialect::Agentd);
        if let Some(held) = hold_beginning(&mut agentd, &reply, at.index(reply.len())) {
            let open_line = serde_json::to_value(&held).unwrap()["openLine"].as_u64().unwrap();
            let lines = reply.split_inclusive('\n').take(usize::try_from(open_line).unwrap());
            let before: usize = lines.map(str::len).sum();
            let anew = format!("{preface}{}", &reply[before..]);
            // The requested lines, which are also the block in whose tag the reply ended.
            prop_assume!(!reply[before..].starts_with(&reply[last_lines_at(&held)..text_of(&held).len()])
                || before == last_lines_at(&held));
            match agentd.incoming(&anew) {
                Incoming::NotContinued => {}
                // A reply that repeats the same blocks: it is carried out alone, and the next message reports that.
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

    /// A repeated reply that is cut at another byte is held once, whichever part is longer.
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
            prop_assume!(incoming != Incoming::NotContinued
                || !has_unclear_end(&reply) && !has_pair_twice(&acting(&reply)));
            prop_assert!(matches!(incoming, Incoming::CutOff { .. }), "{:?} after {:?}", incoming, agentd.held);
            agentd.hold(incoming.into_held(), "later");
            let held = agentd.held.clone().unwrap();
            let kept = text_of(&held);
            let start = last_lines_at(&held) - if kept.starts_with(preface) { preface.len() } else { 0 };
            let incoming = agentd.incoming(&reply[start..]);
            prop_assume!(incoming != Incoming::NotContinued
                || !has_unclear_end(&reply) && !has_pair_twice(&values(&reply)) && !has_pair_twice(&acting(&reply)));
            prop_assert_eq!(incoming.text().map(values), Some(values(&reply)), "{:?}", incoming);
            prop_assert!(!incoming.is_held(false));
        }
    }

    /// However a model answers the request, no block is carried out that the reply without the cut lacks, and none more often
    /// than there: an example in the text of a file stays text, and a block that is sent twice runs once.
    #[test]
    fn no_continuation_runs_more_than_the_whole_reply(
        reply in reply(), at in any::<prop::sample::Index>(), preface in preface(), fault in 0..FAULTS,
    ) {
        let mut agentd = session(Dialect::Agentd);
        let cut = at.index(reply.len());
        if let Some(held) = hold_beginning(&mut agentd, &reply, cut) {
            let next = faulty(fault, &reply, cut, &held);
            // The text after the cut may be the requested lines again: then the reply meets the request.
            let lines: String = held.last_lines().iter().map(|line| format!("{line}\n")).collect();
            let begins = next.trim_start_matches(['`', ' ', '\n']).starts_with(lines.trim_start());
            prop_assume!(!FROM_THE_CUT.contains(&fault) || !begins);
            let next = format!("{preface}{next}");
            let incoming = agentd.incoming(&next);
            // A reply that is cut off again is held.
            let carried_out = incoming.text().filter(|_| !incoming.is_held(false)).map(acting).unwrap_or_default();
            let mut whole = acting(&reply);
            for block in carried_out {
                let same = whole.iter().position(|other| *other == block);
                prop_assert!(same.is_some(), "{block} of {next:?} after {reply:?}");
                whole.swap_remove(same.unwrap());
            }
        }
    }
}

const FAULTS: u8 = 7;
/// The faults that continue where the reply was cut off.
const FROM_THE_CUT: [u8; 3] = [0, 1, 2];

/// A faulty continuation.
fn faulty(fault: u8, reply: &str, cut: usize, held: &HeldReply) -> String {
    let lines: String = held.last_lines().iter().map(|line| format!("{line}\n")).collect();
    let rest = &reply[last_lines_at(held)..];
    match fault {
        0 => reply[cut..].to_owned(),
        1 => format!("```\n{}", &reply[cut..]),
        // From the line in which it was cut.
        2 => reply[reply[..cut].rfind('\n').map_or(0, |lf| lf + 1)..].to_owned(),
        3 => format!("You had these lines:\n{lines}Here is the whole reply again:\n\n{reply}"),
        4 => format!("{lines}{reply}"),
        5 => format!("{rest}\nAll of it once more:\n\n{reply}"),
        // Some lines earlier than requested.
        _ => {
            let before = reply[..last_lines_at(held)].trim_end_matches('\n');
            let at = before.rmatch_indices('\n').nth(1).map_or(0, |(lf, _)| lf + 1);
            reply[at..].to_owned()
        }
    }
}

/// Checks whether a part of a reply is refused because it shows blocks in the text of a file.
fn has_unclear_end(reply: &str) -> bool {
    values(reply).iter().any(|block| block.contains("its end is not clear"))
}

/// Checks whether a block occurs twice in a row, or a pair of consecutive blocks occurs twice. The second text of a file may
/// differ.
fn has_pair_twice(blocks: &[String]) -> bool {
    let tag = |block: &String| block.split(" body").next().unwrap().to_owned();
    let pairs = blocks.windows(2).filter(|pair| pair[0] != pair[1]);
    let pairs: Vec<_> = pairs.map(|pair| (&pair[0], tag(&pair[1]))).collect();
    blocks.windows(2).any(|pair| pair[0] == pair[1])
        || (1..pairs.len()).any(|index| pairs[..index].contains(&pairs[index]))
}

/// The blocks that change something.
fn acting(text: &str) -> Vec<String> {
    let items = read_in(text, Strictness::Repair, Dialect::Agentd).items;
    let blocks = items.iter().filter_map(|item| match item {
        Item::Block(block) if block.value.kind().acts() => Some(format!("{:?}", block.value)),
        _ => None,
    });
    blocks.collect()
}
