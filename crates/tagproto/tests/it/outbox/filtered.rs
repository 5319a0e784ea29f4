//! An outbox with texts replaced by a filter.

use tagproto::{
    BlockKind, CommandResult, Context, Dialect, ListedEntry, OutboxParts, RequestedFile, RequestedText,
    Session, filtered_outbox, read_outbox, render_outbox,
};
use wap_core::FileVersion;

use crate::fixture::round_trip::session;

/// The replacement.
const MASK: &str = "⟦v⟧";

/// A word in every text that is not the protocol's own.
const FOREIGN: &str = "Zq8wLr3TnV5xKb2M";

fn file(path: &str, lines: u64, first: u64) -> RequestedFile {
    let text: String = (first..first + lines).map(|line| format!("text {line} {FOREIGN}\n")).collect();
    let span = (first > 1).then(|| wap_core::LineSpan { first, last: first + lines - 1 });
    let text = RequestedText {
        text,
        version: Some(FileVersion(format!("version of {path}"))),
        total_lines: 40,
        lines: span,
        is_cut: false,
        warnings: Vec::new(),
    };
    RequestedFile { path: path.to_owned(), text: Some(text) }
}

/// Returns a session with text in every section, and its outbox.
fn rendered() -> (Session, String) {
    let mut session = session(&format!("do it with {FOREIGN}"), Dialect::Agentd);
    session.sequence_number = 2;
    session.reopened = vec![1];
    session.review = format!("not {FOREIGN}\n");
    session.notes = vec![format!("about {FOREIGN}")];
    let result = |success| CommandResult {
        command_type: BlockKind::RunCommand.into(),
        summary: format!("Ran '{FOREIGN}'\nand {FOREIGN}"),
        success,
        output: format!("out {FOREIGN}\nmore {FOREIGN}"),
        notes: vec![format!("kept {FOREIGN}")],
        denied: vec![format!("read {FOREIGN}")],
    };
    session.last_results = vec![result(true), result(false)];
    let entry = ListedEntry { path: format!("a-{FOREIGN}"), size_bytes: 3, kind: None };
    let unreadable = RequestedFile { path: format!("none-{FOREIGN}"), text: None };
    let files = vec![file(&format!("a-{FOREIGN}"), 12, 1), file(&format!("b-{FOREIGN}"), 12, 8), unreadable];
    let context = Context { listing: vec![entry], files, ..Context::default() };
    let text = render_outbox(&session, &context, &format!("sandbox: level=full; {FOREIGN}")).text;
    (session, text)
}

/// Returns the structure of an outbox, without the texts that are not the protocol's own.
fn structure(parts: &OutboxParts) -> String {
    let results: Vec<_> = parts.results.iter().map(|result| (result.command_type, result.success)).collect();
    let files: Vec<_> = parts.files.iter().map(|file| (file.lines, file.text.as_ref().map(|_| ()))).collect();
    let sizes = (parts.notes.len(), parts.listing.len(), parts.review.lines().count());
    format!("{:?} {} {results:?} {files:?} {sizes:?} {}", parts.reply_to, parts.protocol, parts.prompt)
}

#[test]
fn text_of_the_protocol_itself_is_not_filtered() {
    let (session, text) = rendered();
    let expected = structure(&read_outbox(&text).unwrap());
    let values = [
        "=== HEADER ===",
        "=== PROTOCOL ===",
        "=== CONTEXT ===",
        "=== PROMPT ===",
        "Session: ",
        "a1b2c3d4",
        "Sequence: 2",
        "Reply-To: a1b2c3d4-2",
        "Task: ",
        "Sandbox: ",
        "[READ_FILE path=",
        "## Workspace Files",
        "## Previous Command Results",
        "## Requested File Contents",
        "## Review",
        "[OK] RUN_COMMAND:",
        "RUN_COMMAND",
        "[FAILED] ",
        "  Output:",
        "[NOTE] effect: ",
        "refused: ",
        "--- end ",
        " ---",
        "--- ",
        " 3|",
        "10|",
        "(lines 8-19",
        "If the task is complete",
    ];
    let mut damaged = 0;
    for value in values {
        assert!(text.contains(value), "{value} is in the message");
        let filtered = filtered_outbox(&text, &session, |text| text.replace(value, MASK));
        let parts = read_outbox(&filtered).unwrap_or_else(|error| panic!("{value}: {error}\n{filtered}"));
        assert_eq!(structure(&parts), expected, "{value}: {filtered}");
        damaged += usize::from(
            read_outbox(&text.replace(value, MASK)).map_or(true, |parts| structure(&parts) != expected),
        );
    }
    assert!(damaged > values.len() / 2, "the control: {damaged} damage a message that is filtered whole");
}

#[test]
fn every_other_text_is_filtered() {
    let (session, text) = rendered();
    assert!(text.matches(FOREIGN).count() > 40, "{text}");
    let filtered = filtered_outbox(&text, &session, |text| text.replace(FOREIGN, MASK));
    assert!(!filtered.contains(FOREIGN), "{filtered}");
    assert_eq!(filtered.replace(MASK, FOREIGN), text);
}

#[test]
fn a_filter_that_changes_the_number_of_lines_is_applied_to_all() {
    let (session, text) = rendered();
    let filter = |text: &str| text.replace(FOREIGN, "").replace('\n', "\n\n");
    assert_eq!(filtered_outbox(&text, &session, filter), filter(&text));
}

#[test]
fn a_file_can_only_imitate_text_that_every_message_has() {
    let (session, text) = rendered();
    // Lines of a task that look like other fields and numbers.
    for line in ["Reply-To: a1b2c3d4-3", "Session: ffffffff", "7|Zq", "[OK] OTHER: it", "--- q", "[NOTE]x"] {
        let text = text.replace(&format!("out {FOREIGN}"), line);
        let filtered = filtered_outbox(&text, &session, |text| text.replace(line, MASK));
        assert!(text.contains(line) && !filtered.contains(line), "{line}: {filtered}");
    }
}
