//! Replies with very many blocks.

use memory_workspace::MemoryWorkspace;
use tagproto::{
    BaseVersions, BlockKind, CommandType, Dialect, Item, ParseErrorKind, Reply, Strictness, read, read_in,
};

use crate::fixture::round_trip::{run_items, session};

fn messages(count: usize) -> String {
    (0..count).map(|number| format!("[MESSAGE]\n{number}\n[/MESSAGE]\n")).collect()
}

#[test]
fn blocks_beyond_the_maximum_of_a_reply_are_one_error() {
    for strictness in [Strictness::Strict, Strictness::Repair] {
        let whole = messages(Reply::MOST_BLOCKS);
        assert_eq!(read(&whole, strictness).items.len(), Reply::MOST_BLOCKS);
        let text = format!("{whole}[READ_FILE path=\"a\"]\n{}[DONE]\n[/DONE]\n", messages(3));
        let items = read(&text, strictness).items;
        assert_eq!(items.len(), Reply::MOST_BLOCKS + 1);
        assert_eq!(items[..Reply::MOST_BLOCKS], read(&whole, strictness).items);
        let Some(Item::Error(error)) = items.last() else { panic!("{:?}", items.last()) };
        let kind = ParseErrorKind::TooManyBlocks { most: Reply::MOST_BLOCKS, later_blocks: 4 };
        assert_eq!((error.command, &error.kind), (BlockKind::ReadFile, &kind));
        assert_eq!(&text[error.span.range()], "[READ_FILE path=\"a\"]");
        assert_eq!(
            error.to_string(),
            "READ_FILE is one block too many: a reply may have 10000, and it and the 4 after it were not run; \
             send the rest with your next reply"
        );
    }
}

#[test]
fn the_error_is_a_result_and_a_later_done_does_not_count() {
    let text = format!("{}[DONE]\nd\n[/DONE]\n", messages(Reply::MOST_BLOCKS));
    let reply = read(&text, Strictness::Repair);
    let execution = run_items(
        &reply.items,
        &session("T", Dialect::Agentd),
        BaseVersions::default(),
        &MemoryWorkspace::new(),
    );
    assert_eq!((execution.results.len(), execution.done), (Reply::MOST_BLOCKS + 1, None));
    let last = execution.results.last().unwrap();
    assert_eq!((last.command_type, last.success), (CommandType::ParseError, false));
    assert!(last.summary.ends_with(", and it was not run; send the rest with your next reply"), "{last:?}");
}

#[test]
fn comments_of_a_replacement_are_looked_up_in_the_search_text_in_one_pass() {
    // Comparing all pairs would take minutes.
    let comment = "// ... existing code ...\n";
    let search: String = (0..16_000).map(|number| format!("line {number}\n")).collect();
    for (line, is_edit) in [(comment, true), ("", false)] {
        let replacement = comment.repeat(16_000);
        let hunk = format!("<<<<<<< SEARCH\n{search}{line}=======\n{replacement}>>>>>>> REPLACE\n");
        let text = format!("[EDIT_FILE path=\"f.js\"]\n{hunk}[/EDIT_FILE]\n");
        let items = read_in(&text, Strictness::Repair, Dialect::Agentd).items;
        assert_eq!(matches!(items.as_slice(), [Item::Block(_)]), is_edit, "{:?}", items.len());
    }
}
