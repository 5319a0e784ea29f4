//! Texts that the user copied, compared to the pending message.

use tagproto::{Clipped, Dialect, Session, SessionId};

fn session(dialect: Dialect) -> Session {
    let id = SessionId::from_random([0xa1, 0xb2, 0xc3, 0xd4]);
    Session::new(id, "a task", "2026-01-01T00:00:00Z", dialect, None)
}

const READ: &str = "[READ_FILE path=\"a.txt\"]\n";
const DIFF: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";

#[test]
fn a_copied_text_is_a_reply_by_its_token_or_its_blocks() {
    let with = |token: &str, rest: &str| format!("Reply-To: {token}\n{rest}");
    let cases = [
        ("blocks", READ.to_owned(), Clipped::Reply),
        ("blocks in prose", format!("Let me look.\n\n{READ}"), Clipped::Reply),
        ("the token and blocks", with("a1b2c3d4-1", READ), Clipped::Reply),
        ("the token and prose", with("a1b2c3d4-1", "I have nothing to do."), Clipped::Reply),
        ("the token and a diff", with("a1b2c3d4-1", DIFF), Clipped::Reply),
        ("another message of the session", with("a1b2c3d4-2", READ), Clipped::Other),
        ("another session", with("00000000-1", READ), Clipped::Other),
        ("a diff alone", DIFF.to_owned(), Clipped::EditsAlone),
        ("prose", "correct horse battery staple".to_owned(), Clipped::Other),
        ("a misspelt tag alone", "[REED_FILE path=\"a.txt\"]".to_owned(), Clipped::Other),
        ("nothing", String::new(), Clipped::Other),
    ];
    for (name, text, expected) in cases {
        assert_eq!(session(Dialect::Agentd).clipped(&text), expected, "{name}");
    }
    // The other dialect does not read other formats.
    assert_eq!(session(Dialect::CodingAgent).clipped(DIFF), Clipped::Other);
    assert_eq!(session(Dialect::CodingAgent).clipped(READ), Clipped::Reply);
}

#[test]
fn the_rest_of_a_cut_off_reply_is_a_reply() {
    let mut session = session(Dialect::Agentd);
    let first = "[CREATE_FILE path=\"a.txt\"]\nthe first line of the file\nthe second line of the file\n";
    session.hold(session.incoming(first).into_held(), "2026-01-01T00:00:01Z");
    // The last line may have been cut, so it is repeated.
    let rest = "the first line of the file\nthe second line of the file\nthe third line of the file\n[/CREATE_FILE]\n";
    assert_eq!(session.clipped(rest), Clipped::Reply);
    assert_eq!(session.clipped("a phone number"), Clipped::Other);
}
