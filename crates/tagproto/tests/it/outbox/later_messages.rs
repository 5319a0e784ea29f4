//! Later messages of a chat: short rules, and the changes of the list of files.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tagproto::{
    Context, Dialect, ListedEntry, Session, protocol_text, read_outbox, render_outbox, whole_outbox,
};

fn session(dialect: Dialect) -> Session {
    Session::new(
        "a1b2c3d4".parse().unwrap(),
        "make\n=== HEADER ===\nit work",
        "2026-01-01T00:00:00Z",
        dialect,
        None,
    )
}

fn context(files: &[(&str, u64)]) -> Context {
    let entry =
        |(path, size): &(&str, u64)| ListedEntry { path: (*path).to_owned(), size_bytes: *size, kind: None };
    Context { listing: files.iter().map(entry).collect(), ..Context::default() }
}

/// Writes the next message, and updates the session.
fn next(session: &mut Session, context: &Context) -> String {
    let outbox = render_outbox(session, context, "sandbox: level=full");
    session.listed = outbox.listed;
    session.sequence_number += 1;
    outbox.text
}

const FILES: [(&str, u64); 3] = [("a.py", 10), ("b (gone)", 20), ("old/c", 30)];

#[test]
fn second_message_is_short() {
    let mut session = session(Dialect::Agentd);
    let first = next(&mut session, &context(&FILES));
    let second = next(&mut session, &context(&[("a.py", 11), ("b (gone)", 20), ("new", 1)]));
    insta::assert_snapshot!("second_message", second);
    let third = next(&mut session, &context(&[("a.py", 11), ("b (gone)", 20), ("new", 1)]));
    assert!(third.contains("## Workspace Files\n(as listed before)\n\n"), "{third}");
    assert!(second.len() * 3 < first.len() && third.len() * 3 < first.len());
}

#[test]
fn another_dialect_a_reopened_session_and_many_changes_have_everything() {
    let mut other = session(Dialect::CodingAgent);
    next(&mut other, &context(&FILES));
    let mut reopened = session(Dialect::Agentd);
    next(&mut reopened, &context(&FILES));
    (reopened.is_complete, reopened.sequence_number) = (true, 1);
    reopened.reopen("later");
    for mut session in [other, reopened] {
        let second = next(&mut session, &context(&FILES));
        assert!(
            second.contains(protocol_text(session.dialect)) && second.contains("old/c (30 bytes)"),
            "{second}"
        );
    }
    let mut changed = session(Dialect::Agentd);
    next(&mut changed, &context(&FILES));
    let names: Vec<String> = (0..100).map(|number| format!("{number:03}")).collect();
    let many: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let second = next(&mut changed, &context(&many));
    assert!(!second.contains("as listed before") && second.contains("  099 (1 bytes)"), "{second}");
}

#[test]
fn an_entry_that_an_incomplete_list_lacks_is_not_called_gone() {
    let mut session = session(Dialect::Agentd);
    next(&mut session, &context(&FILES));
    let incomplete = Context { unlisted: 5, ..context(&FILES[..2]) };
    let second = next(&mut session, &incomplete);
    assert!(second.contains("(as listed before)\n") && !second.contains("old/c"), "{second}");
    // It is still remembered, and reported once the list is complete.
    let third = next(&mut session, &context(&FILES[..2]));
    assert!(third.contains("(as listed before, except for these)\n  old/c (gone)\n\n"), "{third}");
}

#[test]
fn a_message_for_a_new_chat_has_rules_files_and_task() {
    let mut session = session(Dialect::Agentd);
    next(&mut session, &context(&FILES));
    let second = render_outbox(&session, &context(&FILES), "").text;
    let whole = whole_outbox(&second, &session, &context(&FILES));
    let parts = read_outbox(&whole).unwrap();
    assert_eq!((parts.protocol.as_str(), parts.listing.len()), (protocol_text(Dialect::Agentd), 3));
    assert!(
        parts.prompt.ends_with("\nThe task, from message 1:\nmake\n=== HEADER ===\nit work"),
        "{}",
        parts.prompt
    );
    assert_eq!(parts.reply_to, session.reply_to());
}

proptest! {
    /// A reader that applies the changes of each message has the current list.
    #[test]
    fn changes_add_up_to_the_list(
        lists in prop::collection::vec(prop::collection::btree_map("[a-c \\n(]{1,3}", 0_u64..3, 0..12), 1..6)
    ) {
        let mut session = session(Dialect::Agentd);
        let mut listed: BTreeMap<String, u64> = BTreeMap::new();
        for list in lists {
            let files: Vec<(&str, u64)> = list.iter().map(|(path, size)| (path.as_str(), *size)).collect();
            let text = next(&mut session, &context(&files));
            let parts = read_outbox(&text).unwrap();
            if !parts.is_of_changes {
                listed.clear();
            }
            for path in &parts.gone {
                prop_assert!(listed.remove(path).is_some());
            }
            listed.extend(parts.listing.into_iter().map(|entry| (entry.path, entry.size_bytes)));
            let expected: BTreeMap<String, u64> =
                list.into_iter().map(|(path, size)| (path.replace('\n', "\\x0a"), size)).collect();
            prop_assert_eq!(&listed, &expected);
        }
    }
}
